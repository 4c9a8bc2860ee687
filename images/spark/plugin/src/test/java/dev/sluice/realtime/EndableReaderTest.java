package dev.sluice.realtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class EndableReaderTest {
    private static final long MINUTE_MS = 60_000;

    private volatile boolean isDraining;
    private final List<Long> timeoutsMs = new ArrayList<>();
    private final ReaderEnd end = new ReaderEnd((PluginContext) Proxy.newProxyInstance(
            PluginContext.class.getClassLoader(), new Class<?>[] {PluginContext.class},
            (proxy, method, arguments) -> "ask".equals(method.getName()) ? (Object) isDraining : "1"));

    @AfterEach
    void stopAsking() {
        end.uninstall();
    }

    /** Whether a source that is asked so gives a row within a minute. */
    private boolean gives(final LongPredicate source) throws IOException {
        return new EndableReader(new SupportsRealTimeRead<>() {
            @Override
            public RecordStatus nextWithTimeout(final Long timeoutMs) {
                timeoutsMs.add(timeoutMs);
                return RecordStatus.newStatusWithoutArrivalTime(source.test(timeoutMs));
            }

            @Override
            public PartitionOffset getOffset() {
                return null;
            }

            @Override
            public boolean next() {
                return false;
            }

            @Override
            public InternalRow get() {
                return null;
            }

            @Override
            public void close() {
            }
        }, end).nextWithTimeout(0L, MINUTE_MS).hasRecord();
    }

    private static boolean nothing(final long afterMs) {
        try {
            Thread.sleep(afterMs);
        } catch (final InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return false;
    }

    @Test
    void aReaderWithoutRowsEndsSoonAfterItIsToldTo() throws IOException {
        assertFalse(gives(timeoutMs -> {
            isDraining = timeoutsMs.size() > 2;
            return nothing(timeoutMs);
        }));
        assertEquals(100, timeoutsMs.get(0));
    }

    @Test
    void aRowThatComesInALaterWhileIsGiven() throws IOException {
        assertTrue(gives(timeoutMs -> timeoutsMs.size() == 3 || nothing(timeoutMs)));
    }

    @Test
    void aReaderThatGivesUpBeforeItsTimeIsNotAskedAgain() throws IOException {
        assertFalse(gives(timeoutMs -> false));
        assertTrue(timeoutsMs.size() < 5, "asked " + timeoutsMs); // on a busy machine an answer at once may look slow
    }

    @Test
    void noRowIsAskedForOnceADrainHasBegun() throws IOException {
        isDraining = true;
        assertFalse(gives(timeoutMs -> true));
        assertEquals(List.of(), timeoutsMs);
    }
}
