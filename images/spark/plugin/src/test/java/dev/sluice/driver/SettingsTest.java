package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

final class SettingsTest {
    private static final String MANAGER = "spark.sql.streaming.checkpointFileManagerClass";
    private static final String LISTENERS = "spark.sql.streaming.streamingQueryListeners";

    @Test
    void ourFileManagerTakesTheKeyAndTheUsersOwnBecomesItsDelegate() {
        final SparkConf conf = new SparkConf(false).set(MANAGER, "users.Own");
        Settings.set(conf, "our.Manager", "our.Listener");
        Settings.set(conf, "our.Manager", "our.Listener");
        assertEquals("our.Manager", conf.get(MANAGER));
        assertEquals("users.Own", conf.get("spark.sluice.checkpoint.delegate"));
    }

    @Test
    void ourListenerComesAfterTheUsersOwnAndOnce() {
        final SparkConf conf = new SparkConf(false).set(LISTENERS, "users.Own");
        Settings.set(conf, "our.Manager", "our.Listener");
        Settings.set(conf, "our.Manager", "our.Listener");
        assertEquals("users.Own,our.Listener", conf.get(LISTENERS));
    }

    @Test
    void theUsersTimeoutForStoppingStays() {
        final SparkConf conf = new SparkConf(false).set("spark.sql.streaming.stopTimeout", "5s");
        Settings.set(conf, "our.Manager", "our.Listener");
        assertEquals("5s", conf.get("spark.sql.streaming.stopTimeout"));
    }
}
