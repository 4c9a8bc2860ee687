package dev.sluice.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EpochsTest {
    @TempDir
    private java.nio.file.Path folder;
    private Path root;
    private Epochs epochs;

    @BeforeEach
    void aCheckpoint() {
        root = new Path("file:" + folder + "/ck");
        epochs = new Epochs(root, new Configuration(false));
    }

    @Test
    void theHighestEpochStandsWhateverElseLiesBeside() throws IOException {
        assertEquals(0, epochs.highest());
        assertTrue(epochs.take(9));
        assertTrue(epochs.take(10));
        Files.createFile(folder.resolve("ck/_sluice/epochs/.nfs0001"));
        assertEquals(10, epochs.highest());
        assertTrue(epochs.isExclusive());
    }

    @Test
    void ofManyWhoTakeTheSameEpochAtOnceOneGetsIt() throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(8);
        final List<Future<Boolean>> took = IntStream.range(0, 8)
                .mapToObj(i -> threads.submit(() -> new Epochs(root, new Configuration(false)).take(1)))
                .collect(Collectors.toList());
        int ours = 0;
        for (final Future<Boolean> one : took) {
            ours += one.get() ? 1 : 0;
        }
        threads.shutdown();
        assertEquals(1, ours);
    }

    @Test
    void aWriterPassesUntilAHigherEpochStands() throws IOException {
        epochs.take(3);
        final Fence fence = new Fence(epochs, 3);
        fence.pass("write", new Path(root, "commits/1"));
        epochs.take(4);
        final FencedException fenced =
                assertThrows(FencedException.class, () -> fence.pass("write", new Path(root, "commits/1")));
        assertEquals("epoch 3 may not write " + root + "/commits/1: epoch 4 has taken the checkpoint", fenced.getMessage());
    }

    /** A store that answers every look with the same exception. */
    public static final class Answers extends RawLocalFileSystem {
        private static volatile IOException all;

        @Override
        public FileStatus[] listStatus(final Path path) throws IOException {
            throw all;
        }
    }

    private Throwable answer(final IOException exception) {
        final Configuration conf = new Configuration(false);
        conf.setClass("fs.answers.impl", Answers.class, FileSystem.class);
        Answers.all = exception;
        final Path at = new Path("answers:///ck");
        return assertThrows(Throwable.class, () -> new Fence(new Epochs(at, conf), 3).pass("write", new Path(at, "offsets/1")));
    }

    @Test
    void aQueryThatIsStoppedWhileItLooksWasInterruptedAndNotFenced() {
        final IOException stopped = new InterruptedIOException("listing ck");
        assertSame(stopped, answer(stopped));
        final IOException closed = new ClosedByInterruptException();
        assertSame(closed, answer(closed));
    }

    @Test
    void whoCannotLookIsFenced() {
        final Throwable late = answer(new SocketTimeoutException("no answer"));
        assertEquals(FencedException.class, late.getClass());
        assertEquals("cannot see whether epoch 3 may still write answers:/ck/offsets/1:"
                + " java.net.SocketTimeoutException: no answer", late.getMessage());
    }

    @Test
    void whoStoodStillBetweenItsLookAndTheRenameLandsNothing() throws IOException {
        epochs.take(3);
        final Path commits = new Path(root, "commits");
        final CheckpointFileManager manager = new FileContextBasedCheckpointFileManager(commits, new Configuration());
        manager.mkdirs(commits);
        final CheckpointFileManager.CancellableFSDataOutputStream commit =
                manager.createAtomic(new Path(commits, "7"), false);
        commit.write('x');
        new Fence(epochs, 3).pass("write", new Path(commits, "7"));
        epochs.take(4);
        Unfinished.remove(commits);
        assertThrows(IOException.class, commit::close);
        assertFalse(manager.exists(new Path(commits, "7")));
    }

    @Test
    void whatHasItsNameStays() throws IOException {
        Files.createDirectories(folder.resolve("ck/commits"));
        Files.createFile(folder.resolve("ck/commits/6"));
        Unfinished.remove(new Path(root, "commits"));
        Unfinished.remove(new Path(root, "offsets"));
        assertTrue(Files.exists(folder.resolve("ck/commits/6")));
    }

    @Test
    void stateLoadedAtTheGateMayBeWrittenOnceATaskHasSaidTheEpoch() throws IOException {
        final Configuration loaded = new Configuration(false);
        loaded.set(Fence.ROOT, root.toString());
        final Fence fence = Fence.ofTask(loaded);
        epochs.take(3);
        assertTrue(fence.waits());
        final Path state = new Path(root, "state/0/0/5.zip");
        final FencedException waiting = assertThrows(FencedException.class, () -> fence.pass("write", state));
        assertEquals("a query that waits at its gate may not write " + state, waiting.getMessage());
        Fence.started(root.toString(), 3);
        assertFalse(fence.waits());
        fence.pass("write", state);
        epochs.take(4);
        assertThrows(FencedException.class, () -> fence.pass("write", state));
    }

    @Test
    void aGateTakesTheOrderedEpochOrTheNextFreeOne() throws IOException {
        final Gate unordered = new Gate(false, 0);
        final Query first = new Query(new FakeSpark(root.toString()));
        unordered.take(first, epochs);
        assertEquals(1, first.epoch());
        final Gate ordered = new Gate(true, 60_000);
        assertFalse(ordered.isOpen());
        ordered.set(true, 5);
        final Query second = new Query(new FakeSpark(root.toString()));
        ordered.take(second, epochs);
        assertEquals(5, second.epoch());
        final Query late = new Query(new FakeSpark(root.toString()));
        final FencedException refused = assertThrows(FencedException.class, () -> ordered.take(late, epochs));
        assertEquals("epoch 5 may not start at " + root + ": epoch 5 stands there already", refused.getMessage());
    }

    @Test
    void aGateOpensByItselfOnlyWhenNobodyWasEverHeard() {
        assertTrue(new Gate(true, 0).isOpen());
        final Gate heard = new Gate(true, 0);
        heard.set(false, 0);
        assertFalse(heard.isOpen());
    }
}
