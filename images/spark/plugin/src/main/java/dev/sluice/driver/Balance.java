package dev.sluice.driver;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.split.Shares;
import dev.sluice.split.Split;
import dev.sluice.speculate.Speculation;
import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** What the agent makes of a batch, in its answer to the batch's measures: how the next one is to be cut and watched. */
final class Balance {
    private static final Words WORDS = new Words("balance");
    private static final int MOST_EXECUTORS = 10_000;
    private static final int MOST_PER_SLOT = 16;
    private static final double MOST_MULTIPLIER = 1_000;

    private final Split split;
    private final Speculation speculation;

    Balance(final Split split, final Speculation speculation) {
        this.split = split;
        this.speculation = speculation;
    }

    /** All of it or nothing. An answer to anything but measures says nothing. */
    void heed(final JsonNode answer) throws IOException {
        final JsonNode said = WORDS.object(answer, "balance");
        if (said == null) {
            return;
        }
        final JsonNode query = said.get("query");
        if (query == null || !query.isTextual()) {
            throw WORDS.wrong("query", query, "the id of a query");
        }
        final Shares shares = shares(said);
        final JsonNode watch = WORDS.object(said, "speculation");
        final double times = watch == null ? 0 : WORDS.amount(watch, "multiplier", 1, MOST_MULTIPLIER);
        final double done = watch == null ? 0 : WORDS.amount(watch, "quantile", 0, 1);
        split.take(query.textValue(), shares);
        if (watch == null) {
            speculation.reset();
        } else {
            speculation.set(times, done);
        }
    }

    /** The agent does not answer: Spark does as it would without it. */
    void forget() {
        split.forget();
        speculation.reset();
    }

    private static Shares shares(final JsonNode said) throws IOException {
        final JsonNode shares = WORDS.object(said, "shares");
        if (shares == null) {
            return null;
        }
        if (shares.isEmpty() || shares.size() > MOST_EXECUTORS) {
            throw WORDS.wrong("shares", shares, "1 to " + MOST_EXECUTORS + " executors");
        }
        final Map<String, Double> of = new TreeMap<>();
        final Iterator<String> names = shares.fieldNames();
        while (names.hasNext()) {
            final String name = names.next();
            of.put(name, WORDS.amount(shares, name, 1e-6, 1));
        }
        return new Shares(of, (int) WORDS.number(said, "perSlot", 1, MOST_PER_SLOT), WORDS.flag(said, "whole"));
    }
}
