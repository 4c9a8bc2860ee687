package dev.sluice.driver;

import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.Query;
import dev.sluice.warmup.WarmUp;
import java.util.Properties;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;

/**
 * Proves for every query that its checkpoint goes through our file manager: a job of its first batch means that its
 * {@code offsets/} were read, and then it must have come to our gate. User code can replace the manager at run time.
 */
final class Proof extends SparkListener {
    private static final String QUERY = "sql.streaming.queryId";
    private static final String BATCH = "streaming.sql.batchId";

    private final Guard guard;
    private final StateReport state;
    private final Runnable changed;

    Proof(final Guard guard, final StateReport state, final Runnable changed) {
        this.guard = guard;
        this.state = state;
        this.changed = changed;
    }

    @Override
    public void onJobStart(final SparkListenerJobStart job) {
        final Properties properties = job.properties();
        final String query = properties == null ? null : properties.getProperty(QUERY);
        if (query == null || properties.getProperty(BATCH) == null) {
            return;
        }
        final boolean known = WarmUp.isOurs(query)
                || guard.queries().stream().map(Query::spark).anyMatch(spark -> spark.id().equals(query));
        if (!known && state.unprotected(query, "query " + query + " runs without gate, drain and fence: its checkpoint does"
                + " not go through Sluice's file manager (its session has another"
                + " spark.sql.streaming.checkpointFileManagerClass, or it runs continuously or with asynchronous progress)")) {
            changed.run();
        }
    }
}
