package dev.sluice.warmup;

import dev.sluice.checkpoint.Fence;
import dev.sluice.checkpoint.Leaves;
import dev.sluice.checkpoint.SparkAdmission;
import dev.sluice.checkpoint.SparkQuery;
import dev.sluice.inside.Inside;
import java.io.IOException;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.Dependency;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.streaming.checkpointing.CommitLog;
import org.apache.spark.sql.execution.streaming.checkpointing.CommitMetadataBase;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata$;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator$;
import org.apache.spark.sql.execution.streaming.state.ReadStateStoreRDD;
import org.apache.spark.sql.execution.streaming.state.StateStoreRDD;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Opens the state a waiting query will go on from. A provider is known by checkpoint, operator, partition and run id, and the
 * run id is fixed before the gate: so a job that reads and writes nothing makes the executors load it, and tells Spark where it
 * is. Aggregation, deduplication and sessions; joins and transformWithState keep their state behind other RDDs.
 */
public final class Preload {
    private final SparkContext spark;

    /** A preload.
     * @param spark the application */
    public Preload(final SparkContext spark) {
        this.spark = spark;
    }

    /**
     * Loads what the last commit left. Worth repeating while the old driver goes on: only what is new is loaded then.
     *
     * @param waiting at its gate
     * @return how it went, in one sentence
     * @throws IOException when the checkpoint cannot be read
     */
    public String run(final SparkQuery waiting) throws IOException {
        final SparkSession session = SparkAdmission.sessionFor(waiting);
        // Executors keep what they load, and this configuration with it: its epoch comes with the first task after go.
        session.sessionState().conf().setConfString(Fence.ROOT, waiting.root().toString());
        final CommitLog log = new CommitLog(session, new Path(waiting.root(), "commits").toString(), true);
        final scala.Option<scala.Tuple2<Object, CommitMetadataBase>> last = log.getLatest();
        if (last.isEmpty()) {
            return "query '" + waiting.name() + "' has no state yet";
        }
        final long beganNs = System.nanoTime();
        final long batch = (Long) last.get()._1();
        final Map<String, RDD<?>> stores = new LinkedHashMap<>();
        collect(next(waiting, session, batch, last.get()._2()).executedPlan().execute(), stores, new HashSet<>());
        stores.values().forEach(store -> load(session, store));
        return "query '" + waiting.name() + "' loaded " + stores.size() + " operators' state of batch " + batch + " in "
                + (System.nanoTime() - beganNs) / 1_000_000 + " ms";
    }

    /** The next batch as Spark would plan it, without its rows, and without leave to write metadata (not the first batch). */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static IncrementalExecution next(final SparkQuery waiting, final SparkSession session, final long batch,
            final CommitMetadataBase commit) {
        final StreamExecution execution = waiting.execution();
        final LogicalPlan plan = Leaves.emptied(execution.analyzedPlan());
        final scala.collection.mutable.Map ids = new scala.collection.mutable.HashMap<>();
        if (commit.stateUniqueIds().isDefined()) {
            ids.addAll((scala.collection.immutable.Map) commit.stateUniqueIds().get());
        }
        return new IncrementalExecution(session, plan, execution.outputMode(), new Path(waiting.root(), "state").toString(),
                execution.id(), execution.runId(), batch + 1, scala.Option.empty(),
                OffsetSeqMetadata$.MODULE$.apply(0L, 0L, session.conf()), WatermarkPropagator$.MODULE$.noop(), false, ids,
                new scala.collection.mutable.HashMap<>(), CommandExecutionMode.ALL(), false, false);
    }

    private static void collect(final RDD<?> rdd, final Map<String, RDD<?>> stores, final Set<Integer> seen) {
        if (!seen.add(rdd.id())) {
            return;
        }
        if (rdd instanceof StateStoreRDD || rdd instanceof ReadStateStoreRDD) {
            stores.putIfAbsent(Inside.<Object>of(rdd, "operatorId").toString(), rdd);
        }
        for (final Dependency<?> dependency : CollectionConverters.asJava(rdd.dependencies())) {
            collect(dependency.rdd(), stores, seen);
        }
    }

    private void load(final SparkSession session, final RDD<?> store) {
        final int partitions = store.getNumPartitions();
        final scala.reflect.ClassTag<Object> any = scala.reflect.ClassTag$.MODULE$.Object();
        final RDD<Object> nothing = spark.parallelize(
                CollectionConverters.asScala(Collections.<Object>nCopies(partitions, 0)).toSeq(), partitions, any);
        final String ids = store instanceof ReadStateStoreRDD ? "stateStoreCkptIds" : "uniqueId";
        final RDD<Object> reading = new ReadStateStoreRDD<>(nothing, new OpenAndLeave(), Inside.of(store, "checkpointLocation"),
                Inside.of(store, "queryRunId"), Inside.of(store, "operatorId"), Inside.of(store, "storeVersion"),
                Inside.of(store, ids), Inside.of(store, "stateSchemaBroadcast"), Inside.of(store, "keySchema"),
                Inside.of(store, "valueSchema"), Inside.of(store, "keyStateEncoderSpec"), session.sessionState(),
                scala.Option.apply(session.streams().stateStoreCoordinator()), Inside.of(store, "useColumnFamilies"),
                scala.collection.immutable.Map$.MODULE$.empty(), any, any);
        reading.collect();
    }
}
