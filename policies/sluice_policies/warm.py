"""``python -m sluice_policies.warm``: compiles every kernel, so that an image holds the machine code.

Run when an image is built, with NUMBA_CACHE_DIR set to where it shall lie and NUMBA_CPU_NAME=generic, which makes it
fit any CPU of the architecture. Where nothing was kept, the first plan takes the half minute that this takes.
"""

from sluice_policies import consolidate, model, turbostream


def main() -> None:
    """Plans two tiny clusters with every policy that has kernels."""
    nodes = (model.Node("n1", 2), model.Node("n2", 2))
    tasks = tuple(model.Task(name) for name in "abcd")
    edges = (model.Edge("a", "b", 2), model.Edge("c", "d", 2), model.Edge("b", "c", 1))
    fresh = model.Snapshot(nodes, tasks, edges)
    torn = fresh.placed({"a": "n1", "b": "n2", "c": "n1", "d": "n2"})
    for snapshot in (fresh, torn):
        consolidate.plan(snapshot)
        consolidate.plan(snapshot, consolidate.Args(level="best"))
        turbostream.plan(snapshot)


if __name__ == "__main__":
    main()
