package dev.sluice.warmup;

/** Spark's Kafka connector, known by the package of its classes: it need not be there. */
final class Kafka {
    static final String PACKAGE = "org.apache.spark.sql.kafka010.";

    private Kafka() {
    }

    /** Whether a table, a source or a sink is Kafka's. */
    static boolean is(final Object part) {
        return part.getClass().getName().startsWith(PACKAGE);
    }
}
