"""StreamJobs for tests: the smallest, and one that uses what there is."""

import dataclasses
import json
from typing import Any

from sluice import build
from sluice.values import streamjob

AROUND = build.Surroundings(agent_image="registry.example/sluice-agent:1")
PLUGGED = dataclasses.replace(AROUND, plugin_image="registry.example/sluice-plugin:1")
REVISION = "a1b2c3"

SMALLEST: dict[str, Any] = {
    "image": "registry.example/clicks:1",
    "application": {"file": "local:///opt/app/clicks.py"},
    "checkpoint": {"location": "s3a://bucket/clicks"},
}
FULL: dict[str, Any] = {
    "image": "registry.example/clicks:2",
    "imagePullPolicy": "Always",
    "imagePullSecrets": [{"name": "pull"}],
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/clicks"}},
    "application": {
        "file": "local:///opt/app/clicks.jar",
        "mainClass": "org.example.Clicks",
        "args": ["--topic", "clicks"],
        "packages": ["org.example:lib:1.0"],
        "pyFiles": ["local:///opt/app/udf.zip"],
    },
    "checkpoint": {
        "location": "/checkpoints/clicks",
        "volume": {"persistentVolumeClaim": {"claimName": "checkpoints"}},
    },
    "driver": {
        "cores": 2,
        "memory": "2Gi",
        "template": {
            "metadata": {"labels": {"team": "web", "sluice.dev/job": "other"}, "annotations": {"note": "kept"}},
            "spec": {
                "nodeSelector": {"disk": "ssd"},
                "containers": [
                    {
                        "name": "driver",
                        "env": [{"name": "TZ", "value": "UTC"}],
                        "resources": {"limits": {"cpu": "4", "memory": "9Gi"}},
                    },
                    {"name": "tail", "image": "tail:1"},
                ],
            },
        },
    },
    "executors": {
        "count": 3,
        "cores": 2,
        "memory": "4Gi",
        "template": {
            "spec": {
                "tolerations": [{"key": "spot", "operator": "Exists"}],
                "containers": [{"name": "executor", "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}],
                "volumes": [{"name": "scratch", "emptyDir": {}}],
            }
        },
    },
    "sparkConf": {"spark.sql.shuffle.partitions": "8", "spark.plugins": "org.example.Plugin"},
    "update": {"drainTimeout": "90s"},
}


def job(spec: dict[str, Any] | None = None, **more: Any) -> streamjob.StreamJob:
    """A job of namespace `shop`; `more` goes over the smallest spec."""
    spec = {**(spec or SMALLEST), **more}
    return streamjob.StreamJob("shop", "clicks", streamjob.read_spec(spec), uid="0b5e")


def objects(found: streamjob.StreamJob, around: build.Surroundings = AROUND) -> dict[str, Any]:
    """The objects of its first attempt, by kind."""
    return {manifest["kind"]: manifest for manifest in build.objects(found, REVISION, 1, around)}


def properties(found: streamjob.StreamJob) -> dict[str, str]:
    """What its drivers read as settings, separators unescaped."""
    lines = objects(found)["ConfigMap"]["data"]["spark.properties"].splitlines()
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def template(found: streamjob.StreamJob, around: build.Surroundings = AROUND) -> dict[str, Any]:
    """What its executors are made of."""
    pod: dict[str, Any] = json.loads(objects(found, around)["ConfigMap"]["data"]["executor.yaml"])
    return pod
