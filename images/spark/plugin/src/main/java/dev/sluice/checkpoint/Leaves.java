package dev.sluice.checkpoint;

import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/** Puts something else where a streaming plan reads its sources. */
public final class Leaves {
    private Leaves() {
    }

    /**
     * A plan that reads no rows at all.
     *
     * @param plan analysed, with streaming sources
     * @return the same with empty ones
     */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public static LogicalPlan emptied(final LogicalPlan plan) {
        return replaced(plan, leaf -> new LocalRelation(leaf.output(),
                (scala.collection.immutable.Seq) scala.collection.immutable.Nil$.MODULE$, true, scala.Option.empty()));
    }

    /**
     * A plan with other sources.
     *
     * @param plan analysed, with streaming sources
     * @param leaf what comes in the place of one
     * @return the new plan
     */
    public static LogicalPlan replaced(final LogicalPlan plan, final UnaryOperator<LogicalPlan> leaf) {
        return plan.transform(new AbstractPartialFunction<LogicalPlan, LogicalPlan>() {
            private static final long serialVersionUID = 1L;

            @Override
            public boolean isDefinedAt(final LogicalPlan node) {
                return node instanceof StreamingRelationV2 || node instanceof StreamingRelation;
            }

            @Override
            @SuppressWarnings("unchecked")
            public <A extends LogicalPlan, B> B applyOrElse(final A node, final Function1<A, B> otherwise) {
                return isDefinedAt(node) ? (B) leaf.apply(node) : otherwise.apply(node);
            }
        });
    }
}
