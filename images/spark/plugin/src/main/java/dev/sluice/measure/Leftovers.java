package dev.sluice.measure;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Attempts that run on though their stage is complete, for a copy was faster or they are copies themselves. Where Python or a
 * slow node takes long to stop one, the next batch's task waits for that slot, or goes elsewhere after Spark's wait.
 *
 * <p>Written by the listener's thread, read by those that plan batches.
 */
public final class Leftovers {
    private final Map<Long, String> executors = new ConcurrentHashMap<>();

    /**
     * How many slots of an executor are taken.
     *
     * @param executor by its id
     * @return attempts that are still to end there
     */
    public int on(final String executor) {
        return (int) executors.values().stream().filter(executor::equals).count();
    }

    void left(final long task, final String executor) {
        executors.put(task, executor);
    }

    void ended(final long task) {
        executors.remove(task);
    }

    /** An executor that is gone tells no ends. */
    void gone(final String executor) {
        executors.values().removeIf(executor::equals);
    }
}
