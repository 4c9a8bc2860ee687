package dev.sluice.realtime;

import java.lang.reflect.Field;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;
import org.apache.spark.sql.internal.SessionState;

/**
 * Puts {@link EndableReaders} into the scans of a Real-Time query's batches. Its session alone is changed, and by reflection:
 * the official way, an extension of all sessions, is left out with a warning where it does not load, and a drain would then
 * take readers that never heard of it for none.
 */
public final class EndableScans extends ColumnarRule {
    private EndableScans() {
    }

    /**
     * From here on a query's batches can be ended.
     *
     * @param session the query's own
     */
    public static void plan(final SparkSession session) {
        final SessionState state = session.sessionState();
        set(SessionState.class, state, "columnarRules", state.columnarRules().prepended(new EndableScans()));
    }

    @Override
    public Rule<SparkPlan> preColumnarTransitions() {
        return new Swap();
    }

    private static final class Swap extends Rule<SparkPlan> {
        @Override
        public SparkPlan apply(final SparkPlan plan) {
            plan.foreach(node -> {
                if (node instanceof RealTimeStreamScanExec) {
                    swap((RealTimeStreamScanExec) node);
                }
                return null;
            });
            return plan;
        }

        /** In place: Spark copies what it plans, but no longer here, and finds a batch's end by this very class. */
        private static void swap(final RealTimeStreamScanExec scan) {
            set(RealTimeStreamScanExec.class, scan, "readerFactory", new EndableReaders(scan.readerFactory()));
        }
    }

    private static void set(final Class<?> type, final Object of, final String name, final Object value) {
        try {
            final Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            field.set(of, value);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException("this Spark's " + type.getSimpleName() + " has no " + name, e);
        }
    }
}
