package dev.sluice.agent;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * One POST over loopback on a plain socket: the JDK's HTTP client takes half a second to load its classes, in the middle of a
 * hand-over. What comes back is bounded in size and time, whoever sends it.
 */
final class Http {
    static final int LONGEST_BODY = 1 << 20;
    private static final int LONGEST_LINE = 4096;
    private static final int MOST_HEADERS = 64;

    /** What came back. */
    static final class Answer {
        final int status;
        final byte[] body;

        Answer(final int status, final byte[] body) {
            this.status = status;
            this.body = body;
        }
    }

    private final Socket socket;
    private final long deadlineNs;
    private final InputStream in;

    private Http(final Socket socket, final long deadlineNs) throws IOException {
        this.socket = socket;
        this.deadlineNs = deadlineNs;
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    static Answer post(final int port, final String path, final String token, final byte[] body, final int timeoutMs)
            throws IOException {
        final long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        try (Socket socket = new Socket()) {
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), timeoutMs);
            final OutputStream out = socket.getOutputStream();
            final byte[] head = ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token
                    + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length
                    + "\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
            final byte[] all = new byte[head.length + body.length];
            System.arraycopy(head, 0, all, 0, head.length);
            System.arraycopy(body, 0, all, head.length, body.length);
            out.write(all);
            out.flush();
            return new Http(socket, deadlineNs).answer();
        }
    }

    private Answer answer() throws IOException {
        final int status = status(line());
        int length = -1;
        for (int headers = 0;; headers++) {
            final String header = line();
            if (header.isEmpty()) {
                break;
            }
            if (headers == MOST_HEADERS) {
                throw new IOException("the answer has more than " + MOST_HEADERS + " headers");
            }
            final String lower = header.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = length(lower.substring("content-length:".length()).trim());
            }
        }
        if (length < 0) {
            throw new IOException("the answer says no Content-Length");
        }
        return new Answer(status, bytes(length));
    }

    private static int status(final String line) throws IOException {
        if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
            throw new IOException("the answer is not HTTP");
        }
        return Integer.parseInt(line.substring(9, 12));
    }

    private static int length(final String text) throws IOException {
        if (!text.matches("[0-9]{1,9}") || Integer.parseInt(text) > LONGEST_BODY) {
            throw new IOException("the answer's Content-Length is more than " + LONGEST_BODY + ", or no number");
        }
        return Integer.parseInt(text);
    }

    private byte[] bytes(final int length) throws IOException {
        final byte[] read = new byte[length];
        int at = 0;
        while (at < length) {
            bound();
            final int n = in.read(read, at, length - at);
            if (n < 0) {
                throw new IOException("the answer ends after " + at + " of " + length + " bytes");
            }
            at += n;
        }
        return read;
    }

    private String line() throws IOException {
        final ByteArrayOutputStream text = new ByteArrayOutputStream();
        while (true) {
            bound();
            final int c = in.read();
            if (c < 0) {
                throw new IOException("the answer ends within its head");
            }
            if (c == '\n') {
                break;
            }
            if (text.size() == LONGEST_LINE) {
                throw new IOException("the answer has a line of more than " + LONGEST_LINE + " bytes");
            }
            text.write(c);
        }
        final String line = new String(text.toByteArray(), StandardCharsets.ISO_8859_1);
        return line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
    }

    /** A peer that sends a byte now and then must not hold us for longer than one that sends none. */
    private void bound() throws IOException {
        final long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000L;
        if (leftMs <= 0) {
            throw new SocketTimeoutException("the answer did not come in time");
        }
        if (in.available() == 0) {
            socket.setSoTimeout((int) Math.min(leftMs, Integer.MAX_VALUE));
        }
    }
}
