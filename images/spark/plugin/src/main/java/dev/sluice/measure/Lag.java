package dev.sluice.measure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** How far a source is behind: the sum over all counters of its offset, whatever its shape (Kafka's, a number, a list). */
final class Lag {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Lag() {
    }

    /** Null when the source tells no latest offset, or its offsets are no counters. */
    static Long between(final String reached, final String latest) {
        if (reached == null || latest == null) {
            return null;
        }
        try {
            return between(MAPPER.readTree(reached), MAPPER.readTree(latest));
        } catch (final JsonProcessingException e) {
            return null;
        }
    }

    private static Long between(final JsonNode reached, final JsonNode latest) {
        if (latest.isIntegralNumber()) {
            // A partition that appeared after the batch was planned: all of it is still to come.
            final long from = reached != null && reached.isIntegralNumber() ? reached.longValue() : 0;
            return Math.max(0, latest.longValue() - from);
        }
        if (!latest.isContainerNode()) {
            return null;
        }
        return latest.isArray() ? ofArray(reached, latest) : ofObject(reached, latest);
    }

    private static Long ofObject(final JsonNode reached, final JsonNode latest) {
        long sum = 0;
        for (final Map.Entry<String, JsonNode> entry : latest.properties()) {
            final Long part = between(reached == null ? null : reached.get(entry.getKey()), entry.getValue());
            if (part == null) {
                return null;
            }
            sum += part;
        }
        return sum;
    }

    private static Long ofArray(final JsonNode reached, final JsonNode latest) {
        long sum = 0;
        for (int i = 0; i < latest.size(); i++) {
            final Long part = between(reached == null ? null : reached.get(i), latest.get(i));
            if (part == null) {
                return null;
            }
            sum += part;
        }
        return sum;
    }
}
