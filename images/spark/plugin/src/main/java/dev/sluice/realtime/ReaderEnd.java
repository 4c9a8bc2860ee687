package dev.sluice.realtime;

import dev.sluice.driver.SourceEnd;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether the driver wants this executor's Real-Time readers to end their batch. Who has no such reader never asks. */
public final class ReaderEnd {
    private static final long ASK_MS = 25;
    private static final long PAUSE_MS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(ReaderEnd.class);
    /** Found statically, by tasks' threads: Spark makes a reader from bytes, so nothing can be handed to it. */
    private static volatile ReaderEnd current;

    private final PluginContext context;
    private Thread asking;
    // Written by the asking thread, read for every row by those of the tasks.
    private volatile boolean inUse;
    private volatile boolean wanted;
    private volatile boolean ended;

    /**
     * An executor's.
     *
     * @param context by which the driver is asked
     */
    public ReaderEnd(final PluginContext context) {
        this.context = context;
    }

    /** Makes this the one that readers of this executor ask. */
    public void install() {
        current = this;
    }

    /** The executor ends. */
    public void uninstall() {
        ended = true;
    }

    static ReaderEnd current() {
        final ReaderEnd found = current;
        if (found == null) {
            throw new IllegalStateException("Sluice could not start in this executor, so its Real-Time batches could not be"
                    + " ended and a drain would repeat rows");
        }
        return found;
    }

    /** Whether a reader is to give no more rows of this batch. */
    boolean isWanted() {
        if (!inUse) {
            start();
        }
        return wanted;
    }

    /**
     * Tasks of several threads come here at once. The first asks by itself: a drain waits only for executors that have asked,
     * so no row may leave a reader of which the driver does not know.
     */
    private synchronized void start() {
        if (asking == null) {
            try {
                ask();
            } catch (final Exception e) {
                throw new IllegalStateException("the driver does not say whether Real-Time readers are to end", e);
            }
            asking = new Thread(this::keepAsking, "sluice-reader-end");
            asking.setDaemon(true);
            asking.start();
        }
        inUse = true;
    }

    private void ask() throws Exception {
        wanted = Boolean.TRUE.equals(context.ask(SourceEnd.question(context.executorID(), wanted)));
    }

    private void keepAsking() {
        while (!ended) {
            try {
                ask();
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
