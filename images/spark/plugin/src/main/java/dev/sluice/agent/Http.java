package dev.sluice.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A line to the agent over loopback on a plain socket: the JDK's HTTP client takes half a second to load its classes, in the
 * middle of a hand-over. What comes back is bounded in size and time, whoever sends it.
 */
final class Http {
    static final int LONGEST_BODY = 1 << 20;
    private static final int LONGEST_LINE = 4096;
    private static final int MOST_HEADERS = 64;
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 [1-5][0-9][0-9]( .*)?");

    /** What came back. */
    static final class Answer {
        final int status;
        final byte[] body;

        Answer(final int status, final byte[] body) {
            this.status = status;
            this.body = body;
        }
    }

    /** Nobody is at the other end any more: not a byte of an answer came. */
    static final class GoneException extends IOException {
        private static final long serialVersionUID = 1L;

        GoneException(final String sentence, final IOException cause) {
            super(sentence, cause);
        }
    }

    private final Socket socket;
    private final String token;
    private final InputStream in;
    private final byte[] read = new byte[LONGEST_LINE];
    private int next;
    private int end;
    private long deadlineNs;
    private boolean isKept;

    private Http(final Socket socket, final String token) throws IOException {
        this.socket = socket;
        this.token = token;
        this.in = socket.getInputStream();
    }

    static Http open(final int port, final String token, final long deadlineNs) throws IOException {
        final Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), leftMs(deadlineNs));
            return new Http(socket, token);
        } catch (final IOException e) {
            socket.close();
            throw e;
        }
    }

    void close() throws IOException {
        socket.close();
    }

    /** Whether another call may follow on this line. */
    boolean isKept() {
        return isKept && next == end;
    }

    Answer post(final String path, final byte[] body, final long untilNs) throws IOException {
        deadlineNs = untilNs;
        next = 0;
        end = 0;
        final byte[] head = ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token
                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length
                + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        final byte[] all = new byte[head.length + body.length];
        System.arraycopy(head, 0, all, 0, head.length);
        System.arraycopy(body, 0, all, head.length, body.length);
        try {
            socket.getOutputStream().write(all);
            if (!filled()) {
                throw new GoneException("the answer ends within its head", null);
            }
        } catch (final SocketException e) {
            throw new GoneException(e.getMessage(), e);
        }
        return answer();
    }

    private Answer answer() throws IOException {
        final int status = status(line());
        isKept = true;
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
            } else if (lower.startsWith("connection:")) {
                isKept = !lower.endsWith("close");
            }
        }
        if (length < 0) {
            throw new IOException("the answer says no Content-Length");
        }
        return new Answer(status, bytes(length));
    }

    private static int status(final String line) throws IOException {
        if (!STATUS.matcher(line).matches()) {
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
        final byte[] body = new byte[length];
        int at = 0;
        while (at < length) {
            if (next == end && !filled()) {
                throw new IOException("the answer ends after " + at + " of " + length + " bytes");
            }
            final int n = Math.min(end - next, length - at);
            System.arraycopy(read, next, body, at, n);
            next += n;
            at += n;
        }
        return body;
    }

    private String line() throws IOException {
        final ByteArrayOutputStream text = new ByteArrayOutputStream();
        while (true) {
            if (next == end && !filled()) {
                throw new IOException("the answer ends within its head");
            }
            final byte c = read[next++];
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

    /** Whether more came. A peer that sends a byte now and then must not hold us for longer than one that sends none. */
    private boolean filled() throws IOException {
        socket.setSoTimeout(leftMs(deadlineNs));
        next = 0;
        end = Math.max(0, in.read(read));
        return end > 0;
    }

    private static int leftMs(final long deadlineNs) throws SocketTimeoutException {
        final long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000L;
        if (leftMs <= 0) {
            throw new SocketTimeoutException("the answer did not come in time");
        }
        return (int) Math.min(leftMs, Integer.MAX_VALUE);
    }
}
