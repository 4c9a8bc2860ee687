package dev.sluice.checkpoint;

import java.util.Arrays;

/**
 * How long a query's batches take, and whether it is behind: for a while after it had to share its CPU each batch has the rows of
 * a longer one before it. Whoever goes on after such a batch begins with as many. Used under the lock of {@link Drain}.
 */
final class Pace {
    private static final int REMEMBERED = 200;
    /** What fewer took says little of what is usual. */
    private static final int FEWEST = 8;
    private static final double BEHIND = 1.5;

    private final long[] tookNs = new long[REMEMBERED];
    private long batches;
    private long beganNs;
    private long endedNs;

    void began(final long nowNs) {
        beganNs = nowNs;
    }

    void ended(final long nowNs) {
        tookNs[(int) (batches % REMEMBERED)] = nowNs - beganNs;
        batches++;
        endedNs = nowNs;
    }

    /**
     * Whether the last batch took clearly longer than usual, and another one of its length would help.
     *
     * @param nowNs the present
     * @param untilNs when that one would have to be done
     */
    boolean isBehind(final long nowNs, final long untilNs) {
        final int known = (int) Math.min(batches, REMEMBERED);
        if (known < FEWEST) {
            return false;
        }
        final long lastNs = tookNs[(int) ((batches - 1) % REMEMBERED)];
        // Whoever waits for rows, or for its trigger, has caught up.
        return lastNs <= untilNs - nowNs && nowNs - endedNs <= lastNs && lastNs > BEHIND * usualNs(known);
    }

    /** A tenth of them were no longer: while a neighbour starts, most of the last ones may have been slow. */
    private long usualNs(final int known) {
        final long[] sorted = Arrays.copyOf(tookNs, known);
        Arrays.sort(sorted);
        return sorted[known / 10];
    }
}
