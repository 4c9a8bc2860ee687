package dev.sluice.warmup;

import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Makes rows up inside a task; what it cannot make up is null. */
final class RowMaker implements PartitionReaderFactory {
    private static final int RANGE = 1_000;

    private final StructType schema;

    RowMaker(final StructType schema) {
        this.schema = schema;
    }

    @Override
    public PartitionReader<InternalRow> createReader(final InputPartition partition) {
        final MadeUpRows.Part part = (MadeUpRows.Part) partition;
        final Random random = new Random(part.seed());
        return new PartitionReader<>() {
            private int given;

            @Override
            public boolean next() {
                return given++ < part.rows();
            }

            @Override
            public InternalRow get() {
                final Object[] values = new Object[schema.length()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = value(schema.fields()[i].dataType(), random);
                }
                return new GenericInternalRow(values);
            }

            @Override
            public void close() {
            }
        };
    }

    private static Object value(final DataType type, final Random random) {
        final int n = random.nextInt(RANGE);
        if (type instanceof StringType) {
            return UTF8String.fromString("w" + n);
        }
        if (type instanceof BinaryType) {
            return new byte[] {(byte) n};
        }
        if (type instanceof TimestampType || type instanceof TimestampNTZType) {
            return System.currentTimeMillis() * 1_000L;
        }
        if (type instanceof BooleanType) {
            return n % 2 == 0;
        }
        return number(type, n);
    }

    private static Object number(final DataType type, final int n) {
        if (type instanceof LongType) {
            return (long) n;
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return n;
        }
        if (type instanceof DoubleType) {
            return (double) n;
        }
        if (type instanceof FloatType) {
            return (float) n;
        }
        if (type instanceof ShortType) {
            return (short) n;
        }
        return type instanceof ByteType ? (Object) (byte) (n % 100) : null;
    }
}
