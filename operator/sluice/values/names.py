"""The names that stand in the cluster: kinds, labels, annotations, objects. Deterministic, so that twice is once."""

GROUP = "sluice.dev"
VERSION = "v1alpha1"
KIND = "StreamJob"
PLURAL = "streamjobs"

JOB = "sluice.dev/job"  # label of every object of a job: its name
ROLE = "sluice.dev/role"  # label of its pods: DRIVER or EXECUTOR
REVISION = "sluice.dev/revision"  # label of driver, executors and ConfigMap
ATTEMPT = "sluice.dev/attempt"  # label of driver and executors: how often this revision was started
MANAGED = {"app.kubernetes.io/managed-by": "sluice"}  # label of every object that Sluice makes
DRIVER = "driver"
EXECUTOR = "executor"

LEAVES_BY = "sluice.dev/leaves-by"  # label of a driver that no eviction ends: HANDOVER
HANDOVER = "handover"
EXECUTORS_KEPT = "sluice.dev/executors-kept"  # label of the driver: so many executors no eviction ends
TEMPLATE = "sluice.dev/template"  # label of executors: which template they were made of
GATE = "sluice.dev/place"  # scheduling gate of an executor that waits for its node
PLACED = "sluice.dev/placed"  # annotation of an executor: the decision about its place, as JSON
RESTARTED = "sluice.dev/restarted-at"  # annotation of a StreamJob: a new text is a new revision

MANAGER = "sluice"  # fieldManager of every write
DRIVER_CONTAINER = "driver"
EXECUTOR_CONTAINER = "executor"
AGENT_CONTAINER = "sluice-agent"
LONGEST_JOB = 34  # Spark allows 47 for what precedes "-exec-1": 34, a dash, 6, a dash, 5


def driver_pod(job: str, revision: str, attempt: int) -> str:
    """The driver of one attempt; its executors are called the same, and `-exec-1` and so on."""
    return f"{job}-{revision}-{attempt}"


def config_map(job: str, revision: str) -> str:
    """What a revision is configured with; immutable."""
    return f"{job}-{revision}"


def lease(job: str) -> str:
    """Who runs the job."""
    return job


def account(job: str) -> str:
    """The ServiceAccount of a job that brings none of its own; its RoleBinding is called the same."""
    return f"{job}-driver"


def ui_service(job: str) -> str:
    """Where the Spark UI of the driver is reached."""
    return f"{job}-ui"


def disruption_budget(job: str) -> str:
    """What keeps executors from being evicted all at once, or before they are replaced."""
    return job


def driver_budget(job: str) -> str:
    """What keeps a driver from being evicted that another takes over from."""
    return f"{job}-driver"
