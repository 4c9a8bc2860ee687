package dev.sluice.driver;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * When an executor that gets no more tasks may end: the jobs it worked for are over, so nobody reads its shuffle files, and the
 * driver has the results of its tasks. Spark's own way is that the executor ends as soon as no task runs there; a result the
 * driver has not looked at by then is lost, its task runs once more, and a sink that takes every attempt has its rows twice.
 */
final class Departures extends SparkListener {
    /** What is done to executors. */
    interface Executors {
        /** No more tasks go there from now on; false where that cannot be. */
        boolean retire(String executor);

        /** Whether the driver waits for a task there. */
        boolean isAwaited(String executor);

        /** It is to end now. */
        void end(String executor);
    }

    private final Executors executors;
    // Guarded by this: orders come on one thread, events on another. The map is also asked at every task's end, without waiting.
    private final Set<Integer> jobs = new HashSet<>();
    private final Map<String, Set<Integer>> leaving = new ConcurrentHashMap<>();

    Departures(final Executors executors) {
        this.executors = executors;
    }

    /** Sends one away; false where it is not there, or on its way already. */
    synchronized boolean begin(final String executor) {
        final boolean goes = executors.retire(executor);
        if (goes) {
            leaving.put(executor, new HashSet<>(jobs));
            endWhoMay();
        }
        return goes;
    }

    @Override
    public synchronized void onJobStart(final SparkListenerJobStart event) {
        jobs.add(event.jobId());
    }

    @Override
    public synchronized void onJobEnd(final SparkListenerJobEnd event) {
        jobs.remove(event.jobId());
        leaving.values().forEach(worked -> worked.remove(event.jobId()));
        endWhoMay();
    }

    /** A task may outlive its job: one that was beaten by its copy. */
    @Override
    public void onTaskEnd(final SparkListenerTaskEnd event) {
        if (leaving.containsKey(event.taskInfo().executorId())) {
            endWhoMay();
        }
    }

    @Override
    public void onExecutorRemoved(final SparkListenerExecutorRemoved event) {
        leaving.remove(event.executorId());
    }

    private synchronized void endWhoMay() {
        leaving.entrySet().removeIf(one -> {
            final boolean may = one.getValue().isEmpty() && !executors.isAwaited(one.getKey());
            if (may) {
                executors.end(one.getKey());
            }
            return may;
        });
    }
}
