"""Which cluster the demo, the e2e tests and the benches run on: the testbed's, or one of your own, and never another.

A cluster of your own is used only when `SLUICE_TESTBED=external` says so; then `KUBECONFIG` names it and
`SLUICE_REGISTRY` says where it finds the images.
"""

import dataclasses
import os
import pathlib
import subprocess

from house import trouble
from testbed import addons, binaries, cluster


@dataclasses.dataclass(frozen=True)
class Target:
    """A cluster by its kubeconfig; `own` when it is the user's."""

    kubeconfig: pathlib.Path
    own: bool

    def kubectl(self, *words: str, text: str | None = None) -> str:
        """What kubectl answers."""
        return addons.kubectl(self.kubeconfig, *words, text=text)

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        """A kubectl that takes its time: it reads what is written to it, and what it says can be read."""
        command = [str(binaries.kubectl()), "--kubeconfig", str(self.kubeconfig), *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)

    def furnish(self) -> None:
        """Sees to it that the add-ons are there."""
        addons.apply(self.kubeconfig, own_cluster=self.own)
        addons.wait(self.kubeconfig, own_cluster=self.own)


def is_own() -> bool:
    """Whether the user asked for a cluster of their own."""
    wish = os.environ.get("SLUICE_TESTBED", "")
    if wish not in ("", "external"):
        raise trouble.Trouble(f"SLUICE_TESTBED is {wish!r}; allowed are unset (the testbed) and 'external'")
    return wish == "external"


def connect() -> Target:
    """The cluster to use; Trouble when what was asked for is not there."""
    if not is_own():
        testbed = cluster.Cluster()
        if not testbed.running():
            raise trouble.Trouble("the testbed is not up; `make cluster` brings it up")
        return Target(testbed.kubeconfig, own=False)
    for name in ("KUBECONFIG", "SLUICE_REGISTRY"):
        if not os.environ.get(name):
            raise trouble.Trouble(f"SLUICE_TESTBED=external needs {name}: which cluster, and where it finds the images")
    kubeconfig = pathlib.Path(os.environ["KUBECONFIG"])
    if not kubeconfig.is_file():
        raise trouble.Trouble(f"KUBECONFIG is {str(kubeconfig)!r}; it must name one file")
    return Target(kubeconfig, own=True)
