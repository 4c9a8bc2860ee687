"""The program of the placement parts of `make bench NAME=rebalance`: executors that exchange very unequal amounts.

It runs as a user's would, in the driver's pod, and tells how long each batch took. A record of Kafka becomes one row.
The row goes by a key through a first operator with state, grows there, and goes by another key to a second one. State
stays where it is, and whoever comes in an executor's place takes over what that had, so each executor keeps to its
partition of both operators: four fifths of what one sends go to its partner, the rest to two others. The first batches
go nowhere: so the partition of the second operator comes to be where that of the first one is.
"""

import dataclasses
import json
import sys
import time

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

_TRIES = 128  # of keys, until one is of the partition that is wanted
_RECORDS_OF_A_PARTITION = 10**9  # at most, of a topic
_COME_S = 300.0  # executors, of which each has a node to start on


@dataclasses.dataclass(frozen=True)
class Words:
    """What it is started with."""

    topic: str
    executors: int  # an even number; so many partitions has each operator
    rows: int  # a batch
    longs: int  # in a row, once it has grown; 8 bytes each that no compression makes less
    trigger: str


def key(number: Column, partition: Column, partitions: int) -> Column:
    """One that no other number has, and that Spark sends to this partition."""
    tries = f.transform(f.sequence(f.lit(0), f.lit(_TRIES - 1)), lambda at: number * _TRIES + at)
    return f.filter(tries, lambda one: f.pmod(f.hash(one), f.lit(partitions)) == partition)[0]


def partner(number: Column, partitions: int) -> Column:
    """Where a row goes from its first partition: of ten, eight to the partner, one to each of the next pair."""
    own, draw = number % partitions, f.pmod(f.xxhash64(number), f.lit(10))
    of_next_pair = (own - own % 2 + 2 + draw % 2) % partitions
    return f.when(draw < 8, own.bitwiseXOR(f.lit(1).cast("long"))).otherwise(of_next_pair)


def sent(records: DataFrame, words: Words) -> DataFrame:
    """The rows after both operators."""
    number = f.col("partition").cast("long") * _RECORDS_OF_A_PARTITION + f.col("offset")
    rows = records.select(number.alias("number"), (f.col("offset") < words.rows).alias("early"))
    own = f.col("number") % words.executors
    first = rows.withColumn("home", key(f.col("number"), own, words.executors)).dropDuplicates(["home"])
    to = f.when(f.col("early"), own).otherwise(partner(f.col("number"), words.executors))
    second = first.select(key(f.col("number"), to, words.executors).alias("away"), load(words.longs).alias("load"))
    return second.dropDuplicates(["away"])


def load(longs: int) -> Column:
    """Of a row; begun at its number, so that no plan of Spark's bears the whole sequence."""
    number = f.col("number")
    return f.transform(f.sequence(number, number + longs - 1), lambda at: f.xxhash64(number, at))


def await_executors(spark: SparkSession, wanted: int) -> None:
    """Whoever is missing in the first batch gets no state."""
    scala = spark.sparkContext._jsc.sc()  # noqa: SLF001
    end_s = time.monotonic() + _COME_S
    while (there := scala.getExecutorMemoryStatus().size() - 1) < wanted:
        if time.monotonic() > end_s:
            raise RuntimeError(f"after {_COME_S:.0f} s there are {there} executors of {wanted}")
        time.sleep(0.5)


def main() -> None:
    """One query, without an end."""
    words = Words(**json.loads(sys.argv[1]))
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    await_executors(spark, words.executors)
    kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "kafka.testbed:9092")
    records = kafka.option("subscribe", words.topic).option("startingOffsets", "earliest")
    rows = sent(records.option("maxOffsetsPerTrigger", words.rows).load(), words)
    sink = rows.writeStream.format("noop").outputMode("append").trigger(processingTime=words.trigger)
    query = sink.queryName("skewed").start()
    told = -1
    while not query.awaitTermination(1):
        for one in query.recentProgress:
            if one["batchId"] > told and one["numInputRows"]:
                told = one["batchId"]
                print(json.dumps({"batch": told, "took_s": one["durationMs"]["addBatch"] / 1000}), flush=True)


if __name__ == "__main__":
    main()
