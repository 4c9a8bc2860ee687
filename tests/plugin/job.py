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

IDLE_ROWS = 50
wanted = json.loads(sys.argv[1])
out = pathlib.Path(wanted["out"])


def session() -> SparkSession:
    """Spark, with the settings it was submitted with."""
    made = SparkSession.builder.master(wanted["master"]).appName(wanted["who"]).getOrCreate()
    made.sparkContext.setLogLevel("WARN")
    return made


def role(n: int) -> str:
    """What a query is here to do: run, idle after its first rows, or fail after its first batches."""
    return str(wanted["roles"][n]) if wanted["roles"] else "runs"


def source(spark: SparkSession, n: int, side: int = 0) -> DataFrame:
    """Rows with an id that counts from 0, and a time; the other side of a join is told apart by its last row."""
    kind = wanted["source"]
    if kind == "rate":
        rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
        return rows.withColumnsRenamed({"value": "id", "timestamp": "time"})
    if kind == "file":
        reader = spark.readStream.schema("id long, time timestamp").option("maxFilesPerTrigger", 10)
        return reader.json(wanted["input"])
    if kind == "kafka":
        reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", wanted["kafka"])
        lines = reader.option("subscribe", f"{wanted['topic']}-in").option("startingOffsets", "earliest")
        if wanted["most_a_batch"]:
            lines = lines.option("maxOffsetsPerTrigger", wanted["most_a_batch"])
        parts = f.split(f.col("value").cast("string"), ",")
        return lines.load().select(
            parts[0].cast("long").alias("id"), f.timestamp_millis(parts[1].cast("long")).alias("time")
        )
    ticks = spark.readStream.format("dev.sluice.testing.TickSource").option("t0", wanted["t0_ms"])
    return (
        ticks.option("rate", wanted["rate"])
        .option("most", (IDLE_ROWS if role(n) == "idle" else wanted["most"]) - side)
        .option("partitions", wanted["partitions"])
        .option("idle", wanted["idle"])
        .load()
    )


def slow(id_: int) -> int:
    """A function of the user's that takes a millisecond a row."""
    time.sleep(0.001)
    return id_


def stateful(spark: SparkSession, rows: DataFrame, n: int) -> DataFrame:
    """What the query makes of its rows; `plugin.sinks` says what that has to be."""
    kind = wanted["state"]
    if kind == "aggregation" and mode() == "append":
        return windows(rows)
    if kind == "aggregation":
        return rows.groupBy(f.expr(wanted["key"]).alias("key")).agg(f.count("*").alias("n"), f.max("id").alias("id"))
    if kind == "dedup":  # each number four times, a quarter of a second apart: most are doubles of an earlier batch
        return rows.select(f.expr("id div 200 * 50 + id % 50").alias("id")).dropDuplicates(["id"])
    if kind == "join":
        return joined(rows, source(spark, n, 1))
    if kind == "transformWithState":
        java = spark.sparkContext._jvm.dev.sluice.testing.RowCounter  # noqa: SLF001  # Python's needs pandas
        return DataFrame(java.count(rows._jdf, mode()), spark)  # noqa: SLF001
    return stateless(rows.select("id"))


def stateless(ids: DataFrame) -> DataFrame:
    """The same rows: as they are, through a function of the user's, or all to one partition."""
    kind = wanted["state"]
    if kind == "udf":
        return ids.select(f.udf(slow, "long")("id").alias("id"))
    return ids.repartition(1) if kind == "shuffled" else ids


def windows(rows: DataFrame) -> DataFrame:
    """Counts that are told once, when their second is over."""
    second = f.window("time", "1 second")
    of_second = rows.withWatermark("time", "2 seconds").groupBy(second)
    counts = of_second.agg(f.count("*").alias("n"), f.min("id").alias("least"), f.max("id").alias("most"))
    return counts.select(f.col("window.start").cast("long").alias("start"), "n", "least", "most")


