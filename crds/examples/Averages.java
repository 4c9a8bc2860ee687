package dev.sluice.examples;

import static org.apache.spark.sql.functions.avg;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;
import static org.apache.spark.sql.functions.window;
import static org.apache.spark.sql.functions.xxhash64;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/** Averages what ten made-up sensors report, in windows of ten seconds. Options: rows a second, and the trigger. */
public final class Averages {
    private static final int SENSORS = 10;

    private Averages() {}

    /** Runs until the query ends. */
    public static void main(final String[] args) throws Exception {
        final String rowsPerSecond = args.length > 0 ? args[0] : "1000";
        final String interval = args.length > 1 ? args[1] : "1 second";
        final SparkSession spark = SparkSession.builder().getOrCreate();
        spark.sparkContext().setLogLevel("WARN");
        averages(readings(spark, rowsPerSecond))
                .writeStream()
                .queryName("averages")
                .outputMode("update")
                .trigger(Trigger.ProcessingTime(interval))
                .format("console")
                .start()
                .awaitTermination();
    }

    private static Dataset<Row> readings(final SparkSession spark, final String rowsPerSecond) {
        return spark.readStream()
                .format("rate")
                .option("rowsPerSecond", rowsPerSecond)
                .load()
                .select(
                        col("timestamp"),
                        pmod(col("value"), lit(SENSORS)).as("sensor"),
                        pmod(xxhash64(col("value")), lit(100)).as("reading"));
    }

    private static Dataset<Row> averages(final Dataset<Row> readings) {
        return readings.withWatermark("timestamp", "10 seconds")
                .groupBy(window(col("timestamp"), "10 seconds"), col("sensor"))
                .agg(avg("reading").as("average"), count("*").as("readings"));
    }
}
