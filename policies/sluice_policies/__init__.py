"""Pure decisions: frozen values in, frozen values out. No Kubernetes, no clock, no dice, no input or output.

Used by operator, agent, simulator, command line and tests alike. A new placement policy: copy
:mod:`sluice_policies.stay`, write its docstring (paper, objective, cost, what it never does), its `Args` and `plan`,
name it in REGISTRY, and give it a table test and a paper test; the promises of :mod:`sluice_policies.contract` are
then tested for it by themselves. A policy is imported when it is asked for: only some need numpy.
"""

import importlib
import typing

if typing.TYPE_CHECKING:
    from sluice_policies import contract

__version__ = "0.1.0"

#: Placement policies by name, and the module of each; `consolidate` is the default.
REGISTRY = {name: f"sluice_policies.{name}" for name in ("consolidate", "stay", "stromax", "turbostream")}


def policy(name: str) -> "contract.Policy":
    """The placement policy of that name; ValueError names those there are."""
    if name not in REGISTRY:
        raise ValueError(f"policy={name!r}: allowed is {', '.join(sorted(REGISTRY))}")
    return typing.cast("contract.Policy", importlib.import_module(REGISTRY[name]))
