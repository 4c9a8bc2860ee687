package dev.sluice.speculate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.SparkConf;
import org.apache.spark.sql.execution.datasources.noop.NoopTable$;
import org.junit.jupiter.api.Test;

final class SpeculationTest {
    private static final String ENABLED = "spark.speculation";

    @Test
    void theOperatorsSpeculationEndsWhereASinkWouldTakeEachAttempt() {
        final SparkConf ours = new SparkConf(false).set(ENABLED, "true").set("spark.sluice.speculation", "true");
        Speculation.forbid(ours, "Kafka");
        assertEquals("false", ours.get(ENABLED));
    }

    @Test
    void theUsersOwnStays() {
        final SparkConf theirs = new SparkConf(false).set(ENABLED, "true");
        Speculation.forbid(theirs, "Kafka");
        assertEquals("true", theirs.get(ENABLED));
    }

    @Test
    void whatNobodyKnowsMayTakeEachAttempt() {
        assertTrue(Sinks.takeOneAttempt(NoopTable$.MODULE$));
        assertFalse(Sinks.takeOneAttempt("a sink of the user's"));
    }
}
