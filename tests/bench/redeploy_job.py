"""The program of `make bench NAME=redeploy`: numbers from a topic, through a query, into a topic or files.

It runs as a user's would, in the driver's pod; where it is mounted, and with which words, says bench.redeploy_kinds.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import DataStreamWriter

FILLING = 1_000


def written(results: DataFrame, servers: str, topic: str) -> DataStreamWriter:
    """Into a topic, whatever the column is called."""
    values = results.select(f.col(results.columns[0]).cast("string").alias("value"))
    kafka = values.writeStream.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", topic)
    return kafka.outputMode("update")


def many_keys(numbers: DataFrame, keys: int) -> DataFrame:
    """The first thousand numbers make all keys; each later one finds its own among them, far from the last one's."""
    share = keys // FILLING
    first = f.sequence(f.col("n") * share, f.col("n") * share + share - 1)
    own = f.array(f.pmod(f.col("n") * 7919, f.lit(keys)))
    key = f.explode(f.when(f.col("n") < FILLING, first).otherwise(own)).alias("key")
    counts = numbers.select(key, "n").groupBy("key").agg(f.count("*").alias("many"), f.max("n").alias("last"))
    return counts.where(f.col("last") >= FILLING).select(f.concat_ws(" ", "key", "many"))


def start(kind: str, numbers: DataFrame, servers: str, sink: str, folder: str, keys: int) -> None:
    """Starts the query, or queries, of a kind."""
    counts = numbers.groupBy((f.col("n") % 100).alias("key")).count().select(f.concat_ws(" ", "key", "count"))
    if kind == "aggregation":
        written(counts, servers, sink).queryName(kind).start()
    elif kind == "million":
        written(many_keys(numbers, keys), servers, sink).queryName(kind).start()
    elif kind == "files":
        text = numbers.select(f.col("n").cast("string"))
        text.writeStream.format("text").option("path", folder).queryName(kind).start()
    elif kind == "two":
        for rest in (0, 1):
            written(numbers.where(f.col("n") % 2 == rest), servers, sink).queryName(f"two{rest}").start()
    elif kind == "foreachBatch":

        def copy(batch: DataFrame, _: int) -> None:
            kafka = batch.select(f.col("n").cast("string").alias("value")).write.format("kafka")
            kafka.option("kafka.bootstrap.servers", servers).option("topic", sink).save()

        numbers.writeStream.foreachBatch(copy).queryName(kind).start()
    else:
        raise ValueError(f"kind is {kind!r}; allowed are aggregation, million, files, two, foreachBatch")


def main() -> None:
    """Runs until it is ended."""
    kind, servers, source, sink, folder, keys = sys.argv[1:]
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", source)
    records = kafka.option("startingOffsets", "earliest").load()
    numbers = records.select(f.expr("try_cast(CAST(value AS STRING) AS BIGINT)").alias("n"))
    start(kind, numbers, servers, sink, folder, int(keys))
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main()
