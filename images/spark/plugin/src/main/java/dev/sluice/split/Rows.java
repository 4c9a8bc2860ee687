package dev.sluice.split;

import java.util.Map;
import org.apache.spark.sql.connector.read.InputPartition;

/** What is known of a source's partitions beyond Spark's interface: how many rows they hold, and how to name some of them. */
interface Rows {
    /** Sources whose partitions may be cut at any row. Matched by name: a connector is the user's, in whatever version. */
    Map<String, Rows> KNOWN = Map.of(
            "org.apache.spark.sql.kafka010.KafkaBatchInputPartition", new KafkaRows(),
            "org.apache.spark.sql.execution.streaming.sources.RateStreamMicroBatchInputPartition",
            new CountedRows("rangeStart", "rangeEnd"),
            "org.apache.spark.sql.execution.streaming.sources.RatePerMicroBatchStreamInputPartition",
            new CountedRows("startOffset", "endOffset"));

    /** How many rows a partition holds; of Kafka at most, for markers of transactions and compacted records count as well. */
    long count(InputPartition partition);

    /** A partition of the same kind that holds only some of its rows. */
    InputPartition between(InputPartition partition, long from, long to);

    /** Kafka's: a range of offsets. */
    final class KafkaRows implements Rows {
        @Override
        public long count(final InputPartition partition) {
            final Fields range = new Fields(new Fields(partition).get("offsetRange"));
            final long from = range.get("fromOffset");
            final long until = range.get("untilOffset");
            if (from < 0 || until < from) {
                throw new IllegalStateException("a range of Kafka's offsets goes from " + from + " to " + until);
            }
            return until - from;
        }

        @Override
        public InputPartition between(final InputPartition partition, final long from, final long to) {
            final Fields range = new Fields(new Fields(partition).get("offsetRange"));
            final long first = range.get("fromOffset");
            final Object some = range.with(Map.of("fromOffset", first + from, "untilOffset", first + to));
            return (InputPartition) new Fields(partition).with(Map.of("offsetRange", some));
        }
    }

    /** Those of Spark's generators: of P partitions, p holds each P-th number of a range, counted from its p-th. */
    final class CountedRows implements Rows {
        private final String first;
        private final String last;

        CountedRows(final String first, final String last) {
            this.first = first;
            this.last = last;
        }

        @Override
        public long count(final InputPartition partition) {
            final Fields fields = new Fields(partition);
            final int step = fields.get("numPartitions");
            final long ahead = fields.<Long>get(last) - fields.<Long>get(first) - fields.<Integer>get("partitionId");
            return Math.max(0, Math.floorDiv(ahead + step - 1, (long) step));
        }

        @Override
        public InputPartition between(final InputPartition partition, final long from, final long to) {
            final Fields fields = new Fields(partition);
            final int step = fields.get("numPartitions");
            final int id = fields.get("partitionId");
            final long end = Math.min(fields.get(last), fields.<Long>get(first) + id + step * to);
            // Times are counted from the range's beginning, so that stays, and the first rows are skipped by a higher number.
            return (InputPartition) fields.with(Map.of("partitionId", Math.toIntExact(id + step * from), last, end));
        }
    }
}
