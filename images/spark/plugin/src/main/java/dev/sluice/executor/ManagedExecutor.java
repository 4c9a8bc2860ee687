package dev.sluice.executor;

import dev.sluice.checkpoint.Fence;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.sql.execution.datasources.v2.LowLatencyClock;

/** Sluice in an executor: made by the entry where the driver is managed. */
public final class ManagedExecutor implements ExecutorPlugin {
    private ReaderClock clock;

    /** Made by name. */
    public ManagedExecutor() {
    }

    @Override
    public void init(final PluginContext context, final Map<String, String> fromDriver) {
        clock = new ReaderClock(context);
        LowLatencyClock.setClock(clock);
    }

    @Override
    public void onTaskStart() {
        final String root = TaskContext.get().getLocalProperty(Fence.ROOT);
        final String epoch = TaskContext.get().getLocalProperty(Fence.EPOCH);
        if (root != null && epoch != null) {
            Fence.started(root, Long.parseLong(epoch));
        }
    }

    @Override
    public void shutdown() {
        clock.end();
    }
}
