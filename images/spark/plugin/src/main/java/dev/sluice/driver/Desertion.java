package dev.sluice.driver;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Whether a driver has been without executors for so long that none is on its way back. When a whole namespace is deleted
 * they are sent away with the driver, and its batch would wait for its next stage until the pod's grace is over. When only
 * the node is drained Spark asks for others, which need a moment to be there and end the batch.
 */
final class Desertion implements BooleanSupplier {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final IntSupplier executors;
    private final LongSupplier clockNs;
    private boolean isAlone;
    private long aloneSinceNs;

    Desertion(final IntSupplier executors, final LongSupplier clockNs) {
        this.executors = executors;
        this.clockNs = clockNs;
    }

    @Override
    public boolean getAsBoolean() {
        final boolean wasAlone = isAlone;
        isAlone = executors.getAsInt() == 0;
        if (isAlone && !wasAlone) {
            aloneSinceNs = clockNs.getAsLong();
        }
        return isAlone && clockNs.getAsLong() - aloneSinceNs >= PATIENCE_NS;
    }
}
