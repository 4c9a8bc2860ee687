package dev.sluice.entry;

/** The Spark a job runs on, and whether Sluice may touch its insides; any other runs as plain Spark. */
public final class SparkVersion {
    private static final int MANAGED_MAJOR = 4;
    private static final int MANAGED_MINOR = 3;

    private final String text;

    /**
     * A version as Spark says it.
     *
     * @param text what {@code org.apache.spark.package.SPARK_VERSION} holds, as in {@code 4.3.0}
     */
    public SparkVersion(final String text) {
        this.text = text == null ? "" : text;
    }

    /**
     * Whether this is a Spark whose classes Sluice extends: a release of 4.3, with or without a vendor's suffix.
     *
     * @return true when Sluice manages the job
     */
    public boolean isManaged() {
        final String[] parts = text.split("[.\\-+_]", 3);
        return parts.length >= 2 && isNumber(parts[0], MANAGED_MAJOR) && isNumber(parts[1], MANAGED_MINOR)
                && !text.contains("SNAPSHOT");
    }

    /**
     * Why Sluice leaves this Spark alone.
     *
     * @return one sentence for the condition {@code Protected}, empty when it is managed
     */
    public String reasonAgainst() {
        if (isManaged()) {
            return "";
        }
        return "Spark is '" + text + "'; Sluice manages releases of " + MANAGED_MAJOR + "." + MANAGED_MINOR;
    }

    private static boolean isNumber(final String part, final int wanted) {
        return part.equals(Integer.toString(wanted));
    }
}
