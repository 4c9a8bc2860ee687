package dev.sluice.speculate;

import java.util.List;

/**
 * Which sinks take the rows of one attempt of a task alone. Into others, such as Kafka, each attempt writes by itself, and a
 * second one would repeat rows; what a user's function does with a batch nobody knows.
 */
public final class Sinks {
    private static final List<String> TAKE_ONE = List.of(
            "org.apache.spark.sql.execution.streaming.sinks.FileStreamSink",
            "org.apache.spark.sql.execution.streaming.sources.MemorySink",
            "org.apache.spark.sql.execution.streaming.ConsoleTable$",
            "org.apache.spark.sql.execution.datasources.noop.NoopTable$",
            "org.apache.spark.sql.delta.",
            "org.apache.iceberg.");

    private Sinks() {
    }

    /**
     * Whether a task that writes there may run twice.
     *
     * @param sink as Spark has it
     * @return true where that repeats nothing
     */
    public static boolean takeOneAttempt(final Object sink) {
        return TAKE_ONE.stream().anyMatch(sink.getClass().getName()::startsWith);
    }
}
