package dev.sluice.testing;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A replayable clock, the same for every driver: row {@code id} exists from {@code t0 + id * 1000 / rate} ms on, and partition p
 * of P holds the ids with {@code id % P == p}. For both engines; its offset is the next id of each partition. In Real-Time Mode
 * the option {@code idle} names a partition whose rows never come.
 */
public final class TickSource implements TableProvider {
    static final StructType SCHEMA = new StructType()
            .add("id", DataTypes.LongType).add("time", DataTypes.TimestampType);

    @Override
    public StructType inferSchema(final CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(final StructType schema, final Transform[] by, final Map<String, String> properties) {
        return new Ticks();
    }

    /** When which row exists. */
    record Clock(int partitions, double rate, long t0, long most, int idle) implements java.io.Serializable {
        long dueMs(final long id) {
            return t0 + (long) (id * 1000.0 / rate);
        }

        long existing(final long nowMs) {
            return Math.min(most, Math.max(0, (long) ((nowMs - t0) * rate / 1000.0)));
        }
    }

    private static final class Ticks implements Table, SupportsRead {
        @Override
        public String name() {
            return "tick";
        }

        @Override
        @Deprecated
        public StructType schema() {
            return SCHEMA;
        }

        @Override
        public Set<TableCapability> capabilities() {
            return EnumSet.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(final CaseInsensitiveStringMap options) {
            final Clock clock = new Clock(options.getInt("partitions", 2), options.getDouble("rate", 100),
                    options.getLong("t0", 0), options.getLong("most", Long.MAX_VALUE), options.getInt("idle", -1));
            return () -> new Scan() {
                @Override
                public StructType readSchema() {
                    return SCHEMA;
                }

                @Override
                public MicroBatchStream toMicroBatchStream(final String checkpoint) {
                    return new Stream(clock);
                }
            };
        }
    }

    private static final class Next extends Offset {
        private final long[] ids;

        Next(final long[] ids) {
            this.ids = ids;
        }

        @Override
        public String json() {
            return Arrays.toString(ids);
        }
    }

    /** Where a reader of one partition ended. */
    record Reached(int partition, long id) implements PartitionOffset {
    }

    /** What one task reads; {@code to} is without end in Real-Time Mode. */
    record Part(int partition, long from, long to, Clock clock) implements InputPartition {
    }

    private record Stream(Clock clock) implements MicroBatchStream, SupportsAdmissionControl, SupportsRealTimeMode {
        private Next first() {
            final long[] ids = new long[clock.partitions()];
            Arrays.setAll(ids, i -> i);
            return new Next(ids);
        }

        @Override
        public Offset initialOffset() {
            return first();
        }

        @Override
        public Offset latestOffset() {
            throw new UnsupportedOperationException("asked without a limit");
        }

        @Override
        public Offset latestOffset(final Offset from, final ReadLimit limit) {
            final long[] ids = first().ids;
            final long existing = clock.existing(System.currentTimeMillis());
            for (int i = 0; i < ids.length; i++) {
                final long rows = existing <= i ? 0 : (existing - i + ids.length - 1) / ids.length;
                ids[i] = Math.max(((Next) from).ids[i], i + rows * ids.length);
            }
            return new Next(ids);
        }

        @Override
        public Offset deserializeOffset(final String json) {
            final String[] parts = json.replaceAll("[\\[\\] ]", "").split(",");
            return new Next(Arrays.stream(parts).mapToLong(Long::parseLong).toArray());
        }

        @Override
        public InputPartition[] planInputPartitions(final Offset from, final Offset to) {
            final InputPartition[] parts = new InputPartition[clock.partitions()];
            Arrays.setAll(parts, i -> new Part(i, ((Next) from).ids[i], ((Next) to).ids[i], clock));
            return parts;
        }

        @Override
        public InputPartition[] planInputPartitions(final Offset from) {
            final InputPartition[] parts = new InputPartition[clock.partitions()];
            Arrays.setAll(parts, i -> new Part(i, ((Next) from).ids[i], Long.MAX_VALUE, clock));
            return parts;
        }

        @Override
        public Offset mergeOffsets(final PartitionOffset[] reached) {
            final long[] ids = first().ids;
            for (final PartitionOffset one : reached) {
                ids[((Reached) one).partition()] = ((Reached) one).id();
            }
            return new Next(ids);
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return new TickReader.Factory();
        }

        @Override
        public void commit(final Offset end) {
        }

        @Override
        public void stop() {
        }
    }
}
