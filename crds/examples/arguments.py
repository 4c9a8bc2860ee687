"""The options that every pipeline here takes; no Spark in it."""

import argparse

_SOURCES = ("rate", "kafka")
_SINKS = ("console", "noop", "kafka")


def parser(about: str, source: str = "rate:1000", sink: str = "console") -> argparse.ArgumentParser:
    """The options; a pipeline may add its own."""
    made = argparse.ArgumentParser(description=about)
    made.add_argument("--source", type=_one_of(_SOURCES), default=source, help="rate:ROWS_A_SECOND or kafka:TOPIC")
    made.add_argument("--sink", type=_one_of(_SINKS), default=sink, help="console, noop or kafka:TOPIC")
    made.add_argument("--servers", default="kafka:9092", help="where Kafka answers")
    made.add_argument("--trigger", type=trigger, default="1 second", help="'5 seconds', 'now' or 'realtime 5 seconds'")
    return made


def place(text: str) -> tuple[str, str]:
    """The parts of a source or sink: `kafka:clicks` is kafka and clicks."""
    kind, _, name = text.partition(":")
    return kind, name


def trigger(text: str) -> dict[str, object]:
    """What `DataStreamWriter.trigger` takes for an interval, `now` (all there is, then end) or `realtime INTERVAL`."""
    if text == "now":
        return {"availableNow": True}
    word, _, interval = text.partition(" ")
    return {"realTime": interval} if word == "realtime" else {"processingTime": text}


def _one_of(kinds: tuple[str, ...]):
    def check(text: str) -> str:
        kind, name = place(text)
        if kind not in kinds or (kind in ("rate", "kafka") and not name):
            raise argparse.ArgumentTypeError(f"{text!r}; allowed are {', '.join(kinds)}, rate and kafka with :NAME")
        return text

    return check
