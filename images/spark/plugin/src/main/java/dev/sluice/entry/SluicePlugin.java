package dev.sluice.entry;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** What {@code spark.plugins} names. It loads in any Spark image; where Sluice cannot work, the job stays plain Spark. */
public final class SluicePlugin implements SparkPlugin {
    /** Spark makes it. */
    public SluicePlugin() {
    }

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverEntry();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorEntry();
    }
}
