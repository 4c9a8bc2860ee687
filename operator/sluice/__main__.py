"""``python -m sluice``: the operator's front door. So far it tells its version; there is no cycle to run yet."""

import argparse

import sluice


def main() -> None:
    """Reads the words and answers."""
    parser = argparse.ArgumentParser(prog="sluice", description="A Kubernetes operator for Spark streaming jobs.")
    parser.add_argument("--version", action="version", version=f"sluice {sluice.__version__}")
    parser.parse_args()
    parser.error("this build has no operator to run yet; --version is what it answers")


if __name__ == "__main__":
    main()
