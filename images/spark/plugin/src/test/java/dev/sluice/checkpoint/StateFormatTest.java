package dev.sluice.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.internal.SQLConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StateFormatTest {
    private static final String HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider";

    private final SQLConf conf = new SQLConf();
    @TempDir
    private java.nio.file.Path root;

    private String chosen(final Ids ids) throws IOException {
        StateFormat.choose(conf, ids, new Path(root.toUri()), new Configuration(false));
        return conf.getConfString(StateFormat.VERSION);
    }

    @Test
    void aNewCheckpointGetsTheFormatWhoseFilesHaveUniqueNames() throws IOException {
        assertEquals("2", chosen(new Ids(Query.NONE, Query.NONE)));
    }

    @Test
    void soDoesOneWhoseFirstBatchWasNeverCommitted() throws IOException {
        conf.setConfString(StateFormat.PROVIDER, StateFormat.ROCKSDB);
        assertEquals("2", chosen(new Ids(0, Query.NONE)));
    }

    @Test
    void aProviderThatKnowsFormat1OnlyKeepsIt() throws IOException {
        conf.setConfString(StateFormat.PROVIDER, HDFS);
        assertEquals("1", chosen(new Ids(0, Query.NONE)));
    }

    @Test
    void anOldCheckpointKeepsWhatItHas() throws IOException {
        Files.createDirectory(root.resolve("commits"));
        Files.writeString(root.resolve("commits").resolve("7"), "v1\n{}");
        assertEquals("1", chosen(new Ids(7, 7)));
    }

    @Test
    void whatTheUserChoseStays() throws IOException {
        conf.setConfString(StateFormat.VERSION, "1");
        assertEquals("1", chosen(new Ids(Query.NONE, Query.NONE)));
    }
}
