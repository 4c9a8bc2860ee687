"""Kafka's own tools in the broker's pod: make a topic, fill it, read it whole. For tests, on any cluster."""

import re
import subprocess

from testbed import target

_BROKER = ("-n", "testbed", "exec", "-i", "deployment/kafka", "--", "kafka")
PARTITIONS = 4
_AT = re.compile(r"^LogAppendTime:(\d+)\t(.*)$", re.MULTILINE)


def create(kube: target.Target, topic: str, partitions: int = PARTITIONS) -> None:
    """A new topic; one of that name from an earlier run is gone. A record's moment is the broker's own."""
    listed = kube.kubectl(*_BROKER, "topics", "--list").split()
    if topic in listed:
        kube.kubectl(*_BROKER, "topics", "--delete", "--topic", topic)
    moments = ("--config", "message.timestamp.type=LogAppendTime")  # who stood still sends what it dated long ago
    kube.kubectl(*_BROKER, "topics", "--create", "--topic", topic, "--partitions", str(partitions), *moments)


def fill(kube: target.Target, topic: str, records: list[str]) -> None:
    """Appends records."""
    kube.kubectl(*_BROKER, "producer", "--topic", topic, text="\n".join(records) + "\n")


def feed(kube: target.Target, topic: str, batch_bytes: int = 16_384) -> "subprocess.Popen[str]":
    """Appends each line that is written to it, at once; so many bytes to one partition, then to another."""
    usual = ("producer", "--topic", topic, "--timeout", "5")
    return kube.begin(*_BROKER, *usual, "--producer-property", f"batch.size={batch_bytes}")


def count(kube: target.Target, topic: str) -> int:
    """How many records a topic has."""
    said = kube.kubectl(*_BROKER, "offsets", "--topic", topic)
    return sum(int(line.rsplit(":", 1)[1]) for line in said.splitlines() if line.startswith(topic + ":"))


def read(kube: target.Target, topic: str, records: int) -> list[str]:
    """All records of a topic that has so many."""
    return sorted(kube.kubectl(*_BROKER, "consumer", *_first(topic, records)).split())


def read_with_moments(kube: target.Target, topic: str, records: int) -> list[tuple[int, str]]:
    """The same, each with the moment it was written, in milliseconds."""
    said = kube.kubectl(*_BROKER, "consumer", *_first(topic, records), "--property", "print.timestamp=true")
    return [(int(at_ms), value) for at_ms, value in _AT.findall(said)]


def _first(topic: str, records: int) -> tuple[str, ...]:
    return ("--topic", topic, "--from-beginning", "--max-messages", str(records), "--timeout-ms", "60000")
