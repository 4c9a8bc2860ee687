"""The real agent beside a real driver: started as the operator starts it, ordered through a fake API server."""

import pathlib
import subprocess

from agent import fake_api, processes, waiting

POD, ADDRESS = "clicks-5f3a9c-1", "127.76.65.54"


def folder(of: pathlib.Path) -> pathlib.Path:
    """What driver and agent share, with the template the driver starts with beside it."""
    (of / "agent").mkdir(parents=True)
    (of / "seed.json").write_text("{}")
    return of / "agent"


def start(api: fake_api.FakeApi, shared: pathlib.Path) -> subprocess.Popen[str]:
    """An agent; returns when the driver could find it."""
    (shared / "port").unlink(missing_ok=True)
    made = processes.start(
        api.url, shared.parent, SLUICE_POD=POD, SLUICE_POD_UID="u-1", SLUICE_POD_IP=ADDRESS,
        SLUICE_AGENT_DIR=str(shared), SLUICE_EXECUTOR_TEMPLATE=str(shared.parent / "seed.json"),
    )  # fmt: skip
    waiting.until((shared / "port").exists)
    return made


def order(api: fake_api.FakeApi, serial: int, **ours: object) -> None:
    """The operator's orders for this driver."""
    api.order({"version": 1, "serial": serial, "drivers": {POD: ours}})


def forget(api: fake_api.FakeApi) -> None:
    """What the last agent said is gone, so that the next one's word is its own."""
    (api.lease or {})["metadata"]["annotations"] = {}


def kill(process: "subprocess.Popen[str]") -> None:
    """As the kernel does when memory runs out."""
    process.kill()
    process.communicate()
