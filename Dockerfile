# The operator.
#   docker build -t sluice .
ARG BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm
FROM ${BASE_IMAGE}
RUN python3 -c 'import venv, ensurepip' 2>/dev/null || (apt-get update \
    && apt-get install -y --no-install-recommends python3-venv ca-certificates && rm -rf /var/lib/apt/lists/*)
COPY requirements/operator.txt /opt/requirements.txt
# Certificates: Debian's bundle where there is one, so that a base that trusts a proxy's authority can be built on.
RUN python3 -m venv /opt/venv && bundle=/etc/ssl/certs/ca-certificates.crt \
    && if [ -f $bundle ]; then export PIP_CERT=$bundle; fi \
    && /opt/venv/bin/pip install -q --no-cache-dir --require-hashes -r /opt/requirements.txt
COPY policies/sluice_policies /opt/sluice/sluice_policies
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/opt/sluice PYTHONUNBUFFERED=1
# The placer's machine code, for any CPU of this architecture; the root may be read-only when it is used.
ENV NUMBA_CACHE_DIR=/opt/sluice/kernels NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES=
RUN python3 -m sluice_policies.warm
COPY operator/sluice /opt/sluice/sluice
USER 65532
ENTRYPOINT ["python3", "-m", "sluice"]
