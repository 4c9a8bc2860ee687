package dev.sluice.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

final class SourceEndTest {
    private final List<String> executors = new ArrayList<>(List.of("1", "2"));
    private final SourceEnd sources = new SourceEnd(() -> executors);

    private boolean asks(final String executor, final boolean isEnded) {
        return sources.answer(SourceEnd.question(executor, isEnded));
    }

    @Test
    void anExecutorThatReadsIsWaitedForUntilItSaysThatItGivesNoMoreRows() throws Exception {
        assertEquals(false, asks("1", false));
        assertThrows(TimeoutException.class, () -> sources.close(0));
        assertEquals(true, asks("1", false));
        assertThrows(TimeoutException.class, () -> sources.close(0));
        asks("1", true);
        sources.close(0);
    }

    @Test
    void oneThatNeverReadIsNotWaitedForAndItsFirstReaderGivesNoRow() throws Exception {
        sources.close(0);
        assertEquals(true, asks("2", false));
    }

    @Test
    void oneThatHasGoneIsNotWaitedFor() throws Exception {
        asks("1", false);
        executors.remove("1");
        sources.close(0);
    }

    @Test
    void whatWasSaidBeforeTheSourcesWereOpenedAgainDoesNotCount() throws Exception {
        sources.close(0);
        asks("1", true);
        sources.open();
        assertEquals(false, asks("1", true));
        assertThrows(TimeoutException.class, () -> sources.close(0));
    }
}
