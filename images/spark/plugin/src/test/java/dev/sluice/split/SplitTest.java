package dev.sluice.split;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.agent.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.streaming.sources.RateStreamMicroBatchInputPartition;
import org.junit.jupiter.api.Test;

final class SplitTest {
    private static final Shares HALVES = new Shares(Map.of("1", 0.5, "2", 0.5), 1, false);
    private static final List<InputPartition> RATE = List.of(
            new RateStreamMicroBatchInputPartition(0, 2, 0, 100, 0, 1.0),
            new RateStreamMicroBatchInputPartition(1, 2, 0, 100, 0, 1.0));

    private final List<Crew.Member> crew = new ArrayList<>(
            List.of(new Crew.Member("1", "10.0.0.1", 1), new Crew.Member("2", "10.0.0.2", 1)));
    private final Map<String, Integer> taken = new HashMap<>();
    private final Split split = new Split(() -> crew, executor -> taken.getOrDefault(executor, 0));

    private static final class Unknown implements InputPartition {
        private static final long serialVersionUID = 1L;
    }

    private JsonNode told(final String query) {
        final ObjectNode batch = Json.document();
        split.tell(query, batch);
        return batch;
    }

    @Test
    void whatNobodySpokeOfStaysAsItsSourcePlansIt() {
        split.take("another", HALVES);
        assertSame(RATE, split.plan("q", RATE, false));
        assertEquals("", told("q").get("cut").get("own").textValue());
    }

    @Test
    void aTaskIsWantedWhereItsShareIs() {
        split.take("q", HALVES);
        final List<InputPartition> cut = split.plan("q", RATE, false);
        assertEquals(2, cut.size());
        assertArrayEquals(new String[] {"executor_10.0.0.1_1"}, cut.get(0).preferredLocations());
        assertEquals(2, told("q").get("cut").get("pieces").intValue());
        assertEquals(1, told("q").get("crew").get("2").intValue());
    }

    @Test
    void aQuerysFirstBatchIsCutInEqualPartsIfSoOrderedUntilItsSharesCome() {
        split.order(Shares.equal(false));
        assertEquals(2, split.plan("q", RATE, false).size());
        split.take("q", new Shares(Map.of("1", 1.0, "2", 0.0), 1, false));
        assertEquals(1, split.plan("q", RATE, false).size());
        split.forget();
        assertSame(RATE, split.plan("q", RATE, false));
    }

    @Test
    void whoIsNotFreeYetGetsNothingAndIsStillThere() {
        split.take("q", HALVES);
        taken.put("1", 1);
        final List<InputPartition> cut = split.plan("q", RATE, false);
        assertEquals(1, cut.size());
        assertArrayEquals(new String[] {"executor_10.0.0.2_2"}, cut.get(0).preferredLocations());
        assertEquals(1, told("q").get("crew").get("1").intValue());
    }

    @Test
    void whereNobodyIsFreeAllGetTheirShares() {
        split.take("q", HALVES);
        taken.putAll(Map.of("1", 1, "2", 1));
        assertEquals(2, split.plan("q", RATE, false).size());
    }

    @Test
    void aSourceOfAnotherKindGoesInWholePartitions() {
        split.take("q", HALVES);
        final List<InputPartition> own = List.of(new Unknown(), new Unknown(), new Unknown());
        final List<InputPartition> parts = new ArrayList<>();
        split.plan("q", own, false).forEach(one -> parts.addAll(List.of(((Piece) one).parts())));
        assertTrue(parts.containsAll(own) && parts.size() == 3);
    }

    @Test
    void whereRowsAreToStayInOrderNoPartitionIsCut() {
        split.take("q", new Shares(Map.of("1", 0.9, "2", 0.1), 1, true));
        final List<InputPartition> parts = new ArrayList<>();
        split.plan("q", RATE, false).forEach(one -> parts.addAll(List.of(((Piece) one).parts())));
        assertTrue(parts.containsAll(RATE) && parts.size() == 2);
    }

    @Test
    void aSourceThatSaysHowItIsPartitionedIsLeftAloneAndThatIsSaid() {
        split.take("q", HALVES);
        assertSame(RATE, split.plan("q", RATE, true));
        assertTrue(told("q").get("cut").get("own").textValue().contains("partitioned"));
    }

    @Test
    void aSurpriseLeavesTheSourcesOwnPlanAndIsSaid() {
        split.take("q", HALVES);
        final List<InputPartition> huge = List.of(new RateStreamMicroBatchInputPartition(0, 2, 0, 1L << 40, 0, 1.0));
        assertSame(huge, split.plan("q", huge, false));
        assertTrue(told("q").get("cut").get("own").textValue().contains("not as Sluice knows it"));
    }

    @Test
    void withoutExecutorsNothingIsCut() {
        split.take("q", HALVES);
        crew.clear();
        assertSame(RATE, split.plan("q", RATE, false));
    }

    @Test
    void whatASilentAgentKnewDoesNotCount() {
        split.take("q", HALVES);
        split.forget();
        assertSame(RATE, split.plan("q", RATE, false));
    }

    @Test
    void aQueryWithoutSuchScansIsSaidToHaveNone() {
        assertTrue(told("q").get("cut").get("own").textValue().contains("V1"));
    }
}
