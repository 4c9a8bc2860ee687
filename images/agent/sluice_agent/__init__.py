"""The agent: a small sidecar of the driver pod, between the operator and the plugin in Spark's driver.

    status.orders ─▶ watch ─▶ board ─▶ talk ─▶ the plugin's long poll; executor template ─▶ folder
    the plugin's reports ─▶ talk ─▶ heard ─▶ lease (annotation);  batches ─▶ tally ─▶ metrics
    executors behind their gate ─▶ gates, when the operator is silent

What it says and is told: `images/agent/README.md`. Standard library and :mod:`sluice_policies` only: its image has
nothing else.
"""

__version__ = "0.1.0"
