package dev.sluice.checkpoint;

/** This writer may write no more: another one has taken the checkpoint. */
public final class FencedException extends IllegalStateException {
    /**
     * What was not written, and why.
     *
     * @param message one sentence
     */
    public FencedException(final String message) {
        super(message);
    }
}
