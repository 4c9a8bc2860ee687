"""The examples are what a user would write: whole, small, and with nothing in them that does not exist."""

import argparse
import ast
import importlib.util

import pytest

from crds import schema
from sluice.values import quantities, streamjob
from testbed import images

MANIFESTS = sorted(schema.EXAMPLES.glob("*.yaml"))
NAMES = [file.stem for file in MANIFESTS]
PYTHON = "local:///opt/pipelines/"


def arguments():
    found = importlib.util.spec_from_file_location("arguments", schema.EXAMPLES / "arguments.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def job_of(name):
    (job,) = [found for found in schema.documents(schema.EXAMPLES / f"{name}.yaml") if found["kind"] == "StreamJob"]
    return job


def claims_of(name):
    found = schema.documents(schema.EXAMPLES / f"{name}.yaml")
    return [claim["metadata"]["name"] for claim in found if claim["kind"] == "PersistentVolumeClaim"]


def programs():
    return [f for f in sorted(schema.EXAMPLES.glob("*.py")) if f.stem not in ("arguments", "streams")]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_only_fields_that_exist_and_is_read(name):
    job = job_of(name)
    assert schema.unknown(schema.root(), job | {"metadata": {}}) == []
    assert job["metadata"]["name"] == name
    assert streamjob.read_spec(job["spec"]).image == images.EXAMPLES.ref()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_brings_the_claim_of_its_checkpoint(name):
    claim = streamjob.read_spec(job_of(name)["spec"]).checkpoint.claim
    assert claims_of(name)[:1] == ([claim] if claim else [])


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_a_program_that_is_there_with_options_it_has(name):
    application = streamjob.read_spec(job_of(name)["spec"]).application
    if application.main_class:
        assert (schema.EXAMPLES / f"{application.main_class.rsplit('.', 1)[1]}.java").exists()
        return
    assert (schema.EXAMPLES / application.file.removeprefix(PYTHON)).exists()
    _, others = arguments().parser("").parse_known_args(application.args)
    program = (schema.EXAMPLES / application.file.removeprefix(PYTHON)).read_text()
    assert [word for word in others if word.startswith("--") and f'"{word}"' not in program] == []


@pytest.mark.parametrize("name", NAMES)
def test_an_example_fits_on_a_small_machine(name):
    spec = job_of(name)["spec"]
    for pod in ("driver", "executors"):
        (container,) = spec[pod]["template"]["spec"]["containers"]
        assert quantities.cpu_m(container["resources"]["requests"]["cpu"]) <= 200
        assert quantities.whole(spec[pod].get("memory", "1Gi")) <= 1 << 30


@pytest.mark.parametrize("file", programs(), ids=lambda file: file.stem)
def test_a_program_names_its_query_after_itself(file):
    # Without a name Spark would make up a folder for the checkpoint at each start.
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    named = [a.value for call in calls if _starts(call) for a in call.args if isinstance(a, ast.Constant)]
    assert file.stem in named


def _starts(call):
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("start", "queryName")


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_tells_of_every_example(name):
    assert f"| `{name}.yaml` |" in (schema.EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("5 seconds", {"processingTime": "5 seconds"}),
        ("now", {"availableNow": True}),
        ("realtime 5 seconds", {"realTime": "5 seconds"}),
    ],
)
def test_a_trigger_is_an_interval_or_now_or_real_time(text, means):
    assert arguments().trigger(text) == means


@pytest.mark.parametrize("text", ["rate", "kafka:", "files:/a", ""])
def test_a_source_that_is_none_is_named_with_what_is_allowed(text):
    parser = arguments().parser("")
    parser.error = _raise
    with pytest.raises(argparse.ArgumentTypeError, match=f"{text!r}; allowed are rate, kafka"):
        parser.parse_args(["--source", text])


def _raise(message):
    raise argparse.ArgumentTypeError(message)
