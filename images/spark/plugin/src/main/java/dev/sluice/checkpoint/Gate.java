package dev.sluice.checkpoint;

import java.util.concurrent.TimeUnit;

/**
 * Holds every query at its first look at {@code offsets/} until the job may start. Closed from the start where an agent was
 * promised; it opens by itself only when that agent was never heard at all, for then nobody has said that another driver runs.
 */
public final class Gate {
    private static final long LOOK_MS = 20;

    private final Object lock = new Object();
    private final long openUnheardNs;
    private boolean heard;
    private boolean open;
    private long epoch;

    /**
     * A gate.
     *
     * @param guarded whether anyone will open it
     * @param silenceMs how long to wait for a first word
     */
    public Gate(final boolean guarded, final long silenceMs) {
        this.open = !guarded;
        this.openUnheardNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(silenceMs);
    }

    /** What the orders say of the gate.
     * @param nowOpen whether the job may start
     * @param withEpoch the epoch it starts with, 0 for the next free one */
    public void set(final boolean nowOpen, final long withEpoch) {
        synchronized (lock) {
            heard = true;
            // What runs is stopped by draining: a gate does not close behind a query.
            open |= nowOpen;
            if (nowOpen) {
                epoch = withEpoch;
            }
            lock.notifyAll();
        }
    }

    /** Whether a query would pass now.
     * @return true after go */
    public boolean isOpen() {
        synchronized (lock) {
            return open || !heard && System.nanoTime() >= openUnheardNs;
        }
    }

    /** For a query that would not wait at the gate: waits until somebody has said whether it is open.
     * @return whether the query may start
     * @throws InterruptedException when its thread is told to end */
    boolean isOpenOnceHeard() throws InterruptedException {
        synchronized (lock) {
            while (!heard && !isOpen()) {
                lock.wait(LOOK_MS);
            }
            return isOpen();
        }
    }

    /** The stream thread waits here; a query stopped meanwhile leaves by the interrupt Spark expects. */
    void await(final Query query, final Drain drain) throws InterruptedException {
        synchronized (lock) {
            while (!isOpen() || drain.isAsked()) {
                if (!query.spark().isActive()) {
                    throw new InterruptedException("the query was stopped at its gate");
                }
                lock.wait(LOOK_MS);
            }
        }
    }

    /** Takes the ordered epoch, or the next free one where none was ordered; returns the fence that goes with it. */
    Fence take(final Query query, final Epochs epochs) throws java.io.IOException {
        final long ordered;
        synchronized (lock) {
            ordered = epoch;
        }
        if (query.epoch != 0) {
            return query.fence;
        }
        for (;;) {
            final long highest = epochs.highest();
            final long wanted = ordered == 0 ? highest + 1 : ordered;
            if (wanted > highest && epochs.take(wanted)) {
                query.epoch = wanted;
                query.fence = new Fence(epochs, wanted);
                return query.fence;
            }
            if (ordered != 0) {
                throw new FencedException("epoch " + ordered + " may not start at " + query.spark().root() + ": epoch "
                        + epochs.highest() + " stands there already");
            }
        }
    }
}
