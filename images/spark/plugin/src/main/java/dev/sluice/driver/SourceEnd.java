package dev.sluice.driver;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Ends the running batch of Real-Time queries early: executors ask whether their readers' clocks are to run ahead
 * ({@code executor.ReaderClock}), and by asking again say that they do.
 */
public final class SourceEnd {
    private static final String ASKS = "reader-clock ";

    private final Object lock = new Object();
    private final Supplier<Collection<String>> executors;
    private final Set<String> ended = ConcurrentHashMap.newKeySet();
    private boolean closed;

    /** All sources open.
     * @param executors those alive */
    public SourceEnd(final Supplier<Collection<String>> executors) {
        this.executors = executors;
    }

    /** What an executor asks.
     * @param executor its id
     * @param isEnded whether its readers' clocks already run ahead
     * @return the message */
    public static String question(final String executor, final boolean isEnded) {
        return ASKS + (isEnded ? "ended " : "open ") + executor;
    }

    /** Answers an executor.
     * @param message what came
     * @return whether its clocks are to run ahead; null when the message is none of ours */
    public Boolean answer(final Object message) {
        if (!(message instanceof String) || !((String) message).startsWith(ASKS)) {
            return null;
        }
        final String[] words = ((String) message).split(" ", 3);
        synchronized (lock) {
            if (closed && words.length == 3 && "ended".equals(words[1])) {
                ended.add(words[2]);
                lock.notifyAll();
            }
            return closed;
        }
    }

    /** Ends the batches; returns when every executor has said that its readers give no more rows.
     * @param timeoutMs at most so long
     * @throws TimeoutException when an executor does not say so
     * @throws InterruptedException when this thread is told to end */
    public void close(final long timeoutMs) throws TimeoutException, InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        synchronized (lock) {
            closed = true;
            while (!ended.containsAll(executors.get())) {
                final long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                if (leftMs <= 0) {
                    throw new TimeoutException("executors " + executors.get() + " were to end their Real-Time batch, only "
                            + ended + " said within " + timeoutMs + " ms that they did");
                }
                lock.wait(Math.min(leftMs, 20));
            }
        }
    }

    /** Clocks run as they should again. */
    public void open() {
        synchronized (lock) {
            closed = false;
            ended.clear();
        }
    }
}
