package dev.sluice.checkpoint;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.runtime.QueryExecutionThread;

/**
 * The file manager Spark uses for offsets, commits, state and the logs of sources and sinks, on driver and executors. It
 * writes nothing itself: it asks the {@link Guard} and the {@link Fence}, and hands on to a delegate.
 */
public final class GuardedFileManager implements CheckpointFileManager {
    private static final String OFFSETS = "offsets";
    private static final String COMMITS = "commits";

    private final CheckpointFileManager delegate;
    private final Configuration conf;
    private final Path base;
    private final boolean isOffsets;
    private final Fence ofTask;

    /**
     * Spark makes it by name.
     *
     * @param path the folder it is for
     * @param conf Hadoop's settings with those of the query's session
     */
    public GuardedFileManager(final Path path, final Configuration conf) {
        this.delegate = Delegates.make(path, conf);
        this.conf = conf;
        this.base = path;
        this.isOffsets = OFFSETS.equals(path.getName());
        this.ofTask = Fence.ofTask(conf);
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(final Path path, final boolean overwrite) {
        final Guard guard = Guard.current();
        final Query query = guard == null ? null : queryOf(guard, path);
        final boolean isOfQuery = query != null && isBatch(path) && path.getParent().getParent().equals(query.spark().root());
        if (isOfQuery && OFFSETS.equals(path.getParent().getName())) {
            return offsets(guard, query, path, overwrite);
        }
        if (waits(query, path)) {
            throw new FencedException("a query that waits at its gate may not write " + path);
        }
        final Fence fence = fence(query);
        if (isOfQuery && COMMITS.equals(path.getParent().getName())) {
            final long batch = Long.parseLong(path.getName());
            if (query.inFlight() != batch && query.emptied && !query.spark().isActive()) {
                return new Nowhere(); // the commit of a batch whose offsets went there, too
            }
            return guarded(path, overwrite, fence, new Ending(() -> guard.commit(query, batch), () -> { }));
        }
        return guarded(path, overwrite, fence, Ending.NOTHING);
    }

    private CancellableFSDataOutputStream offsets(
            final Guard guard, final Query query, final Path path, final boolean overwrite) {
        if (!guard.begin(query, Long.parseLong(path.getName()))) {
            return new Nowhere();
        }
        try {
            // Before the batch, not only before the rename: a fenced driver must not even begin one.
            query.fence.pass("begin", path);
            return guarded(path, overwrite, query.fence, new Ending(() -> { }, () -> guard.drain().abandon(query)));
        } catch (final RuntimeException | Error e) {
            guard.drain().abandon(query);
            throw e;
        }
    }

    private CancellableFSDataOutputStream guarded(
            final Path path, final boolean overwrite, final Fence fence, final Ending ending) {
        return new GuardedStream(delegate.createAtomic(path, overwrite), path, fence, ending);
    }

    private Query queryOf(final Guard guard, final Path path) {
        final Query byPath = guard.of(path);
        return byPath == null ? guard.ofThread() : byPath;
    }

    /** The driver knows the query; a task knows what came with its configuration. */
    private Fence fence(final Query query) {
        return query == null ? ofTask : query.fence;
    }

    /** Only our own comparison writes there before go, beside what is Spark's. */
    private static boolean waits(final Query query, final Path path) {
        return query != null && query.fence == null && !path.toString().startsWith(query.spark().root() + "/_sluice/");
    }

    private static boolean isBatch(final Path path) {
        return path.depth() > 2 && path.getName().chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** The gate stands here: {@code start()} has returned to the user, and the log of offsets is unread. */
    private void look() {
        if (isOffsets && Thread.currentThread() instanceof QueryExecutionThread) {
            final Guard guard = Guard.current();
            if (guard != null) {
                guard.enter(base.getParent(), conf);
            }
        }
    }

    @Override
    public FSDataInputStream open(final Path path) {
        look();
        return delegate.open(path);
    }

    @Override
    public FileStatus[] list(final Path path, final PathFilter filter) {
        look();
        return delegate.list(path, filter);
    }

    @Override
    public boolean exists(final Path path) {
        look();
        return delegate.exists(path);
    }

    @Override
    public void delete(final Path path) {
        final Guard guard = Guard.current();
        final Query query = guard == null ? null : queryOf(guard, path);
        final Fence fence = fence(query);
        if (fence == null ? waits(query, path) : fence.waits()) {
            return; // state loaded at the gate has a maintenance thread, too; the driver that runs tidies up
        }
        if (fence != null) {
            // The one who took over may be reading what an old maintenance thread finds superfluous.
            fence.pass("delete", path);
        }
        delegate.delete(path);
    }

    @Override
    public void mkdirs(final Path path) {
        delegate.mkdirs(path);
    }

    @Override
    public boolean isLocal() {
        return delegate.isLocal();
    }

    @Override
    public Path createCheckpointDirectory() {
        return delegate.createCheckpointDirectory();
    }

    @Override
    public void close() {
        delegate.close();
    }
}
