"""A user's application, run by the tests with Spark's own Python: sources, state and sinks by name, settings by JSON.

It knows nothing of Sluice: only `spark.jars` and `spark.plugins` are set, as an operator would.
"""

import json
import os
import pathlib
import sys
import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

wanted = json.loads(sys.argv[1])
out = pathlib.Path(wanted["out"])


def session() -> SparkSession:
    """Spark with the settings of the test, the user's and the operator's alike."""
    builder = SparkSession.builder.master(wanted["master"]).appName(wanted["who"]).config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars", ",".join(wanted["jars"])).config("spark.sql.shuffle.partitions", "2")
    for key, value in wanted["conf"].items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("WARN")
    return made


def source(spark: SparkSession) -> DataFrame:
    """Rows with an id that counts from 0, and a time."""
    kind = wanted["source"]
    if kind == "rate":
        rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
        return rows.withColumnsRenamed({"value": "id", "timestamp": "time"})
    if kind == "file":
        reader = spark.readStream.schema("id long, time timestamp").option("maxFilesPerTrigger", 2)
        return reader.json(wanted["input"])
    ticks = spark.readStream.format("dev.sluice.testing.TickSource").option("t0", wanted["t0_ms"])
    return ticks.option("rate", wanted["rate"]).option("most", wanted["most"]).load()


def stateful(spark: SparkSession, rows: DataFrame) -> DataFrame:
    """What the query makes of its rows; the id comes first but in an aggregation."""
    kind = wanted["state"]
    if kind == "aggregation":
        return rows.groupBy((f.col("id") % 20).alias("key")).agg(f.count("*").alias("n"), f.max("id").alias("id"))
    if kind == "dedup":
        return rows.dropDuplicates(["id"]).select("id")
    if kind == "join":
        left = rows.select("id", f.col("time").alias("left_time")).withWatermark("left_time", "1 minute")
        right = source(spark).select(f.col("id").alias("other"), f.col("time").alias("right_time"))
        right = right.withWatermark("right_time", "1 minute")
        return left.join(right, f.expr("id = other AND left_time = right_time")).select("id")
    return rows.select("id")


def writer(rows: DataFrame, n: int) -> DataStreamWriter:
    """A query not yet started, named and with a checkpoint where that is wanted."""
    mode = "update" if wanted["state"] == "aggregation" or wanted["sink"] == "lines" else "append"
    start = rows.writeStream.outputMode(mode)
    if wanted["named"]:
        start = start.queryName(f"q{n}")
    if wanted["checkpoint"]:
        start = start.option("checkpointLocation", f"{wanted['checkpoint']}/q{n}")
    if wanted["trigger"]:
        start = start.trigger(processingTime=wanted["trigger"])
    return start


def append(n: int, batch: DataFrame, number: int) -> None:
    """A sink that keeps every call: its batch, and all rows."""
    rows = [tuple(row) for row in batch.collect()]
    time.sleep(wanted["sink_s"])
    with (out / f"sink{n}.jsonl").open("a") as file:
        file.write(json.dumps({"batch": number, "who": wanted["who"], "rows": rows}) + "\n")


def start(spark: SparkSession, n: int) -> StreamingQuery:
    """Starts a query into its sink."""
    write = writer(stateful(spark, source(spark)), n)
    if wanted["sink"] == "lines":
        gateway, java = spark.sparkContext._jvm, write._jwrite  # noqa: SLF001  # Python has no Real-Time trigger for Java's sinks
        java = java.foreach(gateway.dev.sluice.testing.LineSink(f"{out}/lines{n}-{wanted['who']}"))
        return java.trigger(gateway.org.apache.spark.sql.streaming.Trigger.RealTime(wanted["real_time"])).start()
    if wanted["sink"] == "file":
        return write.format("json").start(str(out / f"files{n}"))
    if wanted["sink"] == "noop":
        return write.format("noop").start()
    return write.foreachBatch(lambda batch, number: append(n, batch, number)).start()


def main() -> None:
    """Runs as any streaming application does: start, wait, stop."""
    spark = session()
    if wanted["replaced_manager"]:
        spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", wanted["replaced_manager"])
    queries = [start(spark, n) for n in range(wanted["queries"])]
    (out / f"{wanted['who']}.started").touch()
    try:
        for query in queries:
            query.awaitTermination()
        ending = "ended"
    except Exception as why:  # noqa: BLE001  # the test reads what any user's program would see
        ending = f"failed: {why}"
    (out / f"{wanted['who']}.ending").write_text(ending)
    spark.stop()


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main()
