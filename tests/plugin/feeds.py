"""Feeds the sources of `job.py` that make no rows themselves: ids from 0 on, in order, each with its time."""

import contextlib
import pathlib
import threading
import time
from collections.abc import Callable, Iterator

import kafka

from plugin import broker, drivers, storage

_PAUSE_S = 0.05


@contextlib.contextmanager
def feeding(job: drivers.Job) -> Iterator[None]:
    """Rows for a job as long as the context is open; its topics exist when it needs some."""
    if job.kafka:
        broker.topic(job.kafka, f"{job.topic}-in", 2)
        broker.topic(job.kafka, f"{job.topic}-out", 1)
    if job.source == "kafka":
        producer = kafka.KafkaProducer(bootstrap_servers=job.kafka, linger_ms=0)
        with _in_the_background(lambda first: _send(producer, job, first)):
            yield
        producer.close()
    elif job.source == "file":
        folder = job.out / "input"
        folder.mkdir(parents=True, exist_ok=True)
        with _in_the_background(lambda first: _write(folder, first)):
            yield
    else:
        yield


def _send(producer: kafka.KafkaProducer, job: drivers.Job, first: int) -> None:
    for id_, at_ms in _rows(first):
        producer.send(f"{job.topic}-in", value=f"{id_},{at_ms}".encode(), partition=id_ % 2)
    producer.flush()


def _write(folder: pathlib.Path, first: int) -> None:
    """A file appears whole, as Spark asks of those who write them."""
    lines = [f'{{"id":{id_},"time":"{_stamp(at_ms)}"}}\n' for id_, at_ms in _rows(first)]
    part = folder / f".{first}.part"
    part.write_text("".join(lines))
    part.rename(folder / f"{first // storage.ROWS_A_FILE:07d}.json")


def _rows(first: int) -> list[tuple[int, int]]:
    now_ms = int(time.time() * 1000)
    return [(first + i, now_ms) for i in range(storage.ROWS_A_FILE)]


def _stamp(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms // 1000)) + f".{at_ms % 1000:03d}Z"


@contextlib.contextmanager
def _in_the_background(feed: Callable[[int], None]) -> Iterator[None]:
    """Feeds the next rows again and again; what fails there fails here."""
    ended, failures = threading.Event(), list[BaseException]()

    def work() -> None:
        first = 0
        try:
            while not ended.wait(_PAUSE_S):
                feed(first)
                first += storage.ROWS_A_FILE
        except Exception as why:  # noqa: BLE001  # raised again below, in the thread that asked
            failures.append(why)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if failures:
        raise failures[0]
