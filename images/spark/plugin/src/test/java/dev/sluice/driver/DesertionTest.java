package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class DesertionTest {
    private int executors;
    private long nowS;
    private final Desertion desertion = new Desertion(() -> executors, () -> TimeUnit.SECONDS.toNanos(nowS));

    private void look(final long atS, final int there, final boolean isDeserted) {
        nowS = atS;
        executors = there;
        assertEquals(isDeserted, desertion.getAsBoolean(), "at " + atS + " s with " + there);
    }

    @Test
    void aDriverIsDesertedWhenItHasHadNoExecutorForTwentySeconds() {
        look(0, 2, false);
        look(9, 0, false);
        look(28, 0, false);
        look(29, 0, true);
    }

    @Test
    void anExecutorThatComesBackInTimeEndsTheCount() {
        look(0, 0, false);
        look(19, 1, false);
        look(21, 0, false);
        look(40, 0, false);
        look(41, 0, true);
    }
}
