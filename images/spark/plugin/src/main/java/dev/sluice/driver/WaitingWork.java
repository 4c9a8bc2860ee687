package dev.sluice.driver;

import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.Query;
import dev.sluice.checkpoint.SparkQuery;
import dev.sluice.split.Split;
import dev.sluice.warmup.Preload;
import dev.sluice.warmup.WarmUp;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warms up and preloads while queries stand at a closed gate; one thread, which gives way the moment the gate opens. */
final class WaitingWork {
    /** Warm-up, or preload. */
    private interface Step {
        String run(SparkQuery query) throws Exception;
    }

    private static final Logger LOG = LoggerFactory.getLogger(WaitingWork.class);
    private static final long LOOK_MS = 100;
    private static final long AGAIN_NS = 5_000_000_000L;

    private final Guard guard;
    private final StateReport state;
    private final Runnable changed;
    private final WarmUp warmUp;
    private final Preload preload;
    private final Set<String> warmedUp = new HashSet<>();
    private final Map<String, Long> loadedNs = new HashMap<>();
    private Thread thread;
    private volatile boolean warmsUp;
    private volatile boolean preloads;
    private volatile boolean ended;

    WaitingWork(final SparkContext spark, final Guard guard, final Split split, final StateReport state,
            final Runnable changed) {
        this.guard = guard;
        this.state = state;
        this.changed = changed;
        this.warmUp = new WarmUp(this::isWaiting, split);
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
        try {
            while (isWaiting()) {
                for (final Query query : guard.queries()) {
                    if (query.phase() == Query.Phase.GATE) {
                        prepare(query);
                    }
                }
                Thread.sleep(LOOK_MS);
            }
        } catch (final InterruptedException e) {
            LOG.info("Sluice: the warm-up was told to end");
        }
    }

    private void prepare(final Query query) throws InterruptedException {
        final String run = query.spark().runId();
        if (warmsUp && isWaiting() && warmedUp.add(run)) {
            attempt(query, warmUp::run);
        }
        if (preloads && isWaiting() && isToLoad(run)) {
            attempt(query, preload::run);
            loadedNs.put(run, System.nanoTime());
        }
        if (isWaiting() && !query.isWarm() && isDone(run)) {
            query.warmed();
            changed.run();
        }
    }

    private boolean isToLoad(final String run) {
        final Long lastNs = loadedNs.get(run);
        return lastNs == null || System.nanoTime() - lastNs >= AGAIN_NS;
    }

    /** Whether there was something to do, and all of it was done once. */
    private boolean isDone(final String run) {
        return (warmsUp || preloads) && (!warmsUp || warmedUp.contains(run)) && (!preloads || loadedNs.containsKey(run));
    }

    private void attempt(final Query query, final Step step) throws InterruptedException {
        try {
            say(step.run((SparkQuery) query.spark()));
        } catch (final InterruptedException e) {
            throw e;
        } catch (final Exception | LinkageError e) {
            // A cold start is slower, not wrong; an odd value in the user's function is the usual cause.
            LOG.warn("Sluice: query '{}' starts cold", query.spark().name(), e);
            say("query '" + query.spark().name() + "' starts cold: " + e);
        }
    }

    private void say(final String sentence) {
        LOG.info("Sluice: {}", sentence);
        state.warmUp(sentence);
        changed.run();
    }
}
