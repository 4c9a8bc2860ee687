package dev.sluice.split;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class CutterTest {
    private static final List<Crew.Member> THREE =
            List.of(new Crew.Member("1", "a", 1), new Crew.Member("2", "b", 1), new Crew.Member("3", "c", 1));

    private static Shares shares(final double one, final double two, final double three) {
        return new Shares(Map.of("1", one, "2", two, "3", three), 1, false);
    }

    private static Map<String, Long> rowsByExecutor(final List<Cut> cuts) {
        final Map<String, Long> rows = new TreeMap<>();
        cuts.forEach(cut -> cut.ranges().forEach(range -> rows.merge(cut.executor().id(), range.to() - range.from(), Long::sum)));
        return rows;
    }

    @Test
    void eachExecutorGetsItsShareOfTheRows() {
        final List<Cut> cuts = new Cutter(THREE, shares(0.5, 0.3, 0.2)).rows(new long[] {400, 400, 200});
        assertEquals(Map.of("1", 500L, "2", 300L, "3", 200L), rowsByExecutor(cuts));
    }

    @Test
    void aPartitionIsCutOnlyWhereAShareEnds() {
        final List<Cut> cuts = new Cutter(THREE, shares(0.5, 0.3, 0.2)).rows(new long[] {400, 400, 200});
        assertEquals(List.of(new Range(0, 0, 400), new Range(1, 0, 100)), cuts.get(0).ranges());
        assertEquals(List.of(new Range(1, 100, 400)), cuts.get(1).ranges());
        assertEquals(List.of(new Range(2, 0, 200)), cuts.get(2).ranges());
    }

    @Test
    void anExecutorGetsAPieceForEachOfItsSlots() {
        final List<Crew.Member> wide = List.of(new Crew.Member("1", "a", 4), new Crew.Member("2", "b", 4));
        final List<Cut> cuts = new Cutter(wide, new Shares(Map.of("1", 0.8, "2", 0.2), 2, false)).rows(new long[] {1000});
        assertEquals(16, cuts.size());
        assertEquals(100, cuts.get(0).ranges().get(0).to() - cuts.get(0).ranges().get(0).from());
        assertEquals(Map.of("1", 800L, "2", 200L), rowsByExecutor(cuts));
    }

    @Test
    void whoeverIsNewGetsTheMeanAndWhoeverIsGoneNothing() {
        final Shares told = new Shares(Map.of("1", 0.6, "2", 0.2, "9", 0.2), 1, false);
        assertEquals(Map.of("1", 500L, "2", 167L, "3", 333L), rowsByExecutor(new Cutter(THREE, told).rows(new long[] {1000})));
    }

    @Test
    void wholePartitionsGoToWhomTheyMakeTheLeastLate() {
        final long[] sizes = new long[12];
        Arrays.fill(sizes, 1);
        assertEquals(Map.of("1", 6L, "2", 4L, "3", 2L), rowsByExecutor(new Cutter(THREE, shares(0.5, 0.3, 0.2)).partitions(sizes)));
    }

    @Test
    void wholePartitionsStayWhole() {
        final List<Cut> cuts = new Cutter(THREE, shares(0.5, 0.3, 0.2)).partitions(new long[] {700, 20, 300, 0});
        cuts.forEach(cut -> cut.ranges().forEach(range -> assertEquals(0, range.from())));
        assertEquals(1020, rowsByExecutor(cuts).values().stream().mapToLong(Long::longValue).sum());
    }

    @Test
    void whateverIsWantedNoRowIsLostOrReadTwice() {
        final Random random = new Random(7);
        for (int round = 0; round < 2_000; round++) {
            final long[] sizes = LongStream.range(0, 1 + random.nextInt(9)).map(i -> random.nextInt(3) * random.nextInt(50)).toArray();
            final List<Crew.Member> crew = new ArrayList<>();
            final Map<String, Double> of = new TreeMap<>();
            for (int i = 0; i <= random.nextInt(6); i++) {
                crew.add(new Crew.Member("" + i, "h", 1 + random.nextInt(4)));
                of.put("" + i, Math.max(1e-6, random.nextDouble() * random.nextInt(2)));
            }
            final Cutter cutter = new Cutter(crew, new Shares(of, 1 + random.nextInt(3), false));
            assertEquals(numbers(sizes), numbers(cutter.rows(sizes)));
            assertEquals(numbers(sizes), numbers(cutter.partitions(sizes)));
        }
    }

    private static List<String> numbers(final long[] sizes) {
        final List<String> all = new ArrayList<>();
        for (int partition = 0; partition < sizes.length; partition++) {
            add(all, new Range(partition, 0, sizes[partition]));
        }
        return all.stream().sorted().toList();
    }

    private static List<String> numbers(final List<Cut> cuts) {
        final List<String> all = new ArrayList<>();
        cuts.forEach(cut -> assertTrue(!cut.ranges().isEmpty()));
        cuts.forEach(cut -> cut.ranges().forEach(range -> add(all, range)));
        return all.stream().sorted().toList();
    }

    private static void add(final List<String> all, final Range range) {
        LongStream.range(range.from(), range.to()).forEach(row -> all.add(range.partition() + "/" + row));
    }
}
