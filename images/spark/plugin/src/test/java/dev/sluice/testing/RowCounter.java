package dev.sluice.testing;

import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** State of the user's own kind: how many rows each key had so far, told with every batch that brings some. */
public final class RowCounter extends StatefulProcessor<Long, Long, Tuple3<Long, Long, Long>> {
    private static final long serialVersionUID = 1L;
    private static final long KEYS = 20;
    private transient ValueState<Long> count;

    /** A query over it, for Python to start.
     * @param rows with an {@code id}
     * @param mode append or update
     * @return {@code key}, {@code n} and the highest {@code id} */
    public static Dataset<Row> count(final Dataset<Row> rows, final String mode) {
        return rows.select("id").as(Encoders.LONG())
                .groupByKey((MapFunction<Long, Long>) id -> id % KEYS, Encoders.LONG())
                .transformWithState(new RowCounter(), TimeMode.None(),
                        "update".equals(mode) ? OutputMode.Update() : OutputMode.Append(),
                        Encoders.tuple(Encoders.LONG(), Encoders.LONG(), Encoders.LONG()))
                .toDF("key", "n", "id");
    }

    @Override
    public void init(final OutputMode mode, final TimeMode time) {
        count = getHandle().getValueState("count", Encoders.LONG(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Tuple3<Long, Long, Long>> handleInputRows(
            final Long key, final Iterator<Long> ids, final TimerValues timers) {
        long n = count.exists() ? count.get() : 0;
        long highest = -1;
        while (ids.hasNext()) {
            highest = Math.max(highest, ids.next());
            n++;
        }
        count.update(n);
        return CollectionConverters.asScala(java.util.List.of(new Tuple3<>(key, n, highest)).iterator());
    }
}
