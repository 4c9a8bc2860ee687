package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.agent.Agent;
import dev.sluice.checkpoint.Gate;
import dev.sluice.checkpoint.Guard;
import dev.sluice.speculate.Speculation;
import dev.sluice.split.Split;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.Test;

final class ConversationTest {
    private final Guard guard = new Guard(new Gate(true, 0), null, () -> { });
    private final Drainer drainer = new Drainer(guard, new SourceEnd(List::of), () -> { });

    @TempDir
    private Path folder;

    @Test
    void whatTalkingCostIsToldOnceThoughNobodyListens() {
        final StateReport state = new StateReport("app", guard, drainer);
        final Conversation conversation = new Conversation(new Agent(folder.toFile()), state, orders -> { },
                new Balance(new Split(List::of, executor -> 0), new Speculation(new SparkConf(false))));
        conversation.sayNow();
        assertTrue(conversation.takeCpuNs() > 0);
        assertEquals(0, conversation.takeCpuNs());
    }
}
