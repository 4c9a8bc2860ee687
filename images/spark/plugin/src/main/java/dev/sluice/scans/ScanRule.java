package dev.sluice.scans;

import dev.sluice.inside.Inside;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.internal.SessionState;

/**
 * Changes the scans of a query's batches in place: Spark copies what it plans, but no longer here, and finds a source's rows by
 * these very objects. One session alone is changed, and by reflection: the official way, an extension of all sessions, is left
 * out with a warning where it does not load, and whoever counts on the change would not hear of it.
 */
public abstract class ScanRule extends ColumnarRule {
    private static final long serialVersionUID = 1L;

    /** A rule, to be put into a session. */
    protected ScanRule() {
    }

    /**
     * From here on it is applied to what this session plans.
     *
     * @param session a query's own
     */
    protected final void put(final SparkSession session) {
        final SessionState state = session.sessionState();
        // A warm-up puts one in while the gate may open for the query itself, which then puts in its own.
        synchronized (ScanRule.class) {
            Inside.put(state, "columnarRules", state.columnarRules().prepended(this));
        }
    }

    /**
     * Changes one operator of a plan, if it is one of those.
     *
     * @param node any
     */
    protected abstract void change(SparkPlan node);

    @Override
    public final Rule<SparkPlan> preColumnarTransitions() {
        return new Rule<>() {
            @Override
            public SparkPlan apply(final SparkPlan plan) {
                plan.foreach(node -> {
                    change(node);
                    return null;
                });
                return plan;
            }
        };
    }
}
