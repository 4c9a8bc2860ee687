package dev.sluice.checkpoint;

/**
 * What follows a write.
 *
 * @param written after the file appeared
 * @param dropped after it was cancelled, or failed
 */
record Ending(Runnable written, Runnable dropped) {
    static final Ending NOTHING = new Ending(() -> { }, () -> { });
}
