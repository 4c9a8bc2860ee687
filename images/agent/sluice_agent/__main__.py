"""``python -m sluice_agent``: the sidecar's front door. it tells its version; there is no plugin to serve yet."""

import argparse

import sluice_agent


def main() -> None:
    """Reads the words and answers."""
    parser = argparse.ArgumentParser(prog="sluice_agent", description="The sidecar of a StreamJob's driver.")
    parser.add_argument("--version", action="version", version=f"sluice_agent {sluice_agent.__version__}")
    parser.parse_args()
    parser.error("this build has no agent to run yet; --version is what it answers")


if __name__ == "__main__":
    main()
