package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.Test;
import scala.jdk.javaapi.CollectionConverters;

final class DeparturesTest {
    private final Set<String> there = new HashSet<>(Set.of("1", "2"));
    private final Set<String> awaited = new HashSet<>();
    private final List<String> ended = new ArrayList<>();
    private final Departures departures = new Departures(new Departures.Executors() {
        @Override
        public boolean retire(final String executor) {
            return there.remove(executor);
        }

        @Override
        public boolean isAwaited(final String executor) {
            return awaited.contains(executor);
        }

        @Override
        public void end(final String executor) {
            ended.add(executor);
        }
    });

    @Test
    void whoHasNothingToDoEndsAtOnceAndOnce() {
        assertTrue(departures.begin("1"));
        assertFalse(departures.begin("1"));
        assertEquals(List.of("1"), ended);
    }

    @Test
    void whoIsNotThereIsNotSentAway() {
        assertFalse(departures.begin("7"));
        assertEquals(List.of(), ended);
    }

    @Test
    void theResultOfItsLastTaskIsWithTheDriverBeforeAnExecutorEnds() {
        awaited.add("1");
        departures.begin("1");
        taskEnds("2");
        assertEquals(List.of(), ended);
        awaited.clear();
        taskEnds("1");
        assertEquals(List.of("1"), ended);
    }

    @Test
    void theJobsItWorkedForAreOverBeforeAnExecutorEndsAndLaterOnesAreNotWaitedFor() {
        jobStarts(3);
        departures.begin("1");
        jobStarts(4);
        taskEnds("1");
        jobEnds(4);
        assertEquals(List.of(), ended);
        jobStarts(5);
        jobEnds(3);
        assertEquals(List.of("1"), ended);
    }

    @Test
    void whoIsGoneByItselfIsForgotten() {
        awaited.add("1");
        departures.begin("1");
        departures.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "1", "lost"));
        awaited.clear();
        jobEnds(3);
        assertEquals(List.of(), ended);
    }

    private void jobStarts(final int job) {
        departures.onJobStart(SparkListenerJobStart.apply(job, 0, CollectionConverters.asScala(List.<StageInfo>of()).toSeq(), null));
    }

    private void jobEnds(final int job) {
        departures.onJobEnd(new SparkListenerJobEnd(job, 0, JobSucceeded$.MODULE$));
    }

    private void taskEnds(final String executor) {
        final TaskInfo task = new TaskInfo(1, 0, 0, 0, 0, executor, "host", TaskLocality.ANY(), false);
        departures.onTaskEnd(new SparkListenerTaskEnd(
                1, 0, "ResultTask", Success$.MODULE$, task, new ExecutorMetrics(), new TaskMetrics()));
    }
}
