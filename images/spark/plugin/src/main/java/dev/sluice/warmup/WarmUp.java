package dev.sluice.warmup;

import dev.sluice.checkpoint.Leaves;
import dev.sluice.checkpoint.SparkAdmission;
import dev.sluice.checkpoint.SparkQuery;
import dev.sluice.split.CutScans;
import dev.sluice.split.Split;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Runs a waiting query's plan on made-up rows into nowhere: code is compiled on driver and executors, native libraries and
 * Python workers are up. The user's functions do run; who has some with side effects switches this off.
 */
public final class WarmUp {
    private static final int BATCHES = 4;
    private static final int REHEARSED_BATCHES = 6;
    private static final long LONGEST_MS = 60_000;
    private static final long LONGEST_REHEARSAL_MS = 15_000;
    private static final double QUICKER = 0.9;
    private static final long LOOK_MS = 20;
    private static final int LONGEST_REASON = 160;

    private final BooleanSupplier goesOn;
    private final Split split;

    /**
     * A warm-up.
     *
     * @param goesOn false when the real query may start: then this one gives way
     * @param split who cuts the real query's batches
     */
    public WarmUp(final BooleanSupplier goesOn, final Split split) {
        this.goesOn = goesOn;
        this.split = split;
    }

    /**
     * Warms up for one query.
     *
     * @param waiting at its gate
     * @return how it went, in one sentence
     * @throws InterruptedException when this thread is told to end
     * @throws IOException when the checkpoint's store does not answer
     * @throws TimeoutException when the warm-up does not stop
     */
    public String run(final SparkQuery waiting) throws InterruptedException, IOException, TimeoutException {
        final StreamExecution execution = waiting.execution();
        final SparkSession session = SparkAdmission.sessionFor(waiting);
        // On the checkpoint's own store: executors reach it, and its client is warm as well.
        final Path folder = new Path(waiting.root(), "_sluice/warm-up/" + waiting.runId());
        final LogicalPlan plan = Leaves.replaced(execution.analyzedPlan(), WarmUp::madeUp);
        final Configuration conf = session.sessionState().newHadoopConf();
        // Also what a driver left that was killed at its gate; one that still waits there only starts cold.
        folder.getFileSystem(conf).delete(folder.getParent(), true);
        try {
            final String said = "query '" + waiting.name() + "' warmed up with batches of "
                    + run(start(waiting, Dataset.ofRows(session, plan).writeStream().format("noop"), folder), BATCHES, LONGEST_MS);
            return said + rehearsed(waiting, session, new Path(folder, "rehearsal")) + producers(execution, session);
        } finally {
            folder.getFileSystem(conf).delete(folder, true);
        }
    }

    private String rehearsed(final SparkQuery waiting, final SparkSession session, final Path folder)
            throws InterruptedException, TimeoutException {
        final DataStreamWriter<Row> rehearsal = new Rehearsal(waiting, session).query(WarmUp::madeUp);
        if (rehearsal == null) {
            return "";
        }
        final StreamingQuery query = start(waiting, rehearsal, folder);
        final StreamExecution execution = ((StreamingQueryWrapper) query).streamingQuery();
        if (!waiting.isRealTime()) {
            // Its stream has a session of its own, of which nobody knows before it has started.
            CutScans.plan(execution.sparkSessionForStream(), split);
        }
        final String batchesMs = run(query, REHEARSED_BATCHES, LONGEST_REHEARSAL_MS);
        Consumers.hand(execution, waiting.execution().sparkSessionForStream());
        return ", on its Kafka with batches of " + batchesMs;
    }

    private String producers(final StreamExecution execution, final SparkSession session) {
        if (!Kafka.is(execution.sink()) || !goesOn.getAsBoolean()) {
            return "";
        }
        final long beganNs = System.nanoTime();
        new Producers(execution, session.sparkContext()).open();
        return ", producers connected in " + (System.nanoTime() - beganNs) / 1_000_000 + " ms";
    }

    private static StreamingQuery start(final SparkQuery waiting, final DataStreamWriter<Row> writer, final Path folder)
            throws TimeoutException {
        return writer.queryName(SparkAdmission.WARM_UP + waiting.runId()).outputMode(waiting.execution().outputMode())
                .option("checkpointLocation", folder.toString()).start();
    }

    private String run(final StreamingQuery query, final int batches, final long longestMs)
            throws InterruptedException, TimeoutException {
        final long beganNs = System.nanoTime();
        try {
            while (query.isActive() && goesOn.getAsBoolean() && !isSettled(query, batches)
                    && System.nanoTime() - beganNs < longestMs * 1_000_000) {
                Thread.sleep(LOOK_MS);
            }
        } finally {
            query.stop();
        }
        final List<Long> batchesMs = new ArrayList<>();
        for (final StreamingQueryProgress progress : query.recentProgress()) {
            batchesMs.add(progress.batchDuration());
        }
        return batchesMs + " ms" + (query.exception().isDefined() ? ", then failed: " + brief(query.exception().get().message()) : "");
    }

    /** Code is compiled as it runs: on a slow machine batches still get quicker after the first few. */
    private static boolean isSettled(final StreamingQuery query, final int fewest) {
        final StreamingQueryProgress last = query.lastProgress();
        if (last == null || last.batchId() < fewest - 1) {
            return false;
        }
        final StreamingQueryProgress[] done = query.recentProgress();
        final StreamingQueryProgress before = done.length < 2 ? last : done[done.length - 2];
        return last.batchDuration() >= QUICKER * before.batchDuration();
    }

    /** What the user's own functions say of rows that are none fills pages. */
    private static String brief(final String message) {
        return message.length() > LONGEST_REASON ? message.substring(0, LONGEST_REASON) + "…" : message;
    }

    private static LogicalPlan madeUp(final LogicalPlan leaf) {
        StructType schema = new StructType();
        for (final Attribute column : scala.jdk.javaapi.CollectionConverters.asJava(leaf.output())) {
            schema = schema.add(column.name(), column.dataType(), true);
        }
        final Table table = new MadeUpRows(schema);
        if (leaf instanceof StreamingRelationV2) {
            final Object[] fields = new Object[leaf.productArity()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = leaf.productElement(i) instanceof Table ? table : leaf.productElement(i);
            }
            return leaf.makeCopy(fields);
        }
        return new StreamingRelationV2(scala.Option.empty(), table.name(), table, CaseInsensitiveStringMap.empty(),
                columns(leaf), scala.Option.empty(), scala.Option.empty(), scala.Option.empty(),
                ((StreamingRelation) leaf).sourceIdentifyingName());
    }

    /** A leaf's columns are references, though its type says less. */
    @SuppressWarnings("unchecked")
    private static scala.collection.immutable.Seq<AttributeReference> columns(final LogicalPlan leaf) {
        return (scala.collection.immutable.Seq<AttributeReference>) (Object) leaf.output();
    }
}
