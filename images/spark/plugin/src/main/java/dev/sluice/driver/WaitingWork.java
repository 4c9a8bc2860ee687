package dev.sluice.driver;

import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.Query;
import dev.sluice.checkpoint.SparkQuery;
import dev.sluice.warmup.Preload;
import dev.sluice.warmup.WarmUp;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warms up and preloads while queries stand at a closed gate; one thread, which gives way the moment the gate opens. */
final class WaitingWork {
    private static final Logger LOG = LoggerFactory.getLogger(WaitingWork.class);
    private static final long LOOK_MS = 100;
    private static final long AGAIN_NS = 5_000_000_000L;

    private final Guard guard;
    private final StateReport state;
    private final Runnable changed;
    private final WarmUp warmUp;
    private final Preload preload;
    private final Set<String> warm = new HashSet<>();
    private Thread thread;
    private volatile boolean warmsUp;
    private volatile boolean preloads;
    private volatile boolean ended;

    WaitingWork(final SparkContext spark, final Guard guard, final StateReport state, final Runnable changed) {
        this.guard = guard;
        this.state = state;
        this.changed = changed;
        this.warmUp = new WarmUp(this::isWaiting);
        this.preload = new Preload(spark);
    }

    /** What the orders want; the thread is made when there is something to do. */
    synchronized void order(final boolean nowWarmsUp, final boolean nowPreloads) {
        warmsUp = nowWarmsUp;
        preloads = nowPreloads;
        if (thread == null && (nowWarmsUp || nowPreloads) && isWaiting()) {
            thread = new Thread(this::work, "sluice-warm-up");
            thread.setDaemon(true);
            thread.start();
        }
    }

    void end() {
        ended = true;
    }

    private boolean isWaiting() {
        return !ended && !guard.gate().isOpen();
    }

    private void work() {
        long loadedNs = System.nanoTime() - AGAIN_NS;
        try {
            while (isWaiting()) {
                final boolean loads = preloads && System.nanoTime() - loadedNs >= AGAIN_NS;
                for (final Query query : guard.queries()) {
                    if (query.phase() == Query.Phase.GATE) {
                        prepare((SparkQuery) query.spark(), loads);
                    }
                }
                loadedNs = loads ? System.nanoTime() : loadedNs;
                Thread.sleep(LOOK_MS);
            }
        } catch (final InterruptedException e) {
            LOG.info("Sluice: the warm-up was told to end");
        }
    }

    private void prepare(final SparkQuery query, final boolean loads) throws InterruptedException {
        try {
            if (warmsUp && isWaiting() && warm.add(query.runId())) {
                say(warmUp.run(query));
            }
            if (loads && isWaiting()) {
                say(preload.run(query));
            }
        } catch (final InterruptedException e) {
            throw e;
        } catch (final Exception | LinkageError e) {
            // A cold start is slower, not wrong; an odd value in the user's function is the usual cause.
            LOG.warn("Sluice: query '{}' starts cold", query.name(), e);
            say("query '" + query.name() + "' starts cold: " + e);
        }
    }

    private void say(final String sentence) {
        LOG.info("Sluice: {}", sentence);
        state.warmUp(sentence);
        changed.run();
    }
}
