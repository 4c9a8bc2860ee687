package dev.sluice.split;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.measure.Own;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.apache.spark.sql.connector.read.InputPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cutter of this driver's batches. Whatever is not as expected leaves the source's own plan, and is said: in the log once a
 * query, in its batches' measures as long as it is so.
 */
public final class Split {
    private static final Logger LOG = LoggerFactory.getLogger(Split.class);
    private static final int MOST_QUERIES = 1_000;

    private final Supplier<List<Crew.Member>> there;
    private final ToIntFunction<String> taken;
    private final Map<String, Shares> told = new ConcurrentHashMap<>();
    // Written by the thread that gets orders.
    private volatile Shares first;
    private final Map<String, Made> made = new ConcurrentHashMap<>();
    private final AtomicLong ownNs = new AtomicLong();
    // Who was there when a batch was last planned: written by stream threads, read by the listener's.
    private volatile List<Crew.Member> crew = List.of();
    private final Set<String> surprised = ConcurrentHashMap.newKeySet();

    /** How a query's last batch was cut: into how many pieces, or why it was not; empty where nothing was told. */
    private record Made(int pieces, String own) {
    }

    /**
     * A cutter that was told nothing yet.
     *
     * @param there who takes tasks now
     * @param taken how many slots of an executor are still taken by what no batch waits for any more
     */
    public Split(final Supplier<List<Crew.Member>> there, final ToIntFunction<String> taken) {
        this.there = there;
        this.taken = taken;
    }

    /**
     * How the next batches of a query are to be cut.
     *
     * @param query its id
     * @param shares null for the source's own plan
     */
    public void take(final String query, final Shares shares) {
        if (shares == null) {
            told.remove(query);
        } else if (told.size() < MOST_QUERIES) {
            told.put(query, shares);
        }
    }

    /**
     * How batches of queries are to be cut of which nothing else was told yet: their first ones.
     *
     * @param shares null for the source's own plan
     */
    public void order(final Shares shares) {
        first = shares;
    }

    /** Whoever told us is silent: what it knew grows old. */
    public void forget() {
        told.clear();
        first = null;
    }

    /**
     * Adds how a query's last batch was cut to its measures. A query none of whose scans came by has no sources that could be.
     *
     * @param query its id
     * @param batch its measures
     * @return what cutting has cost since this was last asked, in ns
     */
    public long tell(final String query, final ObjectNode batch) {
        final Made last = made.remove(query);
        batch.putObject("cut").put("pieces", last == null ? 0 : last.pieces())
                .put("own", last == null ? "its sources are of Spark's older interface, V1" : last.own());
        final ObjectNode slots = batch.putObject("crew");
        crew.forEach(one -> slots.put(one.id(), one.slots()));
        return ownNs.getAndSet(0);
    }

    /** The source's plan, cut as told; or itself. */
    List<InputPartition> plan(final String query, final List<InputPartition> own, final boolean isArranged) {
        final long beganNs = Own.nowNs();
        try {
            crew = there.get();
            final Shares shares = query == null ? null : told.getOrDefault(query, first);
            if (shares == null || own.isEmpty()) {
                note(query, 0, "");
                return own;
            }
            final List<Cut> cuts = cuts(query, shares, own, isArranged);
            return cuts.isEmpty() ? own : pieces(cuts, own);
        } catch (final RuntimeException e) {
            surprised(query, e);
            return own;
        } finally {
            ownNs.addAndGet(Own.nowNs() - beganNs);
        }
    }

    /** None where the source's own plan is to stay. */
    private List<Cut> cuts(final String query, final Shares shares, final List<InputPartition> own,
            final boolean isArranged) {
        final long[] sizes = sizes(own);
        final String why = isArranged ? "its source says how it is partitioned or ordered"
                : crew.isEmpty() ? "there is no executor" : "";
        if (!why.isEmpty() || Arrays.stream(sizes).sum() == 0) {
            note(query, 0, why);
            return List.of();
        }
        final Cutter cutter = new Cutter(free(), shares);
        final List<Cut> cuts = rowsOf(own) == null || shares.whole() ? cutter.partitions(sizes) : cutter.rows(sizes);
        note(query, cuts.size(), "");
        return cuts;
    }

    /** A piece for who is not free would wait, and then go to whoever is, as late as that. */
    private List<Crew.Member> free() {
        final List<Crew.Member> free = new ArrayList<>();
        for (final Crew.Member one : crew) {
            final int slots = one.slots() - taken.applyAsInt(one.id());
            if (slots > 0) {
                free.add(new Crew.Member(one.id(), one.host(), slots));
            }
        }
        return free.isEmpty() ? crew : free;
    }

    private static Rows rowsOf(final List<InputPartition> own) {
        return Rows.KNOWN.get(own.get(0).getClass().getName());
    }

    /** Of a source nobody knows inside, all partitions count the same. */
    private static long[] sizes(final List<InputPartition> own) {
        final Rows rows = rowsOf(own);
        return own.stream().mapToLong(one -> rows == null ? 1 : rows.count(one)).toArray();
    }

    private static List<InputPartition> pieces(final List<Cut> cuts, final List<InputPartition> own) {
        final Rows rows = rowsOf(own);
        final List<InputPartition> pieces = new ArrayList<>();
        for (final Cut cut : cuts) {
            final List<InputPartition> parts = new ArrayList<>();
            for (final Range range : cut.ranges()) {
                final InputPartition whole = own.get(range.partition());
                final boolean isWhole = rows == null || range.from() == 0 && range.to() == rows.count(whole);
                parts.add(isWhole ? whole : rows.between(whole, range.from(), range.to()));
            }
            pieces.add(new Piece(parts, cut.executor().location()));
        }
        return pieces;
    }

    private void surprised(final String query, final RuntimeException why) {
        if (surprised.size() < MOST_QUERIES && surprised.add(query)) {
            LOG.warn("Sluice: the input of query {} stays as its source plans it", query, why);
        }
        note(query, 0, "its source is not as Sluice knows it: " + why.getMessage());
    }

    /** Spark plans a scan more than once, so the last one counts; of several scans in a batch one reason is enough. */
    private void note(final String query, final int pieces, final String own) {
        if (query != null && (made.size() < MOST_QUERIES || made.containsKey(query))) {
            made.merge(query, new Made(pieces, own),
                    (old, now) -> new Made(now.pieces(), old.own().isEmpty() ? now.own() : old.own()));
        }
    }
}
