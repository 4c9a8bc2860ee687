package dev.sluice.driver;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.agent.Json;
import java.io.IOException;

/** Reads the fields of a document of the agent's, strictly: the sentence about a bad one names it, its value, what is allowed. */
final class Words {
    private final String document;

    /** Of one kind of document, as sentences name it. */
    Words(final String document) {
        this.document = document;
    }

    /** An object; null when it is left out. */
    JsonNode object(final JsonNode in, final String field) throws IOException {
        final JsonNode value = in.get(field);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isObject()) {
            throw wrong(field, value, "an object");
        }
        return value;
    }

    /** A whole number; the least when it is left out. */
    long number(final JsonNode in, final String field, final long least, final long most) throws IOException {
        final JsonNode value = in == null ? null : in.get(field);
        if (value == null) {
            return least;
        }
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < least
                || value.longValue() > most) {
            throw wrong(field, value, "a whole number from " + least + " to " + most);
        }
        return value.longValue();
    }

    /** Any number; it must be there. */
    double amount(final JsonNode in, final String field, final double least, final double most) throws IOException {
        final JsonNode value = in.get(field);
        if (value == null || !value.isNumber() || !(value.doubleValue() >= least && value.doubleValue() <= most)) {
            throw wrong(field, value, "a number from " + least + " to " + most);
        }
        return value.doubleValue();
    }

    /** False when it is left out. */
    boolean flag(final JsonNode in, final String field) throws IOException {
        final JsonNode value = in == null ? null : in.get(field);
        if (value != null && !value.isBoolean()) {
            throw wrong(field, value, "true or false");
        }
        return value != null && value.booleanValue();
    }

    /** What is wrong with a field. */
    IOException wrong(final String field, final JsonNode value, final String allowed) {
        return new IOException(document + ": " + field + " is " + Json.brief(value) + ", allowed is " + allowed);
    }
}
