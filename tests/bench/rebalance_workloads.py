"""The eight workloads of Lever's section 5.1, as small programs. A part of :mod:`bench.rebalance_job`, in its pod.

Lines of a hundred bytes are read ready-made: of fifty, by a row's number. So nearly all that a batch costs is what
the workload does with them. All of it is Spark's own functions.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

INTERVAL_MS = 2000  # of the paper: so far apart are the times of two batches' rows
_BURST = "burst"  # "burst-1-20": the second executor has it, for 20 batches after 20 without it
_TIMES = 3  # a line comes so often
_STRETCHES = ((0.0, 0.45), (0.275, 0.725), (0.55, 1.0))  # of each partition's rows in turn: within one executor's part
_LINES, _WORDS_A_LINE, _VOCABULARY = 50, 13, 1000
_ADS, _ADS_A_CAMPAIGN = 1000, 10
_K = 10


def _ready_made(texts: Sequence[str]) -> Column:
    return f.element_at(f.array(*map(f.lit, texts)), (1 + f.pmod(f.xxhash64("value"), f.lit(len(texts)))).cast("int"))


def _sentences() -> list[str]:
    """Few words are frequent, most are rare."""
    dice = random.Random(1)
    words = [f"word{int(_VOCABULARY * dice.random() ** 3)}" for _ in range(_LINES * _WORDS_A_LINE)]
    return [" ".join(words[at : at + _WORDS_A_LINE]) for at in range(0, len(words), _WORDS_A_LINE)]


def _lines(rows: DataFrame) -> DataFrame:
    return rows.select(_ready_made(_sentences()).alias("line"), "timestamp")


def _words(rows: DataFrame) -> DataFrame:
    return _lines(rows).select(f.explode(f.split("line", " ")).alias("word"), "timestamp")


def _identity(rows: DataFrame) -> DataFrame:
    return _lines(rows).select("line")


def _sample(rows: DataFrame) -> DataFrame:
    return _lines(rows).select("line").where(f.rand(1) < 0.1)


def _projection(rows: DataFrame) -> DataFrame:
    return _lines(rows).select(f.split("line", " ").getItem(3).alias("field"))


def _grep(rows: DataFrame) -> DataFrame:
    return _lines(rows).select("line").where(f.col("line").contains("word0 word"))


def _wordcount(rows: DataFrame) -> DataFrame:
    return _words(rows).groupBy("word").count()


def _topk(rows: DataFrame) -> DataFrame:
    return _wordcount(rows).orderBy(f.desc("count"), "word").limit(_K)


def _window(rows: DataFrame) -> DataFrame:
    """Ten seconds long, two apart, as in the paper."""
    words = _words(rows).withWatermark("timestamp", "2 seconds")
    return words.groupBy(f.window("timestamp", "10 seconds", "2 seconds"), "word").count()


def _events() -> list[str]:
    """Of the Yahoo benchmark: a third of them are views."""
    dice = random.Random(2)
    kinds = ("view", "click", "purchase")
    return [
        f'{{"user_id":"user-{number}","ad_id":"ad-{dice.randrange(_ADS)}","event_type":"{kinds[number % 3]}"}}'
        for number in range(_LINES)
    ]


def _yahoo(rows: DataFrame) -> DataFrame:
    """Views of ads, joined with their campaigns, counted in windows of ten seconds."""
    read = f.from_json(_ready_made(_events()), "ad_id string, event_type string").alias("event")
    events = rows.select(read, "timestamp").select("event.*", "timestamp").where("event_type = 'view'")
    ads = rows.sparkSession.range(0, _ADS, 1, 1)
    campaign = f.floor(f.col("id") / _ADS_A_CAMPAIGN).alias("campaign")
    campaigns = ads.select(f.concat(f.lit("ad-"), "id").alias("ad_id"), campaign)
    views = events.withWatermark("timestamp", "2 seconds").join(f.broadcast(campaigns), "ad_id")
    return views.groupBy("campaign", f.window("timestamp", "10 seconds")).count()


_MADE: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "identity": _identity,
    "sample": _sample,
    "projection": _projection,
    "grep": _grep,
    "wordcount": _wordcount,
    "topk": _topk,
    "window": _window,
    "yahoo": _yahoo,
}
_STATELESS = ("identity", "sample", "projection", "grep")


def has(kind: str) -> bool:
    """Whether it is one of these."""
    return kind in _MADE or kind.startswith(_BURST)


def mode(kind: str) -> str:
    """How a query of a kind tells its results."""
    if kind == "topk":
        return "complete"
    counts = has(kind) and kind not in _STATELESS
    return "update" if counts or kind == "stateful" else "append"


def worked(rows: DataFrame, kind: str, batch: int, partitions: int) -> DataFrame:
    """What it does with each row; so many a batch, in so many partitions."""
    return _burst(rows, kind, batch, partitions) if kind.startswith(_BURST) else _MADE[kind](rows)


def _burst(rows: DataFrame, kind: str, batch: int, partitions: int) -> DataFrame:
    """Words counted; in every other stretch of batches some of the input is a multiple, always at the same place.

    The generator's partitions hold each third number, and Sluice deals them out as one long line, in the order of the
    executors: so the place belongs to one of the executors, whatever its part is.
    """
    place, cycle = (int(word) for word in kind.split("-")[1:])
    least, most = (int(edge * (batch // partitions)) for edge in _STRETCHES[place])
    is_bursting = f.expr(
        f"pmod(value div {batch}, {2 * cycle}) >= {cycle} AND pmod(value, {partitions}) = {place}"
        f" AND pmod(value, {batch}) div {partitions} >= {least} AND pmod(value, {batch}) div {partitions} < {most}"
    )
    line = _ready_made(_sentences())
    more = f.when(is_bursting, f.concat_ws(" ", *[line] * _TIMES)).otherwise(line)
    return rows.select(f.explode(f.split(more, " ")).alias("word")).groupBy("word").count()
