package dev.sluice.checkpoint;

import dev.sluice.inside.Inside;
import dev.sluice.realtime.EndableScans;
import dev.sluice.speculate.Sinks;
import dev.sluice.speculate.Speculation;
import dev.sluice.split.CutScans;
import dev.sluice.split.Split;
import java.io.IOException;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqBase;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqLog;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata$;
import org.apache.spark.sql.execution.streaming.runtime.AsyncProgressTrackingMicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.TERMINATED$;
import org.apache.spark.sql.execution.streaming.sinks.FileStreamSink;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.streaming.StreamingQueryException;

/** Knows Spark's queries: which thread is whose, which one must not start, and what its session must hold before batch one. */
public final class SparkAdmission implements Admission {
    /** Queries of ours: no user waits for them, no checkpoint of theirs is kept. */
    public static final String WARM_UP = "sluice-warm-up-";
    private static final String FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass";
    private static final String LOCATION = "spark.sql.streaming.checkpointLocation";
    private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

    private final Split split;

    /**
     * Spark's queries of this driver.
     *
     * @param split who cuts their batches
     */
    public SparkAdmission(final Split split) {
        this.split = split;
    }

    @Override
    public Query recognise(final Path root) {
        final StreamExecution execution = ofThread();
        if (execution == null || execution.name() != null && execution.name().startsWith(WARM_UP)) {
            return null;
        }
        final SparkQuery query = new SparkQuery(execution);
        return drains(execution) && query.root().equals(root) ? new Query(query) : null;
    }

    private static boolean drains(final StreamExecution execution) {
        return execution instanceof MicroBatchExecution && (new SparkQuery(execution).isRealTime()
                || !(execution instanceof AsyncProgressTrackingMicroBatchExecution));
    }

    @Override
    public String reasonUnguarded() {
        final StreamExecution execution = ofThread();
        if (!drains(execution)) {
            return "it runs continuously or with asynchronous progress";
        }
        final String manager = execution.sparkSession().sessionState().conf().getConfString(FILE_MANAGER, null);
        return GuardedFileManager.class.getName().equals(manager) ? "" : "its checkpoint does not go through Sluice's file"
                + " manager, for its session has " + FILE_MANAGER + " " + manager;
    }

    /** Spark's stop() waits for the stream thread, which is this one; and who waits for the query is to read the sentence. */
    @Override
    public Query refuse(final String sentence) {
        final StreamExecution execution = ofThread();
        execution.streamDeathCause_$eq(new StreamingQueryException(
                sentence, new RefusedException(sentence), "STREAM_FAILED", scala.collection.immutable.Map$.MODULE$.empty()));
        execution.state().set(TERMINATED$.MODULE$);
        return new Query(new SparkQuery(execution));
    }

    @Override
    public void admit(final Query query, final Configuration conf) throws IOException {
        final StreamExecution execution = ((SparkQuery) query.spark()).execution();
        final String location = execution.sparkSessionForStream().sessionState().conf().getConfString(LOCATION, null);
        if (isForgotten(execution, query.spark().root(), location)) {
            throw new RefusedException("a query without a checkpoint of its own and without a name would start from scratch"
                    + " at every restart, so it is not started: give it a .queryName(…) or a checkpointLocation");
        }
        new Compatibility(query, execution, conf).check();
    }

    /** Spark gives such a query a folder that no later run finds again. */
    private static boolean isForgotten(final StreamExecution execution, final Path root, final String location) {
        final boolean named = execution.name() != null;
        final boolean below = location != null && root.getParent() != null
                && root.getParent().toUri().getPath().equals(new Path(location).toUri().getPath());
        return Inside.<Boolean>of(execution, "deleteCheckpointOnStop") || !named && below && root.getName().matches(UUID);
    }

