package dev.sluice.checkpoint;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/** A file that looks for a higher epoch once more at the moment it would appear. */
final class GuardedStream extends CancellableFSDataOutputStream {
    private final CancellableFSDataOutputStream out;
    private final Path path;
    private final Fence fence;
    private final Ending ending;
    private boolean ended;

    GuardedStream(final CancellableFSDataOutputStream out, final Path path, final Fence fence, final Ending ending) {
        super(out);
        this.out = out;
        this.path = path;
        this.fence = fence;
        this.ending = ending;
    }

    @Override
    public void close() throws IOException {
        if (ended) {
            return;
        }
        ended = true;
        try {
            if (fence != null) {
                fence.pass("write", path);
            }
            out.close();
        } catch (final IOException | RuntimeException e) {
            out.cancel();
            ending.dropped().run();
            throw e;
        }
        ending.written().run();
    }

    @Override
    public void cancel() {
        if (!ended) {
            ended = true;
            out.cancel();
            ending.dropped().run();
        }
    }
}
