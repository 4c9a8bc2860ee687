"""Kafka's own tools in the broker's pod: make a topic, fill it, read it whole. For tests, on any cluster."""

from testbed import target

_BROKER = ("-n", "testbed", "exec", "-i", "deployment/kafka", "--", "kafka")
PARTITIONS = 4


def create(kube: target.Target, topic: str) -> None:
    """A new topic; one of that name from an earlier run is gone."""
    listed = kube.kubectl(*_BROKER, "topics", "--list").split()
    if topic in listed:
        kube.kubectl(*_BROKER, "topics", "--delete", "--topic", topic)
    kube.kubectl(*_BROKER, "topics", "--create", "--topic", topic, "--partitions", str(PARTITIONS))


def fill(kube: target.Target, topic: str, records: list[str]) -> None:
    """Appends records."""
    kube.kubectl(*_BROKER, "producer", "--topic", topic, text="\n".join(records) + "\n")


def count(kube: target.Target, topic: str) -> int:
    """How many records a topic has."""
    said = kube.kubectl(*_BROKER, "offsets", "--topic", topic)
    return sum(int(line.rsplit(":", 1)[1]) for line in said.splitlines() if line.startswith(topic + ":"))


def read(kube: target.Target, topic: str, records: int) -> list[str]:
    """All records of a topic that has so many."""
    words = ("--topic", topic, "--from-beginning", "--max-messages", str(records), "--timeout-ms", "60000")
    return sorted(kube.kubectl(*_BROKER, "consumer", *words).split())
