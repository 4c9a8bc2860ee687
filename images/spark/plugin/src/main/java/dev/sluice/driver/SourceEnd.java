package dev.sluice.driver;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Ends the running batch of Real-Time queries early: executors that read ask whether they are to give no more rows
 * ({@code realtime.ReaderEnd}), and by asking again say that they give none. An executor that never asked has no reader; its
 * first one asks before its first row, so it needs no waiting for.
 */
public final class SourceEnd {
    private static final String ASKS = "reader-end ";

    private final Object lock = new Object();
    private final Supplier<Collection<String>> executors;
    private final Set<String> asking = new HashSet<>();
    private final Set<String> ended = new HashSet<>();
    private boolean closed;

    /** All sources open.
     * @param executors those alive */
    public SourceEnd(final Supplier<Collection<String>> executors) {
        this.executors = executors;
    }

    /** What an executor asks.
     * @param executor its id
     * @param isEnded whether its readers already give no more rows
     * @return the message */
    public static String question(final String executor, final boolean isEnded) {
        return ASKS + (isEnded ? "ended " : "open ") + executor;
    }

    /** Answers an executor.
     * @param message what came
     * @return whether its readers are to end; null when the message is none of ours */
    public Boolean answer(final Object message) {
        if (!(message instanceof String) || !((String) message).startsWith(ASKS)) {
            return null;
        }
        final String[] words = ((String) message).split(" ", 3);
        synchronized (lock) {
            asking.add(words[2]);
            if (closed && "ended".equals(words[1])) {
                ended.add(words[2]);
                lock.notifyAll();
            }
            return closed;
        }
    }

    /** Ends the batches; returns when every executor that reads has said that it gives no more rows.
     * @param timeoutMs at most so long
     * @throws TimeoutException when an executor does not say so
     * @throws InterruptedException when this thread is told to end */
    public void close(final long timeoutMs) throws TimeoutException, InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        synchronized (lock) {
            closed = true;
            while (!ended.containsAll(reading())) {
                final long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                if (leftMs <= 0) {
                    throw new TimeoutException("executors " + reading() + " were to end their Real-Time batch, only "
                            + ended + " said within " + timeoutMs + " ms that they did");
                }
                lock.wait(Math.min(leftMs, 20));
            }
        }
    }

    private Set<String> reading() {
        final Set<String> alive = new HashSet<>(executors.get());
        alive.retainAll(asking);
        return alive;
    }

    /** Batches end by themselves again. */
    public void open() {
        synchronized (lock) {
            closed = false;
            ended.clear();
        }
    }
}
