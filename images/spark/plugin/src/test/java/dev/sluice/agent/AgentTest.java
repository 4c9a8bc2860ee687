package dev.sluice.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Anyone on loopback may sit where the agent should: whatever he says is refused with a sentence, and soon. */
@Timeout(20)
final class AgentTest {
    private static final String TOKEN = "0123456789abcdef";

    @TempDir
    private Path folder;

    /** Answers one connection with given bytes, after it has read the request; returns what it read. */
    private String answering(final byte[] bytes, final Call call) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            write("port", Integer.toString(server.getLocalPort()));
            write("token", TOKEN);
            final StringBuilder asked = new StringBuilder();
            final Thread peer = new Thread(() -> {
                try (Socket socket = server.accept()) {
                    final byte[] buffer = new byte[4096];
                    asked.append(new String(buffer, 0, socket.getInputStream().read(buffer), StandardCharsets.UTF_8));
                    socket.getOutputStream().write(bytes);
                    socket.getOutputStream().flush();
                } catch (final IOException e) {
                    asked.append("cut: ").append(e); // the client hangs up on what is too long
                }
            });
            peer.start();
            call.run(new Agent(folder.toFile()));
            peer.join();
            return asked.toString();
        }
    }

    private interface Call {
        void run(Agent agent) throws Exception;
    }

    private void write(final String file, final String text) throws IOException {
        Files.write(folder.resolve(file), text.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] ok(final String body) {
        final byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        return ("HTTP/1.1 200 OK\r\nContent-Length: " + bytes.length + "\r\n\r\n" + body).getBytes(StandardCharsets.UTF_8);
    }

    private String refusal(final byte[] answer) throws Exception {
        final StringBuilder said = new StringBuilder();
        answering(answer, agent -> said.append(assertThrows(
                IOException.class, () -> agent.call("/v1/report", Json.document(), 2_000)).getMessage()));
        return said.toString();
    }

    @Test
    void sendsOneAuthorizedPostAndReadsTheAnswer() throws Exception {
        final String asked = answering(ok("{\"version\":1,\"serial\":3}"), agent -> assertEquals(
                3, agent.call("/v1/orders", Json.document().put("seen", 2), 2_000).get("serial").intValue()));
        assertTrue(asked.startsWith("POST /v1/orders HTTP/1.1\r\n"), asked);
        assertTrue(asked.contains("Authorization: Bearer " + TOKEN), asked);
        assertTrue(asked.endsWith("\r\n\r\n{\"version\":1,\"seen\":2}"), asked);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "{}                            | the agent's answer has version none, this plugin reads 1",
        "{\"version\":2}               | the agent's answer has version '2', this plugin reads 1",
        "{\"version\":1.0}             | the agent's answer has version '1.0', this plugin reads 1",
        "{\"version\":[]}              | the agent's answer has version an array, this plugin reads 1",
        "[1]                           | the agent's answer is not a JSON object",
        "null                          | the agent's answer is not a JSON object",
        "{\"version\":1,\"version\":1} | the agent's answer is not JSON: Duplicate field 'version'",
        "{\"version\":NaN}             | the agent's answer is not JSON: Non-standard token 'NaN'",
    })
    void refusesDocumentsThatAreNotOfItsVersion(final String body, final String sentence) throws Exception {
        final String refusal = refusal(ok(body));
        assertTrue(refusal.startsWith(sentence), refusal);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "hello                                          | the answer is not HTTP",
        "HTTP/1.1 200 OK~~                              | the answer says no Content-Length",
        "HTTP/1.1 200 OK~Content-Length: 99999999~~     | the answer's Content-Length is more than 1048576, or no number",
        "HTTP/1.1 200 OK~Content-Length: -1~~           | the answer's Content-Length is more than 1048576, or no number",
        "HTTP/1.1 200 OK~Content-Length: 9~~{}          | the answer ends after 2 of 9 bytes",
        "HTTP/1.1 200 OK~Content-Le                     | the answer ends within its head",
        "HTTP/1.1 401 Unauthorized~Content-Length: 0~~  | the agent answered /v1/report with status 401",
    })
    void refusesWhatIsNotHttpAsItExpectsIt(final String answer, final String sentence) throws Exception {
        final byte[] bytes = (answer.replace("~", "\r\n") + (answer.equals("hello") ? "\n" : ""))
                .getBytes(StandardCharsets.US_ASCII);
        assertEquals(sentence, refusal(bytes));
    }

    @Test
    void refusesEndlessLinesAndDeepNesting() throws Exception {
        assertEquals("the answer has a line of more than 4096 bytes", refusal("x".repeat(10_000).getBytes(
                StandardCharsets.US_ASCII)));
        final String deep = refusal(ok("{\"version\":" + "[".repeat(100_000)));
        assertTrue(deep.startsWith("the agent's answer is not JSON"), deep);
    }

    @Test
    void waitsNoLongerThanItWasTold() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            write("port", Integer.toString(silent.getLocalPort()));
            write("token", TOKEN);
            final long beganNs = System.nanoTime();
            assertThrows(IOException.class, () -> new Agent(folder.toFile()).call("/v1/report", Json.document(), 200));
            assertTrue(System.nanoTime() - beganNs < 5_000_000_000L);
        }
    }

    /** An agent that answers so many calls on each line, and so many lines one after the other; a word for each. */
    private List<String> serving(final int lines, final int callsALine, final Call call) throws Exception {
        final List<String> heard = new CopyOnWriteArrayList<>();
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            write("port", Integer.toString(server.getLocalPort()));
            write("token", TOKEN);
            final Thread peer = new Thread(() -> {
                for (int line = 0; line < lines; line++) {
                    try (Socket socket = server.accept()) {
                        for (int asked = 0; asked < callsALine; asked++) {
                            if (socket.getInputStream().read(new byte[4096]) < 0) {
                                break;
                            }
                            heard.add("line " + line);
                            socket.getOutputStream().write(ok("{\"version\":1}"));
                        }
                    } catch (final IOException e) {
                        heard.add("cut: " + e);
                    }
                }
            });
            peer.start();
            call.run(new Agent(folder.toFile()));
            peer.join();
        }
        return heard;
    }

    @Test
    void aLineIsKeptForTheNextCallAndWhereItWasClosedMeanwhileAnotherIsOpened() throws Exception {
        final List<String> heard = serving(2, 2, agent -> {
            for (int n = 0; n < 4; n++) {
                agent.call("/v1/report", Json.document(), 2_000);
            }
        });
        assertEquals(List.of("line 0", "line 0", "line 1", "line 1"), heard);
    }

    @Test
    void anAgentThatWasRestartedIsFoundAtItsNewPort() throws Exception {
        final Agent agent = new Agent(folder.toFile());
        final List<String> before = serving(1, 1, same -> agent.call("/v1/report", Json.document(), 2_000));
        final List<String> after = serving(1, 1, same -> agent.call("/v1/report", Json.document(), 2_000));
        assertEquals(List.of("line 0"), before);
        assertEquals(List.of("line 0"), after);
    }

    @ParameterizedTest
    @CsvSource({"x,the agent's port is 'x'; not a number", "0,the agent's port is 0; not from 1 to 65535",
        "65536,the agent's port is 65536; not from 1 to 65535"})
    void namesABadPort(final String port, final String sentence) throws Exception {
        write("port", port);
        write("token", TOKEN);
        final IOException refusal = assertThrows(
                IOException.class, () -> new Agent(folder.toFile()).call("/v1/report", Json.document(), 200));
        assertEquals(sentence.replace(';', ','), refusal.getMessage());
    }

    @Test
    void aDriverThatStaysPlainSaysWhyOnce() throws Exception {
        final String asked = answering(ok("{\"version\":1}"), agent -> agent.sayUnmanaged("Spark is '3.5.6'"));
        assertTrue(asked.startsWith("POST /v1/report HTTP/1.1\r\n"), asked);
        assertTrue(asked.endsWith("{\"version\":1,\"unmanaged\":\"Spark is '3.5.6'\"}"), asked);
    }

    @Test
    void withoutAFolderThereIsNoAgent() {
        assertEquals(false, new Agent(null).exists());
        new Agent(null).sayUnmanaged("nobody hears this");
    }
}
