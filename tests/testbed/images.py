"""Builds every image on the machine, side by side, without an engine or a registry.

The base is made by debootstrap and trusts what this machine trusts. Each image is built in its own layers (cached by
buildah) and written as an OCI layout, marked with the hash of all that went into it: same input, nothing to do.
"""

import dataclasses
import hashlib
import os
import pathlib
import shutil

from house import paths, shell, spark, stages
from testbed import binaries, oci, versions

HERE = pathlib.Path(__file__).with_name("images")
_BASE_PACKAGES = "ca-certificates"
_DEBIAN = "bookworm"
_BUILT_MARK = "built-from"


@dataclasses.dataclass(frozen=True)
class Image:
    """One image: its Dockerfile, and the files of the tree that go into it."""

    name: str
    tag: str
    dockerfile: pathlib.Path
    inputs: tuple[pathlib.Path, ...]
    on_base: bool = True
    on: "Image | None" = None  # another image of ours, in the base's stead

    def ref(self) -> str:
        """What a manifest calls it. `SLUICE_REGISTRY` says where a cluster of your own finds the images."""
        return f"{os.environ.get('SLUICE_REGISTRY', 'localhost')}/{self.name}:{self.tag}"

    def key(self) -> str:
        """The hash of all that goes into the image."""
        digest = hashlib.sha256(self._key_below().encode())
        for file in (self.dockerfile, *_files(self.inputs)):
            digest.update(str(file.relative_to(paths.ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
        return digest.hexdigest()[:16] + _built_parts(self.name)

    def _key_below(self) -> str:
        if self.on:
            return self.on.key()
        return base_key() if self.on_base else ""

    def local(self) -> str:
        """What this machine calls it, whatever a manifest does."""
        return f"localhost/{self.name}:{self.tag}"

    def layout(self) -> pathlib.Path:
        """The built image as a folder of layers (an OCI layout)."""
        return paths.CACHE / "images" / self.name

    def built(self) -> bool:
        """Whether the cache has it as it is now."""
        mark = self.layout() / _BUILT_MARK
        return mark.exists() and mark.read_text() == self.key()

    def build(self, desk: stages.Desk) -> None:
        """Builds the image and writes what changed of it into its layout."""
        layout, name = self.layout(), self.local()
        context = self._context(desk)
        below = self.on.local() if self.on else base_ref()
        args = ["--build-arg", f"BASE_IMAGE={below}"] if self.on_base else []
        desk.shell.run(
            *_buildah("bud", "--layers", "--isolation", "chroot", "--network", "host", "--pull-never"),
            *args, "-t", name, "-f", self.dockerfile, context, env=_env(),
        )  # fmt: skip
        (layout / _BUILT_MARK).unlink(missing_ok=True)
        layout.mkdir(parents=True, exist_ok=True)
        desk.shell.run(*_buildah("push", "--disable-compression", name, f"oci:{layout}:{self.tag}"), env=_env())
        oci.prune(layout)
        (layout / _BUILT_MARK).write_text(self.key())

    def _context(self, desk: stages.Desk) -> pathlib.Path:
        if self.name not in _PREPARE and (self.dockerfile.parent.parent != HERE or self.name == "s3"):
            return paths.ROOT
        context = paths.CACHE / "context" / self.name
        shutil.rmtree(context, ignore_errors=True)
        shutil.copytree(self.dockerfile.parent, context, ignore=shutil.ignore_patterns("target"))
        if self.name in _PREPARE:
            _PREPARE[self.name](desk, context)
        return context


def _files(inputs: tuple[pathlib.Path, ...]) -> list[pathlib.Path]:
    files: list[pathlib.Path] = []
    for path in inputs:
        found = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        files += [file for file in found if "__pycache__" not in file.parts and "target" not in file.parts]
    return sorted(files)


def _built_parts(name: str) -> str:
    return "-" + binaries.OTHERS.directory.name[-12:] if name == "coredns" else ""


def _pause(desk: stages.Desk, context: pathlib.Path) -> None:
    desk.shell.run("gcc", "-Os", "-static", "-o", context / "pause", context / "pause.c")


def _coredns(desk: stages.Desk, context: pathlib.Path) -> None:
    desk.shell.run("cp", binaries.OTHERS.directory / "coredns", context)


def _kafka(desk: stages.Desk, context: pathlib.Path) -> None:
    jars = context / "jars"
    words = "mvn -B -q dependency:copy-dependencies -DincludeScope=runtime".split()
    desk.shell.run(*words, f"-DoutputDirectory={jars}", f"-Dmaven.repo.local={paths.CACHE / 'maven'}", cwd=context)
    desk.shell.run("sha256sum", "--quiet", "-c", context / "jars.sha256", cwd=jars)


def _plugin(desk: stages.Desk, context: pathlib.Path) -> None:
    """The jar alone: its tests are `make jvm`'s."""
    local = (f"-Dmaven.repo.local={paths.CACHE / 'maven'}", f"-Dspark.classpath={spark.classpath()}")
    desk.shell.run(*"mvn -B -q -Dmaven.test.skip=true package".split(), *local, cwd=context)


_PREPARE = {"pause": _pause, "coredns": _coredns, "kafka": _kafka, "plugin": _plugin}


def _own(name: str, tag: str, *more: pathlib.Path, on_base: bool = True) -> Image:
    return Image(name, tag, HERE / name / "Dockerfile", (HERE / name, *more), on_base)


_POLICIES = paths.ROOT / "policies" / "sluice_policies"
_LOCKS = paths.ROOT / "requirements"
_SPARK = paths.ROOT / "images" / "spark"
_AGENT = paths.ROOT / "images" / "agent"

PAUSE = _own("pause", "1", on_base=False)
COREDNS = _own("coredns", "1", on_base=False)
KAFKA = _own("kafka", versions.KAFKA)
PROMETHEUS = _own("prometheus", "1")
S3 = _own("s3", "1", _LOCKS / "s3.txt")
SPARK = Image(
    "spark",
    versions.SPARK,
    _SPARK / "Dockerfile",
    (
        _LOCKS / "build.txt",
        _LOCKS / "spark.txt",
        *(_SPARK / n for n in ("ivy.xml", "jars.sha256", "entrypoint.sh", "decom.sh")),
    ),
)
_PLUGIN = _SPARK / "plugin"
PLUGIN = Image("plugin", "dev", _PLUGIN / "Dockerfile", (_PLUGIN / "pom.xml", _PLUGIN / "src" / "main"))
AGENT = Image("agent", "dev", _AGENT / "Dockerfile", (_POLICIES, _AGENT / "sluice_agent"))
OPERATOR = Image(
    "operator",
    "dev",
    paths.ROOT / "Dockerfile",
    (_LOCKS / "operator.txt", _POLICIES, paths.ROOT / "operator" / "sluice"),
)
_PIPELINES = paths.ROOT / "crds" / "examples"
EXAMPLES = Image(
    "examples",
    "dev",
    paths.ROOT / "images" / "examples" / "Dockerfile",
    (*sorted(_PIPELINES.glob("*.py")), *_PIPELINES.glob("*.java")),
    on=SPARK,
)
EXAMPLES_NEXT = Image("examples-next", "dev", HERE / "examples-next" / "Dockerfile", (), on=EXAMPLES)
ALL = (SPARK, EXAMPLES, EXAMPLES_NEXT, KAFKA, PROMETHEUS, OPERATOR, S3, PLUGIN, AGENT, COREDNS, PAUSE)


def base_key() -> str:
    """The hash of what the base is made of: release, packages, and the authorities this machine trusts."""
    text = f"{_DEBIAN} {_BASE_PACKAGES} " + "".join(file.read_text() for file in _trusted())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def base_ref() -> str:
    """The base image under its local name."""
    return f"localhost/base:{base_key()}"


def base_built() -> bool:
    """Whether the cache has the base."""
    return _base_mark().exists()


def build_base(desk: stages.Desk) -> None:
    """Makes a minimal Debian with this machine's own package source and authorities."""
    rootfs = paths.CACHE / "base-rootfs"
    shutil.rmtree(rootfs, ignore_errors=True)
    rootfs.parent.mkdir(parents=True, exist_ok=True)
    isolated = shell.Shell(desk.shell.log, ("unshare", "-m", "--"))  # its mounts are its own
    isolated.run("debootstrap", "--variant=minbase", f"--include={_BASE_PACKAGES}", _DEBIAN, rootfs, *_mirror())
    for authority in _trusted():
        shutil.copy(authority, rootfs / "usr/local/share/ca-certificates")
    isolated.run("chroot", rootfs, "update-ca-certificates")
    shutil.rmtree(rootfs / "var/cache/apt/archives", ignore_errors=True)
    dockerfile = paths.CACHE / "base.Dockerfile"
    dockerfile.write_text('FROM scratch\nCOPY . /\nCMD ["bash"]\n')
    desk.shell.run(*_buildah("bud", "--isolation", "chroot", "-t", base_ref(), "-f", dockerfile, rootfs), env=_env())
    shutil.rmtree(rootfs)
    _base_mark().touch()


def _base_mark() -> pathlib.Path:
    return paths.CACHE / f"base-{base_key()}"


def _trusted() -> list[pathlib.Path]:
    return sorted(pathlib.Path("/usr/local/share/ca-certificates").glob("*.crt"))


def _mirror() -> list[str]:
    """The machine's own package source, so that what it reaches is what the base reaches."""
    said = shell.read("apt-get", "indextargets", "--format", "$(REPO_URI) $(SUITE)", "Identifier: Packages")
    for line in said.splitlines():
        source, _, suite = line.partition(" ")
        if suite == _DEBIAN and "security" not in source:
            return [source]
    return []


def _buildah(*words: str | pathlib.Path) -> list[str | pathlib.Path]:
    """In a mount namespace of its own: buildah leaves its store mounted otherwise."""
    at = paths.CACHE / "buildah"
    where: list[str | pathlib.Path] = ["--root", at / "root", "--runroot", at / "run", "--storage-driver", "overlay"]
    return ["unshare", "-m", "--", "buildah", *where, *words]


def _env() -> dict[str, str]:
    temporary = paths.CACHE / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {"TMPDIR": str(temporary)}
