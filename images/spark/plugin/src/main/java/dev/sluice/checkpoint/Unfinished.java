package dev.sluice.checkpoint;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Paths;
import org.apache.hadoop.fs.Path;

/**
 * Files that an overtaken driver has begun and not named yet. Its look at the epochs and the renaming are two steps, and one that
 * stood still in between would go on with the second. Without the file it cannot; what it begins later meets the new epoch.
 */
final class Unfinished {
    private Unfinished() {
    }

    /** Takes them away, once a higher epoch stands.
     * @param folder on a POSIX file system; elsewhere nothing is renamed */
    static void remove(final Path folder) throws IOException {
        try (DirectoryStream<java.nio.file.Path> begun =
                Files.newDirectoryStream(Paths.get(folder.toUri().getPath()), ".*.tmp")) {
            for (final java.nio.file.Path file : begun) {
                Files.deleteIfExists(file);
            }
        } catch (final NoSuchFileException e) {
            return; // a checkpoint's first driver
        }
    }
}
