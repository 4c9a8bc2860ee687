package dev.sluice.checkpoint;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/** Who really writes: the user's own file manager, a direct one on a store that can, else what Spark would take. */
final class Delegates {
    /** The class the user had set before ours took the key. */
    static final String USERS_OWN = "spark.sluice.checkpoint.delegate";

    private Delegates() {
    }

    static CheckpointFileManager make(final Path path, final Configuration conf) {
        final String usersOwn = conf.get(USERS_OWN);
        try {
            if (usersOwn != null) {
                return make(usersOwn, path, conf);
            }
            return Epochs.isConditional(path) ? new DirectFileManager(path, conf) : sparksOwn(path, conf);
        } catch (final IOException e) {
            throw Sneaky.raise(e);
        }
    }

    private static CheckpointFileManager make(final String name, final Path path, final Configuration conf) {
        try {
            final Class<?> type = Class.forName(name, true, Thread.currentThread().getContextClassLoader());
            return (CheckpointFileManager) type.getConstructor(Path.class, Configuration.class).newInstance(path, conf);
        } catch (final InvocationTargetException e) {
            throw Sneaky.raise(e.getCause());
        } catch (final ReflectiveOperationException e) {
            throw new IllegalArgumentException("spark.sql.streaming.checkpointFileManagerClass is " + name
                    + ", which cannot be made from a Path and a Configuration", e);
        }
    }

    /** The same order as Spark: FileContext renames atomically on HDFS, FileSystem knows more schemes. */
    private static CheckpointFileManager sparksOwn(final Path path, final Configuration conf) {
        try {
            return new FileContextBasedCheckpointFileManager(path, conf);
        } catch (final Exception e) {
            if (e instanceof UnsupportedFileSystemException) {
                return new FileSystemBasedCheckpointFileManager(path, conf);
            }
            throw Sneaky.raise(e);
        }
    }
}
