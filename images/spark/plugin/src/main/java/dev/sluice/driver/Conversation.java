package dev.sluice.driver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.agent.Agent;
import dev.sluice.agent.Json;
import dev.sluice.measure.Own;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two daemon threads: one hangs in the long poll for orders, one tells what is new. Nothing of Spark ever waits for either; an
 * agent that is gone, frozen or talks nonsense costs the job nothing.
 */
final class Conversation {
    /** What one of our threads does with orders it was given. */
    interface Obey {
        void to(Orders orders) throws InterruptedException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(Conversation.class);
    private static final int HANG_MS = 20_000;
    private static final int REPORT_MS = 5_000;
    private static final int SLACK_MS = 5_000;
    private static final int MOST_WAITING = 64;
    private static final long PAUSE_MS = 500;
    /** Only "something changed": the state itself is written when it is sent. */
    private static final ObjectNode CHANGED = Json.document();

    private final Agent agent;
    private final StateReport state;
    private final Obey obey;
    private final Balance balance;
    private final BlockingQueue<ObjectNode> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
    private final AtomicLong cpuNs = new AtomicLong();
    private volatile boolean ended;
    private volatile String trouble = "";

    Conversation(final Agent agent, final StateReport state, final Obey obey, final Balance balance) {
        this.agent = agent;
        this.state = state;
        this.obey = obey;
        this.balance = balance;
    }

    void start() {
        if (agent.exists()) {
            daemon("sluice-orders", this::listen);
            daemon("sluice-report", this::tell);
        }
    }

    void end() {
        ended = true;
    }

    /** Something of the state is new. */
    void changed() {
        if (agent.exists()) {
            waiting.offer(CHANGED);
        }
    }

    /** A batch has ended; when nobody takes them, the oldest measures go. */
    void batch(final ObjectNode measures) {
        if (!agent.exists()) {
            return;
        }
        while (!waiting.offer(measures)) {
            waiting.poll();
        }
    }

    /** The last thing said, by a thread that is about to end the JVM. */
    void sayNow() {
        if (agent.exists()) {
            send(Json.document());
        }
    }

    /** CPU time that talking has cost since this was last asked; waiting for answers costs none. */
    long takeCpuNs() {
        return cpuNs.getAndSet(0);
    }

    private static void daemon(final String name, final Runnable work) {
        final Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void listen() {
        long seen = -1;
        while (!ended) {
            try {
                final ObjectNode asked = Json.document().put("seen", seen).put("waitMs", HANG_MS);
                final JsonNode said = call("/v1/orders", asked, HANG_MS + SLACK_MS);
                healed();
                final Orders orders = Orders.read(said);
                obey.to(orders);
                final boolean isNew = orders.serial() != seen;
                seen = orders.serial();
                state.obeyed(seen);
                if (isNew) {
                    changed();
                } else {
                    pause(); // whoever answers at once, and always the same, is not to keep a core busy
                }
            } catch (final IOException e) {
                failed(e.getMessage());
                pause();
            } catch (final RuntimeException e) {
                LOG.warn("Sluice: orders could not be carried out", e);
                failed(e.toString());
                pause();
            } catch (final InterruptedException e) {
                return;
            }
        }
    }

    private void tell() {
        while (!ended) {
            try {
                ObjectNode next = waiting.take();
                while (next == CHANGED && waiting.peek() == CHANGED) {
                    next = waiting.take();
                }
                send(next == CHANGED ? Json.document() : next);
            } catch (final InterruptedException e) {
                return;
            }
        }
    }

    private void send(final ObjectNode document) {
        try {
            balance.heed(call("/v1/report", document, REPORT_MS));
        } catch (final IOException | RuntimeException e) {
            balance.forget();
            LOG.debug("Sluice: a report was not taken, or its answer made no sense", e);
        }
    }

    private JsonNode call(final String path, final ObjectNode document, final int timeoutMs) throws IOException {
        final long beganNs = Own.nowNs();
        try {
            return agent.call(path, state.addTo(document), timeoutMs);
        } finally {
            cpuNs.addAndGet(Own.nowNs() - beganNs);
        }
    }

    private void failed(final String why) {
        state.refused(why);
        if (!trouble.equals(why)) {
            LOG.warn("Sluice: no orders from the agent: {}", why);
            trouble = why;
        }
    }

    private void healed() {
        if (!trouble.isEmpty()) {
            LOG.info("Sluice: the agent answers again");
            trouble = "";
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
