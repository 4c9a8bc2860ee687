package dev.sluice.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.agent.Json;
import dev.sluice.checkpoint.SparkAdmission;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/** The batches that run now. Only the listener's one thread comes here. */
public final class Measures {
    /** A batch whose progress never comes (its query failed) must not stay for ever. */
    private static final int MOST_BATCHES = 64;

    /** Who cuts batches' input. */
    public interface Cuts {
        /**
         * Adds how a query's last batch was cut.
         *
         * @param query its id
         * @param batch its measures
         * @return what that and the cutting has cost, in ns
         */
        long tell(String query, ObjectNode batch);
    }

    private final Consumer<ObjectNode> ended;
    private final LongSupplier talkNs;
    private final Cuts cuts;
    private final Map<String, Batch> running = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(final Map.Entry<String, Batch> eldest) {
            return size() > MOST_BATCHES;
        }
    };

    /**
     * No batches yet.
     *
     * @param ended takes a batch's measures as PROTOCOL.md has them
     * @param talkNs what telling of batches has cost since it was last asked
     * @param cuts knows how batches were cut
     */
    public Measures(final Consumer<ObjectNode> ended, final LongSupplier talkNs, final Cuts cuts) {
        this.ended = ended;
        this.talkNs = talkNs;
        this.cuts = cuts;
    }

    Batch of(final String key) {
        return running.computeIfAbsent(key, name -> new Batch());
    }

    static String key(final String query, final String batch) {
        return query + "/" + batch;
    }

    void end(final StreamingQueryProgress progress, final long beganNs) {
        final Batch batch = running.remove(key(progress.id().toString(), Long.toString(progress.batchId())));
        if (progress.name() != null && progress.name().startsWith(SparkAdmission.WARM_UP)) {
            return;
        }
        final ObjectNode document = Json.document();
        final ObjectNode node = document.putObject("batch");
        Progress.addTo(node, progress);
        final Batch known = batch == null ? new Batch() : batch;
        known.addTo(node);
        final long cutNs = cuts.tell(progress.id().toString(), node);
        // Counted up to here: what follows is one hand-over to another thread, and what that costs stands in a later batch.
        node.put("ownUs", (known.ownNs + cutNs + talkNs.getAsLong() + Own.nowNs() - beganNs) / 1000);
        ended.accept(document);
    }
}
