"""A plain Spark job whose executors wait at a gate: what placement stands on."""

import itertools
import json

from demo import plain_spark


def gated_executors(kube, namespace, job, count):
    def look():
        found = [pod for pod in plain_spark.executors(kube, namespace, job) if plain_spark.is_gated(pod)]
        return found if len(found) == count else None

    return plain_spark.until(f"{count} executors at the gate", look)


def batches_on(kube, namespace, job, executors, after=-1):
    def look():
        told = plain_spark.progress(kube, namespace, job)
        return [b["batch"] for b in told if b["executors"] == executors and b["batch"] > after][2:]

    return plain_spark.until(f"three batches on {executors} executors after batch {after}", look)


def where(kube, namespace, pod):
    return kube.kubectl("-n", namespace, "get", "pod", pod, "-o", "jsonpath={.spec.nodeName}")


def real_nodes(kube):
    listed = json.loads(kube.kubectl("get", "nodes", "-l", "type!=kwok", "-o", "json"))["items"]
    return sorted(node["metadata"]["labels"]["kubernetes.io/hostname"] for node in listed)


def test_gated_executors_go_where_they_are_bound_and_a_lost_one_comes_back_gated(kube, namespace):
    job = plain_spark.Job("gates", plain_spark.RATE, conf=plain_spark.S3)
    plain_spark.empty_bucket(kube)
    plain_spark.submit(kube, namespace, job)
    waiting = gated_executors(kube, namespace, job, 2)
    reasons = [condition["reason"] for pod in waiting for condition in pod["status"]["conditions"]]
    assert set(reasons) == {"SchedulingGated"}

    nodes = itertools.cycle(reversed(real_nodes(kube)))
    bound = {pod["metadata"]["name"]: next(nodes) for pod in waiting}
    for pod, node in bound.items():
        plain_spark.lift(kube, namespace, pod, node)
    last = batches_on(kube, namespace, job, 2)[-1]
    assert {pod: where(kube, namespace, pod) for pod in bound} == bound

    kube.kubectl("-n", namespace, "delete", "pod", waiting[0]["metadata"]["name"])
    replacement = gated_executors(kube, namespace, job, 1)[0]["metadata"]["name"]
    assert replacement not in bound
    node = next(nodes)
    plain_spark.lift(kube, namespace, replacement, node)
    batches_on(kube, namespace, job, 2, after=last)
    assert where(kube, namespace, replacement) == node
