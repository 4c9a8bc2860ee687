package dev.sluice.checkpoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqBase;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqLog;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import org.apache.spark.sql.internal.SQLConf;

/** Compares a checkpoint with the query that wants to go on from it, before anybody is asked to make room. Reads only. */
final class Compatibility {
    private static final String PARTITIONS = "spark.sql.shuffle.partitions";

    private final Query query;
    private final StreamExecution execution;
    private final Configuration hadoop;

    Compatibility(final Query query, final StreamExecution execution, final Configuration hadoop) {
        this.query = query;
        this.execution = execution;
        this.hadoop = hadoop;
    }

    /** Passes when Spark would go on from this checkpoint; refuses with a sentence when it would not, or would lose state. */
    void check() throws IOException {
        final Ids ids = Ids.read(query.spark().root(), hadoop);
        if (ids.offsets() == Query.NONE) {
            return;
        }
        final Path offsets = new Path(query.spark().root(), "offsets");
        final OffsetSeqLog log = new OffsetSeqLog(execution.sparkSessionForStream(), offsets.toString(), true);
        final OffsetSeqBase last = log.getLatest().get()._2();
        checkSources(last);
        final Path state = new Path(query.spark().root(), "state");
        final FileSystem store = state.getFileSystem(hadoop);
        if (store.exists(state)) {
            final SQLConf conf = execution.sparkSessionForStream().sessionState().conf();
            checkPartitions(last, conf);
            checkFormat(ids, conf);
            new StateCheck(query, execution, hadoop).check(ids, last);
        }
    }

    private void checkSources(final OffsetSeqBase last) throws IOException {
        final List<String> now = sources(execution.analyzedPlan());
        if (last.offsets().size() != now.size()) {
            throw refused("it has offsets of " + last.offsets().size() + " sources, the query reads " + now.size() + " " + now);
        }
        final Optional<List<String>> before = SourceNames.read(query.spark().root(), hadoop);
        if (before.isPresent() && !before.get().equals(now)) {
            throw refused("it was written from the sources " + before.get() + ", the query reads " + now);
        }
    }

    private void checkPartitions(final OffsetSeqBase last, final SQLConf conf) {
        final scala.Option<String> kept =
                last.metadataOpt().isDefined() ? last.metadataOpt().get().conf().get(PARTITIONS) : scala.Option.empty();
        if (kept.isDefined() && conf.contains(PARTITIONS) && !kept.get().equals(conf.getConfString(PARTITIONS))) {
            throw refused("its state has " + kept.get() + " partitions, " + PARTITIONS + " is "
                    + conf.getConfString(PARTITIONS) + ": set it back");
        }
    }

    private void checkFormat(final Ids ids, final SQLConf conf) throws IOException {
        if (ids.commits() == Query.NONE || !conf.contains(StateFormat.VERSION)) {
            return;
        }
        final String has = Integer.toString(StateFormat.versionOf(query.spark().root(), ids.commits(), hadoop));
        if (!has.equals(conf.getConfString(StateFormat.VERSION))) {
            throw refused("its state has format " + has + ", " + StateFormat.VERSION + " is "
                    + conf.getConfString(StateFormat.VERSION) + ": set it back, or leave it out");
        }
    }

    private RefusedException refused(final String why) {
        return new RefusedException("query '" + query.spark().name() + "' does not fit the checkpoint " + query.spark().root()
                + ": " + why + ", or give the query a new checkpoint");
    }

    /** The sources of a plan, by the name users call them; the same one twice is two. */
    static List<String> sources(final LogicalPlan plan) {
        final List<String> names = new ArrayList<>();
        for (final LogicalPlan leaf : scala.jdk.javaapi.CollectionConverters.asJava(plan.collectLeaves())) {
            if (leaf instanceof StreamingRelationV2) {
                names.add(((StreamingRelationV2) leaf).sourceName());
            } else if (leaf instanceof StreamingRelation) {
                names.add(((StreamingRelation) leaf).sourceName());
            }
        }
        return names;
    }
}
