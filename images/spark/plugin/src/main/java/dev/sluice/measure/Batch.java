package dev.sluice.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** One batch of one query, while it runs. */
final class Batch {
    private final Map<String, Work> executors = new TreeMap<>();
    private final Map<String, Map<String, Long>> pairs = new TreeMap<>();
    private final Set<Integer> scanned = new HashSet<>();
    private final Latencies stretch = new Latencies();
    private boolean pairsComplete = true;
    long ownNs;

    Work of(final String executor) {
        return executors.computeIfAbsent(executor, name -> new Work());
    }

    void addPair(final String from, final String to, final long bytes) {
        pairs.computeIfAbsent(from, name -> new TreeMap<>()).merge(to, bytes, Long::sum);
    }

    /** Whether a source is read for the first time: what a user's function reads again may come from memory. */
    boolean isFirst(final int source) {
        return scanned.add(source);
    }

    /** How many times the median of its stage each task took, in percent: stages of different kinds tell of one tail. */
    void addStretch(final List<Long> tookMs) {
        final long medianMs = Math.max(1, tookMs.get((tookMs.size() - 1) / 2));
        tookMs.forEach(took -> stretch.add(100 * took / medianMs));
    }

    void missPairs() {
        pairsComplete = false;
    }

    void addTo(final ObjectNode node) {
        final ObjectNode work = node.putObject("executors");
        executors.forEach((name, done) -> done.addTo(work.putObject(name)));
        final ObjectNode shuffled = node.putObject("shuffledBytes");
        pairs.forEach((from, row) -> {
            final ObjectNode to = shuffled.putObject(from);
            row.forEach(to::put);
        });
        stretch.addTo(node.putArray("stretch"));
        node.put("shuffledBytesComplete", pairsComplete);
    }
}
