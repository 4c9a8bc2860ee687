package dev.sluice.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * The last batches of a checkpoint as they stand on storage: the only truth about a drain.
 *
 * @param offsets the last batch that was begun, {@link Query#NONE} where none was
 * @param commits the last batch that was committed, {@link Query#NONE} where none was
 */
public record Ids(long offsets, long commits) {
    /**
     * Looks.
     *
     * @param root where the checkpoint lies
     * @param conf Hadoop's settings
     * @return what stands there now
     * @throws IOException when the store does not answer
     */
    public static Ids read(final Path root, final Configuration conf) throws IOException {
        // Commits first: a batch that begins and ends in between would else look committed but never begun.
        final long commits = last(new Path(root, "commits"), conf);
        return new Ids(last(new Path(root, "offsets"), conf), commits);
    }

    /** Whether every batch that was begun is committed.
     * @return true at rest */
    public boolean isAtRest() {
        return offsets == commits;
    }

    private static long last(final Path folder, final Configuration conf) throws IOException {
        try {
            final FileStatus[] files = folder.getFileSystem(conf).listStatus(folder);
            return Stream.of(files).map(file -> file.getPath().getName()).filter(name -> name.matches("[0-9]{1,18}"))
                    .mapToLong(Long::parseLong).max().orElse(Query.NONE);
        } catch (final FileNotFoundException e) {
            return Query.NONE;
        }
    }
}
