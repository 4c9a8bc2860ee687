package dev.sluice.executor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends an executor that is cut off from the cluster in the middle of a task. The fence guards the checkpoint; but what a sink's
 * client has in its buffers, as Kafka's, it would send by itself as soon as the network is back, when another driver has long
 * done that batch again. Only who reaches neither storage nor the API server is cut off: either may be away, and the job goes on.
 */
final class Apart implements Runnable {
    /** A node counts as lost after 20 s at the earliest, and then another driver has yet to start. */
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(15);
    private static final long PERIOD_S = 5;
    private static final int EXIT = 71;
    private static final Logger LOG = LoggerFactory.getLogger(Apart.class);

    /** Somebody who is not on this node. */
    interface Peer {
        /**
         * Asks, for some seconds at most.
         *
         * @return whether there was an answer, of whatever kind
         * @throws InterruptedException when this executor ends
         */
        boolean answers() throws InterruptedException;
    }

    private final Peer store;
    private final Peer server;
    private final LongSupplier clockNs;
    private final Runnable end;
    // Written by threads of tasks, read by the watching one.
    private final Map<Thread, Long> beganNs = new ConcurrentHashMap<>();

    Apart(final Peer store, final Peer server, final LongSupplier clockNs, final Runnable end) {
        this.store = store;
        this.server = server;
        this.clockNs = clockNs;
        this.end = end;
    }

    /** In this pod; outside of Kubernetes nobody takes over. */
    static Apart ofThisPod(final Map<String, String> env) {
        final Peer nobody = () -> true;
        final Peer server = env.containsKey(Server.HOST) ? new Server(env) : nobody;
        return new Apart(new Store(), server, System::nanoTime, () -> Runtime.getRuntime().halt(EXIT));
    }

    /** This thread's task begins. */
    void began() {
        beganNs.put(Thread.currentThread(), clockNs.getAsLong());
    }

    /** This thread's task has ended. */
    void ended() {
        beganNs.remove(Thread.currentThread());
    }

    @Override
    public void run() {
        try {
            while (true) {
                TimeUnit.SECONDS.sleep(PERIOD_S);
                look();
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The API server is asked last: it would note each of our calls as one hung up on it. */
    void look() throws InterruptedException {
        if (isStuck() && !store.answers() && !server.answers() && isStuck()) {
            LOG.error("Sluice: this executor reaches neither its checkpoint nor the API server: another driver may take over, so"
                    + " it ends before what it has begun arrives late");
            end.run();
        }
    }

    private boolean isStuck() {
        final long nowNs = clockNs.getAsLong();
        beganNs.keySet().removeIf(task -> !task.isAlive());
        return beganNs.values().stream().anyMatch(began -> nowNs - began >= STUCK_NS);
    }
}
