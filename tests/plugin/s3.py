"""An S3 of the tests' own, and what Spark needs to reach it; the jars are those of the Spark image."""

import contextlib
import socket
import subprocess
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from house import paths, spark, trouble

_BUCKET = "tests"
_SCOPE = "20260101/us-east-1/s3/aws4_request"
_SERVER = paths.ROOT / "tests" / "testbed" / "images" / "s3" / "serve.py"
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

    def contents(self, prefix: str) -> dict[str, str]:
        """Every object below a prefix, by its content and time."""
        found: dict[str, str] = {}
        after = ""
        while True:
            url = f"{self.endpoint}/{_BUCKET}?list-type=2&prefix={prefix}/&start-after={urllib.parse.quote(after)}"
            with urllib.request.urlopen(url) as answer:
                page = ET.parse(answer).findall(f"{_NAMESPACE}Contents")  # our own server's
            if not page:
                return found
            for one in page:
                key, tag, at = (str(one.findtext(f"{_NAMESPACE}{name}")) for name in ("Key", "ETag", "LastModified"))
                found[key.removeprefix(f"{prefix}/")] = f"{tag} {at}"
                after = key

    def last(self, prefix: str) -> int:
        """The last batch in a log."""
        return max((int(name) for name in self.names(prefix) if name.isdigit()), default=-1)

    def get(self, key: str) -> str:
        """The text of an object."""
        signed = {"Authorization": f"AWS4-HMAC-SHA256 Credential=tests/{_SCOPE}, SignedHeaders=host, Signature=0"}
        request = urllib.request.Request(f"{self.endpoint}/{_BUCKET}/{key}", headers=signed)  # it is not looked at
        with urllib.request.urlopen(request) as answer:
            return str(answer.read().decode())

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
        [str(spark.s3_python()), str(_SERVER), "-H", "127.0.0.1", "-p", str(port)],
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
