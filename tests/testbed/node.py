"""What runs in a node's box: containerd, kubelet and the service proxy, each with the configuration they need here."""

import json
import pathlib

from testbed import box, cgroups, control_plane, network

SOCKET = "/run/containerd/containerd.sock"
SYSCTLS = {"net.ipv4.ip_forward": "1"}
PAUSE_IMAGE = "localhost/pause:1"
_POD_LINK = (("portmap", "portMappings"), ("bandwidth", "bandwidth"))


def daemons(name: str, at: pathlib.Path, binaries: pathlib.Path, pki: pathlib.Path, address: str) -> list[box.Daemon]:
    """The daemons of a node, in the order in which they start."""
    at.mkdir(parents=True, exist_ok=True)
    (at / "cni").mkdir(exist_ok=True)
    (at / "cni" / "10-testbed.conflist").write_text(json.dumps(_pod_network(name)))
    (at / "containerd.toml").write_text(_containerd(at))
    (at / "kubelet.json").write_text(json.dumps(_kubelet(name, pki, at)))
    (at / "resolv.conf").write_text("")  # no name server outside is reachable from here
    kubelet = (
        str(binaries / "kubelet"),
        f"--config={at}/kubelet.json",
        f"--kubeconfig={pki}/{name}.kubeconfig",
        f"--hostname-override={name}",
        f"--node-ip={address}",
        "--node-labels=topology.kubernetes.io/zone=testbed",
    )
    return [
        box.Daemon("containerd", ("containerd", "--config", str(at / "containerd.toml"))),
        box.Daemon("kubelet", kubelet, wait_for=SOCKET),  # it ends when the socket is not there yet
        control_plane.proxy(binaries, pki, at, name),
    ]


def _pod_network(name: str) -> dict[str, object]:
    ranges = [[{"subnet": network.pod_range(name)}]]
    link = {
        "type": "ptp",  # a wire per pod and a route on the node: no bridge, no br_netfilter
        "ipMasq": False,
        "mtu": 1500,
        "ipam": {"type": "host-local", "ranges": ranges, "routes": [{"dst": "0.0.0.0/0"}]},
    }
    more = [{"type": kind, "capabilities": {key: True}} for kind, key in _POD_LINK]
    return {"cniVersion": "0.4.0", "name": "testbed", "plugins": [link, *more]}


def _containerd(at: pathlib.Path) -> str:
    # restrict_oom_score_adj: without CAP_SYS_RESOURCE every sandbox fails with "can't get final child's PID".
    return f"""version = 2
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{at}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
"""


def _kubelet(name: str, pki: pathlib.Path, at: pathlib.Path) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "x509": {"clientCAFile": f"{pki}/ca.crt"},
            "webhook": {"enabled": True},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/sluice/{name}",
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "failSwapOn": False,
        "clusterDNS": ["10.96.0.10"],
        "clusterDomain": "cluster.local",
        "tlsCertFile": f"{pki}/{name}-serving.crt",
        "tlsPrivateKeyFile": f"{pki}/{name}-serving.key",
        "resolvConf": f"{at}/resolv.conf",
        "volumePluginDir": "/var/lib/kubelet/plugins-volume",  # the default would be made on the host
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,  # images came by hand and must stay
        "enforceNodeAllocatable": ["pods"],
        "serializeImagePulls": False,
        "nodeStatusUpdateFrequency": "5s",
        "maxPods": 110,
        # Below slowed pods cgroup v1 takes no limit higher than theirs: no pod with one could start.
        "cpuCFSQuota": cgroups.unified(),
    }
