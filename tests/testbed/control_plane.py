"""What runs in the control box: etcd, the API server, its controllers and scheduler, a service proxy, and KWOK."""

import json
import pathlib

from testbed import box, network

SYSCTLS = {"net.ipv4.ip_forward": "1"}  # the switch reaches services through this box's proxy
_FAKE_NODES = "kwok.x-k8s.io/node=fake"
_HEAVY_CLIENT = ("--kube-api-qps=500", "--kube-api-burst=1000")  # 2,000 pods must not wait for a client's own limit


def daemons(binaries: pathlib.Path, pki: pathlib.Path, at: pathlib.Path) -> list[box.Daemon]:
    """The daemons of the control plane, in the order in which they start."""
    etcd = "http://127.0.0.1:2379"
    return [
        _daemon(
            binaries,
            "etcd",
            "--data-dir=/var/lib/etcd",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            "--listen-peer-urls=http://127.0.0.1:2380",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
        _api_server(binaries, pki, etcd),
        _controllers(binaries, pki),
        _daemon(
            binaries,
            "kube-scheduler",
            f"--kubeconfig={pki}/scheduler.kubeconfig",
            "--leader-elect=false",
            *_HEAVY_CLIENT,
        ),
        # Not a node, but it must find services: forwarded calls and webhooks go through here. It borrows node1's name.
        proxy(binaries, pki, at, "node1"),
        _daemon(
            binaries,
            "kwok",
            f"--kubeconfig={pki}/inside.kubeconfig",
            f"--manage-nodes-with-annotation-selector={_FAKE_NODES}",
            "--node-lease-duration-seconds=40",
        ),
    ]


def _api_server(binaries: pathlib.Path, pki: pathlib.Path, etcd: str) -> box.Daemon:
    return _daemon(
        binaries,
        "kube-apiserver",
        f"--etcd-servers={etcd}",
        "--bind-address=0.0.0.0",
        f"--advertise-address={network.CONTROL_ADDRESS}",
        "--secure-port=6443",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt",
        "--kubelet-preferred-address-types=InternalIP",  # there is no DNS for node names
        f"--kubelet-client-certificate={pki}/kubelet-client.crt",
        f"--kubelet-client-key={pki}/kubelet-client.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={pki}/sa.key",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-cluster-ip-range={network.SERVICE_RANGE}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--profiling=false",
    )


def _controllers(binaries: pathlib.Path, pki: pathlib.Path) -> box.Daemon:
    return _daemon(
        binaries,
        "kube-controller-manager",
        f"--kubeconfig={pki}/controller-manager.kubeconfig",
        f"--root-ca-file={pki}/ca.crt",
        f"--service-account-private-key-file={pki}/sa.key",
        "--use-service-account-credentials",
        f"--cluster-signing-cert-file={pki}/ca.crt",
        f"--cluster-signing-key-file={pki}/ca.key",
        "--allocate-node-cidrs=false",
        "--leader-elect=false",
        "--node-monitor-grace-period=20s",
        *_HEAVY_CLIENT,
    )


def proxy(binaries: pathlib.Path, pki: pathlib.Path, at: pathlib.Path, name: str) -> box.Daemon:
    """The service proxy of a box."""
    config = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clientConnection": {"kubeconfig": f"{pki}/proxy.kubeconfig"},
        "clusterCIDR": network.POD_RANGE,
        "hostnameOverride": name,
        "conntrack": {"maxPerCore": 0},  # the table's size is the host's to set
    }
    file = at / "proxy.json"
    at.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(config))
    return _daemon(binaries, "kube-proxy", f"--config={file}")


def _daemon(binaries: pathlib.Path, name: str, *flags: str) -> box.Daemon:
    return box.Daemon(name, (str(binaries / name), *flags))
