"""The plugin's jar, for the benches that measure it on this machine: built from this tree, once a run."""

import functools

from house import stages, testing, trouble


@functools.cache
def build() -> None:
    """With the tools for it."""
    stages.run("JVM tools", testing.jvm_stages())
    if testing.build_plugin():
        raise trouble.Trouble("the plugin does not build")
