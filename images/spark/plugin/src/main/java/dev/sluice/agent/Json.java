package dev.sluice.agent;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/** The documents of the conversation, by the Jackson every Spark carries; strict, for anyone may answer on loopback. */
public final class Json {
    /** The version both sides speak. */
    public static final int VERSION = 1;

    private static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private Json() {
    }

    /**
     * A new document of our version.
     *
     * @return an object with its version in it
     */
    public static ObjectNode document() {
        return MAPPER.createObjectNode().put("version", VERSION);
    }

    /**
     * A document as it is sent.
     *
     * @param document any
     * @return one line
     * @throws IOException never, for a tree has nothing that cannot be written
     */
    static byte[] write(final ObjectNode document) throws IOException {
        return MAPPER.writeValueAsBytes(document);
    }

    /**
     * Reads an answer.
     *
     * @param body the bytes, already bounded by who read them
     * @return an object of our version
     * @throws IOException when it is anything else, with a sentence that says what
     */
    public static JsonNode read(final byte[] body) throws IOException {
        final JsonNode read;
        try {
            read = MAPPER.readTree(body);
        } catch (final JsonProcessingException e) {
            throw new IOException("the agent's answer is not JSON: " + e.getOriginalMessage(), e);
        }
        if (read == null || !read.isObject()) {
            throw new IOException("the agent's answer is not a JSON object");
        }
        final JsonNode version = read.get("version");
        if (version == null || !version.isIntegralNumber() || !version.canConvertToInt()
                || version.intValue() != VERSION) {
            throw new IOException("the agent's answer has version " + brief(version) + ", this plugin reads " + VERSION);
        }
        return read;
    }

    /**
     * A value as an error message shows it.
     *
     * @param value any, null too
     * @return a few characters
     */
    public static String brief(final JsonNode value) {
        if (value == null) {
            return "none";
        }
        if (value.isContainerNode()) {
            return value.isArray() ? "an array" : "an object";
        }
        final String text = value.asText();
        return "'" + (text.length() > 40 ? text.substring(0, 40) + "…" : text) + "'";
    }
}
