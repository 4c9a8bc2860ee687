package dev.sluice.entry;

import java.util.Map;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts Sluice's hands in an executor, where the driver has said that it is managed. */
final class ExecutorEntry implements ExecutorPlugin {
    private static final String HANDS = "dev.sluice.executor.ManagedExecutor";
    private static final Logger LOG = LoggerFactory.getLogger(ExecutorEntry.class);

    private ExecutorPlugin hands;

    @Override
    public void init(final PluginContext context, final Map<String, String> fromDriver) {
        if (!Boolean.parseBoolean(fromDriver.get(DriverEntry.MANAGED))) {
            return;
        }
        try {
            final ExecutorPlugin made = (ExecutorPlugin) Class
                    .forName(HANDS, true, ExecutorEntry.class.getClassLoader()).getDeclaredConstructor().newInstance();
            made.init(context, fromDriver);
            hands = made;
        } catch (final Exception | LinkageError e) {
            // The executor works on without: what needs it (ending a Real-Time batch early, writing state that was loaded at
            // the gate) then fails, and says so.
            LOG.warn("Sluice could not start in this executor", e);
        }
    }

    @Override
    public void onTaskStart() {
        if (hands != null) {
            hands.onTaskStart();
        }
    }

    @Override
    public void onTaskSucceeded() {
        if (hands != null) {
            hands.onTaskSucceeded();
        }
    }

    @Override
    public void onTaskFailed(final TaskFailedReason reason) {
        if (hands != null) {
            hands.onTaskFailed(reason);
        }
    }

    @Override
    public void shutdown() {
        if (hands != null) {
            hands.shutdown();
        }
    }
}
