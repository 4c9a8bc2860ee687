"""The house: what `make` runs. Standard library only, since it is what installs everything else.

Every target is a list of :mod:`house.stages`; the cluster tool (:mod:`testbed`) shows its work the same way.
"""
