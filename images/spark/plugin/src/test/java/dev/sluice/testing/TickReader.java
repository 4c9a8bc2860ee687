package dev.sluice.testing;

import java.util.concurrent.locks.LockSupport;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/** Reads one partition of {@link TickSource}; in Real-Time Mode it waits for the next tick as long as it may. */
final class TickReader implements SupportsRealTimeRead<InternalRow> {
    private static final long STEP_NS = 5_000_000L;

    private final TickSource.Part part;
    private long next;
    private long current;

    TickReader(final TickSource.Part part) {
        this.part = part;
        this.next = part.from();
    }

    static final class Factory implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(final InputPartition partition) {
            return new TickReader((TickSource.Part) partition);
        }
    }

    @Override
    public boolean next() {
        if (next >= part.to()) {
            return false;
        }
        step();
        return true;
    }

    @Override
    public RecordStatus nextWithTimeout(final Long timeoutMs) {
        final long deadlineMs = System.currentTimeMillis() + timeoutMs;
        while (part.partition() == part.clock().idle() || next >= part.clock().most()
                || System.currentTimeMillis() < part.clock().dueMs(next)) {
            if (System.currentTimeMillis() >= deadlineMs) {
                return RecordStatus.newStatusWithoutArrivalTime(false);
            }
            LockSupport.parkNanos(STEP_NS);
        }
        step();
        return RecordStatus.newStatusWithoutArrivalTime(true);
    }

    private void step() {
        current = next;
        next += part.clock().partitions();
    }

    @Override
    public PartitionOffset getOffset() {
        return new TickSource.Reached(part.partition(), next);
    }

    @Override
    public InternalRow get() {
        return new GenericInternalRow(new Object[] {current, part.clock().dueMs(current) * 1_000});
    }

    @Override
    public void close() {
    }
}
