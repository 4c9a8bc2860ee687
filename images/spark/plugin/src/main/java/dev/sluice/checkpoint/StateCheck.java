package dev.sluice.checkpoint;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqBase;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata$;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadataBase;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets Spark itself say whether a query's operators and schema fit a checkpoint's state: it plans the next batch against a copy
 * of the state's few metadata files, for its check writes what it finds new.
 */
final class StateCheck {
    private static final Logger LOG = LoggerFactory.getLogger(StateCheck.class);
    private static final String METADATA = "_metadata";

    private final Query query;
    private final StreamExecution execution;
    private final Configuration hadoop;

    StateCheck(final Query query, final StreamExecution execution, final Configuration hadoop) {
        this.query = query;
        this.execution = execution;
        this.hadoop = hadoop;
    }

    void check(final Ids ids, final OffsetSeqBase last) throws IOException {
        final Path state = new Path(query.spark().root(), "state");
        // Named as the original: Spark looks for a folder of that name beside what it is given.
        final Path folder = new Path(query.spark().root(), "_sluice/check/" + query.spark().runId());
        final Path copy = new Path(folder, "state");
        final FileSystem store = state.getFileSystem(hadoop);
        try {
            copy(store, state, copy);
            plan(ids, last, copy);
        } catch (final RuntimeException e) {
            if (!(e instanceof SparkThrowable) || !isAboutState((SparkThrowable) e)) {
                // Not about the state: the real planning may fare better, and if not says so itself.
                LOG.info("Sluice: the state of query '{}' could not be compared beforehand", query.spark().name(), e);
                return;
            }
            throw new RefusedException("query '" + query.spark().name() + "' does not fit the state in "
                    + query.spark().root() + ": " + e.getMessage().lines().findFirst().orElse(""));
        } finally {
            store.delete(folder, true);
        }
    }

    private static boolean isAboutState(final SparkThrowable thrown) {
        final String condition = thrown.getCondition();
        return condition != null && (condition.startsWith("STATE_STORE") || condition.startsWith("STREAMING_STATEFUL")
                || condition.startsWith("TRANSFORM_WITH_STATE") || condition.contains("STATE_SCHEMA"));
    }

    /**
     * Folders of every operator and partition, for Spark looks whether they are there; of the files only metadata, which it
     * keeps in the operator's folder and, for schemas, in those of partition 0.
     */
    private static void copy(final FileSystem store, final Path from, final Path into) throws IOException {
        store.mkdirs(into);
        for (final FileStatus child : store.listStatus(from)) {
            final String name = child.getPath().getName();
            if (METADATA.equals(name)) {
                FileUtil.copy(store, child.getPath(), store, into, false, store.getConf());
            } else if (child.isDirectory()) {
                copy(store, child.getPath(), new Path(into, name));
            }
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private void plan(final Ids ids, final OffsetSeqBase last, final Path copy) throws IOException {
        final SparkSession session = SparkAdmission.sessionFor((SparkQuery) query.spark());
        final OffsetSeqMetadataBase metadata = last.metadataOpt().isDefined() ? last.metadataOpt().get()
                : OffsetSeqMetadata$.MODULE$.apply(0L, 0L, session.conf());
        final LogicalPlan plan = Leaves.emptied(execution.analyzedPlan());
        session.withActive(() -> new IncrementalExecution(session, plan, execution.outputMode(), copy.toString(), execution.id(),
                execution.runId(), ids.commits() + 1, scala.Option.apply(metadata), metadata,
                WatermarkPropagator$.MODULE$.noop(), true, new scala.collection.mutable.HashMap(),
                new scala.collection.mutable.HashMap<>(), CommandExecutionMode.ALL(), false, false).executedPlan());
    }
}
