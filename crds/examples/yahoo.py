"""The Yahoo streaming benchmark: views of ads, joined with their campaigns, counted in windows of ten seconds.

Events are JSON, as in the benchmark: from a topic, or made up. A thousand ads, ten to a campaign.
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import arguments
import streams

ADS, ADS_A_CAMPAIGN, USERS, PAGES = 1_000, 10, 100, 100
EVENT = (
    "user_id string, page_id string, ad_id string, ad_type string, event_type string, event_time timestamp,"
    " ip_address string"
)


def events(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """Events as JSON (`event`)."""
    found = streams.rows(spark, options)
    if arguments.place(options.source)[0] == "kafka":
        return found.select(F.col("value").cast("string").alias("event"))
    fields = [
        _named("user", USERS).alias("user_id"),
        _named("page", PAGES).alias("page_id"),
        _named("ad", ADS).alias("ad_id"),
        _one_of("banner", "modal", "sponsored-search", "mail", "mobile").alias("ad_type"),
        _one_of("view", "click", "purchase").alias("event_type"),
        F.col("timestamp").alias("event_time"),
        F.lit("1.2.3.4").alias("ip_address"),
    ]
    return found.select(F.to_json(F.struct(*fields)).alias("event"))


def campaigns(spark: SparkSession) -> DataFrame:
    """Which ad belongs to which campaign."""
    ad, campaign = F.col("id"), F.floor(F.col("id") / ADS_A_CAMPAIGN)
    names = [
        F.concat(F.lit(f"{kind}-"), number).alias(f"{kind}_id") for kind, number in (("ad", ad), ("campaign", campaign))
    ]
    return spark.range(ADS).select(*names)


def counted(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """Views by campaign and window."""
    event = events(spark, options).select(F.from_json("event", EVENT).alias("e")).select("e.*")
    views = event.where("event_type = 'view'").select("ad_id", "event_time").withWatermark("event_time", "10 seconds")
    joined = views.join(F.broadcast(campaigns(spark)), "ad_id")
    return joined.groupBy("campaign_id", F.window("event_time", "10 seconds").alias("window")).count()


def _named(kind: str, many: int):
    return F.concat(F.lit(f"{kind}-"), F.pmod(F.xxhash64("value", F.lit(kind)), F.lit(many)))


def _one_of(*words: str):
    return F.element_at(F.array(*map(F.lit, words)), (1 + F.pmod(F.col("value"), F.lit(len(words)))).cast("int"))


options = arguments.parser(__doc__).parse_args()
streams.start(counted(streams.session(), options), options, "yahoo").awaitTermination()
