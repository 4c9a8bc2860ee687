package dev.sluice.checkpoint;

/** A query that must not start on this checkpoint. */
public final class RefusedException extends IllegalStateException {
    /**
     * Why.
     *
     * @param message one sentence that says what to do
     */
    public RefusedException(final String message) {
        super(message);
    }
}
