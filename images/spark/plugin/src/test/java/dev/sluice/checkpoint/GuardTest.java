package dev.sluice.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.file.Path;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who comes to a gate, and how often. */
final class GuardTest {
    @TempDir
    private Path folder;
    private final Arrivals arrivals = new Arrivals();

    @Test
    void aQueryThatIsStoppedBetweenTwoLooksAtItsOffsetsHasPassedItsGateAllTheSame() {
        final FakeSpark query = new FakeSpark(folder.toString());

        arrivals.look(query);
        query.stop();
        arrivals.look(query);

        assertEquals(1, arrivals.count);
        assertEquals(1, of(query).epoch());
    }

    @Test
    void aStoppedQueryKeepsItsFenceUntilItsThreadHasEnded() {
        final FakeSpark stopped = new FakeSpark(folder + "/stopped");
        arrivals.look(stopped);
        stopped.stop();

        arrivals.look(new FakeSpark(folder + "/second"));
        assertSame(stopped, of(stopped).spark());

        stopped.ended = true;
        arrivals.look(new FakeSpark(folder + "/third"));
        assertNull(of(stopped));
    }

    @Test
    void aQueryThatRunsAnewIsHeldToItsNewFenceWhileItsOldThreadEnds() {
        final FakeSpark old = new FakeSpark(folder.toString());
        arrivals.look(old);
        old.stop();

        final FakeSpark anew = new FakeSpark(folder.toString());
        arrivals.look(anew);

        assertSame(anew, of(old).spark());
        assertEquals(2, of(old).epoch());
    }

    private Query of(final FakeSpark spark) {
        return arrivals.guard.of(new org.apache.hadoop.fs.Path(spark.root(), "offsets/0"));
    }

    /** This thread is the stream thread of each in turn; to be admitted it reads its own offsets, as Spark's do. */
    private static final class Arrivals implements Admission {
        private final Guard guard = new Guard(new Gate(false, 0), this, () -> { });
        private FakeSpark spark;
        private int count;

        void look(final FakeSpark query) {
            spark = query;
            look();
        }

        private void look() {
            guard.enter(spark.root(), new Configuration(false));
        }

        @Override
        public Query recognise(final org.apache.hadoop.fs.Path root) {
            count++;
            return new Query(spark);
        }

        @Override
        public String reasonUnguarded() {
            return "";
        }

        @Override
        public Query refuse(final String sentence) {
            throw new AssertionError(sentence);
        }

        @Override
        public void admit(final Query query, final Configuration conf) {
            look();
        }

        @Override
        public void begin(final Query query, final Ids ids) {
            assertEquals(Query.NONE, ids.offsets());
        }

        @Override
        public Query ofThread(final Collection<Query> queries) {
            return queries.stream().filter(query -> query.spark() == spark).findFirst().orElse(null);
        }
    }
}
