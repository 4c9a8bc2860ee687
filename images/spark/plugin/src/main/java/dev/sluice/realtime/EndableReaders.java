package dev.sluice.realtime;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/** Makes a source's readers, each with {@link EndableReader} in front; goes to the executors with the task. */
final class EndableReaders implements PartitionReaderFactory {
    private static final long serialVersionUID = 1L;

    private final PartitionReaderFactory factory;

    EndableReaders(final PartitionReaderFactory factory) {
        this.factory = factory;
    }

    @Override
    @SuppressWarnings("unchecked")
    public PartitionReader<InternalRow> createReader(final InputPartition partition) {
        return new EndableReader((SupportsRealTimeRead<InternalRow>) factory.createReader(partition), ReaderEnd.current());
    }
}
