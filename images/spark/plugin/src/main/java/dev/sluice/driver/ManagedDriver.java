package dev.sluice.driver;

import dev.sluice.agent.Agent;
import dev.sluice.checkpoint.Arrivals;
import dev.sluice.checkpoint.Gate;
import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.GuardedFileManager;
import dev.sluice.checkpoint.SparkAdmission;
import dev.sluice.measure.BatchListener;
import dev.sluice.measure.Leftovers;
import dev.sluice.measure.Measures;
import dev.sluice.speculate.Speculation;
import dev.sluice.split.Crew;
import dev.sluice.split.Split;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** Sluice in the driver: made by the entry once Spark is known to be as expected. */
public final class ManagedDriver implements DriverPlugin {
    private static final long SILENCE_MS = 30_000;

    private Guard guard;
    private SourceEnd sources;
    private Conversation conversation;
    private Shutdown shutdown;
    private WaitingWork waiting;

    /** Made by name. */
    public ManagedDriver() {
    }

    @Override
    public Map<String, String> init(final SparkContext spark, final PluginContext context) {
        final Agent agent = Agent.ofThisPod();
        final Leftovers leftovers = new Leftovers();
        final Split split = new Split(new Crew(spark)::now, leftovers::on);
        guard = new Guard(new Gate(agent.exists(), SILENCE_MS), new SparkAdmission(split), this::changed);
        sources = new SourceEnd(() -> executors(spark));
        final Drainer drainer = new Drainer(guard, sources, this::changed);
        final StateReport state = new StateReport(spark.applicationId(), guard, drainer);
        final Fleet fleet = new Fleet(spark);
        waiting = new WaitingWork(spark, guard, split, state, this::changed);
        conversation = new Conversation(agent, state, orders -> {
            split.order(orders.first());
            waiting.order(orders.warmUp(), orders.preload());
            guard.gate().set(orders.open(), orders.epoch());
            drainer.order(orders.drain());
            fleet.order(orders.executors(), orders.decommission());
        }, new Balance(split, new Speculation(spark.conf())));
        final Desertion desertion = new Desertion(() -> executors(spark).size(), System::nanoTime);
        shutdown = new Shutdown(drainer, desertion, conversation::sayNow);
        final Measures measures = new Measures(conversation::batch, conversation::takeCpuNs, split::tell);
        guard.install();
        spark.addSparkListener(new BatchListener(measures, leftovers));
        spark.addSparkListener(new Endings(guard, this::changed));
        shutdown.install();
        conversation.start();
        // Last: until here a failure leaves a driver that never heard of us.
        Settings.set(spark.conf(), GuardedFileManager.class.getName(), Arrivals.class.getName());
        return Map.of();
    }

    @Override
    public Object receive(final Object message) {
        return sources.answer(message);
    }

    @Override
    public void shutdown() {
        conversation.sayNow();
        conversation.end();
        waiting.end();
        shutdown.uninstall();
        guard.uninstall();
    }

    private void changed() {
        if (conversation != null) {
            conversation.changed();
        }
    }

    private static Collection<String> executors(final SparkContext spark) {
        final List<String> ids = scala.jdk.javaapi.CollectionConverters.asJava(spark.getExecutorIds());
        // In local mode the driver is its own executor.
        return spark.isLocal() ? List.of("driver") : ids;
    }
}
