"""``python -m sluice_agent``: the sidecar's front door."""

import argparse
import logging
import os
import pathlib
import sys

import sluice_agent
from sluice_agent import client, main, settings


def start() -> int:
    """Reads the words and the environment, and runs; 1 with a sentence if they make no sense."""
    parser = argparse.ArgumentParser(prog="sluice_agent", description="The sidecar of a StreamJob's driver.")
    parser.add_argument("--version", action="version", version=f"sluice_agent {sluice_agent.__version__}")
    parser.add_argument("--server", default=_in_cluster(), help="the API server's address (default: the pod's cluster)")
    parser.add_argument("--account", default=client.ACCOUNT, type=pathlib.Path, help="the folder of token and ca.crt")
    words = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stdout)
    try:
        told = settings.read(os.environ)
    except ValueError as why:
        print(f"sluice_agent: {why}", file=sys.stderr)
        return 1
    try:
        main.run(told, lambda: client.Client(words.server, words.account))
    except OSError as why:
        print(f"sluice_agent: cannot start: {why}", file=sys.stderr)
        return 1
    return 0


def _in_cluster() -> str:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host or 'kubernetes.default.svc'}:{port}"


if __name__ == "__main__":
    sys.exit(start())
