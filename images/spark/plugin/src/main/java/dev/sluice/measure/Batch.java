package dev.sluice.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/** One batch of one query, while it runs. */
final class Batch {
    private final Map<String, Work> executors = new TreeMap<>();
    private final Map<String, Map<String, Long>> pairs = new TreeMap<>();
    private boolean pairsComplete = true;
    long ownNs;

    Work of(final String executor) {
        return executors.computeIfAbsent(executor, name -> new Work());
    }

    void addPair(final String from, final String to, final long bytes) {
        pairs.computeIfAbsent(from, name -> new TreeMap<>()).merge(to, bytes, Long::sum);
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
        node.put("shuffledBytesComplete", pairsComplete);
    }
}
