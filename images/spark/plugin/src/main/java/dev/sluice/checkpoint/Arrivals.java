package dev.sluice.checkpoint;

import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * Sees every query in the moment it starts, in its stream thread and before anything of it is read or written: user code can
 * replace the file manager at run time, and such a query would pass by a closed gate. Spark makes it by name in each session.
 */
public final class Arrivals extends StreamingQueryListener {
    private static final long serialVersionUID = 1L;

    /** Made by name. */
    public Arrivals() {
    }

    @Override
    public void onQueryStarted(final QueryStartedEvent event) {
        final Guard guard = Guard.current();
        final boolean isOurs = event.name() != null && event.name().startsWith(SparkAdmission.WARM_UP);
        if (guard != null && !isOurs) {
            guard.arrived(event.id().toString());
        }
    }

    @Override
    public void onQueryProgress(final QueryProgressEvent event) {
    }

    @Override
    public void onQueryTerminated(final QueryTerminatedEvent event) {
        final Guard guard = Guard.current();
        if (guard != null) {
            guard.left(event.id().toString());
        }
    }
}
