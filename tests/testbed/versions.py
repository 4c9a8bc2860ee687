"""The versions the testbed builds or installs, but of what `go/others` asks for.

A change here is a new cache key: only what changed is built again.
"""

KUBERNETES = "1.34.4"
SPARK = "4.3.0"
KAFKA = "4.1.0"

PACKAGES = (
    "buildah",  # builds images without an engine
    "containerd",  # runs the pods of a node
    "containernetworking-plugins",  # ptp, portmap, bandwidth: a pod's network
    "conntrack",  # kube-proxy forgets the connections of gone pods with it
    "debootstrap",  # makes the base image
    "ethtool",  # kubelet asks for it
    "gcc",  # the pause program
    "iproute2",  # links, routes, shaping
    "ipset",  # kube-proxy asks for it
    "iptables",  # kube-proxy's services
    "libc6-dev",  # links it statically
    "maven",  # brings Kafka's jars
    "openjdk-17-jdk-headless",  # runs maven
    "openssl",  # the certificates
    "runc",  # starts containers
    "socat",  # kubectl port-forward, on the node's side
)
"""Debian packages, each with its reason."""
