package dev.sluice.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who comes to a gate, and how often. */
final class GuardTest {
    @TempDir
    private Path folder;

    @Test
    void aQueryThatIsStoppedBetweenTwoLooksAtItsOffsetsHasPassedItsGateAllTheSame() {
        final OneQuery admission = new OneQuery(new FakeSpark(folder.toString()));
        final Guard guard = new Guard(new Gate(false, 0), admission, () -> { });
        admission.guard = guard;

        admission.look();
        admission.spark.stop();
        admission.look();

        assertEquals(1, admission.arrivals);
        assertEquals(1, guard.queries().iterator().next().epoch());
    }

    /** This thread is its stream thread; to be admitted it reads its own offsets, as Spark's do. */
    private static final class OneQuery implements Admission {
        private final FakeSpark spark;
        private Guard guard;
        private int arrivals;

        OneQuery(final FakeSpark spark) {
            this.spark = spark;
        }

        void look() {
            guard.enter(spark.root(), new Configuration(false));
        }

        @Override
        public Query recognise(final org.apache.hadoop.fs.Path root) {
            arrivals++;
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
            return queries.stream().findFirst().orElse(null);
        }
    }
}
