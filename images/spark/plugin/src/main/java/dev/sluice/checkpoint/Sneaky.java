package dev.sluice.checkpoint;

/** Spark's interfaces are Scala's: they declare no exception and expect checked ones all the same. */
final class Sneaky {
    private Sneaky() {
    }

    /** Throws what it is given; the return type is for the compiler. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException raise(final Throwable thrown) throws E {
        throw (E) thrown;
    }
}
