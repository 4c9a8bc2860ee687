package dev.sluice.driver;

import org.apache.spark.SparkConf;

/** What Sluice sets in Spark by itself, so that from outside only {@code spark.jars} and {@code spark.plugins} are. */
final class Settings {
    private static final String FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass";
    private static final String LISTENERS = "spark.sql.streaming.streamingQueryListeners";
    private static final String USERS_OWN = "spark.sluice.checkpoint.delegate";
    private static final String STOP_TIMEOUT = "spark.sql.streaming.stopTimeout";

    private Settings() {
    }

    /** Beside the user's own, never instead: sessions made later read them all. */
    static void set(final SparkConf conf, final String fileManager, final String listener) {
        if (conf.contains(FILE_MANAGER) && !fileManager.equals(conf.get(FILE_MANAGER))) {
            conf.set(USERS_OWN, conf.get(FILE_MANAGER));
        }
        // Without it an interrupt that got lost lets stop() hang for ever.
        conf.setIfMissing(STOP_TIMEOUT, "60s");
        conf.set(FILE_MANAGER, fileManager);
        final String listeners = conf.get(LISTENERS, "");
        if (!listeners.endsWith(listener)) {
            conf.set(LISTENERS, listeners.isEmpty() ? listener : listeners + "," + listener);
        }
    }
}
