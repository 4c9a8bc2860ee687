package dev.sluice.warmup;

import dev.sluice.inside.Inside;
import java.util.Collections;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.write.LogicalWriteInfoImpl;
import org.apache.spark.sql.connector.write.PhysicalWriteInfoImpl;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Has each executor make and connect the Kafka producer it will write with; the connector keeps it. The connector itself makes
 * none before the first row.
 */
final class Producers {
    private final StreamExecution execution;
    private final SparkContext spark;

    Producers(final StreamExecution execution, final SparkContext spark) {
        this.execution = execution;
        this.spark = spark;
    }

    /** As many tasks as there are slots, so that no executor is left out; nothing is sent. */
    void open() {
        final scala.collection.immutable.Map<String, String> given = Inside.of(execution, "extraOptions");
        final CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(CollectionConverters.asJava(given));
        final StreamingWrite write = ((SupportsWrite) execution.sink()).newWriteBuilder(LogicalWriteInfoImpl.apply(
                execution.id().toString(), execution.analyzedPlan().schema(), options, Optional.empty(), Optional.empty()))
                .build().toStreaming();
        final int slots = spark.defaultParallelism();
        final OpenProducer opener = new OpenProducer(write.createStreamingWriterFactory(new PhysicalWriteInfoImpl(slots)),
                Inside.of(write, "producerParams"), options.get("topic"));
        new JavaSparkContext(spark).parallelize(Collections.nCopies(slots, 0), slots).foreachPartition(opener);
    }
}
