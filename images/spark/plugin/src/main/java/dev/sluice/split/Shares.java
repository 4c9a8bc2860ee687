package dev.sluice.split;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How the next batch of one query is to be cut.
 *
 * @param of parts of one, by executor; who is not named gets the mean of those who are
 * @param perSlot into how many pieces each slot's part goes; free slots take the next one
 * @param whole whether partitions stay whole, so that their rows stay in order
 */
public record Shares(Map<String, Double> of, int perSlot, boolean whole) {
    /**
     * Before anybody was measured.
     *
     * @param whole whether partitions stay whole
     * @return the same part for each
     */
    public static Shares equal(final boolean whole) {
        return new Shares(Map.of(), 1, whole);
    }

    /**
     * Each one's part of the input, for those who are there now.
     *
     * @param crew who is there
     * @return weights in the crew's order, of which at least one is above 0
     */
    List<Double> weights(final List<Crew.Member> crew) {
        final double mean = crew.stream().filter(one -> of.containsKey(one.id())).mapToDouble(one -> of.get(one.id()))
                .average().orElse(1.0);
        final List<Double> weights = new ArrayList<>();
        for (final Crew.Member one : crew) {
            weights.add(of.getOrDefault(one.id(), mean));
        }
        return weights.stream().anyMatch(weight -> weight > 0) ? weights : crew.stream().map(one -> 1.0).toList();
    }
}
