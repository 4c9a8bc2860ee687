"""The loops of the placement policies, on arrays of numbers: tasks, nodes and terminals are places in an array here.

Written once, as plain Python over numpy arrays; :mod:`sluice_policies.kernels.compiled` has numba compile them where
it can. Only `turbostream` and `consolidate` import this package, so nothing else needs numpy.
"""
