"""Where the rows of the pipelines here come from, and where their results go."""

import argparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from arguments import place

_WORDS = "the of to and a in stream batch row key gate node pod task state offset commit lag move plan act".split()
_WORDS_A_LINE = 8


def session() -> SparkSession:
    """Spark, as Sluice has configured it: master, checkpoint and resources are none of a pipeline's business."""
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def rows(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The source as it is: `value` and `timestamp` among its columns."""
    kind, name = place(options.source)
    if kind == "rate":
        return spark.readStream.format("rate").option("rowsPerSecond", name).load()
    kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", options.servers)
    return kafka.option("subscribe", name).option("startingOffsets", "earliest").load()


def lines(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """Lines of text (`line`, `timestamp`): a topic's values, or made up from numbers."""
    found = rows(spark, options)
    made_up = place(options.source)[0] == "rate"
    line = _sentence(F.col("value")) if made_up else F.col("value").cast("string")
    return found.select(line.alias("line"), "timestamp")


def words(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The lines' words (`word`, `timestamp`)."""
    return lines(spark, options).select(F.explode(F.split("line", r"\s+")).alias("word"), "timestamp")


def start(results: DataFrame, options: argparse.Namespace, name: str, output_mode: str = "update") -> StreamingQuery:
    """Writes results. The name is also the query's folder below the job's checkpoint: never leave it out."""
    kind, topic = place(options.sink)
    if kind == "kafka":
        results = results.select(F.to_json(F.struct("*")).alias("value"))
    writer = results.writeStream.queryName(name).outputMode(output_mode).trigger(**options.trigger).format(kind)
    settings = (
        {"kafka.bootstrap.servers": options.servers, "topic": topic} if kind == "kafka" else {"truncate": "false"}
    )
    return writer.options(**settings).start()


def _sentence(number: Column) -> Column:
    """The same words for the same number, so that a batch done twice is the same batch; early words are frequent."""
    dictionary = F.array(*map(F.lit, _WORDS))

    def word(place_in_line: int) -> Column:
        share = F.pmod(F.xxhash64(number, F.lit(place_in_line)), F.lit(10_000)) / 10_000
        return F.element_at(dictionary, (1 + F.pow(share, 3) * len(_WORDS)).cast("int"))

    return F.concat_ws(" ", *map(word, range(_WORDS_A_LINE)))
