"""Builds the Kubernetes programs from Go modules, once per version, into the cache.

One multi-call binary holds the control plane, the node programs, etcd and kubectl: they share most of their code, and
the build takes half the time. Sources and checksums are in `go/`.
"""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from house import paths, stages, trouble
from testbed import versions

GO = pathlib.Path(__file__).with_name("go")
_CALLED = "etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl".split()
_OLDEST_GO = (1, 24)


@dataclasses.dataclass(frozen=True)
class Program:
    """Something Go builds: from a folder here, or by module path and version from the module proxy."""

    name: str
    source: str
    flags: str = ""

    @property
    def directory(self) -> pathlib.Path:
        """Where it is built to; the name holds all that decides its content."""
        text = f"{self.source} {self.flags}"
        folder = GO / self.source
        if folder.is_dir():
            text += "".join(file.read_text() for file in sorted(folder.iterdir()))
        return paths.CACHE / "bin" / f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def built(self) -> bool:
        """Whether the cache has it."""
        return (self.directory / self.name).exists()

    def build(self, desk: stages.Desk) -> None:
        """Builds it and puts it into the cache whole."""
        _check_go()
        part = self.directory.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        flags = ["-trimpath", "-ldflags", f"-s -w {self.flags}"]
        folder = GO / self.source
        if folder.is_dir():
            desk.shell.run("go", "build", *flags, "-o", part / self.name, ".", cwd=folder, env=_env())
        else:
            desk.shell.run("go", "install", *flags, self.source, env={**_env(), "GOBIN": str(part)})
        part.rename(self.directory)


def _kubernetes_flags() -> str:
    major, minor, _ = versions.KUBERNETES.split(".")
    at = "k8s.io/component-base/version"
    version = f"-X {at}.gitVersion=v{versions.KUBERNETES} -X {at}.gitMajor={major} -X {at}.gitMinor={minor}"
    return f"{version} -X k8s.io/client-go/pkg/version.gitVersion=v{versions.KUBERNETES}"


KUBE = Program("kube", "kube", _kubernetes_flags())
COREDNS = Program("coredns", "coredns")
KWOK = Program("kwok", f"sigs.k8s.io/kwok/cmd/kwok@v{versions.KWOK}")
HELM = Program("helm", f"helm.sh/helm/v3/cmd/helm@v{versions.HELM}")
ALL = (KUBE, COREDNS, KWOK, HELM)


def directory() -> pathlib.Path:
    """One folder with every program under its own name."""
    return paths.CACHE / "bin" / "current"


def link() -> None:
    """Makes the names that the multi-call binary answers to, and one place for the rest."""
    part = directory().with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name in _CALLED:
        (part / name).symlink_to(KUBE.directory / KUBE.name)
    for program in (KWOK, HELM):
        (part / program.name).symlink_to(program.directory / program.name)
    if directory().exists():
        shutil.rmtree(directory())
    part.rename(directory())


def kubectl() -> pathlib.Path:
    """The kubectl that fits the testbed; before that is built, the machine's own."""
    return directory() / "kubectl" if directory().exists() else pathlib.Path("kubectl")


def _env() -> dict[str, str]:
    """Go's caches lie in ours, writable so that they can be thrown away; no C compiler is needed."""
    at = paths.CACHE / "go"
    flags = f"{os.environ.get('GOFLAGS', '')} -modcacherw".strip()
    return {"GOPATH": str(at), "GOCACHE": str(at / "build"), "CGO_ENABLED": "0", "GOFLAGS": flags}


def _check_go() -> None:
    wanted = ".".join(map(str, _OLDEST_GO))
    if shutil.which("go") is None:
        raise trouble.Trouble(f"`go` is not on the PATH; building Kubernetes needs Go {wanted} or newer")
    said = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"go(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST_GO:
        raise trouble.Trouble(f"Go is {said.strip()!r}; building Kubernetes needs Go {wanted} or newer")
