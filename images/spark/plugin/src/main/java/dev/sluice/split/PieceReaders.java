package dev.sluice.split;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** A source's own readers, for pieces as well as for its own partitions; goes to the executors with the task. */
final class PieceReaders implements PartitionReaderFactory {
    private static final long serialVersionUID = 1L;

    private final PartitionReaderFactory factory;

    PieceReaders(final PartitionReaderFactory factory) {
        this.factory = factory;
    }

    @Override
    public PartitionReader<InternalRow> createReader(final InputPartition partition) {
        return partition instanceof Piece
                ? new PieceReader<>(((Piece) partition).parts(), factory::createReader) : factory.createReader(partition);
    }

    @Override
    public PartitionReader<ColumnarBatch> createColumnarReader(final InputPartition partition) {
        return partition instanceof Piece
                ? new PieceReader<>(((Piece) partition).parts(), factory::createColumnarReader)
                : factory.createColumnarReader(partition);
    }

    @Override
    public boolean supportColumnarReads(final InputPartition partition) {
        if (!(partition instanceof Piece)) {
            return factory.supportColumnarReads(partition);
        }
        for (final InputPartition part : ((Piece) partition).parts()) {
            if (!factory.supportColumnarReads(part)) {
                return false;
            }
        }
        return true;
    }
}
