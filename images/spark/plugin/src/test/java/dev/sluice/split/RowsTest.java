package dev.sluice.split;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.execution.streaming.sources.RatePerMicroBatchStreamInputPartition;
import org.apache.spark.sql.execution.streaming.sources.RatePerMicroBatchStreamPartitionReader;
import org.apache.spark.sql.execution.streaming.sources.RateStreamMicroBatchInputPartition;
import org.apache.spark.sql.execution.streaming.sources.RateStreamMicroBatchPartitionReader;
import org.junit.jupiter.api.Test;

/** Of Spark's own generators, read by their own readers; Kafka's are read on a real broker by tests/plugin. */
final class RowsTest {
    private static List<String> read(final InputPartition partition) throws IOException {
        final List<String> rows = new ArrayList<>();
        try (PartitionReader<InternalRow> reader = reader(partition)) {
            while (reader.next()) {
                final InternalRow row = reader.get(); // once: it goes on to the next
                rows.add(row.getLong(0) + "/" + row.getLong(1));
            }
        }
        return rows;
    }

    private static PartitionReader<InternalRow> reader(final InputPartition partition) {
        if (partition instanceof RateStreamMicroBatchInputPartition) {
            final RateStreamMicroBatchInputPartition of = (RateStreamMicroBatchInputPartition) partition;
            return new RateStreamMicroBatchPartitionReader(of.partitionId(), of.numPartitions(), of.rangeStart(),
                    of.rangeEnd(), of.localStartTimeMs(), of.relativeMsPerValue());
        }
        final RatePerMicroBatchStreamInputPartition of = (RatePerMicroBatchStreamInputPartition) partition;
        return new RatePerMicroBatchStreamPartitionReader(
                of.partitionId(), of.numPartitions(), of.startOffset(), of.startTimestamp(), of.endOffset());
    }

    private static void isTheSameInTwo(final InputPartition whole, final int rows) throws IOException {
        final Rows known = Rows.KNOWN.get(whole.getClass().getName());
        assertEquals(rows, known.count(whole));
        for (int at = 0; at <= rows; at++) {
            final List<String> both = new ArrayList<>(read(known.between(whole, 0, at)));
            assertEquals(at, both.size());
            both.addAll(read(known.between(whole, at, rows)));
            assertEquals(read(whole), both);
        }
    }

    @Test
    void aRateSourcesPartitionReadsTheSameInTwoParts() throws IOException {
        isTheSameInTwo(new RateStreamMicroBatchInputPartition(2, 3, 100, 120, 5_000, 10.0), 6);
    }

    @Test
    void aPartitionThatEndsOnItsLastRowIsCountedRight() throws IOException {
        isTheSameInTwo(new RateStreamMicroBatchInputPartition(0, 5, 0, 16, 0, 1.0), 4);
    }

    @Test
    void aPartitionOfAFixedRateReadsTheSameInTwoParts() throws IOException {
        isTheSameInTwo(new RatePerMicroBatchStreamInputPartition(1, 4, 40, 1_000, 80, 2_000), 10);
    }

    @Test
    void aPartitionWithoutRowsHasNone() throws IOException {
        isTheSameInTwo(new RateStreamMicroBatchInputPartition(3, 4, 10, 12, 0, 1.0), 0);
    }

    @Test
    void aNumberThatDoesNotFitIsRefusedAndNotWrapped() {
        final Rows known = Rows.KNOWN.get(RateStreamMicroBatchInputPartition.class.getName());
        final InputPartition huge = new RateStreamMicroBatchInputPartition(0, 2, 0, 1L << 40, 0, 1.0);
        assertThrows(ArithmeticException.class, () -> known.between(huge, 1L << 35, 1L << 36));
    }
}
