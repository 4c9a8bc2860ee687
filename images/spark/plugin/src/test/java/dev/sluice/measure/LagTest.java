package dev.sluice.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LagTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {
        "5                              | 9                              | 4",
        "9                              | 5                              | 0",
        "[1, 2]                         | [4, 4]                         | 5",
        "{\"t\":{\"0\":5,\"1\":7}}      | {\"t\":{\"0\":9,\"1\":7}}      | 4",
        "{\"t\":{\"0\":5}}              | {\"t\":{\"0\":5,\"1\":3}}      | 3",
        "-                              | 5                              | -",
        "5                              | -                              | -",
        "5                              | \"2026-01-01\"                 | -",
        "5                              | not JSON                       | -",
    })
    void isTheSumOverAllCountersOfAnOffset(final String reached, final String latest, final Long lag) {
        assertEquals(lag, Lag.between(reached, latest));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 15, 16, 31, 100, 1_000, 123_456, 86_400_000, Long.MAX_VALUE})
    void aTimeIsCountedInABucketAtMostASixteenthBelowIt(final long ms) {
        final long edge = Latencies.bucket(ms);
        assertTrue(edge <= ms && ms - edge <= ms / 16, ms + " is counted as " + edge);
    }
}
