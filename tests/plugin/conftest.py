"""Tests of the plugin inside a real Spark: a fake agent, and applications in processes of their own."""

import pathlib
from collections.abc import Iterator

import pytest

from plugin import agent, drivers


@pytest.fixture
def fake_agent(tmp_path: pathlib.Path) -> Iterator[agent.FakeAgent]:
    """An agent whose gate is open."""
    with agent.FakeAgent(tmp_path / "agent") as made:
        yield made


@pytest.fixture(autouse=True, scope="session")
def _the_jar_is_built() -> None:
    missing = [jar.name for jar in drivers.JARS if not jar.exists()]
    if missing:
        pytest.fail(f"{missing} not built: run `make jvm`, which builds them first")


@pytest.fixture(autouse=True, scope="session")
def _one_compiler() -> Iterator[None]:
    """A third of so short a life would go into the JVM's second one; benches, which start the same drivers, keep it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
        yield
