"""What objects need to know beside the job: a value that the operator makes of its settings."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """The cluster as a job's pods meet it."""

    agent_image: str = ""  # empty: no agent beside the driver
    plugin_image: str = ""  # empty: no plugin in the driver
    driver_role: str = "sluice-driver"  # the ClusterRole that lets a driver make its executors
    api_server_url: str = "k8s://https://kubernetes.default.svc"  # as Spark writes it
    gate_timeout_s: float = 30.0  # how long the agent lets an executor wait for the operator
    placing: bool = True  # False: nobody may read nodes, so no executor waits for a place

    @property
    def plugged(self) -> bool:
        """Whether drivers get the plugin; it is nothing without the agent."""
        return bool(self.agent_image and self.plugin_image)
