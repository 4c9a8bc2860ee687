package dev.sluice.checkpoint;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * Checkpoint files of an object store with conditional writes. Spark's default writes aside and renames, which on such a store
 * is a copy and a delete, and not exclusive; here the upload itself fails when the file is there already.
 */
public final class DirectFileManager extends FileSystemBasedCheckpointFileManager {
    private static final String ONLY_IF_ABSENT = "fs.option.create.conditional.overwrite";

    private final FileSystem store;

    /**
     * A manager for the files below a path.
     *
     * @param path as Spark names it
     * @param conf Hadoop's settings
     * @throws IOException when there is no such store
     */
    public DirectFileManager(final Path path, final Configuration conf) throws IOException {
        super(path, conf);
        this.store = path.getFileSystem(conf);
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(final Path path, final boolean overwrite) {
        try {
            if (!overwrite && store.exists(path)) {
                throw new FileAlreadyExistsException(path + " already exists");
            }
            return new Upload(path, overwrite, create(store, path, overwrite));
        } catch (final IOException e) {
            throw Sneaky.raise(e);
        }
    }

    /** A file that appears when it is closed, and without {@code overwrite} only where none is. */
    static FSDataOutputStream create(final FileSystem store, final Path path, final boolean overwrite) throws IOException {
        final FSDataOutputStreamBuilder<?, ?> made = store.createFile(path).recursive().overwrite(overwrite);
        if (!overwrite && Epochs.isConditional(path)) {
            made.must(ONLY_IF_ABSENT, true);
        }
        return made.build();
    }

    /** One upload: all or nothing. */
    private final class Upload extends CancellableFSDataOutputStream {
        private final Path path;
        private final boolean overwrite;
        private final FSDataOutputStream out;
        private boolean ended;

        Upload(final Path path, final boolean overwrite, final FSDataOutputStream out) {
            super(out);
            this.path = path;
            this.overwrite = overwrite;
            this.out = out;
        }

        @Override
        public void close() throws IOException {
            if (ended) {
                return;
            }
            ended = true;
            try {
                out.close();
            } catch (final IOException e) {
                // Spark tells a lost race by this exception alone; S3A has several of its own for it.
                if (!overwrite && store.exists(path)) {
                    final IOException lost = new FileAlreadyExistsException(path + " was written by another driver");
                    lost.initCause(e);
                    throw lost;
                }
                throw e;
            }
        }

        @Override
        public void cancel() {
            if (!ended) {
                ended = true;
                out.abort();
            }
        }
    }
}
