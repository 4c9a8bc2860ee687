package dev.sluice.checkpoint;

import java.io.OutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/** A file that never appears. */
final class Nowhere extends CancellableFSDataOutputStream {
    Nowhere() {
        super(OutputStream.nullOutputStream());
    }

    @Override
    public void cancel() {
    }
}
