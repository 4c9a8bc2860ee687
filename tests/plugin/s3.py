"""An S3 of the tests' own, and what Spark needs to reach it; the jars are those of the Spark image."""

import contextlib
import socket
import subprocess
import time
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from house import spark, trouble

_BUCKET = "tests"
_NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class Store:
    """A bucket on loopback."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"

    def conf(self) -> dict[str, str]:
        """Spark's settings for it."""
        return {
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": "tests",
            "spark.hadoop.fs.s3a.secret.key": "tests",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        }

    def url(self, prefix: str) -> str:
        """What Spark calls a folder of it."""
        return f"s3a://{_BUCKET}/{prefix}"

    def names(self, prefix: str) -> list[str]:
        """The last parts of the keys directly below a prefix."""
        url = f"{self.endpoint}/{_BUCKET}?list-type=2&delimiter=/&max-keys=1000&prefix={prefix}/"
        with urllib.request.urlopen(url) as answer:
            tree = ET.parse(answer)  # our own server's
        names = [str(key.text).rsplit("/", 1)[1] for key in tree.iter(f"{_NAMESPACE}Key")]
        return [name for name in names if name]  # Hadoop marks a folder by an object without one

    def last(self, prefix: str) -> int:
        """The last batch in a log."""
        return max((int(name) for name in self.names(prefix) if name.isdigit()), default=-1)

    def put(self, key: str) -> None:
        """Writes an empty object, or makes the bucket when the key is empty."""
        request = urllib.request.Request(f"{self.endpoint}/{_BUCKET}{'/' if key else ''}{key}", data=b"", method="PUT")
        urllib.request.urlopen(request).close()


@contextlib.contextmanager
def serving() -> Iterator[Store]:
    """A server for the length of a test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [str(spark.s3_server()), "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        store = Store(port)
        _until_it_answers(store)
        yield store
    finally:
        server.kill()
        server.wait()


def _until_it_answers(store: Store) -> None:
    deadline_s = time.monotonic() + 60
    while True:
        try:
            return store.put("")
        except OSError as why:
            if time.monotonic() > deadline_s:
                raise trouble.Trouble(f"the S3 of the tests does not answer: {why}") from why
            time.sleep(0.1)
