package dev.sluice.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Paths;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Who may write to a checkpoint: one empty file per epoch, whose name is the epoch. The highest one that stands may write.
 * A file is made exclusively, so two drivers never hold the same epoch; no clock and no API server is asked.
 */
public final class Epochs {
    private static final String FOLDER = "_sluice/epochs";

    private final Path folder;
    private final Configuration conf;

    /**
     * The epochs of one checkpoint.
     *
     * @param root where the checkpoint lies
     * @param conf Hadoop's settings, as Spark has them
     */
    public Epochs(final Path root, final Configuration conf) {
        this.folder = new Path(root, FOLDER);
        this.conf = conf;
    }

    /**
     * The epoch that may write.
     *
     * @return the highest one, 0 where none was ever taken
     * @throws IOException when the store does not answer
     */
    public long highest() throws IOException {
        return isPosix() ? highestOfFolder() : highestOfStore();
    }

    /**
     * Takes an epoch.
     *
     * @param epoch higher than any that stands
     * @return true when it is ours, false when it was taken before us
     * @throws IOException when the store does not answer
     */
    public boolean take(final long epoch) throws IOException {
        if (isPosix()) {
            Files.createDirectories(Paths.get(folder.toUri().getPath()));
            try {
                // Hadoop's own local create looks first and creates then; this is one O_EXCL.
                Files.createFile(Paths.get(folder.toUri().getPath(), Long.toString(epoch)));
                return true;
            } catch (final FileAlreadyExistsException e) {
                return false;
            }
        }
        return takeInStore(new Path(folder, Long.toString(epoch)));
    }

    /**
     * Whether two drivers that take the same epoch at once are told apart here.
     *
     * @return false where a second writer cannot be excluded
     */
    public boolean isExclusive() {
        return isPosix() || isConditional(folder);
    }

    /** Stores on which a create can be made conditional on the file's absence. */
    static boolean isConditional(final Path path) {
        return "s3a".equals(path.toUri().getScheme());
    }

    /** Whether it lies where files get their name by a rename. */
    boolean isPosix() {
        final String scheme = folder.toUri().getScheme();
        return scheme == null ? "file".equals(FileSystem.getDefaultUri(conf).getScheme()) : "file".equals(scheme);
    }

    private boolean takeInStore(final Path file) throws IOException {
        final FileSystem store = file.getFileSystem(conf);
        final IOException lost;
        try (FSDataOutputStream out = DirectFileManager.create(store, file, false)) {
            out.write('\n');
            return true;
        } catch (final IOException e) {
            lost = e;
        }
        if (store.exists(file)) {
            return false;
        }
        throw lost;
    }

    private long highestOfFolder() throws IOException {
        try (Stream<java.nio.file.Path> files = Files.list(Paths.get(folder.toUri().getPath()))) {
            return highest(files.map(file -> file.getFileName().toString()));
        } catch (final NoSuchFileException e) {
            return 0;
        }
    }

    private long highestOfStore() throws IOException {
        try {
            final FileStatus[] files = folder.getFileSystem(conf).listStatus(folder);
            return highest(Stream.of(files).map(file -> file.getPath().getName()));
        } catch (final FileNotFoundException e) {
            return 0;
        }
    }

    private static long highest(final Stream<String> names) {
        final LongStream epochs = names.filter(name -> name.matches("[0-9]{1,18}")).mapToLong(Long::parseLong);
        return epochs.max().orElse(0);
    }
}
