package dev.sluice.executor;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;

/** The API server, by the address every pod is given. */
final class Server implements Apart.Peer {
    static final String HOST = "KUBERNETES_SERVICE_HOST";
    static final String PORT = "KUBERNETES_SERVICE_PORT";
    private static final int PATIENCE_MS = 3_000;

    private final InetSocketAddress address;

    Server(final Map<String, String> env) {
        address = new InetSocketAddress(env.get(HOST), Integer.parseInt(env.getOrDefault(PORT, "443")));
    }

    @Override
    public boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(address, PATIENCE_MS);
            return true;
        } catch (final ConnectException e) {
            return String.valueOf(e.getMessage()).contains("refused"); // by somebody who is there
        } catch (final IOException e) {
            return false;
        }
    }
}
