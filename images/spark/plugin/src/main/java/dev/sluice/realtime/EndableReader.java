package dev.sluice.realtime;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/**
 * A source's own reader, asked for short whiles: Spark lets it wait for a row up to the end of the batch, and a partition
 * without rows would hold a drain up for as long.
 */
final class EndableReader implements SupportsRealTimeRead<InternalRow> {
    private static final long SLICE_MS = 100;

    private final SupportsRealTimeRead<InternalRow> reader;
    private final ReaderEnd end;

    EndableReader(final SupportsRealTimeRead<InternalRow> reader, final ReaderEnd end) {
        this.reader = reader;
        this.end = end;
    }

    @Override
    public RecordStatus nextWithTimeout(final Long startMs, final Long timeoutMs) throws IOException {
        final long beganNs = System.nanoTime();
        long goneMs = 0;
        while (!end.isWanted()) {
            final long sliceMs = Math.min(SLICE_MS, timeoutMs - goneMs);
            final RecordStatus status = reader.nextWithTimeout(startMs + goneMs, sliceMs);
            if (status.hasRecord()) {
                return status;
            }
            final long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs) - goneMs;
            goneMs += tookMs;
            // One that comes back long before its time has nothing more to give in this batch; asked again it would spin.
            if (goneMs >= timeoutMs || tookMs < sliceMs / 2) {
                return status;
            }
        }
        return RecordStatus.newStatusWithoutArrivalTime(false);
    }

    @Override
    public boolean next() throws IOException {
        return reader.next();
    }

    @Override
    public InternalRow get() {
        return reader.get();
    }

    @Override
    public PartitionOffset getOffset() {
        return reader.getOffset();
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
