package dev.sluice.driver;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks Spark for executors, and sends single ones away once their tasks are done. */
final class Fleet {
    private static final Logger LOG = LoggerFactory.getLogger(Fleet.class);

    private final SparkContext spark;
    private final Set<String> leaving = new HashSet<>();
    private int total;

    Fleet(final SparkContext spark) {
        this.spark = spark;
    }

    void order(final int wanted, final List<String> decommission) {
        if (!(spark.schedulerBackend() instanceof ExecutorAllocationClient)) {
            return;
        }
        if (wanted > 0 && wanted != total) {
            // Absolute, and before anything relative: Spark's own table of wanted executors starts out empty.
            spark.requestTotalExecutors(wanted, 0, scala.collection.immutable.Map$.MODULE$.empty());
            total = wanted;
        }
        final ExecutorAllocationClient client = (ExecutorAllocationClient) spark.schedulerBackend();
        leaving.retainAll(decommission);
        for (final String executor : decommission) {
            if (client.isExecutorActive(executor) && leaving.add(executor)) {
                // Spark's target stays: the total is absolute, and the same orders have set it to what is to be left.
                final boolean goes = client.decommissionExecutor(
                        executor, new ExecutorDecommissionInfo("ordered by Sluice", scala.Option.empty()), false, false);
                LOG.info("Sluice: executor {} {}", executor, goes ? "is sent away" : "could not be sent away");
            }
        }
    }
}