def joined(rows: DataFrame, others: DataFrame) -> DataFrame:
    """Each row with itself, read a second time."""
    left = rows.select("id", f.col("time").alias("left_time")).withWatermark("left_time", "1 minute")
    right = others.select(f.col("id").alias("other"), f.col("time").alias("right_time"))
    right = right.withWatermark("right_time", "1 minute")
    near = "id = other AND left_time BETWEEN right_time - INTERVAL 1 MINUTE AND right_time + INTERVAL 1 MINUTE"
    return left.join(right, f.expr(near)).select("id")


def mode() -> str:
    """How the query tells its results."""
    counts = wanted["state"] == "aggregation" and wanted["sink"] != "file"
    return "update" if counts or wanted["engine"] == "RealTime" else "append"


def slowed(rows: DataFrame) -> DataFrame:
    """The same rows, each of which takes its time in the task that writes it."""
    ms = wanted["row_ms"]
    return rows.where(f.expr(f"reflect('java.lang.Thread', 'sleep', {ms}L) IS NOT NULL")) if ms else rows


def writer(rows: DataFrame, n: int) -> DataStreamWriter:
    """A query not yet started, named and with a checkpoint where that is wanted."""
    start = rows.writeStream.outputMode(mode())
    if wanted["named"]:
        start = start.queryName(f"q{n}")
    if wanted["checkpoint"]:
        start = start.option("checkpointLocation", f"{wanted['checkpoint']}/q{n}")
    if wanted["engine"] == "RealTime":
        start = start.trigger(realTime=wanted["real_time"])
    elif wanted["trigger"]:
        start = start.trigger(processingTime=wanted["trigger"])
    return start


def append(n: int, batch: DataFrame, number: int) -> None:
    """A sink that keeps every call: its batch, and all rows."""
    if role(n) == "fails" and number == 5:
        raise ValueError("this query was made to fail")
    rows = [tuple(row) for row in batch.collect()]
    time.sleep(wanted["sink_s"])
    with (out / f"sink{n}.jsonl").open("a") as file:
        file.write(json.dumps({"batch": number, "who": wanted["who"], "rows": rows}) + "\n")


def start(spark: SparkSession, n: int) -> StreamingQuery:
    """Starts a query into its sink."""
    rows = slowed(stateful(spark, source(spark, n), n))
    if wanted["sink"] == "kafka":
        rows = rows.select(f.to_json(f.struct("*")).alias("value"))
    write = writer(rows, n)
    if wanted["sink"] == "lines":
        lines = spark.sparkContext._jvm.dev.sluice.testing.LineSink(f"{out}/lines{n}-{wanted['who']}")  # noqa: SLF001
        write._jwrite.foreach(lines)  # noqa: SLF001  # Python rows would come in batches
        return write.start()
    if wanted["sink"] == "file":
        return write.format("json").start(str(out / f"files{n}"))
    if wanted["sink"] == "kafka":
        return kafka_sink(write).start()
    if wanted["sink"] == "noop":
        return write.format("noop").start()
    return write.foreachBatch(lambda batch, number: append(n, batch, number)).start()


def kafka_sink(write: DataStreamWriter) -> DataStreamWriter:
    """Into a topic, as text."""
    return (
        write.format("kafka")
        .option("kafka.bootstrap.servers", wanted["kafka"])
        .option("topic", f"{wanted['topic']}-out")
    )


def failure(query: StreamingQuery) -> str:
    """Waits for the end of a query; why it failed, empty when it did not."""
    try:
        query.awaitTermination()
    except Exception as why:  # noqa: BLE001  # the test reads what any user's program would see
        return f"failed: {why}"
    return ""


def main() -> None:
    """Runs as any streaming application does: start, wait, stop."""
    spark = session()
    if wanted["replaced_manager"]:
        spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", wanted["replaced_manager"])
    queries = [start(spark, n) for n in range(wanted["queries"])]
    (out / f"{wanted['who']}.started").touch()
    (out / f"{wanted['who']}.ending").write_text("\n".join(filter(None, map(failure, queries))) or "ended")
    spark.stop()


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main()
