package dev.sluice.split;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;

/** The executors that take tasks now: a wish for one that is gone costs every batch seconds of waiting. */
public final class Crew {
    private final SparkContext spark;

    /**
     * One that takes tasks.
     *
     * @param id as Spark counts them
     * @param host where Spark believes it to be
     * @param slots how many tasks it runs at once
     */
    public record Member(String id, String host, int slots) {
        /** The name by which Spark's scheduler prefers one executor; it splits it at the first line. */
        String location() {
            return "executor_" + host + "_" + id;
        }
    }

    /**
     * Of one application.
     *
     * @param spark whose executors
     */
    public Crew(final SparkContext spark) {
        this.spark = spark;
    }

    /**
     * Who is there now, without those about to leave.
     *
     * @return in the order of their numbers
     */
    public List<Member> now() {
        final BlockManager ours = SparkEnv.get().blockManager();
        final Collection<BlockManagerId> found =
                scala.jdk.javaapi.CollectionConverters.asJavaCollection(ours.master().getPeers(ours.blockManagerId()));
        final int slots = slots();
        final List<Member> members = new ArrayList<>();
        for (final BlockManagerId one : found) {
            members.add(new Member(one.executorId(), one.host(), slots));
        }
        members.sort((one, other) -> one.id().length() == other.id().length()
                ? one.id().compareTo(other.id()) : Integer.compare(one.id().length(), other.id().length()));
        return members;
    }

    private int slots() {
        final int cores = spark.conf().getInt("spark.executor.cores", 1);
        return Math.max(1, cores / Math.max(1, spark.conf().getInt("spark.task.cpus", 1)));
    }
}
