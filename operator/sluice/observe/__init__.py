"""Second room: reads the cluster, Spark and Prometheus into one frozen snapshot. Never writes."""
