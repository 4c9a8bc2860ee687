package dev.sluice.checkpoint;

import dev.sluice.inside.Inside;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A sink that passes over a batch it already has (files, Delta), with the state worked through all the same. A driver that dies
 * between the sink's commit and Spark's leaves such a batch, and with it, in format 2, state whose names nobody knows: Spark
 * would end the next driver with an assertion, and every one after it.
 */
final class ThoroughSink implements Sink {
    private static final Logger LOG = LoggerFactory.getLogger(ThoroughSink.class);

    private final Sink sink;

    private ThoroughSink(final Sink sink) {
        this.sink = sink;
    }

    /** Puts itself before a query's sink. In foreachBatch Spark itself sees to it that the state is worked through.
     * @param execution not yet in its first batch, its state of format 2 */
    static void put(final StreamExecution execution) {
        final Table sink = execution.sink();
        if (!(sink instanceof Sink) || sink instanceof ForeachBatchSink) {
            return;
        }
        Inside.put(execution, "sink", new ThoroughSink((Sink) sink));
    }

    @Override
    public void addBatch(final long batch, final Dataset<Row> rows) {
        sink.addBatch(batch, rows);
        final QueryExecution plan = ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution();
        if (isUntouched(plan.executedPlan())) {
            LOG.info("Sluice: {} has batch {} already; only its state is worked through", sink, batch);
            plan.toRdd().toJavaRDD().foreachPartition(ThoroughSink::exhaust);
        }
    }

    private static void exhaust(final java.util.Iterator<InternalRow> rows) {
        rows.forEachRemaining(row -> { });
    }

    private static boolean isUntouched(final SparkPlan plan) {
        return plan.exists(node -> node instanceof StateStoreWriter
                && ((StateStoreWriter) node).checkpointInfoAccumulator().isZero());
    }

    @Override
    public String name() {
        return sink.name();
    }

    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
        return sink.schema();
    }

    @Override
    public Column[] columns() {
        return sink.columns();
    }

    @Override
    public Set<TableCapability> capabilities() {
        return sink.capabilities();
    }

    @Override
    public String toString() {
        return sink.toString();
    }
}
