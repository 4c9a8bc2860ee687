package dev.sluice.speculate;

import org.apache.spark.SparkConf;

/**
 * Spark's own speculation, by the settings that each stage reads anew when it starts. Whether there is any is decided at the
 * application's start: without {@code spark.speculation} nothing here has an effect.
 */
public final class Speculation {
    private static final String MULTIPLIER = "spark.speculation.multiplier";
    private static final String QUANTILE = "spark.speculation.quantile";

    private final SparkConf live;
    private final String multiplier;
    private final String quantile;

    /**
     * Of one application, which goes back to what it has now when nobody says otherwise.
     *
     * @param live the context's own settings, not a copy
     */
    public Speculation(final SparkConf live) {
        this.live = live;
        this.multiplier = live.get(MULTIPLIER, null);
        this.quantile = live.get(QUANTILE, null);
    }

    /**
     * From the next stage on.
     *
     * @param times how many times the median a task may take before it is run a second time
     * @param done which part of a stage's tasks must be done before
     */
    public void set(final double times, final double done) {
        live.set(MULTIPLIER, Double.toString(times));
        live.set(QUANTILE, Double.toString(done));
    }

    /** As it was at the start. */
    public void reset() {
        put(MULTIPLIER, multiplier);
        put(QUANTILE, quantile);
    }

    private void put(final String key, final String value) {
        if (value == null) {
            live.remove(key);
        } else {
            live.set(key, value);
        }
    }
}
