package dev.sluice.entry;

import dev.sluice.agent.Agent;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts Sluice's hands in the driver where Spark is as expected; says why not where it is not. */
final class DriverEntry implements DriverPlugin {
    /** What the driver tells its executors: whether they are managed. */
    static final String MANAGED = "sluice.managed";

    /** True for a driver that is started while another one of its job still runs. */
    private static final String ONLY_MANAGED = "SLUICE_ONLY_MANAGED";
    private static final String HANDS = "dev.sluice.driver.ManagedDriver";
    private static final Logger LOG = LoggerFactory.getLogger(DriverEntry.class);

    private DriverPlugin hands;

    @Override
    public Map<String, String> init(final SparkContext spark, final PluginContext context) {
        final ClassLoader loader = DriverEntry.class.getClassLoader();
        String reason = new SelfTest(loader).reasonAgainst(spark.version());
        if (reason.isEmpty()) {
            reason = start(spark, context, loader);
        }
        if (!reason.isEmpty()) {
            stayAway(reason);
        }
        return Collections.singletonMap(MANAGED, Boolean.toString(reason.isEmpty()));
    }

    /** A job must not die of its operator's plugin, except where plain Spark would write beside another driver. */
    private static void stayAway(final String reason) {
        final boolean ends = Boolean.parseBoolean(System.getenv(ONLY_MANAGED));
        final String said = reason + (ends ? ", so this driver, which would write beside another one, ends"
                : ", so this job runs as plain Spark");
        LOG.warn("Sluice: {}", said);
        Agent.ofThisPod().sayUnmanaged(said);
        if (ends) {
            throw new IllegalStateException(said);
        }
    }

    /** Whatever goes wrong here leaves a driver that never heard of us. */
    private String start(final SparkContext spark, final PluginContext context, final ClassLoader loader) {
        try {
            final DriverPlugin made =
                    (DriverPlugin) Class.forName(HANDS, true, loader).getDeclaredConstructor().newInstance();
            made.init(spark, context);
            hands = made;
            return "";
        } catch (final Exception | LinkageError e) {
            LOG.warn("Sluice could not start", e);
            return "Sluice could not start in this driver (" + e + ")";
        }
    }

    @Override
    public Object receive(final Object message) throws Exception {
        return hands == null ? null : hands.receive(message);
    }

    @Override
    public void shutdown() {
        if (hands != null) {
            hands.shutdown();
        }
    }
}
