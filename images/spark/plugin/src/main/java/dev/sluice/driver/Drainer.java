package dev.sluice.driver;

import dev.sluice.checkpoint.Drain;
import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.Query;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out one drain after another, from the order to quiet, and from quiet to stopped where that is wanted. */
public final class Drainer {
    private static final Logger LOG = LoggerFactory.getLogger(Drainer.class);
    private static final long LOOK_MS = 5;

    private final Guard guard;
    private final SourceEnd sources;
    private final Runnable changed;
    private Thread running;
    private Orders.Drain wanted;
    private volatile String state = "none";
    private volatile String problem = "";

    /**
     * A drainer at rest.
     *
     * @param guard whose queries it drains
     * @param sources ends the batches of Real-Time queries
     * @param changed called when its state changes
     */
    public Drainer(final Guard guard, final SourceEnd sources, final Runnable changed) {
        this.guard = guard;
        this.sources = sources;
        this.changed = changed;
    }

    /** Where the last drain stands.
     * @return none, draining, quiet, stopped or timed-out */
    public String state() {
        return state;
    }

    /** Why it timed out.
     * @return one sentence, empty when it did not */
    public String problem() {
        return problem;
    }

    /** The drain that was last wanted.
     * @return its id, empty before the first and after it was taken back */
    public synchronized String id() {
        return wanted == null ? "" : wanted.id();
    }

    /** What the orders say now; the same drain again is nothing new.
     * @param drain null: the job is to run
     * @throws InterruptedException when this thread is told to end */
    public synchronized void order(final Orders.Drain drain) throws InterruptedException {
        if (drain == null) {
            if (wanted != null && !"stopped".equals(state)) {
                takeBack();
            }
            return;
        }
        final boolean same = wanted != null && wanted.id().equals(drain.id());
        if (same && wanted.equals(drain)) {
            return;
        }
        end();
        wanted = drain;
        // Before its thread runs: a report in between would say of this drain what became of the one before.
        state = "draining";
        problem = "";
        running = new Thread(() -> run(drain), "sluice-drain");
        running.setDaemon(true);
        running.start();
    }

    private void takeBack() throws InterruptedException {
        end();
        wanted = null;
        sources.open();
        guard.drain().cancel();
        say("none", "");
    }

    private void end() throws InterruptedException {
        if (running != null) {
            running.interrupt();
            running.join();
            running = null;
        }
    }

    private void run(final Orders.Drain drain) {
        try {
            final long deadlineNs = in(drain.timeoutMs());
            toQuiet(deadlineNs, drain.calmMs(), () -> false);
            say("quiet", "");
            if (drain.stop()) {
                stop(deadlineNs);
                say("stopped", "");
            }
        } catch (final TimeoutException e) {
            // An order that cannot be met leaves the job running: who gave it decides what comes next.
            sources.open();
            guard.drain().cancel();
            say("timed-out", e.getMessage());
        } catch (final InterruptedException e) {
            LOG.info("Sluice: drain {} was taken back", drain.id());
        }
    }

    /** The drain of a JVM that is told to end: no orders, no way back, and no waiting for what cannot come. */
    void drainAndStop(final long timeoutMs, final BooleanSupplier isHopeless) throws TimeoutException, InterruptedException {
        synchronized (this) {
            end();
        }
        final long deadlineNs = in(timeoutMs);
        toQuiet(deadlineNs, 0, isHopeless);
        say("quiet", "");
        stop(deadlineNs);
        say("stopped", "");
    }

    /** One for all parts of a drain: the pod's grace period knows one time-out. */
    private static long in(final long timeoutMs) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    private static long leftMs(final long deadlineNs) {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime()));
    }

    private void toQuiet(final long deadlineNs, final long calmMs, final BooleanSupplier isHopeless)
            throws TimeoutException, InterruptedException {
        say("draining", "");
        final Drain drain = guard.drain();
        // Half of the time is left for the batch that is the last one.
        drain.ask(Math.min(calmMs, leftMs(deadlineNs) / 2));
        if (guard.queries().stream().anyMatch(query -> query.spark().isRealTime() && query.spark().isActive())) {
            sources.close(leftMs(deadlineNs));
            drain.closeSources();
        }
        drain.awaitQuiet(leftMs(deadlineNs), isHopeless);
    }

    /** An interrupt inside a source or sink gets lost or does harm: so only where the thread is known to wait. */
    private void stop(final long deadlineNs) throws InterruptedException {
        final List<Query> queries = List.copyOf(guard.queries());
        while (!queries.stream().allMatch(Drainer::mayStop) && leftMs(deadlineNs) > 0) {
            Thread.sleep(LOOK_MS);
        }
        for (final Query query : queries) {
            if (query.spark().isActive()) {
                query.spark().stop();
            }
        }
    }

    private static boolean mayStop(final Query query) {
        return query.phase() != Query.Phase.RUNNING || query.spark().isIdle() && !query.spark().isRealTime();
    }

    private void say(final String nowState, final String nowProblem) {
        state = nowState;
        problem = nowProblem;
        LOG.info("Sluice: drain {} {}", nowState, nowProblem);
        changed.run();
    }
}
