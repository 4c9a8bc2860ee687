package dev.sluice.checkpoint;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Lets every query finish the batch it is in and begin no other. Quiet means that nothing is in flight, not that all are
 * parked: a query without new data never comes to its parking place.
 */
public final class Drain {
    private static final long LOOK_MS = 20;

    /** One lock for "may this batch begin" and "is anything in flight": else a batch could begin between the two. */
    private final Object lock = new Object();
    private final Supplier<Collection<Query>> queries;
    private final LongSupplier wallClockMs;
    private final LongSupplier clockNs;
    private boolean asked;
    private boolean waitsForCalm;
    private long calmUntilNs;
    private boolean sourcesClosed;

    /**
     * A drain that nobody has asked for.
     *
     * @param queries those of this driver
     * @param wallClockMs since 1970: when a batch was committed is compared between two drivers
     * @param clockNs only goes forward: how long batches take
     */
    public Drain(final Supplier<Collection<Query>> queries, final LongSupplier wallClockMs, final LongSupplier clockNs) {
        this.queries = queries;
        this.wallClockMs = wallClockMs;
        this.clockNs = clockNs;
    }

    /**
     * Before {@code offsets/N}: begins batch N, or parks until the drain is taken back or the query stopped.
     *
     * @return false when batch N is not to be written at all: a stopped Real-Time query's empty one, whose writer is a thread
     *     beside the stream's that knows no clean interrupt
     */
    boolean begin(final Query query, final long batch) throws InterruptedException {
        synchronized (lock) {
            if (query.inFlight != Query.NONE && query.inFlight < batch) {
                // Spark begins none before the last is committed; where its commit stood already, nobody told us.
                query.committed = Math.max(query.committed, query.inFlight);
                query.inFlight = Query.NONE;
            }
            while (asked && !waitsForCalm() && (!query.spark().isRealTime() || query.emptied)) {
                query.phase = Query.Phase.PARKED;
                lock.notifyAll();
                // Spark's interrupt can be lost in a source before the thread comes here: so look as well.
                if (!query.spark().isActive()) {
                    if (query.spark().isRealTime()) {
                        return false;
                    }
                    throw new InterruptedException("the query was stopped");
                }
                lock.wait(LOOK_MS);
            }
            query.phase = Query.Phase.RUNNING;
            query.inFlight = batch;
            query.pace.began(clockNs.getAsLong());
            return true;
        }
    }

    /** {@code offsets/N} was not written after all. */
    void abandon(final Query query) {
        synchronized (lock) {
            query.inFlight = Query.NONE;
            lock.notifyAll();
        }
    }

    /** {@code commits/N} stands. */
    void commit(final Query query, final long batch) {
        synchronized (lock) {
            query.inFlight = Query.NONE;
            query.pace.ended(clockNs.getAsLong());
            query.committed = Math.max(query.committed, batch);
            query.committedAtMs = wallClockMs.getAsLong();
            if (query.firstCommitAtMs == 0) {
                query.firstCommitAtMs = query.committedAtMs;
            }
            query.emptied |= sourcesClosed && query.spark().isRealTime() && batch >= query.lastWithRows;
            lock.notifyAll();
        }
    }

    /** A query passes its gate; a batch that an earlier driver began and did not commit is in flight from here on. */
    void enter(final Query query, final long offsets, final long commits) {
        synchronized (lock) {
            query.phase = Query.Phase.RUNNING;
            query.committed = commits;
            query.inFlight = offsets > commits ? offsets : Query.NONE;
            query.pace.began(clockNs.getAsLong());
        }
    }

    /** Whether queries are to come to rest; at the gate this holds them as well. */
    boolean isAsked() {
        synchronized (lock) {
            return asked;
        }
    }

    /**
     * From here on no micro-batch begins, unless one of the queries is behind: then all go on until none is, so that whoever
     * comes next begins with a batch of the usual size. Together, for who parked alone would wait for the others.
     *
     * @param calmMs for so long at most
     */
    public void ask(final long calmMs) {
        synchronized (lock) {
            asked = true;
            waitsForCalm = true;
            calmUntilNs = clockNs.getAsLong() + TimeUnit.MILLISECONDS.toNanos(calmMs);
        }
    }

    private boolean waitsForCalm() {
        waitsForCalm &= queries.get().stream().anyMatch(this::isBehind);
        return waitsForCalm;
    }

    private boolean isBehind(final Query query) {
        return query.phase() == Query.Phase.RUNNING && !query.spark().isRealTime()
                && query.pace.isBehind(clockNs.getAsLong(), calmUntilNs);
    }

    /**
     * No reader of a Real-Time query gives rows any more: the batch it works on is the last one with rows, and what Spark
     * still runs after it is empty. The number comes from Spark, for an older batch may be about to commit.
     */
    public void closeSources() {
        synchronized (lock) {
            sourcesClosed = true;
            queries.get().stream().filter(query -> query.spark().isRealTime())
                    .forEach(query -> query.lastWithRows = query.spark().batch());
        }
    }

    /** The drain is taken back: parked queries go on as if nothing had been. */
    public void cancel() {
        synchronized (lock) {
            asked = false;
            sourcesClosed = false;
            queries.get().forEach(query -> query.emptied = false);
            lock.notifyAll();
        }
    }

    /**
     * Waits until nothing is in flight.
     *
     * @param timeoutMs at most so long
     * @param isHopeless asked between looks: true when nobody is left who could end a batch
     * @throws TimeoutException when a batch is still running, with a sentence that names it
     * @throws InterruptedException when this thread is told to end
     */
    public void awaitQuiet(final long timeoutMs, final BooleanSupplier isHopeless)
            throws TimeoutException, InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        synchronized (lock) {
            for (Query busy = busy(); busy != null; busy = busy()) {
                final long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                if (leftMs <= 0) {
                    throw unfinished(busy, "the time was up");
                }
                if (isHopeless.getAsBoolean()) {
                    throw unfinished(busy, "the last executor had long gone");
                }
                lock.wait(Math.min(leftMs, LOOK_MS));
            }
        }
    }

    private static TimeoutException unfinished(final Query busy, final String when) {
        return new TimeoutException("batch " + (busy.inFlight == Query.NONE ? "" : busy.inFlight + " ") + "of query '"
                + busy.spark().name() + "' was still running when " + when);
    }

    private Query busy() {
        final boolean calms = waitsForCalm();
        return queries.get().stream().filter(query -> isBusy(query) || calms && isBehind(query)).findFirst().orElse(null);
    }

    private static boolean isBusy(final Query query) {
        if (query.phase() == Query.Phase.ENDED || query.phase() == Query.Phase.GATE) {
            return false;
        }
        return query.spark().isRealTime() ? !query.emptied : query.inFlight != Query.NONE;
    }
}
