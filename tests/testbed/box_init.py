"""The first process of a box: makes it look like a machine of its own, then keeps its daemons running.

Started by :mod:`testbed.box` inside fresh namespaces, a description (JSON) as its argument. It waits for one line on
its standard input (the wires are in place); if the one who started it is gone before that, it ends and the box with it.
As process 1 of the box it also takes in orphans; when it is killed, everything in the box dies with it.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
from typing import Any

_RESTART_AFTER_S = 1.0


def main(description: str) -> None:
    """Sets the box up and looks after it until it is killed."""
    spec = json.loads(pathlib.Path(description).read_text())
    _furnish(spec)
    if not sys.stdin.readline():
        sys.exit("the one who started this box is gone")
    for sysctl, value in spec["sysctls"].items():
        pathlib.Path("/proc/sys", *sysctl.split(".")).write_text(value)
    daemons = {_start(daemon): daemon for daemon in spec["daemons"]}
    while True:
        _look_after(daemons)


def _furnish(spec: dict[str, Any]) -> None:
    socket.sethostname(spec["name"])
    _mount("--make-rshared", "/")  # containers may share mounts with the box, never with the host
    for directory in spec["fresh"]:
        _mount("-t", "tmpfs", "tmpfs", directory)
    for directory, of_host in spec["own"].items():
        pathlib.Path(of_host).mkdir(parents=True, exist_ok=True)
        _mount("--bind", of_host, directory)
    for directory, of_host in spec["borrowed"].items():
        _mount("-o", "bind,ro", of_host, directory)
    pathlib.Path("/run/lock").mkdir(exist_ok=True)


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def _start(daemon: dict[str, Any]) -> int:
    while daemon["wait_for"] and not pathlib.Path(daemon["wait_for"]).exists():
        time.sleep(0.02)
    with pathlib.Path(daemon["log"]).open("ab") as log:
        started = subprocess.Popen(
            daemon["command"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **daemon["env"]},
            pass_fds=daemon["pass_fds"],
            start_new_session=True,
        )
    return started.pid


def _look_after(daemons: dict[int, dict[str, Any]]) -> None:
    if not daemons:
        time.sleep(3600)
        return
    pid, status = os.wait()
    daemon = daemons.pop(pid, None)
    if daemon is None:  # an orphan that came to us; waiting was all it needed
        return
    print(f"{daemon['command'][0]} ended with status {status}, starting it again", flush=True)
    time.sleep(_RESTART_AFTER_S)
    daemons[_start(daemon)] = daemon


if __name__ == "__main__":
    main(sys.argv[1])
