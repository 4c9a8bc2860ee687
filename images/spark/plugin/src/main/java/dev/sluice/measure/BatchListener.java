package dev.sluice.measure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.apache.spark.storage.RDDInfo;

/**
 * Follows the tasks of streaming batches. A query's progress comes on the same bus after its tasks, so a batch is complete
 * when it is reported; Spark's own listener for queries hangs on another queue, where that does not hold.
 */
public final class BatchListener extends SparkListener {
    private static final String QUERY = "sql.streaming.queryId";
    private static final String BATCH = "streaming.sql.batchId";
    /** Spark's CPU time leaves out Python workers; their time stands in a metric of the plan's Python nodes. */
    private static final String PYTHON = "time to run Python workers";

    private final Measures measures;
    private final Leftovers leftovers;
    private final Shuffles shuffles = new Shuffles();
    private final Map<Integer, Stage> stages = new HashMap<>();

    private static final String SOURCE = "DataSourceRDD";
    private static final int FEWEST = 3;

    /** A stage of a batch, while it runs. */
    private record Stage(String batch, boolean scans, long submittedMs, List<Shuffles.Read> reads,
            Map<Integer, Long> launchedMs, List<Long> tookMs, Map<Long, TaskInfo> running) {
    }

    /**
     * A listener; Spark calls it on one thread.
     *
     * @param measures where batches are kept
     * @param leftovers told which attempts outlive their stage
     */
    public BatchListener(final Measures measures, final Leftovers leftovers) {
        this.measures = measures;
        this.leftovers = leftovers;
    }

    @Override
    public void onStageSubmitted(final SparkListenerStageSubmitted event) {
        final Properties properties = event.properties();
        final String query = properties == null ? null : properties.getProperty(QUERY);
        final String batch = properties == null ? null : properties.getProperty(BATCH);
        if (query != null && batch != null) {
            final long beganNs = Own.nowNs();
            final String key = Measures.key(query, batch);
            stages.put(event.stageInfo().stageId(), stage(key, event.stageInfo()));
            shuffles.submitted(event.stageInfo());
            measures.of(key).ownNs += Own.nowNs() - beganNs;
        }
    }

    private Stage stage(final String key, final StageInfo info) {
        boolean scans = false;
        final scala.collection.Iterator<RDDInfo> all = info.rddInfos().iterator();
        while (all.hasNext()) {
            final RDDInfo one = all.next();
            scans |= SOURCE.equals(one.name()) && measures.of(key).isFirst(one.id());
        }
        final long submittedMs = info.submissionTime().isDefined() ? (Long) info.submissionTime().get() : 0;
        return new Stage(key, scans, submittedMs, new ArrayList<>(), new HashMap<>(), new ArrayList<>(),
                new HashMap<>());
    }

    /** Of a task that is run a second time the first start counts, else a copy would hide how late its original was. */
    @Override
    public void onTaskStart(final SparkListenerTaskStart event) {
        final Stage stage = stages.get(event.stageId());
        if (stage != null) {
            stage.launchedMs().putIfAbsent(event.taskInfo().index(), event.taskInfo().launchTime());
            stage.running().put(event.taskInfo().taskId(), event.taskInfo());
        }
    }

    @Override
    public void onTaskEnd(final SparkListenerTaskEnd event) {
        leftovers.ended(event.taskInfo().taskId());
        final Stage stage = stages.get(event.stageId());
        if (stage == null) {
            return;
        }
        stage.running().remove(event.taskInfo().taskId());
        final long beganNs = Own.nowNs();
        final Batch batch = measures.of(stage.batch());
        final Work work = batch.of(event.taskInfo().executorId());
        final TaskMetrics task = event.taskMetrics();
        final boolean isOwn = stage.scans() && isOwn(event.taskInfo());
        if (task == null || !event.taskInfo().successful()) {
            work.addFailure(event.taskInfo().duration());
            if (isOwn && event.taskInfo().killed()) {
                work.addBeaten(event.taskInfo().finishTime() - stage.submittedMs(), event.taskInfo().duration());
            }
        } else {
            work.add(task, event.taskInfo().duration(), pythonMs(event));
            remember(stage, event, task);
            if (isOwn && task.inputMetrics().recordsRead() > 0) {
                work.addScan(task.inputMetrics().recordsRead(), event.taskInfo().finishTime() - stage.submittedMs());
            }
        }
        batch.ownNs += Own.nowNs() - beganNs;
    }

    /** What was given to another begins late, as a copy or after Spark's wait: it tells nothing of who runs it. */
    private static boolean isOwn(final TaskInfo task) {
        final Object near = task.taskLocality();
        return !task.speculative() && (near == TaskLocality.PROCESS_LOCAL() || near == TaskLocality.NO_PREF());
    }

    private static void remember(final Stage stage, final SparkListenerTaskEnd event, final TaskMetrics task) {
        final TaskInfo info = event.taskInfo();
        stage.tookMs().add(info.finishTime() - stage.launchedMs().getOrDefault(info.index(), info.launchTime()));
        final long local = task.shuffleReadMetrics().localBytesRead();
        final long remote = task.shuffleReadMetrics().remoteBytesRead();
        if (local + remote > 0) {
            stage.reads().add(new Shuffles.Read(
                    event.taskInfo().executorId(), event.taskInfo().partitionId(), local, remote));
        }
    }

    private static long pythonMs(final SparkListenerTaskEnd event) {
        long ms = 0;
        final scala.collection.Iterator<AccumulableInfo> all = event.taskInfo().accumulables().iterator();
        while (all.hasNext()) {
            final AccumulableInfo info = all.next();
            if (info.name().isDefined() && PYTHON.equals(info.name().get()) && info.update().isDefined()
                    && info.update().get() instanceof Number) {
                ms += ((Number) info.update().get()).longValue();
            }
        }
        return ms;
    }

    @Override
    public void onStageCompleted(final SparkListenerStageCompleted event) {
        final Stage stage = stages.remove(event.stageInfo().stageId());
        if (stage != null) {
            final long beganNs = Own.nowNs();
            final Batch batch = measures.of(stage.batch());
            shuffles.share(event.stageInfo(), stage.reads(), batch);
            outlived(stage, event.stageInfo(), batch);
            if (stage.tookMs().size() >= FEWEST) {
                Collections.sort(stage.tookMs());
                batch.addStretch(stage.tookMs());
            }
            batch.ownNs += Own.nowNs() - beganNs;
        }
    }

    /** Of an attempt that still runs when its stage is complete Spark tells the end later, or never. */
    private void outlived(final Stage stage, final StageInfo info, final Batch batch) {
        final boolean isDone = info.failureReason().isEmpty() && info.completionTime().isDefined();
        for (final TaskInfo task : stage.running().values()) {
            leftovers.left(task.taskId(), task.executorId());
            if (isDone && stage.scans() && isOwn(task)) {
                final long doneMs = (Long) info.completionTime().get();
                batch.of(task.executorId()).addBeaten(doneMs - stage.submittedMs(), doneMs - task.launchTime());
            }
        }
    }

    @Override
    public void onExecutorRemoved(final SparkListenerExecutorRemoved event) {
        leftovers.gone(event.executorId());
    }

    @Override
    public void onOtherEvent(final SparkListenerEvent event) {
        if (event instanceof StreamingQueryListener.QueryProgressEvent) {
            measures.end(((StreamingQueryListener.QueryProgressEvent) event).progress(), Own.nowNs());
        }
    }
}
