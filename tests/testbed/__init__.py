"""A real Kubernetes on one Linux machine: no Docker engine, no registry, nothing of the host touched.

``python -m testbed up`` brings it up, :class:`testbed.cluster.Cluster` is the same for tests. The parts, in the order
in which they come up: :mod:`testbed.machine` looks whether this can work here, :mod:`testbed.binaries` and
:mod:`testbed.images` build what runs (once, into the cache), :mod:`testbed.box` makes the isolated machines,
:mod:`testbed.network` wires them, :mod:`testbed.control_plane` and :mod:`testbed.node` say what runs in each,
:mod:`testbed.addons` what runs on Kubernetes, and :mod:`testbed.experiments` breaks it on purpose.
"""
