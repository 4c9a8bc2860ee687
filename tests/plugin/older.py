"""Spark in versions that Sluice does not manage, started with the very words of an operator's driver pod.

Each is installed from its lock in `requirements`, in a venv of its own.
"""

import hashlib
import os
import pathlib

from build import jobs
from house import paths, spark, stages
from plugin import drivers

VERSIONS = ("3.5", "4.0")
_PROGRAM = """
from pyspark.sql import SparkSession, functions as f
spark = SparkSession.builder.getOrCreate()
rows = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
counts = rows.groupBy((f.col("value") % 5).alias("key")).count()
counts.writeStream.queryName("counts").outputMode("update").format("noop").start().awaitTermination()
"""


def home(version: str) -> pathlib.Path:
    """Where a version is installed, by the content of its lock."""
    digest = hashlib.sha256(_lock(version).read_bytes()).hexdigest()[:12]
    return paths.CACHE / "spark" / f"{version}-{digest}"


def stage(version: str) -> stages.Stage:
    """Installs it, unless an earlier run did."""
    at = home(version)

    def make(desk: stages.Desk) -> None:
        spark.install(desk, at, _lock(version))
        (at / "made").touch()

    return stages.Stage(f"spark {version}", make, kept=(at / "made").exists)


def start(version: str, folder: pathlib.Path, agent: pathlib.Path) -> drivers.Running:
    """A driver of that version; its query's checkpoint is at :func:`root`."""
    return drivers.Running(version, folder / "driver.log", _words(version, folder), _env(version, agent))


def root(folder: pathlib.Path) -> pathlib.Path:
    """Where the one query of a driver that was started in a folder has its checkpoint."""
    return folder / "checkpoint" / "counts"


def _words(version: str, folder: pathlib.Path) -> list[str]:
    """As an image's entry point calls spark-submit, but with tasks in the driver and the pod's places on this disk."""
    volume = {"persistentVolumeClaim": {"claimName": "any"}}
    program = folder / "program.py"
    program.write_text(_PROGRAM)
    conf = {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false"}
    checkpoint = {"location": str(root(folder).parent), "volume": volume}
    job = jobs.job(application={"file": f"local://{program}"}, checkpoint=checkpoint, sparkConf=conf)
    found = jobs.objects(job, jobs.PLUGGED)
    (folder / "spark.properties").write_text(found["ConfigMap"]["data"]["spark.properties"])
    (driver,) = (one for one in found["Pod"]["spec"]["containers"] if one["name"] == "driver")
    _, *words = driver["args"]
    places = {
        "$(POD_IP)": "127.0.0.1",
        "/etc/sluice": str(folder),
        "/opt/sluice-plugin/sluice-plugin.jar": str(drivers.JARS[0]),
    }
    for theirs, ours in places.items():
        words = [word.replace(theirs, ours) for word in words]
    return [str(_pyspark(version) / "bin" / "spark-submit"), "--deploy-mode", "client", "--master", "local[2]", *words]


def _env(version: str, agent: pathlib.Path) -> dict[str, str]:
    python = str(home(version) / "bin" / "python")
    spark_home = str(_pyspark(version))
    return {**os.environ, "SPARK_HOME": spark_home, "PYSPARK_PYTHON": python, "SLUICE_AGENT_DIR": str(agent)}


def _pyspark(version: str) -> pathlib.Path:
    return next(home(version).glob("lib/python*/site-packages/pyspark"))


def _lock(version: str) -> pathlib.Path:
    return paths.ROOT / "requirements" / f"spark-{version}.txt"
