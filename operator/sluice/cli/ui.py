"""`sluice ui JOB`: the Spark UI of whichever driver runs, on this machine, by `kubectl port-forward`."""

import argparse
import shutil
import subprocess

from sluice.cli import cluster
from sluice.values import names

_SPARK_UI_PORT = 4040


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("ui", help="the Spark UI of a job, at 127.0.0.1")
    parser.add_argument("job", help="a StreamJob")
    parser.add_argument("--port", type=int, default=_SPARK_UI_PORT, help=f"of this machine, default {_SPARK_UI_PORT}")
    cluster.add_words(parser, output=False)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """Comes back when it is interrupted, or the driver is gone."""
    asked = cluster.connect(said)
    phase = asked.job(said.job).get("status", {}).get("phase", "not looked at yet")
    if phase != "Running":
        raise ValueError(f"{said.job} is {phase}; only one that is Running has a Spark UI")
    if shutil.which("kubectl") is None:
        raise ValueError("kubectl is not on the PATH; it is what forwards the port")
    context = ["--context", said.context] if said.context else []
    where = f"service/{names.ui_service(said.job)}"
    print(f"Spark UI of {said.job}: http://127.0.0.1:{said.port} until you interrupt it", flush=True)
    command = ["kubectl", *context, "-n", asked.namespace, "port-forward", where, f"{said.port}:{_SPARK_UI_PORT}"]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise OSError("kubectl port-forward ended, see above")
    return ""
