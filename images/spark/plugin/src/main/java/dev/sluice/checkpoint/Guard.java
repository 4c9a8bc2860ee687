package dev.sluice.checkpoint;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keeper of this driver's checkpoints. There is one per driver, found statically: Spark makes a file manager by its class
 * name, so nothing can be handed to it.
 */
public final class Guard {
    private static final Logger LOG = LoggerFactory.getLogger(Guard.class);
    private static volatile Guard current;

    private final Gate gate;
    private final Drain drain;
    private final Admission admission;
    private final Runnable changed;
    private final List<Query> queries = new CopyOnWriteArrayList<>();
    private final Map<String, String> unprotected = new ConcurrentSkipListMap<>();

    /**
     * A keeper; {@link #install} makes it the driver's.
     *
     * @param gate where queries wait
     * @param admission who is let to the gate
     * @param changed called whenever a query comes, goes on, or rests
     */
    public Guard(final Gate gate, final Admission admission, final Runnable changed) {
        this.gate = gate;
        this.drain = new Drain(() -> queries, System::currentTimeMillis, System::nanoTime);
        this.admission = admission;
        this.changed = changed;
    }

    /** Makes this the keeper of the driver. */
    public void install() {
        current = this;
    }

    /** The application ends: a later one in the same JVM has its own keeper. */
    public void uninstall() {
        current = null;
        queries.clear();
        unprotected.clear();
    }

    /** The keeper of this driver.
     * @return null on executors, and on a driver without Sluice */
    static Guard current() {
        return current;
    }

    /** The drain of this driver.
     * @return it */
    public Drain drain() {
        return drain;
    }

    /** The gate of this driver.
     * @return it */
    public Gate gate() {
        return gate;
    }

    /** The queries that have come to their gate, in that order; ended ones leave when the next one comes.
     * @return a view */
    public Collection<Query> queries() {
        return queries;
    }

    /** The queries that run without gate, drain and fence, until they end.
     * @return why, by their ids */
    public Map<String, String> unprotected() {
        return unprotected;
    }

    /** A query starts, in this stream thread. One that would pass by a closed gate is ended: another driver may be writing. */
    void arrived(final String id) {
        final String why = admission.reasonUnguarded();
        if (why.isEmpty()) {
            return;
        }
        try {
            if (gate.isOpenOnceHeard()) {
                unprotected.put(id, "query " + id + " runs without gate, drain and fence: " + why);
            } else {
                refuse("another driver may still run, and query " + id + " would not wait for its end, so it is not started: "
                        + why);
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt(); // Spark's own code comes next in this thread, and ends it
        }
        changed.run();
    }

    private void refuse(final String sentence) {
        final Query query = admission.refuse(sentence);
        query.problem(sentence);
        add(query);
    }

    // A stopped one may still be in its last batch: it stays, and its fence with it, until its thread ends or it runs anew.
    private void add(final Query query) {
        queries.removeIf(old -> !old.spark().isActive()
                && (old.spark().hasEnded() || old.spark().root().equals(query.spark().root())));
        queries.add(query);
    }

    /** A query has ended. */
    void left(final String id) {
        if (unprotected.remove(id) != null) {
            changed.run();
        }
    }

    /** The stream thread looks at {@code offsets/} for the first time: refused, held, then fenced and let through. */
    void enter(final Path root, final Configuration conf) {
        // By its thread, not by whether it is active: one that is stopped between two looks has passed its gate all the same.
        if (ofThread() != null) {
            return;
        }
        final Query query = admission.recognise(root);
        if (query == null) {
            return;
        }
        add(query);
        changed.run();
        try {
            admission.admit(query, conf);
            gate.await(query, drain);
            open(query, conf);
        } catch (final InterruptedException e) {
            throw Sneaky.raise(e);
        } catch (final IOException | RuntimeException e) {
            query.problem(e.getMessage());
            query.phase = Query.Phase.ENDED;
            changed.run();
            throw Sneaky.raise(e);
        }
        changed.run();
    }

    private void open(final Query query, final Configuration conf) throws IOException {
        final Epochs epochs = new Epochs(query.spark().root(), conf);
        gate.take(query, epochs);
        if (epochs.isPosix()) {
            Unfinished.remove(new Path(query.spark().root(), "offsets"));
            Unfinished.remove(new Path(query.spark().root(), "commits"));
        }
        if (!epochs.isExclusive()) {
            query.caveat("a second writer to " + query.spark().root() + " cannot be excluded: its store has no exclusive"
                    + " create that Sluice knows (it knows POSIX file systems and S3A)");
        }
        final Ids ids = Ids.read(query.spark().root(), conf);
        admission.begin(query, ids);
        drain.enter(query, ids.offsets(), ids.commits());
        LOG.info("Sluice: query '{}' starts with epoch {} after batch {}", query.spark().name(), query.epoch, ids.commits());
    }

    /** The query whose checkpoint holds a file; a sink's own log lies elsewhere, and is its thread's query's. */
    Query of(final Path file) {
        final String path = file.toString();
        for (final Query query : queries) {
            final String root = query.spark().root().toString();
            if (path.startsWith(root) && (path.length() == root.length() || path.charAt(root.length()) == '/')) {
                return query;
            }
        }
        return null;
    }

    /** The query whose stream thread this is. */
    Query ofThread() {
        return admission.ofThread(queries);
    }

    boolean begin(final Query query, final long batch) {
        try {
            return drain.begin(query, batch);
        } catch (final InterruptedException e) {
            throw Sneaky.raise(e);
        }
    }

    void commit(final Query query, final long batch) {
        final boolean isFirst = query.firstCommitAtMs() == 0;
        drain.commit(query, batch);
        // Of any other commit the batch's measures tell, a moment later: to tell twice would cost twice.
        if (isFirst || drain.isAsked()) {
            changed.run();
        }
    }
}
