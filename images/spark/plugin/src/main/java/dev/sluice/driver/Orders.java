package dev.sluice.driver;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.agent.Json;
import dev.sluice.split.Shares;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What the agent wants of this driver, as PROTOCOL.md has it. Declarative: what is absent is not wanted. Read whole or not at
 * all: a document with one bad field changes nothing.
 *
 * @param serial the agent's number of this document
 * @param open whether queries may pass their gates
 * @param epoch the epoch to take there, 0 for the next free one
 * @param drain what is to come to rest, null when the job is to run
 * @param executors how many executors are wanted, 0 when nothing is said
 * @param decommission which executors are to leave
 * @param warmUp whether to warm up at the gate
 * @param preload whether to load state at the gate
 * @param first how batches are cut until their own shares come, null for the source's own plan
 */
public record Orders(long serial, boolean open, long epoch, Drain drain, int executors, List<String> decommission,
        boolean warmUp, boolean preload, Shares first) {
    private static final Words WORDS = new Words("orders");
    private static final int MOST_EXECUTORS = 10_000;
    private static final long LONGEST_DRAIN_MS = 24 * 3600 * 1000L;

    /**
     * A drain.
     *
     * @param id the agent's name of it: the same one is not tried twice
     * @param timeoutMs how long the running batches may take
     * @param calmMs for how long queries that are behind may catch up first
     * @param stop whether the queries are stopped once they are quiet; else they stay parked
     */
    public record Drain(String id, long timeoutMs, long calmMs, boolean stop) {
    }

    /**
     * Reads a document.
     *
     * @param document of our version
     * @return the orders
     * @throws IOException when a field is not what it may be; the sentence names it
     */
    public static Orders read(final JsonNode document) throws IOException {
        final JsonNode gate = WORDS.object(document, "gate");
        final JsonNode executors = WORDS.object(document, "executors");
        return new Orders(
                WORDS.number(document, "serial", 0, Long.MAX_VALUE),
                WORDS.flag(gate, "open"),
                WORDS.number(gate, "epoch", 0, Long.MAX_VALUE / 10),
                drain(WORDS.object(document, "drain")),
                (int) WORDS.number(executors, "total", 0, MOST_EXECUTORS),
                names(executors, "decommission"),
                WORDS.flag(document, "warmUp"),
                WORDS.flag(document, "preload"),
                first(WORDS.object(document, "cut")));
    }

    private static Drain drain(final JsonNode drain) throws IOException {
        if (drain == null) {
            return null;
        }
        final JsonNode id = drain.get("id");
        if (id == null || !isName(id)) {
            throw WORDS.wrong("drain.id", id, "1 to 64 letters, digits, '.', '_' or '-'");
        }
        return new Drain(id.textValue(), WORDS.number(drain, "timeoutMs", 0, LONGEST_DRAIN_MS),
                WORDS.number(drain, "calmMs", 0, LONGEST_DRAIN_MS), WORDS.flag(drain, "stop"));
    }

    private static Shares first(final JsonNode cut) throws IOException {
        return cut == null ? null : Shares.equal(WORDS.flag(cut, "whole"));
    }

    private static List<String> names(final JsonNode in, final String field) throws IOException {
        final JsonNode value = in == null ? null : in.get(field);
        final List<String> names = new ArrayList<>();
        if (value == null) {
            return names;
        }
        if (!value.isArray() || value.size() > MOST_EXECUTORS) {
            throw WORDS.wrong(field, value, "a list of at most " + MOST_EXECUTORS + " names");
        }
        for (final JsonNode name : value) {
            if (!isName(name)) {
                throw WORDS.wrong(field, name, "a list of executor ids");
            }
            names.add(name.textValue());
        }
        return names;
    }

    private static boolean isName(final JsonNode value) {
        return value.isTextual() && value.textValue().matches("[A-Za-z0-9._-]{1,64}");
    }
}
