package dev.sluice.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.internal.SQLConf;

/**
 * State files of format 2 have unique names, so a late writer's files are never read; those of format 1 are overwritten in
 * place. A new checkpoint gets format 2 unless the user chose; an old one keeps what it has, for Spark does not record it.
 */
final class StateFormat {
    static final String VERSION = "spark.sql.streaming.stateStore.checkpointFormatVersion";
    static final String PROVIDER = "spark.sql.streaming.stateStore.providerClass";
    static final String CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled";
    static final String ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider";
    private static final int LONGEST_COMMIT = 1 << 24;

    private StateFormat() {
    }

    static void choose(final SQLConf conf, final Ids ids, final Path root, final Configuration hadoop) throws IOException {
        if (conf.contains(VERSION)) {
            return;
        }
        if (ids.commits() != Query.NONE) {
            conf.setConfString(VERSION, Integer.toString(versionOf(root, ids.commits(), hadoop)));
        } else {
            // Also where a batch was begun and never committed: its state files are nobody's.
            if (!conf.contains(PROVIDER)) {
                conf.setConfString(PROVIDER, ROCKSDB);
                setIfMissing(conf, CHANGELOG, "true");
            }
            // Spark's other provider knows format 1 only.
            conf.setConfString(VERSION, ROCKSDB.equals(conf.getConfString(PROVIDER)) ? "2" : "1");
        }
    }

    /** Whether state of this session is known by the names in the commits.
     * @return true with format 2 */
    static boolean namesItsFiles(final SQLConf conf) {
        return !"1".equals(conf.getConfString(VERSION, "1"));
    }

    /** The format of a checkpoint's state: commits of format 2 say which state files are theirs. */
    static int versionOf(final Path root, final long commit, final Configuration hadoop) throws IOException {
        final Path file = new Path(new Path(root, "commits"), Long.toString(commit));
        try (InputStream in = file.getFileSystem(hadoop).open(file)) {
            final String text = new String(in.readNBytes(LONGEST_COMMIT), StandardCharsets.UTF_8);
            return text.startsWith("v1") ? 1 : 2;
        }
    }

    private static void setIfMissing(final SQLConf conf, final String key, final String value) {
        if (!conf.contains(key)) {
            conf.setConfString(key, value);
        }
    }
}
