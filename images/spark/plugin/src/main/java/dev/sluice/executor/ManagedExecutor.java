package dev.sluice.executor;

import dev.sluice.checkpoint.Fence;
import dev.sluice.realtime.ReaderEnd;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** Sluice in an executor: made by the entry where the driver is managed. */
public final class ManagedExecutor implements ExecutorPlugin {
    private final Apart apart = Apart.ofThisPod(System.getenv());
    private ReaderEnd readers;
    private Thread watch;

    /** Made by name. */
    public ManagedExecutor() {
    }

    @Override
    public void init(final PluginContext context, final Map<String, String> fromDriver) {
        readers = new ReaderEnd(context);
        readers.install();
        watch = new Thread(apart, "sluice-apart");
        watch.setDaemon(true);
        watch.start();
    }

    @Override
    public void onTaskStart() {
        final String root = TaskContext.get().getLocalProperty(Fence.ROOT);
        final String epoch = TaskContext.get().getLocalProperty(Fence.EPOCH);
        if (root != null && epoch != null) {
            Fence.started(root, Long.parseLong(epoch));
        }
        apart.began();
    }

    @Override
    public void onTaskSucceeded() {
        apart.ended();
    }

    @Override
    public void onTaskFailed(final TaskFailedReason reason) {
        apart.ended();
    }

    @Override
    public void shutdown() {
        watch.interrupt();
        readers.uninstall();
    }
}
