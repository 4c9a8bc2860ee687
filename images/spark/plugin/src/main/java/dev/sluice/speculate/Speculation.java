package dev.sluice.speculate;

import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spark's own speculation, by the settings that each stage reads anew when it starts. Whether there is any is decided at the
 * application's start: without {@code spark.speculation} nothing here has an effect.
 */
public final class Speculation {
    private static final String MULTIPLIER = "spark.speculation.multiplier";
    private static final String QUANTILE = "spark.speculation.quantile";

    private static final String ENABLED = "spark.speculation";
    /** Set with it by the operator; whoever sets speculation himself has thought of his sink. */
    private static final String OURS = "spark.sluice.speculation";
    private static final Logger LOG = LoggerFactory.getLogger(Speculation.class);

    private final SparkConf live;
    private String multiplier;
    private String quantile;
    private boolean isOurs;

    /**
     * Of one application, whose own settings stay as they are until somebody says otherwise.
     *
     * @param live the context's own settings, not a copy
     */
    public Speculation(final SparkConf live) {
        this.live = live;
    }

    /**
     * From the next stage on.
     *
     * @param times how many times the median a task may take before it is run a second time
     * @param done which part of a stage's tasks must be done before
     */
    public synchronized void set(final double times, final double done) {
        if (!isOurs) {
            multiplier = live.get(MULTIPLIER, null);
            quantile = live.get(QUANTILE, null);
            isOurs = true;
        }
        live.set(MULTIPLIER, Double.toString(times));
        live.set(QUANTILE, Double.toString(done));
    }

    /**
     * From now on no task of this application runs twice, if that was the operator's wish and not the user's.
     *
     * @param live the context's own settings, not a copy
     * @param why for a person
     */
    public static void forbid(final SparkConf live, final String why) {
        if (live.getBoolean(OURS, false) && live.getBoolean(ENABLED, false)) {
            live.set(ENABLED, "false");
            LOG.info("Sluice: no task is run a second time, however late it is: {}", why);
        }
    }

    /** As it was before; what the program itself has set meanwhile is none of ours. */
    public synchronized void reset() {
        if (isOurs) {
            put(MULTIPLIER, multiplier);
            put(QUANTILE, quantile);
            isOurs = false;
        }
    }

    private void put(final String key, final String value) {
        if (value == null) {
            live.remove(key);
        } else {
            live.set(key, value);
        }
    }
}
