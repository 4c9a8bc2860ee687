package dev.sluice.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.agent.Json;
import java.util.List;
import java.util.Properties;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.TaskState;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** One stage that scans 300 rows, 100 a task, with a copy of the second one's task on the first executor. */
final class BatchListenerTest {
    private static final int STAGE = 1;

    private final Measures measures = new Measures(node -> { }, () -> 0, (query, node) -> 0);
    private final Leftovers leftovers = new Leftovers();
    private final BatchListener listener = new BatchListener(measures, leftovers);
    private final StageInfo stage = stageInfo();

    @Test
    void rowsThatACopyReadAreNobodysAndWhoWasBeatenIsTold() {
        begin();
        final TaskInfo beaten = started(1, "2", 0, false);
        end(started(0, "1", 0, false), 100);
        end(started(1, "1", 150, true), 240);
        complete(240);
        assertEquals(1, leftovers.on("2"));
        end(beaten, 250, killed());
        assertEquals(0, leftovers.on("2"));

        assertEquals(100, told("1", "scanRows"));
        assertEquals(100, told("1", "scanMs"));
        assertEquals(0, told("1", "beatenMs"));
        assertEquals(0, told("2", "scanRows"));
        assertEquals(240, told("2", "beatenMs"));
    }

    @Test
    void anExecutorWhoseTasksAreAllBeatenHasALatencyAllTheSame() {
        begin();
        started(1, "2", 0, false);
        end(started(1, "1", 150, true), 240);
        complete(240);

        assertEquals("[[240,1]]", found("2", "taskMs").toString());
    }

    @Test
    void whoWasKilledBeforeItsStageWasCompleteIsBeatenJustSo() {
        begin();
        end(started(1, "2", 0, false), 130, killed());
        complete(500);

        assertEquals(130, told("2", "beatenMs"));
    }

    @Test
    void aCopyThatLosesTellsNothingOfItsExecutor() {
        begin();
        final TaskInfo copy = started(1, "1", 150, true);
        end(started(1, "2", 0, false), 160);
        complete(160);
        assertEquals(1, leftovers.on("1"));
        end(copy, 170, killed());

        assertEquals(0, told("1", "beatenMs"));
        assertEquals(0, told("2", "beatenMs"));
        assertEquals(160, told("2", "scanMs"));
    }

    @Test
    void aTaskThatWentElsewhereAfterAWaitTellsNothingOfWhoRanIt() {
        begin();
        end(away(1, "1", 0), 900);
        complete(900);

        assertEquals(0, told("1", "scanRows"));
        assertEquals(100, told("1", "rows"));
    }

    @Test
    void anExecutorThatIsGoneLeavesNothing() {
        begin();
        started(1, "2", 0, false);
        complete(240);
        listener.onExecutorRemoved(new SparkListenerExecutorRemoved(240, "2", "lost"));

        assertEquals(0, leftovers.on("2"));
    }

    private void begin() {
        final Properties batch = new Properties();
        batch.setProperty("sql.streaming.queryId", "query");
        batch.setProperty("streaming.sql.batchId", "7");
        listener.onStageSubmitted(new SparkListenerStageSubmitted(stage, batch));
    }

    private TaskInfo started(final int index, final String executor, final long atMs, final boolean copy) {
        return started(index, executor, atMs, copy, copy ? TaskLocality.ANY() : TaskLocality.PROCESS_LOCAL());
    }

    private TaskInfo away(final int index, final String executor, final long atMs) {
        return started(index, executor, atMs, false, TaskLocality.ANY());
    }

    private TaskInfo started(final int index, final String executor, final long atMs, final boolean copy,
            final scala.Enumeration.Value near) {
        final long id = 2L * index + (copy ? 1 : 0);
        final TaskInfo task =
                new TaskInfo(id, index, copy ? 1 : 0, index, atMs, executor, "host-" + executor, near, copy);
        listener.onTaskStart(new SparkListenerTaskStart(STAGE, 0, task));
        return task;
    }

    private void end(final TaskInfo task, final long atMs) {
        end(task, atMs, Success$.MODULE$);
    }

    private void end(final TaskInfo task, final long atMs, final TaskEndReason why) {
        final boolean done = why == Success$.MODULE$;
        task.markFinished(done ? TaskState.FINISHED() : TaskState.KILLED(), atMs);
        final TaskMetrics metrics = new TaskMetrics();
        metrics.inputMetrics().setRecordsRead(done ? 100 : 40);
        listener.onTaskEnd(new SparkListenerTaskEnd(STAGE, 0, "ResultTask", why, task, new ExecutorMetrics(), metrics));
    }

    private void complete(final long atMs) {
        stage.completionTime_$eq(Option.apply(atMs));
        listener.onStageCompleted(new SparkListenerStageCompleted(stage));
    }

    private long told(final String executor, final String field) {
        return found(executor, field).asLong(0);
    }

    private JsonNode found(final String executor, final String field) {
        final ObjectNode node = Json.document();
        measures.of(Measures.key("query", "7")).addTo(node);
        return node.path("executors").path(executor).path(field);
    }

    private static StageInfo stageInfo() {
        final RDDInfo source = new RDDInfo(3, "DataSourceRDD", 2, StorageLevel.NONE(), false, empty(), "", Option.empty(),
                DeterministicLevel.DETERMINATE());
        final Seq<RDDInfo> all = CollectionConverters.asScala(List.of(source)).toList();
        final StageInfo made = new StageInfo(STAGE, 0, "scan", 2, all, empty(), "", new TaskMetrics(), empty(),
                Option.empty(), 0, false, 0);
        made.submissionTime_$eq(Option.apply(0L));
        return made;
    }

    private static TaskKilled killed() {
        return new TaskKilled("another attempt succeeded", empty(), empty(), empty());
    }

    @SuppressWarnings("unchecked")
    private static <T> Seq<T> empty() {
        return (Seq<T>) (Object) Nil$.MODULE$;
    }
}
