package dev.sluice.warmup;

import java.io.Serializable;
import org.apache.spark.sql.execution.streaming.state.StateStoreThreadLocalTracker;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction2;

/** What a preloading task does with the store it was given: nothing, and it leaves nothing behind in its thread. */
final class OpenAndLeave extends AbstractFunction2<ReadStateStore, Iterator<Object>, Iterator<Object>>
        implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<Object> apply(final ReadStateStore store, final Iterator<Object> rows) {
        store.abort();
        StateStoreThreadLocalTracker.clearStore();
        return scala.collection.Iterator$.MODULE$.empty();
    }
}
