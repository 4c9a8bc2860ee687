package dev.sluice.checkpoint;

import org.apache.hadoop.fs.Path;

/**
 * One streaming query of this driver, as gate and drain know it. Its fields change under the lock of {@link Drain}, and are
 * volatile for those who only look.
 */
public final class Query {
    /** Where a query stands. */
    public enum Phase {
        /** Waits at its gate: has read nothing, wrote nothing. */
        GATE,
        /** Runs batches, or waits for data. */
        RUNNING,
        /** Stands before its next batch, the last one wholly committed. */
        PARKED,
        /** Was refused, fenced, stopped, or failed. */
        ENDED
    }

    /** What is read of Spark's query object. */
    public interface Spark {
        /** Its name.
         * @return null when it has none */
        String name();

        /** Its id, the same for every run.
         * @return a UUID */
        String id();

        /** This run's id.
         * @return a UUID */
        String runId();

        /** Where its checkpoint lies.
         * @return the root */
        Path root();

        /** Whether it runs in Real-Time Mode.
         * @return false for micro-batch */
        boolean isRealTime();

        /** The batch it works on, begun on storage or not.
         * @return its number */
        long batch();

        /** Whether it was not yet stopped.
         * @return false after stop() or a failure */
        boolean isActive();

        /** Whether its thread has ended, later than it was stopped: it writes nothing more.
         * @return false while the thread lives */
        boolean hasEnded();

        /** Whether an interrupt meets it outside any source or sink.
         * @return true between triggers */
        boolean isIdle();

        /** Stops it, waits for the end. */
        void stop();
    }

    /** No batch. */
    public static final long NONE = -1;

    private final Spark spark;
    volatile Phase phase = Phase.GATE;
    volatile Fence fence;
    volatile long epoch;
    volatile long inFlight = NONE;
    volatile long committed = NONE;
    volatile long committedAtMs;
    volatile long firstCommitAtMs;
    final Pace pace = new Pace();
    /** Set by the thread that warms up, which knows no drain. */
    private volatile boolean warm;
    /** Real-Time Mode: the batch that was cut short, and whether it is committed. */
    volatile long lastWithRows = NONE;
    volatile boolean emptied;
    private volatile String problem = "";
    private volatile String caveat = "";

    /**
     * A query that has come to its gate.
     *
     * @param spark what Spark knows of it
     */
    public Query(final Spark spark) {
        this.spark = spark;
    }

    /** What Spark knows of it.
     * @return the view */
    public Spark spark() {
        return spark;
    }

    /** Where it stands.
     * @return the phase */
    public Phase phase() {
        return spark.isActive() ? phase : Phase.ENDED;
    }

    /** The epoch it took at go.
     * @return 0 before */
    public long epoch() {
        return epoch;
    }

    /** The batch that was begun and is not committed.
     * @return {@link #NONE} between batches */
    public long inFlight() {
        return inFlight;
    }

    /** The last batch this driver saw committed.
     * @return {@link #NONE} before the first */
    public long committed() {
        return committed;
    }

    /** When this driver closed its last commit, by its wall clock.
     * @return ms since 1970, 0 before the first */
    public long committedAtMs() {
        return committedAtMs;
    }

    /** When this driver closed its first commit: what an earlier one committed does not count.
     * @return ms since 1970, 0 before */
    public long firstCommitAtMs() {
        return firstCommitAtMs;
    }

    /** Whether all that was ordered for it at the closed gate was done once, or failed.
     * @return false where nothing was ordered, or the gate opened first */
    public boolean isWarm() {
        return warm;
    }

    /** All that was ordered for it at the closed gate was done once, or failed. */
    public void warmed() {
        warm = true;
    }

    /** Why it was refused or failed; while it lives, what of its safety is missing.
     * @return one sentence, empty when all is well */
    public String problem() {
        return phase() == Phase.ENDED ? problem : caveat;
    }

    /** Says what of its safety is missing: it runs all the same.
     * @param sentence for a person */
    void caveat(final String sentence) {
        caveat = sentence;
    }

    /** Says why it ends.
     * @param sentence for a person */
    public void problem(final String sentence) {
        problem = sentence;
    }
}
