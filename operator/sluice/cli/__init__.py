"""The `sluice` command: one file per verb, each with `add` (its words) and `run` (what it does, the exit code)."""
