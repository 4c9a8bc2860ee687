package dev.sluice.executor;

import dev.sluice.checkpoint.Fence;
import dev.sluice.realtime.ReaderEnd;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** Sluice in an executor: made by the entry where the driver is managed. */
public final class ManagedExecutor implements ExecutorPlugin {
    private ReaderEnd readers;

    /** Made by name. */
    public ManagedExecutor() {
    }

    @Override
    public void init(final PluginContext context, final Map<String, String> fromDriver) {
        readers = new ReaderEnd(context);
        readers.install();
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
        readers.uninstall();
    }
}
