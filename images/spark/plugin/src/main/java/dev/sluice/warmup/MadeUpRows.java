package dev.sluice.warmup;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A source with the columns of a real one and rows nobody sent. */
final class MadeUpRows implements Table, SupportsRead {
    private static final int PARTITIONS = 2;
    private static final int ROWS = 100;

    private final StructType schema;

    MadeUpRows(final StructType schema) {
        this.schema = schema;
    }

    @Override
    public String name() {
        return "made-up rows";
    }

    @Override
    @Deprecated
    public StructType schema() {
        return schema;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return EnumSet.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(final CaseInsensitiveStringMap options) {
        return () -> new Scan() {
            @Override
            public StructType readSchema() {
                return schema;
            }

            @Override
            public MicroBatchStream toMicroBatchStream(final String checkpoint) {
                return new Stream(schema);
            }
        };
    }

    private static final class At extends Offset {
        private final long batch;

        At(final long batch) {
            this.batch = batch;
        }

        @Override
        public String json() {
            return Long.toString(batch);
        }
    }

    /** What a task gets to know. */
    record Part(int rows, int seed) implements InputPartition {
    }

    private static final class Stream implements MicroBatchStream {
        private final StructType schema;
        private long batch;

        Stream(final StructType schema) {
            this.schema = schema;
        }

        @Override
        public Offset latestOffset() {
            return new At(++batch);
        }

        @Override
        public Offset initialOffset() {
            return new At(0);
        }

        @Override
        public Offset deserializeOffset(final String json) {
            return new At(Long.parseLong(json));
        }

        @Override
        public InputPartition[] planInputPartitions(final Offset from, final Offset to) {
            final InputPartition[] parts = new InputPartition[PARTITIONS];
            for (int i = 0; i < PARTITIONS; i++) {
                parts[i] = new Part(ROWS, (int) ((At) to).batch * PARTITIONS + i);
            }
            return parts;
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return new RowMaker(schema);
        }

        @Override
        public void commit(final Offset end) {
        }

        @Override
        public void stop() {
        }
    }
}
