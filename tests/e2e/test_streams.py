"""Kafka → Spark → Kafka in both modes, the checkpoint on S3: plain Spark, as the testbed must run it."""

from demo import plain_spark, topics

RECORDS = 5_000
MODES = {
    "micro-batch": ("processingTime='1 second'", 2, 1),
    "real-time": ("realTime='5 seconds'", 2, 2),  # a slot per task of all stages: 4 partitions
}


def copying(source, sink, trigger, checkpoint):
    """A program that copies a topic."""
    return f"""
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("WARN")
{plain_spark.PROGRESS}
server = "kafka.testbed:9092"
rows = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", server)
        .option("subscribe", "{source}").option("startingOffsets", "earliest").load().select("key", "value"))
report(rows.writeStream.format("kafka").option("kafka.bootstrap.servers", server).option("topic", "{sink}")
       .outputMode("update").trigger({trigger}).option("checkpointLocation", "s3a://checkpoints/{checkpoint}").start())
"""


def numbered(first, last):
    return [f"record-{number:06d}" for number in range(first, last + 1)]


def job_of(name, source, sink, mode):
    trigger, executors, cores = MODES[mode]
    program = copying(source, sink, trigger, name)
    return plain_spark.Job(name, program, executors, cores, plain_spark.S3, gated=False)


def until_copied(kube, namespace, job, sink, records):
    def look():
        phase = kube.kubectl("-n", namespace, "get", "pod", job.driver(), "-o", "jsonpath={.status.phase}")
        assert phase in ("Pending", "Running"), kube.kubectl("-n", namespace, "logs", job.driver(), "--tail=30")
        return topics.count(kube, sink) >= records

    plain_spark.until(f"{records} records in {sink}", look, deadline_s=180)


def begin(kube, namespace, mode):
    """A job that copies one topic to another."""
    source, sink = f"from-{mode}", f"to-{mode}"
    topics.create(kube, source)
    topics.create(kube, sink)
    topics.fill(kube, source, numbered(1, RECORDS))
    job = job_of(mode, source, sink, mode)
    plain_spark.submit(kube, namespace, job)
    return job, sink


def test_every_record_of_a_topic_arrives_in_another_once_in_both_modes(kube, namespace):
    plain_spark.empty_bucket(kube)
    for job, sink in [begin(kube, namespace, mode) for mode in MODES]:
        until_copied(kube, namespace, job, sink, RECORDS)
        assert topics.count(kube, sink) == RECORDS
        assert topics.read(kube, sink, RECORDS) == numbered(1, RECORDS)
