package dev.sluice.driver;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.Query;
import java.util.Locale;

/** Where the job stands, as PROTOCOL.md has it: written anew for every document that is sent. */
public final class StateReport {
    private static final int LONGEST_SENTENCE = 500;
    private static final int MOST_UNPROTECTED = 50;

    private final String application;
    private final Guard guard;
    private final Drainer drainer;
    private volatile String refusedOrders = "";
    private volatile String warmUp = "";
    private volatile long serial;
    private long written;

    StateReport(final String application, final Guard guard, final Drainer drainer) {
        this.application = application;
        this.guard = guard;
        this.drainer = drainer;
    }

    /** The last orders were carried out.
     * @param number theirs */
    void obeyed(final long number) {
        serial = number;
        refusedOrders = "";
    }

    /** The last orders were not.
     * @param sentence why */
    void refused(final String sentence) {
        refusedOrders = sentence;
    }

    /** How the warm-up went.
     * @param sentence for a person */
    void warmUp(final String sentence) {
        warmUp = sentence;
    }

    /** Adds the state to a document. Numbered under a lock: three threads send, and the agent is to know the newest.
     * @param document any
     * @return the same */
    synchronized ObjectNode addTo(final ObjectNode document) {
        final ObjectNode state = document.putObject("state");
        state.put("number", ++written).put("application", application).put("serial", serial).put("refusedOrders", brief(refusedOrders));
        state.put("warmUp", brief(warmUp)).put("gateOpen", guard.gate().isOpen());
        // Before the queries: whoever hears that it is quiet hears of the last commit with it.
        state.putObject("drain").put("id", drainer.id()).put("state", drainer.state())
                .put("problem", brief(drainer.problem()));
        final ArrayNode queries = state.putArray("queries");
        for (final Query query : guard.queries()) {
            add(queries.addObject(), query);
        }
        final ObjectNode without = state.putObject("unprotected");
        guard.unprotected().entrySet().stream().limit(MOST_UNPROTECTED)
                .forEach(query -> without.put(query.getKey(), brief(query.getValue())));
        return document;
    }

    private static void add(final ObjectNode to, final Query query) {
        to.put("id", query.spark().id()).put("runId", query.spark().runId()).put("name", query.spark().name());
        to.put("root", query.spark().root().toString()).put("engine", query.spark().isRealTime() ? "RealTime" : "MicroBatch");
        to.put("phase", query.phase().name().toLowerCase(Locale.ROOT)).put("epoch", query.epoch());
        // What a commit sets last is read first: whoever hears of the first commit hears its number with it.
        to.put("firstCommitAtMs", query.firstCommitAtMs()).put("committedAtMs", query.committedAtMs());
        to.put("committed", query.committed()).put("inFlight", query.inFlight());
        to.put("warm", query.isWarm()).put("problem", brief(query.problem()));
    }

    private static String brief(final String sentence) {
        final String text = sentence == null ? "" : sentence;
        return text.length() > LONGEST_SENTENCE ? text.substring(0, LONGEST_SENTENCE) + "…" : text;
    }
}
