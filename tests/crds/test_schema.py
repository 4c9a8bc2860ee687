"""The CRD keeps its promises: described, bounded, small, and the same defaults as the code that reads a StreamJob."""

import json
import typing

import pytest

import sluice_policies
from crds import schema
from sluice.values import names, streamjob
from sluice_policies import latency

LARGEST_BYTES = 262_144  # of an annotation, and `kubectl apply` keeps the whole object in one
SMALLEST = {"image": "clicks:1", "application": {"file": "local:///a.py"}, "checkpoint": {"location": "s3a://b/c"}}
FIELDS = {path: node for path, node in schema.walk(schema.root()) if path != "metadata"}  # Kubernetes' own
OPEN = {f"spec.{pod}.template.{part}" for pod in ("driver", "executors") for part in ("metadata", "spec")} | {
    "status.orders"
}  # Kubernetes' own: a dry-run pod checks them; and what agents read, whole or not at all
OF_SPEC = [path for path in FIELDS if path.startswith("spec.")]

CHANGES = {
    "image": "clicks:2",
    "imagePullPolicy": "Always",
    "imagePullSecrets": [{"name": "pull"}],
    "serviceAccount.name": "mine",
    "serviceAccount.annotations": {"role": "r"},
    "application.file": "local:///b.py",
    "application.mainClass": "B",
    "application.args": ["x"],
    "application.packages": ["g:a:1"],
    "application.pyFiles": ["local:///c.py"],
    "mode": "RealTime",
    "checkpoint.location": "s3a://b/d",
    "checkpoint.volume.persistentVolumeClaim.claimName": "state",
    "driver.cores": 2,
    "driver.memory": "2Gi",
    "driver.template.metadata": {"labels": {"a": "b"}},
    "driver.template.spec": {"nodeSelector": {"a": "b"}},
    "executors.count": 2,
    "executors.min": 1,
    "executors.max": 2,
    "executors.maxPerNode": 1,
    "executors.cores": 2,
    "executors.memory": "2Gi",
    "executors.template.metadata": {"labels": {"a": "b"}},
    "executors.template.spec": {"nodeSelector": {"a": "b"}},
    "sparkConf": {"spark.a": "b"},
    "slo.batchLatency": "2s",
    "slo.lag": 10,
    "placement.mode": "Observe",
    "placement.policy": "stromax",
    "placement.near.matchLabels": {"app": "kafka"},
    "placement.near.matchExpressions": [{"key": "app", "operator": "Exists"}],
    "placement.maxMovesPerHour": 1,
    "rebalance.mode": "Off",
    "rebalance.lever.enabled": False,
    "rebalance.lever.keepOrder": True,
    "rebalance.latency.enabled": False,
    "rebalance.latency.by": "p99",
    "rebalance.timeout.enabled": False,
    "update.strategy": "Recreate",
    "update.drainTimeout": "61s",
    "update.warmUp": False,
    "update.rollback.batches": 3,
    "restart.policy": "Never",
    "restart.backoff.initial": "6s",
    "restart.backoff.max": "6m",
    "suspend": True,
}


def with_field(path, value):
    """The smallest spec and one field more."""
    changed = json.loads(json.dumps(SMALLEST))
    *outer, last = path.split(".")
    at = changed
    for name in outer:
        at = at.setdefault(name, {})
    at[last] = value
    return changed


def leaves():
    spec = schema.spec()
    inner = [path for path, node in schema.walk(spec) if "properties" not in node and path]
    return {path for path in inner if not path.endswith(("[]", "{}")) and "[]." not in path}


def test_the_kind_is_called_as_the_code_calls_it():
    spec, version = schema.crd()["spec"], schema.version()
    said = (spec["group"], version["name"], spec["names"]["kind"], spec["names"]["plural"])
    assert said == (names.GROUP, names.VERSION, names.KIND, names.PLURAL)
    assert schema.crd()["metadata"]["name"] == f"{names.PLURAL}.{names.GROUP}"


def test_kubectl_apply_takes_it():
    assert len(json.dumps(schema.crd())) < LARGEST_BYTES
    assert schema.FILE.stat().st_size < LARGEST_BYTES


@pytest.mark.parametrize("path", FIELDS)
def test_a_field_is_described_in_sentences(path):
    said = FIELDS[path].get("description", "")
    assert said
    assert said == said.strip()
    assert said.endswith((".", "…"))


@pytest.mark.parametrize("path", [path for path in FIELDS if path not in OPEN and path.startswith(("spec", "status"))])
def test_a_field_is_bounded(path):
    node = FIELDS[path]
    bounds = {"string": "maxLength", "array": "maxItems", "integer": "minimum", "number": "minimum"}
    bound = bounds.get(node["type"])
    if node["type"] == "object":
        bound = "maxProperties" if "additionalProperties" in node else "properties"
    allowed = {bound, "enum", "format"} if node["type"] == "integer" else {bound, "enum"}
    assert node["type"] == "boolean" or allowed & node.keys()


@pytest.mark.parametrize("path", [path for path in OF_SPEC if FIELDS[path]["type"] == "integer"])
def test_a_number_of_the_spec_has_a_largest_value(path):
    assert FIELDS[path]["minimum"] <= FIELDS[path].get("default", FIELDS[path]["minimum"]) <= FIELDS[path]["maximum"]


def test_only_templates_and_orders_are_open():
    assert {path for path, node in FIELDS.items() if schema.OPEN in node} == OPEN


def test_the_defaults_are_those_of_the_code():
    read = streamjob.read_spec(schema.defaulted(schema.spec(), SMALLEST))
    assert read == streamjob.read_spec(SMALLEST)
    application, checkpoint = streamjob.Application("local:///a.py"), streamjob.Checkpoint("s3a://b/c")
    assert read == streamjob.Spec("clicks:1", application, checkpoint)


def test_the_table_of_changes_has_every_field():
    assert set(CHANGES) == leaves()


@pytest.mark.parametrize("path", CHANGES)
def test_every_field_is_read(path):
    assert streamjob.read_spec(with_field(path, CHANGES[path])) != streamjob.read_spec(SMALLEST)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("spec.placement.mode", typing.get_args(streamjob.Mode)),
        ("spec.rebalance.mode", typing.get_args(streamjob.Mode)),
        ("spec.rebalance.latency.by", latency.STATISTICS),
        ("spec.rebalance.latency.by", typing.get_args(streamjob.Statistic)),
        ("spec.placement.policy", tuple(sluice_policies.REGISTRY)),
        ("spec.update.strategy", typing.get_args(typing.get_type_hints(streamjob.Update)["strategy"])),
        ("spec.restart.policy", typing.get_args(typing.get_type_hints(streamjob.Restart)["policy"])),
    ],
)
def test_the_words_of_a_choice_are_those_of_the_code(path, allowed):
    assert sorted(FIELDS[path]["enum"]) == sorted(allowed)


def test_the_longest_name_is_the_one_the_code_counts_on():
    (rule,) = schema.root()["x-kubernetes-validations"]
    assert f"self.metadata.name.size() <= {names.LONGEST_JOB} " in rule["rule"]


@pytest.mark.parametrize("path", [path for path, node in FIELDS.items() if "x-kubernetes-validations" in node])
def test_every_rule_answers_with_a_sentence_that_names_its_field(path):
    for rule in FIELDS[path]["x-kubernetes-validations"]:
        assert "spec." in rule["message"] or "metadata.name" in rule["message"]


def test_scale_looks_where_the_status_is():
    scale = schema.version()["subresources"]["scale"]
    for path in scale.values():
        assert path.removeprefix(".") in FIELDS
