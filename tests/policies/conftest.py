"""Compiles the kernels once, before any test's clock runs: the first time on a machine that takes half a minute."""

from policies import clusters
from sluice.cli import arguments

for _name, _settings in (("turbostream", ()), ("consolidate", ()), ("consolidate", ("level=best",))):
    arguments.planner(_name, _settings)(clusters.two_pairs())
    arguments.planner(_name, _settings)(clusters.torn_pairs())
