package dev.sluice.checkpoint;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Looks for a higher epoch before a write, on the driver and inside tasks alike. */
public final class Fence {
    /** Session settings a query gets at go; Spark carries them to every task in the Hadoop configuration. */
    public static final String ROOT = "spark.sluice.checkpoint.root";
    /** The epoch that goes with {@link #ROOT}. */
    public static final String EPOCH = "spark.sluice.checkpoint.epoch";

    private final Epochs epochs;
    private final long own;

    /**
     * The fence of one writer.
     *
     * @param epochs who may write to its checkpoint
     * @param own the epoch it took
     */
    public Fence(final Epochs epochs, final long own) {
        this.epochs = epochs;
        this.own = own;
    }

    /** The fence of a task: what its query wrote into the configuration at go; null where there is none. */
    static Fence ofTask(final Configuration conf) {
        final String root = conf.get(ROOT);
        return root == null ? null : new Fence(new Epochs(new Path(root), conf), conf.getLong(EPOCH, 0));
    }

    /**
     * Passes while nobody stands higher.
     *
     * @param verb what is about to happen
     * @param path to which file
     * @throws FencedException when a higher epoch stands, or none can be seen: who cannot look must not write
     */
    public void pass(final String verb, final Path path) {
        final long highest;
        try {
            highest = epochs.highest();
        } catch (final IOException e) {
            throw new FencedException("cannot see whether epoch " + own + " may still " + verb + " " + path + ": " + e);
        }
        if (highest > own) {
            throw new FencedException("epoch " + own + " may not " + verb + " " + path + ": epoch " + highest
                    + " has taken the checkpoint");
        }
    }
}
