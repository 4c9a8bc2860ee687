package dev.sluice.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ApartTest {
    private long nowS;
    private boolean storeIsThere;
    private boolean serverIsThere;
    private int asked;
    private int ends;
    private final Apart apart = new Apart(() -> {
        asked++;
        return storeIsThere;
    }, () -> serverIsThere, () -> TimeUnit.SECONDS.toNanos(nowS), () -> ends++);

    @ParameterizedTest
    @CsvSource({"false, false, 1", "true, false, 0", "false, true, 0", "true, true, 0"})
    void onlyWhoReachesNobodyInTheMidstOfATaskEnds(final boolean store, final boolean server, final int expected)
            throws InterruptedException {
        storeIsThere = store;
        serverIsThere = server;
        apart.began();
        nowS = 20;
        apart.look();
        assertEquals(expected, ends);
    }

    @Test
    void nobodyIsAskedWhileTasksEnd() throws InterruptedException {
        for (nowS = 0; nowS < 100; nowS += 10) {
            apart.began();
            apart.look();
            apart.ended();
        }
        nowS = 200;
        apart.look();
        assertEquals(0, asked);
        assertEquals(0, ends);
    }

    @Test
    void aServerThatRefusesIsThereAndOneThatIsSilentIsNot() throws IOException {
        final List<Socket> waiting = new ArrayList<>();
        final Server server;
        try (ServerSocket socket = new ServerSocket(0, 1)) {
            server = new Server(Map.of(Server.HOST, "127.0.0.1", Server.PORT, "" + socket.getLocalPort()));
            assertTrue(server.answers());
            while (isTaken(socket, waiting)) {
                assertTrue(waiting.size() < 100);
            }
            assertFalse(server.answers());
        }
        assertTrue(server.answers());
        for (final Socket one : waiting) {
            one.close();
        }
    }

    /** Nobody accepts: once its queue is full the kernel drops what comes, as a network that is cut does. */
    private static boolean isTaken(final ServerSocket socket, final List<Socket> waiting) throws IOException {
        waiting.add(new Socket());
        try {
            waiting.get(waiting.size() - 1).connect(socket.getLocalSocketAddress(), 200);
            return true;
        } catch (final SocketTimeoutException e) {
            return false;
        }
    }

    @Test
    void aStoreThatRefusesIsThere() {
        assertFalse(Store.isOfNetwork(new IOException(new AccessDeniedException("bucket"))));
        assertTrue(Store.isOfNetwork(new IOException(new NoRouteToHostException("bucket"))));
    }
}