    @Override
    public void begin(final Query query, final Ids ids) throws IOException {
        final StreamExecution execution = ((SparkQuery) query.spark()).execution();
        final SQLConf conf = execution.sparkSessionForStream().sessionState().conf();
        // From here Spark carries them to every task, in the Hadoop configuration of each batch.
        conf.setConfString(Fence.ROOT, query.spark().root().toString());
        conf.setConfString(Fence.EPOCH, Long.toString(query.epoch()));
        final Configuration hadoop = execution.sparkSessionForStream().sessionState().newHadoopConf();
        removeUnfinished(execution, hadoop);
        adoptSettings(execution.sparkSessionForStream(), query.spark().root());
        StateFormat.choose(conf, ids, query.spark().root(), hadoop);
        forbidCopies(query, execution);
        if (StateFormat.namesItsFiles(conf)) {
            ThoroughSink.put(execution);
        }
        if (query.spark().isRealTime()) {
            EndableScans.plan(execution.sparkSessionForStream());
        } else {
            CutScans.plan(execution.sparkSessionForStream(), split);
        }
        SourceNames.write(query.spark().root(), hadoop, Compatibility.sources(execution.analyzedPlan()));
    }

    /** Before the sink is put behind another. Spark asks anew for each stage, and refuses a Real-Time batch with copies. */
    private static void forbidCopies(final Query query, final StreamExecution execution) {
        final SparkConf live = execution.sparkSession().sparkContext().conf();
        if (query.spark().isRealTime()) {
            Speculation.forbid(live, "query '" + query.spark().name() + "' runs in Real-Time Mode");
        } else if (!Sinks.takeOneAttempt(execution.sink())) {
            Speculation.forbid(live, "into the sink of query '" + query.spark().name() + "' each attempt would write");
        }
    }

    /** A sink of files keeps a log of its own, which says what its readers see. */
    private static void removeUnfinished(final StreamExecution execution, final Configuration hadoop) throws IOException {
        if (execution.sink() instanceof FileStreamSink) {
            final Path files = new Path(Inside.<String>of(execution.sink(), "path"));
            final SQLConf conf = execution.sparkSessionForStream().sessionState().conf();
            final Path log = FileStreamSink.getMetadataLogPath(files.getFileSystem(hadoop), files, conf);
            if (new Epochs(log, hadoop).isPosix()) {
                Unfinished.remove(log);
            }
        }
    }

    @Override
    public Query ofThread(final Collection<Query> queries) {
        for (final Query query : queries) {
            if (((SparkQuery) query.spark()).execution().queryExecutionThread() == Thread.currentThread()) {
                return query;
            }
        }
        return null;
    }

    /**
     * A session of our own with the settings the query's will have once it has read its checkpoint: what is warmed up, loaded or
     * compared before the gate opens must be what runs behind it.
     *
     * @param waiting at its gate
     * @return a copy of the query's session
     * @throws IOException when the checkpoint cannot be read
     */
    public static org.apache.spark.sql.classic.SparkSession sessionFor(final SparkQuery waiting) throws IOException {
        final org.apache.spark.sql.classic.SparkSession session =
                waiting.execution().sparkSessionForStream().cloneSession();
        adoptSettings(session, waiting.root());
        final Configuration hadoop = session.sessionState().newHadoopConf();
        StateFormat.choose(session.sessionState().conf(), Ids.read(waiting.root(), hadoop), waiting.root(), hadoop);
        return session;
    }

    /** What the last batch was begun with goes on, whatever the session has now; Spark does the same a little later. */
    private static void adoptSettings(final org.apache.spark.sql.classic.SparkSession session, final Path root) {
        final scala.Option<scala.Tuple2<Object, OffsetSeqBase>> last =
                new OffsetSeqLog(session, new Path(root, "offsets").toString(), true).getLatest();
        if (last.isDefined() && last.get()._2().metadataOpt().isDefined()) {
            OffsetSeqMetadata$.MODULE$.setSessionConf(last.get()._2().metadataOpt().get(), session.sessionState().conf());
        }
    }

    private static StreamExecution ofThread() {
        scala.Option<SparkSession> active = SparkSession.getActiveSession();
        if (!active.isDefined()) {
            active = SparkSession.getDefaultSession(); // Spark makes the query's session active only after it has started
        }
        if (!active.isDefined() || !(active.get() instanceof org.apache.spark.sql.classic.SparkSession)) {
            return null;
        }
        // The shared state knows the queries of every session; a session's own manager knows its own only.
        final org.apache.spark.sql.classic.SparkSession session =
                (org.apache.spark.sql.classic.SparkSession) active.get();
        for (final StreamExecution execution : session.sharedState().activeStreamingQueries().values()) {
            if (execution.queryExecutionThread() == Thread.currentThread()) {
                return execution;
            }
        }
        return null;
    }
}
