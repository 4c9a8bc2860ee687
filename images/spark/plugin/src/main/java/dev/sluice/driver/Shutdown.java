package dev.sluice.driver;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** SIGTERM drains: pod deleted, node drained, evicted, reclaimed. Runs before Spark's own hook, which ends the executors. */
final class Shutdown {
    /** How long a batch may take to end; the pod's grace period is this and what stopping needs. */
    static final String TIMEOUT_MS = "SLUICE_DRAIN_TIMEOUT_MS";
    /** Spark registers at Hadoop's file systems + 30; higher runs earlier. */
    private static final int BEFORE_SPARK = 10 + 30 + 20;
    private static final long DEFAULT_MS = 60_000;
    /** By so much the pod's grace period is longer. */
    private static final long STOPPING_MS = 20_000;
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private final Drainer drainer;
    private final BooleanSupplier isDeserted;
    private final Runnable lastWord;
    private final Runnable hook = this::drain;

    Shutdown(final Drainer drainer, final BooleanSupplier isDeserted, final Runnable lastWord) {
        this.drainer = drainer;
        this.isDeserted = isDeserted;
        this.lastWord = lastWord;
    }

    void install() {
        ShutdownHookManager.get().addShutdownHook(hook, BEFORE_SPARK, timeoutMs() + STOPPING_MS, TimeUnit.MILLISECONDS);
    }

    void uninstall() {
        if (!ShutdownHookManager.get().isShutdownInProgress()) {
            ShutdownHookManager.get().removeShutdownHook(hook);
        }
    }

    private static long timeoutMs() {
        final String text = System.getenv(TIMEOUT_MS);
        return text != null && text.matches("[0-9]{1,8}") ? Long.parseLong(text) : DEFAULT_MS;
    }

    private void drain() {
        try {
            drainer.drainAndStop(timeoutMs(), isDeserted);
        } catch (final TimeoutException e) {
            LOG.warn("Sluice: this driver ends in the middle of a batch, which the next one repeats: {}", e.getMessage());
        } catch (final InterruptedException e) {
            LOG.warn("Sluice: the drain before this driver's end was cut short");
        } finally {
            lastWord.run();
        }
    }
}
