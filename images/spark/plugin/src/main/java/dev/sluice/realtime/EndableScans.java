package dev.sluice.realtime;

import dev.sluice.inside.Inside;
import dev.sluice.scans.ScanRule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;

/** Puts {@link EndableReaders} into the scans of a Real-Time query's batches: a drain takes readers without them for none. */
public final class EndableScans extends ScanRule {
    private static final long serialVersionUID = 1L;

    private EndableScans() {
    }

    /**
     * From here on a query's batches can be ended.
     *
     * @param session the query's own
     */
    public static void plan(final SparkSession session) {
        new EndableScans().put(session);
    }

    @Override
    protected void change(final SparkPlan node) {
        if (node instanceof RealTimeStreamScanExec) {
            final RealTimeStreamScanExec scan = (RealTimeStreamScanExec) node;
            Inside.put(scan, "readerFactory", new EndableReaders(scan.readerFactory()));
        }
    }
}
