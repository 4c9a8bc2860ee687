"""A Kafka broker of the tests' own on loopback; its jars are those of the testbed's image."""

import contextlib
import hashlib
import pathlib
import socket
import subprocess
import time
from collections.abc import Iterator

import kafka
from kafka import admin, errors

from house import paths, stages, trouble

_IMAGE = paths.ROOT / "tests" / "testbed" / "images" / "kafka"
_CLUSTER = "c2x1aWNlLXBsdWdpbi10ZXN0cw"
_PATIENCE_S = 120


def _home() -> pathlib.Path:
    return paths.CACHE / "kafka" / hashlib.sha256((_IMAGE / "jars.sha256").read_bytes()).hexdigest()[:12]


def _made() -> bool:
    """Whether an earlier run brought the jars."""
    return (_home() / "made").exists()


def _make(desk: stages.Desk) -> None:
    """Brings the jars, hashes checked."""
    jars = _home() / "jars"
    local = f"-Dmaven.repo.local={paths.CACHE / 'maven'}"
    words = "mvn -B -q dependency:copy-dependencies -DincludeScope=runtime".split()
    desk.shell.run(*words, f"-DoutputDirectory={jars}", local, "-f", _IMAGE / "pom.xml")
    desk.shell.run("sha256sum", "--quiet", "-c", _IMAGE / "jars.sha256", cwd=jars)
    (_home() / "made").touch()


@contextlib.contextmanager
def serving(folder: pathlib.Path) -> Iterator[str]:
    """A broker that is its own controller; where it answers."""
    stages.run("Kafka", [stages.Stage("Kafka", _make, kept=_made)])
    folder.mkdir(parents=True, exist_ok=True)
    port, controller = _free_ports()
    settings = folder / "server.properties"
    settings.write_text(_settings(folder / "data", port, controller))
    java = ["java", "-Xmx384m", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={_IMAGE / 'log4j2.xml'}"]
    java += ["-cp", f"{_home()}/jars/*"]
    with (folder / "broker.log").open("w") as log:
        format_ = ["kafka.tools.StorageTool", "format", "--config", str(settings), "--cluster-id", _CLUSTER]
        subprocess.run([*java, *format_], stdout=log, stderr=log, check=True)
        server = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        _until_it_answers(server, port)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def topic(servers: str, name: str, partitions: int) -> None:
    """Makes a topic."""
    client = admin.KafkaAdminClient(bootstrap_servers=servers)
    try:
        client.create_topics([admin.NewTopic(name, partitions, 1)])
    finally:
        client.close()


def texts(servers: str, name: str) -> list[str]:
    """All that a topic holds."""
    consumer = kafka.KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest", enable_auto_commit=False)
    try:
        parts = [kafka.TopicPartition(name, n) for n in sorted(consumer.partitions_for_topic(name) or ())]
        consumer.assign(parts)
        ends = consumer.end_offsets(parts)
        consumer.seek_to_beginning(*parts)
        found: list[str] = []
        while any(consumer.position(part) < ends[part] for part in parts):
            for records in consumer.poll(timeout_ms=1000).values():
                found += [record.value.decode() for record in records]
        return found
    finally:
        consumer.close()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _settings(data: pathlib.Path, port: int, controller: int) -> str:
    return f"""node.id=1
process.roles=broker,controller
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=HOST://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=HOST://127.0.0.1:{port}
listener.security.protocol.map=HOST:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=HOST
log.dirs={data}
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def _until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            # Asked first, for the client leaves its sockets open where nobody listens yet.
            socket.create_connection(("127.0.0.1", port)).close()
            admin.KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{port}").close()
        except (OSError, errors.KafkaError) as why:
            if time.monotonic() > deadline_s or server.poll() is not None:
                raise trouble.Trouble(f"the Kafka of the tests does not answer: {why}") from why
            time.sleep(0.2)
        else:
            return
