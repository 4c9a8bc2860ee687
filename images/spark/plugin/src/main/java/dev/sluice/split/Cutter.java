package dev.sluice.split;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Shares a batch's rows out among executors. Pure: it knows partitions by number and size alone. */
final class Cutter {
    private final List<Crew.Member> crew;
    private final double[] weights;
    private final double weight;
    private final int perSlot;

    Cutter(final List<Crew.Member> crew, final Shares shares) {
        this.crew = crew;
        this.weights = shares.weights(crew).stream().mapToDouble(Double::doubleValue).toArray();
        this.weight = IntStream.range(0, weights.length).mapToDouble(i -> weights[i]).sum();
        this.perSlot = shares.perSlot();
    }

    /** Anywhere: contiguous stretches, so that a partition is cut as seldom as can be. Rows are neither lost nor doubled. */
    List<Cut> rows(final long[] sizes) {
        final long total = IntStream.range(0, sizes.length).mapToLong(i -> sizes[i]).sum();
        final List<Cut> cuts = new ArrayList<>();
        final Walk walk = new Walk(sizes);
        double before = 0;
        long from = 0;
        for (int i = 0; i < weights.length; i++) {
            before += weights[i];
            final long to = i == weights.length - 1 ? total : Math.min(total, Math.round(total * (before / weight)));
            final long pieces = Math.min(to - from, pieces(i));
            for (long piece = 0; piece < pieces; piece++) {
                final long least = from + (to - from) * piece / pieces;
                cuts.add(new Cut(crew.get(i), walk.next(from + (to - from) * (piece + 1) / pieces - least)));
            }
            from = to;
        }
        return cuts;
    }

    /** Whole partitions, the largest first, each to whom it would make the least late. */
    List<Cut> partitions(final long[] sizes) {
        final List<List<List<Range>>> queues = new ArrayList<>();
        crew.forEach(one -> queues.add(new ArrayList<>()));
        final long[] given = new long[crew.size()];
        final Integer[] largestFirst = IntStream.range(0, sizes.length).boxed()
                .sorted(Comparator.comparingLong((Integer i) -> -sizes[i])).toArray(Integer[]::new);
        for (final int partition : largestFirst) {
            final int to = IntStream.range(0, given.length).boxed()
                    .min(Comparator.comparingDouble(i -> (given[i] + sizes[partition]) / weights[i])).orElseThrow();
            deal(queues.get(to), given, to, new Range(partition, 0, sizes[partition]));
        }
        final List<Cut> cuts = new ArrayList<>();
        for (int i = 0; i < queues.size(); i++) {
            for (final List<Range> ranges : queues.get(i)) {
                cuts.add(new Cut(crew.get(i), ranges));
            }
        }
        return cuts;
    }

    private void deal(final List<List<Range>> pieces, final long[] given, final int to, final Range range) {
        given[to] += range.to();
        if (pieces.size() < pieces(to)) {
            pieces.add(new ArrayList<>());
            pieces.get(pieces.size() - 1).add(range);
        } else {
            pieces.stream().min(Comparator.comparingLong(Cutter::rowsOf)).orElseThrow().add(range);
        }
    }

    private static long rowsOf(final List<Range> ranges) {
        return ranges.stream().mapToLong(Range::to).sum();
    }

    private int pieces(final int member) {
        return crew.get(member).slots() * perSlot;
    }

    /** Goes through partitions row by row, as one long line. */
    private static final class Walk {
        private final long[] sizes;
        private int partition;
        private long row;

        Walk(final long[] sizes) {
            this.sizes = sizes;
        }

        List<Range> next(final long rows) {
            final List<Range> ranges = new ArrayList<>();
            long left = rows;
            while (left > 0) {
                final long taken = Math.min(left, sizes[partition] - row);
                if (taken > 0) {
                    ranges.add(new Range(partition, row, row + taken));
                }
                left -= taken;
                row += taken;
                if (row == sizes[partition] && left > 0) {
                    partition++;
                    row = 0;
                }
            }
            return ranges;
        }
    }
}
