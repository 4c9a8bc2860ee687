package dev.sluice.warmup;

import dev.sluice.inside.Inside;
import dev.sluice.scans.ScanRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The Kafka consumers a rehearsal leaves in the executors, for the query it rehearsed: to make new ones costs the first batch more
 * than its rows do. The connector keeps them by a group it draws for each query, so the query takes the rehearsal's. Kafka hears
 * nothing of it: partitions are assigned, and Spark commits no offset under such a group.
 */
final class Consumers extends ScanRule {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(Consumers.class);
    private static final String PARAMS = "executorKafkaParams";
    private static final String GROUP = "group.id";

    /** What the rehearsal's sources read with; used by the query's stream thread alone once it is planned. */
    private final transient List<Map<String, Object>> left;

    private Consumers(final List<Map<String, Object>> left) {
        this.left = left;
    }

    /**
     * From its first batch on a query reads with what its rehearsal read with.
     *
     * @param rehearsal that has run
     * @param session the query's own
     */
    static void hand(final StreamExecution rehearsal, final SparkSession session) {
        final List<Map<String, Object>> left = new ArrayList<>();
        for (final SparkDataStream source : CollectionConverters.asJava(rehearsal.sources())) {
            if (Kafka.is(source)) {
                left.add(Inside.of(source, PARAMS));
            }
        }
        new Consumers(left).put(session);
    }

    @Override
    protected void change(final SparkPlan node) {
        if (node instanceof MicroBatchScanExec) {
            take(((MicroBatchScanExec) node).stream());
        } else if (node instanceof RealTimeStreamScanExec) {
            take(((RealTimeStreamScanExec) node).stream());
        }
    }

    private void take(final SparkDataStream source) {
        try {
            if (!left.isEmpty() && Kafka.is(source)) {
                take(Inside.<Map<String, Object>>of(source, PARAMS));
            }
        } catch (final RuntimeException e) {
            left.clear();
            LOG.warn("Sluice: a query makes Kafka consumers of its own, for its rehearsal's cannot be handed to it", e);
        }
    }

    /** In place, for partitions that are planned already share the map. The connector wants all else to be the same. */
    private void take(final Map<String, Object> params) {
        final Map<String, Object> found = left.stream()
                .filter(one -> withoutGroup(one).equals(withoutGroup(params))).findFirst().orElse(null);
        if (found != null && left.stream().noneMatch(one -> one.get(GROUP).equals(params.get(GROUP)))) {
            params.put(GROUP, found.get(GROUP));
        }
    }

    private static Map<String, Object> withoutGroup(final Map<String, Object> params) {
        final Map<String, Object> rest = new HashMap<>(params);
        rest.remove(GROUP);
        return rest;
    }
}
