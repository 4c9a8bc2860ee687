package dev.sluice.measure;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.Map;
import java.util.TreeMap;

/** Task times in buckets 1/16 of a power of two wide: any quantile of any sum of histograms within 6 %, whatever the range. */
final class Latencies {
    private static final int STEPS_LOG2 = 4;

    private final Map<Long, Long> counts = new TreeMap<>();

    void add(final long ms) {
        counts.merge(bucket(Math.max(0, ms)), 1L, Long::sum);
    }

    /** The lower edge of the bucket a time falls into. */
    static long bucket(final long ms) {
        final int exponent = 63 - Long.numberOfLeadingZeros(ms | 1);
        final int shift = Math.max(0, exponent - STEPS_LOG2);
        return ms >> shift << shift;
    }

    /** Pairs of a bucket's lower edge in ms and how many tasks fell into it. */
    void addTo(final ArrayNode node) {
        counts.forEach((edge, count) -> node.addArray().add(edge).add(count));
    }
}
