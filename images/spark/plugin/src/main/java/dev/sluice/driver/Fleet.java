package dev.sluice.driver;

import java.util.List;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.TaskSetManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/** Asks Spark for executors, and sends single ones away once their tasks are done. */
final class Fleet {
    private static final Logger LOG = LoggerFactory.getLogger(Fleet.class);

    private final SparkContext spark;
    private final Departures departures;
    private int total;

    Fleet(final SparkContext spark) {
        this.spark = spark;
        this.departures = new Departures(new OfSpark(spark));
        spark.addSparkListener(departures);
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
        for (final String executor : decommission) {
            if (departures.begin(executor)) {
                LOG.info("Sluice: executor {} is sent away", executor);
            }
        }
    }

    /** Spark's target stays whoever goes: the total is absolute, and the same orders have set it to what is to be left. */
    private record OfSpark(SparkContext spark) implements Departures.Executors {
        private ExecutorAllocationClient client() {
            return (ExecutorAllocationClient) spark.schedulerBackend();
        }

        /** As if the executor itself had said that it goes, for then Spark does not tell it to end by itself. */
        @Override
        public boolean retire(final String executor) {
            return client().isExecutorActive(executor) && client().decommissionExecutor(
                    executor, new ExecutorDecommissionInfo("ordered by Sluice", scala.Option.empty()), false, true);
        }

        /** Spark's own word, isExecutorBusy, says no before the result was looked at. The lock is the scheduler's own. */
        @Override
        public boolean isAwaited(final String executor) {
            final TaskSchedulerImpl scheduler = (TaskSchedulerImpl) spark.taskScheduler();
            synchronized (scheduler) {
                for (final TaskSetManager tasks : CollectionConverters.asJava(scheduler.rootPool().getSortedTaskSetQueue())) {
                    for (final TaskInfo task : CollectionConverters.asJavaCollection(tasks.taskInfos().values())) {
                        if (task.running() && task.executorId().equals(executor)) {
                            return true;
                        }
                    }
                }
            }
            return false;
        }

        @Override
        public void end(final String executor) {
            client().killExecutors(CollectionConverters.asScala(List.of(executor)).toSeq(), false, false, false);
        }
    }
}
