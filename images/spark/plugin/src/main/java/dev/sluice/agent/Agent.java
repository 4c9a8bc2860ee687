package dev.sluice.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent of this driver pod. It lies beside us: its port and its token are files in a folder both containers mount, read
 * for every new line, for an agent that was restarted has new ones.
 */
public final class Agent {
    /** The environment variable that names the folder; without it there is no agent, and Spark runs by itself. */
    public static final String FOLDER = "SLUICE_AGENT_DIR";
    private static final int SHORT_MS = 2_000;
    private static final int LONGEST_FILE = 256;
    private static final Logger LOG = LoggerFactory.getLogger(Agent.class);

    private final File folder;
    /** Lines that nobody talks on, one for reports and one for the long poll: to connect costs as much as all else. */
    private final BlockingQueue<Http> idle = new ArrayBlockingQueue<>(2);

    /**
     * An agent that keeps its port and token in a folder.
     *
     * @param folder where; null when there is no agent
     */
    public Agent(final File folder) {
        this.folder = folder;
    }

    /**
     * The agent the environment names.
     *
     * @return it; one that does not {@link #exists} where nothing is named
     */
    public static Agent ofThisPod() {
        final String folder = System.getenv(FOLDER);
        return new Agent(folder == null || folder.isEmpty() ? null : new File(folder));
    }

    /**
     * Whether an agent was promised to this driver.
     *
     * @return true when there is one, up or not
     */
    public boolean exists() {
        return folder != null;
    }

    /**
     * Sends one document, waits for the answer.
     *
     * @param path what is called, as in {@code /v1/report}
     * @param said the document
     * @param timeoutMs how long all of it may take
     * @return the answer, an object of the same version
     * @throws IOException when the agent is not there, does not answer in time, or answers nonsense
     */
    public JsonNode call(final String path, final ObjectNode said, final int timeoutMs) throws IOException {
        if (!exists()) {
            throw new IOException("no agent: " + FOLDER + " is not set");
        }
        final Http.Answer answer = ask(path, Json.write(said), System.nanoTime() + timeoutMs * 1_000_000L);
        if (answer.status != 200) {
            throw new IOException("the agent answered " + path + " with status " + answer.status);
        }
        return Json.read(answer.body);
    }

    private Http.Answer ask(final String path, final byte[] body, final long deadlineNs) throws IOException {
        final Http known = idle.poll();
        if (known != null) {
            try {
                return ask(known, path, body, deadlineNs);
            } catch (final Http.GoneException e) {
                LOG.trace("the agent has closed a line that was idle", e);
            }
        }
        return ask(Http.open(port(), token(), deadlineNs), path, body, deadlineNs);
    }

    private Http.Answer ask(final Http line, final String path, final byte[] body, final long deadlineNs)
            throws IOException {
        boolean isIdle = false;
        try {
            final Http.Answer answer = line.post(path, body, deadlineNs);
            isIdle = line.isKept() && idle.offer(line);
            return answer;
        } finally {
            if (!isIdle) {
                line.close();
            }
        }
    }

    /**
     * Says once that this driver runs as plain Spark. Best effort: nobody may be there to hear it.
     *
     * @param reason one sentence
     */
    public void sayUnmanaged(final String reason) {
        if (!exists()) {
            return;
        }
        try {
            call("/v1/report", Json.document().put("unmanaged", reason), SHORT_MS);
        } catch (final IOException e) {
            LOG.warn("Sluice: the agent could not be told ({})", e.toString());
        }
    }

    private int port() throws IOException {
        final String text = content("port");
        try {
            final int port = Integer.parseInt(text);
            if (port > 0 && port < 1 << 16) {
                return port;
            }
        } catch (final NumberFormatException e) {
            throw new IOException("the agent's port is '" + text + "', not a number", e);
        }
        throw new IOException("the agent's port is " + text + ", not from 1 to 65535");
    }

    private String token() throws IOException {
        final String token = content("token");
        if (!token.matches("[A-Za-z0-9_-]{16,}")) {
            throw new IOException("the agent's token is not 16 or more letters, digits, - or _");
        }
        return token;
    }

    private String content(final String name) throws IOException {
        final File file = new File(folder, name);
        if (file.length() > LONGEST_FILE) {
            throw new IOException(file + " has " + file.length() + " bytes, more than " + LONGEST_FILE);
        }
        return new String(Files.readAllBytes(file.toPath()), StandardCharsets.US_ASCII).trim();
    }
}
