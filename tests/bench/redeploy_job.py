"""The program of `make bench NAME=redeploy`: numbers from a topic, through a query, into a topic or files.

It runs as a user's would, in the driver's pod; where it is mounted, and with which words, says bench.redeploy_kinds.
One of them is what is wrong with it: nothing, mostly.
"""

import dataclasses
import itertools
import sys
import time
from collections.abc import Callable

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import DataStreamWriter

FILLING = 1_000
SLOW_S = 3
SHORT = 200  # steps that are a list of their own


@dataclasses.dataclass(frozen=True)
class Words:
    """What it is started with."""

    kind: str
    servers: str
    source: str
    sink: str
    folder: str
    keys: str
    wrong: str
    steps: str  # of arithmetic a number, where numbers cost CPU time


def written(results: DataFrame, words: Words) -> DataStreamWriter:
    """Into a topic, whatever the column is called."""
    values = results.select(f.col(results.columns[0]).cast("string").alias("value"))
    kafka = values.writeStream.format("kafka").option("kafka.bootstrap.servers", words.servers)
    return kafka.option("topic", words.sink).outputMode("update")


def many_keys(numbers: DataFrame, keys: int) -> DataFrame:
    """The first thousand numbers make all keys; each later one finds its own among them, far from the last one's."""
    share = keys // FILLING
    first = f.sequence(f.col("n") * share, f.col("n") * share + share - 1)
    own = f.array(f.pmod(f.col("n") * 7919, f.lit(keys)))
    key = f.explode(f.when(f.col("n") < FILLING, first).otherwise(own)).alias("key")
    counts = numbers.select(key, "n").groupBy("key").agg(f.count("*").alias("many"), f.max("n").alias("last"))
    return counts.where(f.col("last") >= FILLING).select(f.concat_ws(" ", "key", "many"))


def worked_for(numbers: DataFrame, steps: int) -> DataFrame:
    """The same numbers, each of which has cost CPU time, and little memory."""
    short, long = (f.sequence(f.lit(1), f.lit(count)) for count in (SHORT, max(1, steps // SHORT)))

    def work(sum_: Column, _: Column) -> Column:
        return f.aggregate(short, sum_, lambda found, step: found * 31 % 1_000_003 + step)

    return numbers.where(f.aggregate(long, f.col("n"), work) >= 0)  # all of them, but who is to know


def copies(words: Words) -> Callable[[DataFrame, int], None]:
    """What copies a batch, as a user's function; the third one may fail, or each take long."""
    calls = itertools.count(1)

    def copy(batch: DataFrame, _: int) -> None:
        if words.wrong == "fails" and next(calls) == 3:
            raise RuntimeError("this revision fails at its third batch")
        kafka = batch.select(f.col("n").cast("string").alias("value")).write.format("kafka")
        kafka.option("kafka.bootstrap.servers", words.servers).option("topic", words.sink).save()
        time.sleep(SLOW_S if words.wrong == "slow" else 0)

    return copy


def start(numbers: DataFrame, words: Words) -> None:
    """Starts the query, or queries, of a kind."""
    kind = words.kind
    counts = numbers.groupBy((f.col("n") % 100).alias("key")).count().select(f.concat_ws(" ", "key", "count"))
    if kind == "aggregation":
        written(counts, words).queryName(kind).start()
    elif kind == "million":
        written(many_keys(numbers, int(words.keys)), words).queryName(kind).start()
    elif kind == "files":
        text = numbers.select(f.col("n").cast("string"))
        text.writeStream.format("text").option("path", words.folder).queryName(kind).start()
    elif kind == "two":
        for rest in (0, 1):
            written(numbers.where(f.col("n") % 2 == rest), words).queryName(f"two{rest}").start()
    elif kind == "foreach-batch":
        numbers.writeStream.foreachBatch(copies(words)).queryName(kind).start()
    elif kind == "working":
        written(worked_for(numbers, int(words.steps)), words).queryName(kind).start()
    else:
        raise ValueError(f"kind is {kind!r}; allowed are aggregation, million, files, two, foreach-batch, working")


def main() -> None:
    """Runs until it is ended."""
    words = Words(*sys.argv[1:])
    if words.wrong == "crashes":
        raise RuntimeError("this revision crashes")
    if words.wrong == "hangs":
        time.sleep(3600)
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", words.servers)
    records = kafka.option("subscribe", words.source).option("startingOffsets", "earliest").load()
    start(records.select(f.expr("try_cast(CAST(value AS STRING) AS BIGINT)").alias("n")), words)
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main()
