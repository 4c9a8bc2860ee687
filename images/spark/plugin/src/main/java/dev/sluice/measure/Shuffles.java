package dev.sluice.measure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.StageInfo;

/**
 * Which executor read how many bytes from which. Spark knows the size of each block, rounded by up to 10 %, and of each task
 * exactly what it read from its own executor and from others: the blocks give the proportions, the tasks the amounts.
 */
final class Shuffles {
    /** Looking at a block takes some 20 ns: so many stay below a millisecond. */
    private static final int MOST_BLOCKS = 40_000;
    private static final int MOST_SHUFFLES = 1_000;

    private final Map<Integer, Integer> shuffleOfStage = new HashMap<>();

    /** A task that read shuffled data. */
    record Read(String executor, int partition, long localBytes, long remoteBytes) {
    }

    void submitted(final StageInfo stage) {
        if (shuffleOfStage.size() >= MOST_SHUFFLES) {
            shuffleOfStage.clear();
        }
        if (stage.shuffleDepId().isDefined()) {
            shuffleOfStage.put(stage.stageId(), (Integer) stage.shuffleDepId().get());
        }
    }

    /** Shares the bytes of a finished stage's tasks out among those who wrote them. */
    void share(final StageInfo stage, final List<Read> reads, final Batch batch) {
        final List<MapStatus> written = written(stage);
        if (written == null || (long) written.size() * reads.size() > MOST_BLOCKS) {
            batch.missPairs();
            return;
        }
        for (final Read read : reads) {
            share(read, written, batch);
        }
    }

    private static void share(final Read read, final List<MapStatus> written, final Batch batch) {
        final Map<String, Long> sizes = new HashMap<>();
        for (final MapStatus status : written) {
            sizes.merge(status.location().executorId(), status.getSizeForBlock(read.partition()), Long::sum);
        }
        final Long own = sizes.remove(read.executor());
        if (own != null && read.localBytes() > 0) {
            batch.addPair(read.executor(), read.executor(), read.localBytes());
        }
        final long others = sizes.values().stream().mapToLong(Long::longValue).sum();
        if (others > 0 && read.remoteBytes() > 0) {
            sizes.forEach((from, size) -> {
                if (size > 0) {
                    batch.addPair(from, read.executor(), Math.round((double) read.remoteBytes() * size / others));
                }
            });
        }
    }

    /** The blocks a stage's tasks could read; null where Spark knows none: in Real-Time Mode rows go from task to task. */
    private List<MapStatus> written(final StageInfo stage) {
        final List<MapStatus> all = new ArrayList<>();
        for (final Object parent : scala.jdk.javaapi.CollectionConverters.asJava(stage.parentIds())) {
            final MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
            final Integer shuffle = shuffleOfStage.get((Integer) parent);
            final scala.Option<ShuffleStatus> status =
                    shuffle == null ? scala.Option.empty() : tracker.shuffleStatuses().get(shuffle);
            if (!status.isDefined()) {
                return null;
            }
            for (final MapStatus one : status.get().mapStatuses()) {
                if (one != null) {
                    all.add(one);
                }
            }
        }
        return all;
    }
}
