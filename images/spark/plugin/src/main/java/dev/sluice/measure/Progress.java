package dev.sluice.measure;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.apache.spark.sql.streaming.SourceProgress;
import org.apache.spark.sql.streaming.StateOperatorProgress;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/** The part of a batch's measures that Spark's own progress knows. */
final class Progress {
    private static final int LONGEST_TEXT = 200;

    private Progress() {
    }

    static void addTo(final ObjectNode node, final StreamingQueryProgress progress) {
        node.put("query", progress.id().toString()).put("runId", progress.runId().toString()).put("name", progress.name());
        node.put("batch", progress.batchId()).put("timestamp", progress.timestamp());
        node.put("rows", progress.numInputRows()).put("batchMs", progress.batchDuration());
        rate(node, "inputRowsPerSecond", progress.inputRowsPerSecond());
        rate(node, "processedRowsPerSecond", progress.processedRowsPerSecond());
        final ObjectNode parts = node.putObject("partMs");
        progress.durationMs().forEach(parts::put);
        final ArrayNode sources = node.putArray("sources");
        for (final SourceProgress source : progress.sources()) {
            add(sources.addObject(), source);
        }
        watermark(node, progress);
        state(node.putObject("state"), progress);
    }

    private static void add(final ObjectNode node, final SourceProgress source) {
        final String description = String.valueOf(source.description());
        node.put("source", description.length() > LONGEST_TEXT ? description.substring(0, LONGEST_TEXT) : description);
        node.put("rows", source.numInputRows());
        rate(node, "inputRowsPerSecond", source.inputRowsPerSecond());
        rate(node, "processedRowsPerSecond", source.processedRowsPerSecond());
        final Long lag = Lag.between(source.endOffset(), source.latestOffset());
        if (lag != null) {
            node.put("lag", lag);
        }
    }

    /** Spark gives NaN and infinity for the first batch, and JSON knows neither. */
    private static void rate(final ObjectNode node, final String field, final double value) {
        if (Double.isFinite(value)) {
            node.put(field, value);
        }
    }

    private static void watermark(final ObjectNode node, final StreamingQueryProgress progress) {
        final String watermark = progress.eventTime().get("watermark");
        if (watermark == null) {
            return;
        }
        try {
            final Instant mark = Instant.parse(watermark);
            if (mark.toEpochMilli() > 0) {
                node.put("watermarkDelayMs", Duration.between(mark, Instant.parse(progress.timestamp())).toMillis());
            }
        } catch (final DateTimeParseException e) {
            node.put("watermark", watermark);
        }
    }

    private static void state(final ObjectNode node, final StreamingQueryProgress progress) {
        long rows = 0;
        long bytes = 0;
        long dropped = 0;
        for (final StateOperatorProgress operator : progress.stateOperators()) {
            rows += operator.numRowsTotal();
            bytes += operator.memoryUsedBytes();
            dropped += operator.numRowsDroppedByWatermark();
        }
        node.put("operators", progress.stateOperators().length).put("rows", rows).put("bytes", bytes);
        node.put("rowsDroppedByWatermark", dropped);
    }
}
