package dev.sluice.entry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SparkVersionTest {
    @ParameterizedTest
    @ValueSource(strings = {"4.3.0", "4.3.1", "4.3.12", "4.3.0-vendor-7", "4.3"})
    void managesReleasesOf43WithOrWithoutSuffix(final String text) {
        assertTrue(new SparkVersion(text).isManaged());
        assertEquals("", new SparkVersion(text).reasonAgainst());
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "3.5.6", "4.0.0", "4.2.0", "4.30.0", "5.0.0", "4.3.0-SNAPSHOT", "four.three", "4"})
    void leavesAnyOtherSparkAlone(final String text) {
        assertFalse(new SparkVersion(text).isManaged());
    }

    @Test
    void theReasonNamesTheVersionFoundAndTheOneAllowed() {
        assertEquals(
                "Spark is '3.5.6'; Sluice manages releases of 4.3",
                new SparkVersion("3.5.6").reasonAgainst());
    }
}
