package dev.sluice.split;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;

/** Reads the parts of a piece one after another, each by the source's own reader, of which one is open at a time. */
final class PieceReader<T> implements PartitionReader<T> {
    private final InputPartition[] parts;
    private final Function<InputPartition, PartitionReader<T>> open;
    private final Map<String, Long> metrics = new TreeMap<>();
    private int next;
    private PartitionReader<T> reader;

    PieceReader(final InputPartition[] parts, final Function<InputPartition, PartitionReader<T>> open) {
        this.parts = parts;
        this.open = open;
    }

    @Override
    public boolean next() throws IOException {
        while (true) {
            if (reader == null) {
                if (next == parts.length) {
                    return false;
                }
                reader = open.apply(parts[next++]);
            }
            if (reader.next()) {
                return true;
            }
            addTo(metrics);
            close();
        }
    }

    @Override
    public T get() {
        return reader.get();
    }

    @Override
    public void close() throws IOException {
        if (reader != null) {
            final PartitionReader<T> ended = reader;
            reader = null;
            ended.close();
        }
    }

    /** The source's own, summed over the parts read so far. */
    @Override
    public CustomTaskMetric[] currentMetricsValues() {
        final Map<String, Long> all = new TreeMap<>(metrics);
        if (reader != null) {
            addTo(all);
        }
        return all.entrySet().stream().map(PieceReader::metric).toArray(CustomTaskMetric[]::new);
    }

    private void addTo(final Map<String, Long> sums) {
        for (final CustomTaskMetric one : reader.currentMetricsValues()) {
            sums.merge(one.name(), one.value(), Long::sum);
        }
    }

    private static CustomTaskMetric metric(final Map.Entry<String, Long> sum) {
        return new CustomTaskMetric() {
            @Override
            public String name() {
                return sum.getKey();
            }

            @Override
            public long value() {
                return sum.getValue();
            }
        };
    }
}
