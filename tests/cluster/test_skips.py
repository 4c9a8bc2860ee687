"""Where the cluster cannot run, its tests say so and why."""

import os
import shutil
import subprocess
import sys

import pytest

from house import paths

needs_user_namespaces = pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="plays a user who is not root: needs root and unshare"
)


@needs_user_namespaces
@pytest.mark.timeout(60)
@pytest.mark.parametrize("suite", ["tests/e2e/test_lifecycle.py", "tests/e2e/test_fake_nodes.py"])
def test_e2e_without_root_is_skipped_with_the_reason(suite):
    # A user namespace without a map: files are still ours, but we are nobody.
    command = ["unshare", "-U", sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", suite]
    env = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    done = subprocess.run(command, cwd=paths.ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "passed" not in done.stdout
    assert "SKIPPED" in done.stdout
    assert "the testbed needs root, for namespaces and cgroups; this is user 65534" in done.stdout
