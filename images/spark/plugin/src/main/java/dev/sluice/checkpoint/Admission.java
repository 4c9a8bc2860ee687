package dev.sluice.checkpoint;

import java.io.IOException;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** What the keeper asks of Spark about a query at its gate; its own interface, so that gate and drain are tested without Spark. */
public interface Admission {
    /** The query of this stream thread, whose checkpoint this is.
     * @param root the checkpoint
     * @return null when the query is none of ours (a warm-up), or this is no stream thread */
    Query recognise(Path root);

    /** Why the query of this stream thread, which has just started, will never come to its gate.
     * @return the end of a sentence, empty when it will come */
    String reasonUnguarded();

    /** Ends the query of this stream thread before its first batch, as failed.
     * @param sentence why, for its user
     * @return the query */
    Query refuse(String sentence);

    /** Lets a query come to its gate.
     * @param query which
     * @param conf Hadoop's settings
     * @throws IOException when its checkpoint cannot be read; refusals are {@link RefusedException}s */
    void admit(Query query, Configuration conf) throws IOException;

    /** The gate is open and the epoch taken: what the query's session must know before its first batch.
     * @param query which
     * @param ids where its checkpoint stands
     * @throws IOException when its checkpoint cannot be read */
    void begin(Query query, Ids ids) throws IOException;

    /** The one of some queries whose stream thread this is.
     * @param queries those that came to their gate
     * @return null on any other thread */
    Query ofThread(Collection<Query> queries);
}
