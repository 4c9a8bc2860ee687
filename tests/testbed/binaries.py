"""Builds the Kubernetes programs from Go modules, once per version, into the cache.

One multi-call binary holds the control plane, the node programs, etcd and kubectl: they share most of their code, and
the build takes half the time. The others are of one module, for what they share is then built once. Sources, versions
and checksums are in `go/`.
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
class Programs:
    """What Go builds at once: packages that a module here has or asks for."""

    module: str
    packages: tuple[str, ...] = (".",)
    flags: str = ""

    @property
    def directory(self) -> pathlib.Path:
        """Where they are built to; the name holds all that decides their content."""
        files = sorted(file for file in (GO / self.module).rglob("*") if file.is_file())
        text = " ".join((self.module, self.flags, *self.packages)) + "".join(file.read_text() for file in files)
        return paths.CACHE / "bin" / f"{self.module}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def built(self) -> bool:
        """Whether the cache has them."""
        return self.directory.exists()

    def build(self, desk: stages.Desk) -> None:
        """Builds them and puts them into the cache whole."""
        _check_go()
        part = self.directory.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        flags = ["-trimpath", "-ldflags", f"-s -w {self.flags}"]
        desk.shell.run("go", "build", *flags, "-o", f"{part}/", *self.packages, cwd=GO / self.module, env=_env())
        part.rename(self.directory)


def _kubernetes_flags() -> str:
    major, minor, _ = versions.KUBERNETES.split(".")
    at = "k8s.io/component-base/version"
    version = f"-X {at}.gitVersion=v{versions.KUBERNETES} -X {at}.gitMajor={major} -X {at}.gitMinor={minor}"
    return f"{version} -X k8s.io/client-go/pkg/version.gitVersion=v{versions.KUBERNETES}"


KUBE = Programs("kube", flags=_kubernetes_flags())
OTHERS = Programs("others", ("./coredns", "helm.sh/helm/v3/cmd/helm", "sigs.k8s.io/kwok/cmd/kwok"))
ALL = (KUBE, OTHERS)


def directory() -> pathlib.Path:
    """One folder with every program under its own name."""
    return paths.CACHE / "bin" / "current"


def link() -> None:
    """Makes the names that the multi-call binary answers to, and one place for the rest."""
    part = directory().with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name in _CALLED:
        (part / name).symlink_to(KUBE.directory / "kube")
    for name in ("helm", "kwok"):
        (part / name).symlink_to(OTHERS.directory / name)
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
