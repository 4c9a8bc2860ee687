package dev.sluice.warmup;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** A task that has the connector make the producer its executor will write with, and gives it back to the connector's pool. */
final class OpenProducer implements VoidFunction<Iterator<Integer>> {
    private static final long serialVersionUID = 1L;
    private static final String POOL = Kafka.PACKAGE + "producer.InternalKafkaProducerPool$";

    private final StreamingDataWriterFactory writers;
    private final Map<String, Object> settings;
    private final String topic;

    /** A task.
     * @param writers what makes the sink's writers; one is made, and closed before it has written
     * @param settings of the producer, as the sink has them
     * @param topic to ask for, null where each row names its own */
    OpenProducer(final StreamingDataWriterFactory writers, final Map<String, Object> settings, final String topic) {
        this.writers = writers;
        this.settings = settings;
        this.topic = topic;
    }

    /** By reflection: the connector comes with the user's image, or not at all. */
    @Override
    public void call(final Iterator<Integer> nothing) throws ReflectiveOperationException, IOException {
        writers.createWriter(0, 0, 0).close();
        final Class<?> type = Class.forName(POOL, true, Thread.currentThread().getContextClassLoader());
        final Object pool = type.getField("MODULE$").get(null);
        final Object cached = type.getMethod("acquire", Map.class).invoke(pool, settings);
        try {
            final Object producer = cached.getClass().getMethod("producer").invoke(cached);
            if (topic != null) {
                final Method ask = producer.getClass().getMethod("partitionsFor", String.class);
                ask.invoke(producer, topic);
            }
        } finally {
            type.getMethod("release", cached.getClass()).invoke(pool, cached);
        }
    }
}
