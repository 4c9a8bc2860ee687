"""Spark as PyPI publishes it, in a venv of its own: the plugin is compiled against its jars, and tested on it.

Beside the venv lie `classpath.jar`, one jar whose manifest names all of Spark's (Maven and javac take it for all of
them), and `extra`, the jars the Spark image adds. Called by :mod:`house.testing`.
"""

import hashlib
import pathlib
import zipfile

from house import paths, stages

_LOCKS = tuple(paths.ROOT / "requirements" / name for name in ("build.txt", "spark.txt"))
_S3_LOCK = paths.ROOT / "requirements" / "s3.txt"
_IMAGE = paths.ROOT / "images" / "spark"


def home() -> pathlib.Path:
    """Where it is installed, by the content of its locks."""
    text = b"".join(file.read_bytes() for file in (*_LOCKS, _IMAGE / "ivy.xml"))
    return paths.CACHE / "spark" / hashlib.sha256(text).hexdigest()[:12]


def python() -> pathlib.Path:
    """The Python that finds pyspark."""
    return home() / "bin" / "python"


def classpath() -> pathlib.Path:
    """The one jar that stands for all of Spark's."""
    return home() / "classpath.jar"


def extra() -> pathlib.Path:
    """The jars the Spark image adds: Kafka's and S3's."""
    return home() / "extra"


def s3_python() -> pathlib.Path:
    """The Python that finds the S3 the tests start; in a venv of its own, as its needs are not Spark's."""
    return _s3_home() / "bin" / "python"


def _s3_home() -> pathlib.Path:
    return paths.CACHE / "s3" / hashlib.sha256(_S3_LOCK.read_bytes()).hexdigest()[:12]


def made() -> bool:
    """Whether an earlier run installed it."""
    return (home() / "made").exists()


def s3_made() -> bool:
    """Whether an earlier run installed the S3 server."""
    return (_s3_home() / "made").exists()


def make(desk: stages.Desk) -> None:
    """Installs it from its locks, hashes checked."""
    at = home()
    install(desk, at, _LOCKS[1])
    jars = next(at.glob("lib/python*/site-packages/pyspark/jars"))
    write_classpath(sorted(jars.glob("*.jar")), classpath())
    ivy = ("-warn", "-ivy", _IMAGE / "ivy.xml", "-types", "jar", "-cache", at / "ivy")
    names = f"{extra()}/[artifact]-[revision].[ext]"
    desk.shell.run("java", "-cp", f"{jars}/*", "org.apache.ivy.Main", *ivy, "-retrieve", names)
    desk.shell.run("sha256sum", "--quiet", "-c", _IMAGE / "jars.sha256", cwd=extra())
    (at / "made").touch()


def install(desk: stages.Desk, at: pathlib.Path, lock: pathlib.Path) -> None:
    """A venv with the Spark of a lock. PyPI has it as a source distribution; what builds it is locked as well."""
    uv = paths.VENV / "bin" / "uv"
    desk.shell.run(uv, "venv", "-q", "--clear", at)
    words = (uv, "pip", "install", "-q", "--python", at / "bin" / "python", "--require-hashes")
    desk.shell.run(*words, "-r", _LOCKS[0])
    desk.shell.run(*words, "--no-build-isolation", "-r", lock)


def make_s3(desk: stages.Desk) -> None:
    """Installs the S3 server the tests start."""
    uv, at = paths.VENV / "bin" / "uv", _s3_home()
    desk.shell.run(uv, "venv", "-q", "--clear", at)
    desk.shell.run(uv, "pip", "install", "-q", "--python", at / "bin" / "python", "--require-hashes", "-r", _S3_LOCK)
    (at / "made").touch()


def write_classpath(jars: list[pathlib.Path], to: pathlib.Path) -> None:
    """A jar of nothing but a manifest; its lines are 72 bytes at most, continued by a space."""
    line = f"Class-Path: {' '.join(map(str, jars))}"
    folded = "\r\n ".join([line[:70], *(line[at : at + 69] for at in range(70, len(line), 69))])
    with zipfile.ZipFile(to, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\n{folded}\r\n\r\n")
