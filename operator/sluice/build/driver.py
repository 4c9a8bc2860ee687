"""The driver's pod: Spark in client mode, started as every Spark image expects; plugin and agent with it."""

from sluice.build import agent, budget, conf, merge, mounts, owner, plugin, pods
from sluice.build.surroundings import Surroundings
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob

_AFTER_DRAIN_S = 20  # for what Spark does at its end
_TEMPLATE = "spec.driver.template"


def pod(job: StreamJob, revision: str, attempt: int, around: Surroundings, *, beside: bool = False) -> Body:
    """The manifest; ValueError names what is wrong with the user's template."""
    metadata, theirs = pods.template(job.spec.driver.template, _TEMPLATE)
    account = job.spec.account.name or names.account(job.name)
    under = merge.lay(theirs, _defaults(job, account, around), f"{_TEMPLATE}.spec")
    ours = merge.lay(_must(job, revision, attempt, around), under)
    if beside:
        ours = merge.lay({"containers": [{"name": names.DRIVER_CONTAINER, "env": [plugin.ONLY_WITH_IT]}]}, ours)
    labels = {names.ROLE: names.DRIVER, names.REVISION: revision, names.ATTEMPT: str(attempt)}
    if not beside:  # else it is the other driver that says what the budgets keep
        labels[names.EXECUTORS_KEPT] = str(budget.one_goes(job.spec.executors.count))
    found = owner.metadata(job, names.driver_pod(job.name, revision, attempt), labels)
    main = {"kubectl.kubernetes.io/default-container": names.DRIVER_CONTAINER}
    found["labels"] = pods.notes(metadata.get("labels"), found["labels"], f"{_TEMPLATE}.metadata.labels")
    found["annotations"] = pods.notes(metadata.get("annotations"), main, f"{_TEMPLATE}.metadata.annotations")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": found, "spec": pods.secured(ours, f"{_TEMPLATE}.spec")}


def _defaults(job: StreamJob, account: str, around: Surroundings) -> Body:
    container = {
        "name": names.DRIVER_CONTAINER,
        "env": _env(job, around),
        "resources": {"requests": {"cpu": str(job.spec.driver.cores)}},
        "ports": [
            {"name": "driver-rpc", "containerPort": conf.DRIVER_PORT, "protocol": "TCP"},
            {"name": "blockmanager", "containerPort": conf.BLOCK_PORT, "protocol": "TCP"},
            {"name": "spark-ui", "containerPort": conf.UI_PORT, "protocol": "TCP"},
        ],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    return {**pods.defaults(account), "containers": [container], **_before(job, around)}


def _must(job: StreamJob, revision: str, attempt: int, around: Surroundings) -> Body:
    spec = job.spec
    size = f"{spec.driver.memory_bytes >> 20}Mi"
    container = {
        "name": names.DRIVER_CONTAINER,
        "image": spec.image,
        "imagePullPolicy": spec.image_pull_policy,
        "args": _words(job, names.driver_pod(job.name, revision, attempt), attempt, around),
        "env": _env(job, around),
        "resources": {"requests": {"memory": size}, "limits": {"memory": size}},
        "volumeMounts": [
            {"name": conf.VOLUME, "mountPath": conf.FOLDER, "readOnly": True},
            *mounts.volume_mounts(spec.checkpoint),
            *(plugin.volume_mounts() if around.plugged else ()),
        ],
    }
    volumes = [
        {"name": conf.VOLUME, "configMap": {"name": names.config_map(job.name, revision)}},
        *mounts.volumes(spec.checkpoint),
        *(plugin.volumes() if around.plugged else ()),
    ]
    return {
        "serviceAccountName": spec.account.name or names.account(job.name),
        "automountServiceAccountToken": True,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": round(spec.update.drain_timeout_s) + _AFTER_DRAIN_S,
        "imagePullSecrets": [{"name": name} for name in spec.image_pull_secrets],
        "containers": [container],
        "volumes": volumes,
        **_before(job, around),
    }


def _before(job: StreamJob, around: Surroundings) -> Body:
    """What starts before the driver: the jar is brought, then the agent is up."""
    if not around.agent_image:
        return {}
    jar = [plugin.container(around)] if around.plugged else []
    return {"initContainers": [*jar, agent.container(job, around)]}


def _words(job: StreamJob, name: str, attempt: int, around: Surroundings) -> list[str]:
    application = job.spec.application
    words = ["driver", "--properties-file", f"{conf.FOLDER}/{conf.PROPERTIES}"]
    theirs = plugin.properties(job) if around.plugged else {}
    literally = {key: "$$".join(value.split("$")) for key, value in theirs.items()}
    for key, value in sorted({**conf.of_the_pod(name, attempt), **literally}.items()):
        words += ["--conf", f"{key}={value}"]
    if application.main_class:
        words += ["--class", application.main_class]
    return [*words, application.file, *application.args]


def _env(job: StreamJob, around: Surroundings) -> list[Body]:
    address = {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}
    found = [{"name": name, "valueFrom": address} for name in ("POD_IP", "SPARK_DRIVER_BIND_ADDRESS")]
    return [*found, *(plugin.env(job) if around.plugged else ())]
