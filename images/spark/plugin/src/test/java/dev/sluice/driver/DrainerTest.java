package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.checkpoint.Gate;
import dev.sluice.checkpoint.Guard;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class DrainerTest {
    private final Semaphore reports = new Semaphore(2);
    private final Guard guard = new Guard(new Gate(false, 0), null, () -> { });
    private final Drainer drainer = new Drainer(guard, new SourceEnd(List::of), reports::acquireUninterruptibly);

    @Test
    void ofANewDrainIsNeverSaidWhatBecameOfTheOneBefore() throws Exception {
        drainer.order(new Orders.Drain("first", 1_000, 0, false));
        while (!"quiet".equals(drainer.state())) {
            Thread.onSpinWait();
        }
        drainer.order(new Orders.Drain("second", 1_000, 0, false));
        assertEquals(List.of("second", "draining"), List.of(drainer.id(), drainer.state()));
        reports.release(2);
    }
}
