package dev.sluice.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class DrainTest {
    private final List<Query> queries = new ArrayList<>();
    private final AtomicLong clockMs = new AtomicLong(1_000);
    private final AtomicLong clockNs = new AtomicLong();
    private final Drain drain = new Drain(() -> queries, clockMs::incrementAndGet, clockNs::get);

    private Query entered(final String root) {
        final Query query = new Query(new FakeSpark(root));
        queries.add(query);
        drain.enter(query, Query.NONE, Query.NONE);
        return query;
    }

    private CompletableFuture<Boolean> begins(final Query query, final long batch) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return drain.begin(query, batch);
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void awaitPhase(final Query query, final Query.Phase phase) {
        while (query.phase() != phase) {
            Thread.onSpinWait();
        }
    }

    @Test
    void theBatchInFlightEndsAndTheNextOneParksUntilTheDrainIsTakenBack() throws Exception {
        final Query query = entered("/ck/q");
        drain.begin(query, 4);
        drain.ask(0);
        assertThrows(TimeoutException.class, () -> drain.awaitQuiet(30, () -> false));
        drain.commit(query, 4);
        drain.awaitQuiet(1_000, () -> false);
        final CompletableFuture<Boolean> next = begins(query, 5);
        awaitPhase(query, Query.Phase.PARKED);
        drain.awaitQuiet(0, () -> false);
        assertEquals(4, query.committed());
        drain.cancel();
        assertEquals(true, next.get(10, TimeUnit.SECONDS));
        assertEquals(5, query.inFlight());
    }

    @Test
    void aBatchThatAnotherDriverCommittedMeanwhileIsOverWhenTheNextBegins() throws Exception {
        final Query query = new Query(new FakeSpark("/ck/q"));
        queries.add(query);
        drain.enter(query, 7, 6);
        drain.ask(0);
        begins(query, 8);
        awaitPhase(query, Query.Phase.PARKED);
        drain.awaitQuiet(0, () -> false);
        assertEquals(7, query.committed());
    }

    @Test
    void aBatchAnEarlierDriverLeftUncommittedIsInFlightFromTheStart() throws Exception {
        final Query query = new Query(new FakeSpark("/ck/q"));
        queries.add(query);
        drain.enter(query, 7, 6);
        drain.ask(0);
        final TimeoutException why = assertThrows(TimeoutException.class, () -> drain.awaitQuiet(0, () -> false));
        assertEquals("batch 7 of query 'q' was still running when the time was up", why.getMessage());
        drain.commit(query, 7);
        drain.awaitQuiet(0, () -> false);
    }

    @Test
    void aCommitIsDatedByTheDriverThatClosedItAndTheFirstOneForGood() throws Exception {
        final Query query = entered("/ck/q");
        assertEquals(List.of(0L, 0L), List.of(query.committedAtMs(), query.firstCommitAtMs()));
        drain.begin(query, 0);
        drain.commit(query, 0);
        assertEquals(List.of(1_001L, 1_001L), List.of(query.committedAtMs(), query.firstCommitAtMs()));
        drain.begin(query, 1);
        drain.commit(query, 1);
        assertEquals(List.of(1_002L, 1_001L), List.of(query.committedAtMs(), query.firstCommitAtMs()));
    }

    @Test
    void whatAnEarlierDriverCommittedHasNoDateAndWhatItLeftIsTheFirstOfThisOne() {
        final Query query = new Query(new FakeSpark("/ck/q"));
        queries.add(query);
        drain.enter(query, 7, 6);
        assertEquals(List.of(6L, 0L, 0L), List.of(query.committed(), query.committedAtMs(), query.firstCommitAtMs()));
        drain.commit(query, 7);
        assertEquals(List.of(7L, 1_001L, 1_001L), List.of(query.committed(), query.committedAtMs(), query.firstCommitAtMs()));
    }

    @Test
    void aBatchThatNobodyIsLeftToEndIsNotWaitedFor() throws Exception {
        final Query query = entered("/ck/q");
        drain.begin(query, 4);
        drain.ask(0);
        final TimeoutException why = assertThrows(TimeoutException.class, () -> drain.awaitQuiet(60_000, () -> true));
        assertEquals("batch 4 of query 'q' was still running when the last executor had long gone", why.getMessage());
        drain.commit(query, 4);
        drain.awaitQuiet(60_000, () -> true);
    }

    @Test
    void aParkedQueryWhoseInterruptGotLostNoticesThatItWasStopped() throws Exception {
        final Query query = entered("/ck/q");
        drain.ask(0);
        final CompletableFuture<Boolean> next = begins(query, 1);
        awaitPhase(query, Query.Phase.PARKED);
        query.spark().stop();
        final ExecutionException ended = assertThrows(ExecutionException.class, () -> next.get(10, TimeUnit.SECONDS));
        assertEquals(InterruptedException.class, ended.getCause().getCause().getClass());
    }

    @Test
    void whoFailedInTheMiddleOfABatchHoldsNobodyBack() throws Exception {
        final Query failed = entered("/ck/a");
        entered("/ck/b");
        drain.begin(failed, 3);
        failed.spark().stop();
        drain.ask(0);
        drain.awaitQuiet(0, () -> false);
    }

    @Test
    void offsetsThatWereNotWrittenLeaveNothingInFlight() throws Exception {
        final Query query = entered("/ck/q");
        drain.begin(query, 3);
        drain.abandon(query);
        drain.ask(0);
        drain.awaitQuiet(0, () -> false);
    }

    private void took(final Query query, final long batch, final long ms) throws InterruptedException {
        drain.begin(query, batch);
        clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
        drain.commit(query, batch);
    }

    /** Ten batches as usual and one that was long. */
    private Query behind(final String root) throws InterruptedException {
        final Query query = entered(root);
        for (int batch = 0; batch < 10; batch++) {
            took(query, batch, 400);
        }
        took(query, 10, 1_200);
        return query;
    }

    @Test
    void aQueryThatIsBehindGoesOnUntilItsBatchesAreShortAgain() throws Exception {
        final Query query = behind("/ck/q");
        drain.ask(10_000);
        assertThrows(TimeoutException.class, () -> drain.awaitQuiet(30, () -> false), "between two batches it is not quiet");
        took(query, 11, 800);
        took(query, 12, 500);
        drain.awaitQuiet(0, () -> false);
        begins(query, 13);
        awaitPhase(query, Query.Phase.PARKED);
    }

    @Test
    void aQueryThatStaysBehindParksOnceTheTimeForThatIsUp() throws Exception {
        final Query query = behind("/ck/q");
        drain.ask(3_000);
        took(query, 11, 1_200);
        took(query, 12, 1_200);
        begins(query, 13);
        awaitPhase(query, Query.Phase.PARKED);
    }

    @Test
    void aBatchThatWouldLastBeyondThatTimeIsNotBegun() throws Exception {
        final Query query = behind("/ck/q");
        drain.ask(1_100);
        begins(query, 11);
        awaitPhase(query, Query.Phase.PARKED);
    }

    @Test
    void whoWaitsForItsTriggerAfterALongBatchHasCaughtUp() throws Exception {
        behind("/ck/q");
        clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_300));
        drain.ask(10_000);
        drain.awaitQuiet(0, () -> false);
    }

    @Test
    void whileOneQueryIsBehindNoneParks() throws Exception {
        final Query late = behind("/ck/a");
        final Query calm = entered("/ck/b");
        drain.ask(10_000);
        assertEquals(true, drain.begin(calm, 0));
        drain.commit(calm, 0);
        took(late, 11, 400);
        begins(calm, 1);
        awaitPhase(calm, Query.Phase.PARKED);
    }

    @Test
    void ofAQueryThatHasJustBegunNothingIsUsualYet() throws Exception {
        final Query query = entered("/ck/q");
        took(query, 0, 4_000);
        drain.ask(10_000);
        begins(query, 1);
        awaitPhase(query, Query.Phase.PARKED);
    }

    @Test
    void aRealTimeQueryIsQuietOnlyWhenTheBatchThatHadRowsIsCommitted() throws Exception {
        final FakeSpark spark = new FakeSpark("/ck/q");
        spark.realTime = true;
        final Query query = new Query(spark);
        queries.add(query);
        drain.enter(query, Query.NONE, Query.NONE);
        drain.ask(0);
        spark.batch = 8;
        drain.closeSources();
        // Batch 7 ended before the readers did: its commit says nothing of the rows of 8.
        drain.begin(query, 7);
        drain.commit(query, 7);
        assertThrows(TimeoutException.class, () -> drain.awaitQuiet(30, () -> false));
        drain.begin(query, 8);
        drain.commit(query, 8);
        drain.awaitQuiet(0, () -> false);
        assertEquals(List.of(1_002L, 1_001L), List.of(query.committedAtMs(), query.firstCommitAtMs()));
        final CompletableFuture<Boolean> next = begins(query, 9);
        awaitPhase(query, Query.Phase.PARKED);
        spark.stop();
        assertEquals(false, next.get(10, TimeUnit.SECONDS), "an empty batch after the end is not written");
    }
}
