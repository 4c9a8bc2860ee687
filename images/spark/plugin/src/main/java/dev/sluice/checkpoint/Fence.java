package dev.sluice.checkpoint;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Looks for a higher epoch before a write, on the driver and inside tasks alike. */
public final class Fence {
    /** Session settings a query gets at go; Spark carries them to every task in the Hadoop configuration. */
    public static final String ROOT = "spark.sluice.checkpoint.root";
    /** The epoch that goes with {@link #ROOT}. */
    public static final String EPOCH = "spark.sluice.checkpoint.epoch";

    /** What tasks of this JVM have said: a state loaded at the gate keeps the configuration it was loaded with. */
    private static final Map<String, Long> STARTED = new ConcurrentHashMap<>();

    private final Epochs epochs;
    private final LongSupplier own;

    /**
     * The fence of one writer.
     *
     * @param epochs who may write to its checkpoint
     * @param own the epoch it took
     */
    public Fence(final Epochs epochs, final long own) {
        this(epochs, () -> own);
    }

    private Fence(final Epochs epochs, final LongSupplier own) {
        this.epochs = epochs;
        this.own = own;
    }

    /** The fence of a task: what its query wrote into the configuration at go; null where there is none. */
    static Fence ofTask(final Configuration conf) {
        final String root = conf.get(ROOT);
        if (root == null) {
            return null;
        }
        final long epoch = conf.getLong(EPOCH, 0);
        return new Fence(new Epochs(new Path(root), conf), epoch == 0 ? () -> STARTED.getOrDefault(root, 0L) : () -> epoch);
    }

    /**
     * A task of a query that has passed its gate runs in this JVM.
     *
     * @param root the query's checkpoint
     * @param epoch the one it took
     */
    public static void started(final String root, final long epoch) {
        STARTED.merge(root, epoch, Math::max);
    }

    /** The checkpoints of the queries whose tasks have run in this JVM.
     * @return a view */
    public static Set<String> roots() {
        return STARTED.keySet();
    }

    /** Whether the query has not passed its gate: what it would tidy up is another's. */
    boolean waits() {
        return own.getAsLong() == 0;
    }

    /**
     * Passes while nobody stands higher.
     *
     * @param verb what is about to happen
     * @param path to which file
     * @throws FencedException when a higher epoch stands, or none can be seen: who cannot look must not write
     */
    public void pass(final String verb, final Path path) {
        final long epoch = own.getAsLong();
        if (epoch == 0) {
            throw new FencedException("a query that waits at its gate may not " + verb + " " + path);
        }
        final long highest;
        try {
            highest = epochs.highest();
        } catch (final IOException e) {
            if (isInterruption(e)) {
                throw Sneaky.raise(e); // the query is being stopped: to Spark that is no failure
            }
            throw new FencedException("cannot see whether epoch " + epoch + " may still " + verb + " " + path + ": " + e);
        }
        if (highest > epoch) {
            throw new FencedException("epoch " + epoch + " may not " + verb + " " + path + ": epoch " + highest
                    + " has taken the checkpoint");
        }
    }

    /** A store that did not answer in time says so with a kind of {@link InterruptedIOException}, too. */
    private static boolean isInterruption(final IOException e) {
        return e instanceof ClosedByInterruptException
                || e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException);
    }
}
