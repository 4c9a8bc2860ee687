package dev.sluice.measure;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** The clock by which Sluice counts what it costs: this thread's CPU time, for what others make it wait is not its own. */
public final class Own {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Own() {
    }

    /**
     * CPU time of this thread so far.
     *
     * @return in ns
     */
    public static long nowNs() {
        return THREADS.getCurrentThreadCpuTime();
    }
}
