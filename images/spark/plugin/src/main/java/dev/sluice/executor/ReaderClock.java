package dev.sluice.executor;

import dev.sluice.driver.SourceEnd;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.util.SystemClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clock by which Real-Time readers end their batch. When the driver drains it runs far ahead, inside tasks only: in local
 * mode the driver plans the next batch with the same object. Who never reads in Real-Time Mode never asks the driver.
 */
final class ReaderClock extends SystemClock {
    private static final long AHEAD_MS = 1L << 40;
    private static final long ASK_MS = 25;
    private static final long PAUSE_MS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(ReaderClock.class);

    private final PluginContext context;
    private Thread asking;
    private volatile boolean inUse;
    private volatile boolean ahead;
    private volatile boolean ended;

    ReaderClock(final PluginContext context) {
        this.context = context;
    }

    @Override
    public long getTimeMillis() {
        if (TaskContext.get() == null) {
            return System.currentTimeMillis();
        }
        if (!inUse) {
            start();
        }
        return System.currentTimeMillis() + (ahead ? AHEAD_MS : 0);
    }

    void end() {
        ended = true;
    }

    /** Tasks of several threads come here at once; one of them starts the asking. */
    private synchronized void start() {
        if (asking == null) {
            asking = new Thread(this::ask, "sluice-reader-clock");
            asking.setDaemon(true);
            asking.start();
        }
        inUse = true;
    }

    private void ask() {
        while (!ended) {
            try {
                ahead = Boolean.TRUE.equals(context.ask(SourceEnd.question(context.executorID(), ahead)));
                Thread.sleep(ASK_MS);
            } catch (final InterruptedException e) {
                return;
            } catch (final Exception e) {
                LOG.debug("Sluice: the driver does not answer", e);
                try {
                    Thread.sleep(PAUSE_MS);
                } catch (final InterruptedException again) {
                    return;
                }
            }
        }
    }
}
