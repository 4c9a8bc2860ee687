package dev.sluice.warmup;

import dev.sluice.checkpoint.Leaves;
import dev.sluice.checkpoint.SparkQuery;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A waiting query on rows of its own Kafka, into nowhere: what it does with real rows is compiled, clients are known, on driver
 * and executors. It reads from the topics' end, and Kafka keeps no track of that. Other sources may mind being asked.
 */
final class Rehearsal {
    private static final Set<String> WHERE_TO_BEGIN = Set.of("startingoffsets", "startingoffsetsbytimestamp",
            "startingtimestamp", "maxoffsetspertrigger", "minoffsetspertrigger", "maxtriggerdelay");
    private static final String MOST_ROWS = "1000";

    private final StreamExecution execution;
    private final SparkSession session;
    private boolean hasKafka;

    Rehearsal(final SparkQuery waiting, final SparkSession session) {
        this.execution = waiting.execution();
        this.session = session;
    }

    /** The query, not yet started.
     * @param madeUp what stands for any other source
     * @return null where there is no Kafka to rehearse with */
    DataStreamWriter<Row> query(final UnaryOperator<LogicalPlan> madeUp) {
        final LogicalPlan plan = Leaves.replaced(execution.analyzedPlan(), leaf -> isKafka(leaf) ? fromTheEnd(leaf) : madeUp.apply(leaf));
        return hasKafka ? Dataset.ofRows(session, plan).writeStream().format("noop") : null;
    }

    private boolean isKafka(final LogicalPlan leaf) {
        return leaf instanceof StreamingRelationV2 && Kafka.is(((StreamingRelationV2) leaf).table());
    }

    private LogicalPlan fromTheEnd(final LogicalPlan leaf) {
        hasKafka = true;
        final Object[] fields = new Object[leaf.productArity()];
        for (int i = 0; i < fields.length; i++) {
            final Object field = leaf.productElement(i);
            fields[i] = field instanceof CaseInsensitiveStringMap ? atTheEnd((CaseInsensitiveStringMap) field) : field;
        }
        return leaf.makeCopy(fields);
    }

    private static CaseInsensitiveStringMap atTheEnd(final CaseInsensitiveStringMap options) {
        final Map<String, String> found = new HashMap<>(options.asCaseSensitiveMap());
        found.keySet().removeIf(key -> WHERE_TO_BEGIN.contains(key.toLowerCase(Locale.ROOT)));
        found.put("startingOffsets", "latest");
        found.put("maxOffsetsPerTrigger", MOST_ROWS);
        return new CaseInsensitiveStringMap(found);
    }
}
