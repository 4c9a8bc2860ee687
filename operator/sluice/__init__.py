"""Sluice, the operator: watches StreamJobs, observes, plans, acts.

Every event only wakes the cycle of its job. The cycle observes (reads only) into one frozen value; the plan is a pure
function of it and returns ordered steps; act is the only writer. Decisions come from :mod:`sluice_policies`, which
knows neither Kubernetes nor a clock. Nothing flows back but through the cluster, where the next cycle sees it.
"""

__version__ = "0.1.0"
