package dev.sluice.driver;

import dev.sluice.checkpoint.Guard;
import dev.sluice.checkpoint.Query;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent;

/** Says at once that a query has ended, and why: the others of its driver go on, so nothing else would be reported. */
final class Endings extends SparkListener {
    private static final String CAUSE = "Caused by: ";

    private final Guard guard;
    private final Runnable changed;

    Endings(final Guard guard, final Runnable changed) {
        this.guard = guard;
        this.changed = changed;
    }

    @Override
    public void onOtherEvent(final SparkListenerEvent event) {
        if (event instanceof QueryTerminatedEvent) {
            final QueryTerminatedEvent ended = (QueryTerminatedEvent) event;
            final String run = ended.runId().toString();
            guard.queries().stream().filter(query -> query.spark().runId().equals(run)).forEach(query -> {
                if (ended.exception().isDefined()) {
                    explain(query, ended.exception().get());
                }
                changed.run();
            });
        }
    }

    /** A refusal at the gate, or by the fence, has its own sentence already. */
    private static void explain(final Query query, final String trace) {
        if (query.problem().isEmpty()) {
            query.problem(reason(trace));
        }
    }

    /** The first line of what was thrown, and of its last cause the last one: Python's traceback ends with the error. */
    static String reason(final String trace) {
        String first = null;
        String last = "";
        boolean isMessage = true;
        for (final String line : trace.strip().split("\\R")) {
            first = first == null ? line : first;
            final boolean isCause = line.startsWith(CAUSE);
            isMessage = (isMessage || isCause) && !line.startsWith("\t");
            if (isMessage && !line.isBlank()) {
                last = isCause ? line.substring(CAUSE.length()) : line;
            }
        }
        return last.equals(first) ? first : first + ", caused by " + last;
    }
}
