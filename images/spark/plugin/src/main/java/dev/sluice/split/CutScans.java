package dev.sluice.split;

import dev.sluice.inside.Inside;
import dev.sluice.scans.ScanRule;
import java.util.List;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Has {@link Split} say who reads what of a micro-batch. What Spark has planned above a scan does not depend on into how many
 * partitions it goes, but for sources that say by which keys, and those are left alone.
 */
public final class CutScans extends ScanRule {
    private static final long serialVersionUID = 1L;
    private static final String QUERY = "sql.streaming.queryId";

    private final transient Split split;

    private CutScans(final Split split) {
        this.split = split;
    }

    /**
     * From here on a query's batches can be cut.
     *
     * @param session the query's own
     * @param split who cuts
     */
    public static void plan(final SparkSession session, final Split split) {
        new CutScans(split).put(session);
    }

    @Override
    protected void change(final SparkPlan node) {
        if (node instanceof MicroBatchScanExec) {
            cut((MicroBatchScanExec) node);
        }
    }

    private void cut(final MicroBatchScanExec scan) {
        final String query = scan.session().sparkContext().getLocalProperty(QUERY);
        final List<InputPartition> own = CollectionConverters.asJava(scan.inputPartitions());
        final boolean isArranged = scan.keyGroupedPartitioning().isDefined() || scan.ordering().isDefined();
        final List<InputPartition> cut = split.plan(query, own, isArranged);
        if (cut != own) {
            // Both were computed a moment ago, so Scala takes the fields as they are from here on.
            Inside.put(scan, "readerFactory", new PieceReaders(scan.readerFactory()));
            Inside.put(scan, "inputPartitions", CollectionConverters.asScala(cut).toSeq());
        }
    }
}
