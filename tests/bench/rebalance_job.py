"""The program of `make bench NAME=rebalance`: the same rows in each batch, cut and watched in one way after another.

It runs as a user's would, in the driver's pod. Its words: how much work there is in a row, and the phases. Each phase
is a query of its own; it says when one begins, each batch that ended, and when one ends how long each of its batches
took.
"""

import dataclasses
import json
import sys
import time
from collections.abc import Mapping
from typing import Any

from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from bench import rebalance_workloads

STALL_S = 5
WAIT_MS = 8
SIDE = 400  # letters of a row's own; each is compared with each of the word
MULTIPLIER, QUANTILE = "spark.speculation.multiplier", "spark.speculation.quantile"


@dataclasses.dataclass(frozen=True)
class Phase:
    """One way, for some batches."""

    name: str
    kind: str
    partitions: int
    batches: int
    multiplier: str = "100"  # nothing takes so many times the median
    quantile: str = "0.75"
    rows: int = 0  # a batch; 0: as many as of every phase


@dataclasses.dataclass(frozen=True)
class Words:
    """What it is started with."""

    rows: int  # a batch
    steps: int  # of arithmetic a row
    root: str  # of checkpoints
    phases: list[dict[str, Any]]


def burn(steps: Column) -> Column:
    """CPU time in the JVM, and a number nobody knows without it: the letters in which a row differs from a long word.

    One loop over a few kilobytes. What Spark interprets, such as `aggregate`, costs half as much again in one JVM as in
    the next, for their compilers find different things worth their while.
    """
    word = f.rpad(f.lit("y"), (steps / SIDE).cast("int"), "y")
    return f.levenshtein(f.rpad(f.col("value").cast("string"), SIDE, "x"), word).cast("long")


def burn_in_python(steps: int) -> Column:
    """The same in a user's own function."""

    def work(value: int) -> int:
        for step in range(steps):
            value = value * 31 % 1_000_003 + step
        return value

    return f.udf(work, "long")("value")


def stall(rows: int) -> Column:
    """In every fifth batch one row holds its task up, as a machine does: whoever tries again is not held up."""

    def work(value: int) -> int:
        context = TaskContext.get()
        if value % (5 * rows) == 0 and context is not None and context.attemptNumber() == 0:
            time.sleep(STALL_S)
        return value

    return f.udf(work, "long")("value")


def wait() -> Column:
    """What a row takes that asks a service: hardly any CPU. Each hundredth takes twenty times as long."""
    took = f"IF(value % 100 = 0, {20 * WAIT_MS}L, {WAIT_MS}L)"
    return f.expr(f"reflect('java.lang.Thread', 'sleep', {took})")


def source(spark: SparkSession, phase: Phase, words: Words) -> DataFrame:
    """So many rows a batch, as soon as the last one is done."""
    if phase.kind == "kafka":
        kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "kafka.testbed:9092")
        records = kafka.option("subscribe", f"rebalance-{phase.partitions}").option("startingOffsets", "earliest")
        limited = records.option("maxOffsetsPerTrigger", words.rows).load()
        return limited.select(f.col("value").cast("string").cast("long").alias("value"))
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", phase.rows or words.rows)
    times = rows.option("advanceMillisPerBatch", rebalance_workloads.INTERVAL_MS)
    return times.option("numPartitions", phase.partitions).load()


def worked(rows: DataFrame, phase: Phase, words: Words) -> DataFrame:
    """What is done with each row."""
    if rebalance_workloads.has(phase.kind):
        return rebalance_workloads.worked(rows, phase.kind, phase.rows or words.rows, phase.partitions)
    if phase.kind == "python":
        return rows.select(burn_in_python(words.steps // 40).alias("found"))
    if phase.kind == "waiting":
        return rows.select(wait().alias("found"))
    if phase.kind == "stalls":
        return rows.select(stall(words.rows).alias("value")).select(burn(f.lit(words.steps)).alias("found"))
    uneven = f.when(f.col("value") % 100 == 0, 20 * words.steps).otherwise(words.steps)
    found = rows.select("value", burn(uneven if phase.kind == "uneven" else f.lit(words.steps)).alias("found"))
    if phase.kind == "stateful":
        return found.groupBy((f.col("value") % 1000).alias("key")).agg(f.max("found").alias("found"))
    return found


def ended(progress: Mapping[str, Any]) -> dict[str, Any]:
    """A batch: its number, when it began, how long all of it took, how long its tasks."""
    took_ms = progress["durationMs"]
    return {
        "batch": progress["batchId"],
        "began": progress["timestamp"],
        "lasted_s": took_ms["triggerExecution"] / 1000,
        "took_s": took_ms["addBatch"] / 1000,
    }


def run(spark: SparkSession, number: int, phase: Phase, words: Words) -> None:
    """One phase, from its first batch to its last."""
    live = spark.sparkContext._jsc.sc().conf()  # noqa: SLF001  # what Spark reads anew for each stage
    live.set(MULTIPLIER, phase.multiplier)
    live.set(QUANTILE, phase.quantile)
    print(json.dumps({"begins": number, "name": phase.name}), flush=True)
    mode = rebalance_workloads.mode(phase.kind)
    sink = worked(source(spark, phase, words), phase, words).writeStream.format("noop").outputMode(mode)
    folder = f"{words.root}/{phase.kind}-{phase.partitions}"
    query = sink.queryName(phase.name).option("checkpointLocation", folder).start()
    told: dict[int, float] = {}
    while len(told) < phase.batches:
        if query.awaitTermination(1):
            raise RuntimeError(f"{phase.name} ended by itself")
        for one in query.recentProgress:
            if one["batchId"] not in told:
                told[one["batchId"]] = one["durationMs"]["addBatch"] / 1000
                print(json.dumps(ended(one)), flush=True)
    query.stop()
    took_s = [told[batch] for batch in sorted(told)]
    print(json.dumps({"ended": number, "name": phase.name, "at": time.time(), "took_s": took_s}), flush=True)


def main() -> None:
    """All phases."""
    words = Words(**json.loads(sys.argv[1]))
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    for number, phase in enumerate(words.phases):
        run(spark, number, Phase(**phase), words)
    print(json.dumps({"over": len(words.phases)}), flush=True)
    time.sleep(3600)  # a job that ends is started anew: who reads this takes it away


if __name__ == "__main__":
    main()
