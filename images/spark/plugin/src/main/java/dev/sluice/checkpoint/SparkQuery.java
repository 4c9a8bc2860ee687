package dev.sluice.checkpoint;

import java.util.concurrent.TimeoutException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.RealTimeTrigger;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.TERMINATED$;

/** Spark's query object, as gate and drain see it. */
public final class SparkQuery implements Query.Spark {
    private static final long RUN_OUT_MS = 10_000;

    private final StreamExecution execution;
    private final Path root;

    SparkQuery(final StreamExecution execution) {
        this.execution = execution;
        this.root = new Path(execution.resolvedCheckpointRoot());
    }

    /** The object itself.
     * @return it */
    public StreamExecution execution() {
        return execution;
    }

    @Override
    public String name() {
        return execution.name();
    }

    @Override
    public String id() {
        return execution.id().toString();
    }

    @Override
    public String runId() {
        return execution.runId().toString();
    }

    @Override
    public Path root() {
        return root;
    }

    @Override
    public boolean isRealTime() {
        return execution.trigger() instanceof RealTimeTrigger;
    }

    @Override
    public long batch() {
        return execution.getLatestExecutionContext().batchId();
    }

    @Override
    public boolean isActive() {
        return execution.isActive();
    }

    @Override
    public boolean hasEnded() {
        return !execution.queryExecutionThread().isAlive();
    }

    @Override
    public boolean isIdle() {
        return !execution.status().isTriggerActive() || execution.status().message().startsWith("Waiting");
    }

    @Override
    public void stop() {
        if (isRealTime()) {
            runOut();
        }
        try {
            execution.stop();
        } catch (final IllegalStateException e) {
            // The user's program goes on as soon as the query has ended, and may have stopped Spark before we are back here.
            if (!hasEnded()) {
                throw e;
            }
        } catch (final TimeoutException e) {
            throw new IllegalStateException("query '" + name() + "' did not stop in time", e);
        }
    }

    /**
     * A Real-Time query hands its log to a thread of its own, and while we park that one it waits to hand on more: an interrupt
     * there is a failure to Spark. So it is told that it has ended, which lets both threads come to their end by themselves.
     */
    private void runOut() {
        execution.state().set(TERMINATED$.MODULE$);
        try {
            execution.queryExecutionThread().join(RUN_OUT_MS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
