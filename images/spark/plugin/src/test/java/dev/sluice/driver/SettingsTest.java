package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

final class SettingsTest {
    private static final String MANAGER = "spark.sql.streaming.checkpointFileManagerClass";

    @Test
    void ourFileManagerTakesTheKeyAndTheUsersOwnBecomesItsDelegate() {
        final SparkConf conf = new SparkConf(false).set(MANAGER, "users.Own");
        Settings.set(conf, "our.Manager");
        Settings.set(conf, "our.Manager");
        assertEquals("our.Manager", conf.get(MANAGER));
        assertEquals("users.Own", conf.get("spark.sluice.checkpoint.delegate"));
    }

    @Test
    void theUsersTimeoutForStoppingStays() {
        final SparkConf conf = new SparkConf(false).set("spark.sql.streaming.stopTimeout", "5s");
        Settings.set(conf, "our.Manager");
        assertEquals("5s", conf.get("spark.sql.streaming.stopTimeout"));
    }
}
