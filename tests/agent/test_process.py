"""The whole agent beside a driver: orders in, reports out, killed and started anew, and what it costs."""

import contextlib
import http.client
import json
import os
import re
import threading
import urllib.request

import pytest

from agent import fake_api, plugin, processes, waiting
from sluice_agent import metrics

POD = "clicks-5f3a9c-1"
TEMPLATE = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "executor"}]}}
ADDRESS = f"127.{os.getpid() >> 16 & 255}.{os.getpid() >> 8 & 255}.{max(2, os.getpid() & 255)}"  # nobody else's
pytestmark = pytest.mark.timeout(60)  # processes start


@pytest.fixture
def api():
    with fake_api.serving() as fake:
        yield fake


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "seed.json").write_text(json.dumps(TEMPLATE))
    found = tmp_path / "shared"
    found.mkdir()
    return found


@pytest.fixture
def start(api, folder, tmp_path):
    with contextlib.ExitStack() as ends:

        def started():
            process = processes.start(
                api.url,
                tmp_path,
                SLUICE_POD=POD,
                SLUICE_POD_UID="u-1",
                SLUICE_POD_IP=ADDRESS,
                SLUICE_AGENT_DIR=str(folder),
                SLUICE_EXECUTOR_TEMPLATE=str(tmp_path / "seed.json"),
            )
            ends.enter_context(process)  # waits for it
            ends.callback(process.kill)
            waiting.until(lambda: process.poll() is not None or scraped("/healthz") == "ok\n")
            assert process.poll() is None, process.communicate()[0]
            return process

        yield started


@pytest.fixture
def driver(folder):
    return plugin.FakePlugin(folder)


def scraped(path):
    with (
        contextlib.suppress(OSError),
        urllib.request.urlopen(f"http://{ADDRESS}:{metrics.PORT}{path}", timeout=5) as said,
    ):
        return said.read().decode()


def measured(name):
    return float(re.search(rf"^{name}{{.*}} (.+)$", scraped("/metrics"), re.MULTILINE)[1])


def orders(serial, **ours):
    return {"version": 1, "serial": serial, "drivers": {POD: ours}}


def told(api, **words):
    """Once the Lease's annotation says all of it."""
    return waiting.until(lambda: {**(said := api.said_by(POD)), **words} == said)


def test_from_the_operators_orders_to_the_drivers_word_in_the_lease(api, folder, driver, start):
    start()
    assert json.loads((folder / "executor.yaml").read_text()) == TEMPLATE
    other = {**TEMPLATE, "metadata": {"labels": {"pool": "2"}}}
    api.order(orders(42, gate={"open": True, "epoch": 7}, executorTemplate=json.dumps(other)))
    status, found = driver.poll(queries=[plugin.query(phase="gate", epoch=0)], gateOpen=False)
    assert (status, found["gate"], json.loads((folder / "executor.yaml").read_text())) == (
        200,
        {"open": True, "epoch": 7},
        other,
    )
    told(api, phase="Waiting", order=0)
    driver.report(state=plugin.state(serial=found["serial"]), batch=plugin.batch(42))
    told(api, phase="Running", order=42, refused="")
    waiting.until(lambda: api.lease["spec"].get("holderIdentity") == f"{POD}_u-1")
    assert api.lease["metadata"]["annotations"]["sluice.dev/epoch"] == "7"
    assert measured("sluice_query_batch_id") == 42
    api.order(orders(43, drain={"id": "d", "timeoutMs": 10, "stop": "yes"}))
    told(api, order=42, refused="orders 43: drain.stop is 'yes': allowed is true or false")


def test_killed_and_started_anew_it_takes_over_where_it_was(api, driver, start):
    api.order(orders(42, gate={"open": True}))
    killed = start()
    _, found = driver.poll()
    serial = found["serial"]
    driver.report(state=plugin.state(serial=serial))
    told(api, phase="Running", order=42)
    waiting.until(lambda: api.lease["spec"].get("holderIdentity"))
    killed.kill()
    killed.wait()
    start()
    assert driver.poll(serial, wait_ms=300, serial=serial) == (200, found)  # the same: nothing is carried out twice
    told(api, phase="Running", order=42)
    assert api.lease["spec"]["leaseTransitions"] == 1


def test_without_the_api_server_the_driver_is_served_and_afterwards_all_goes_on(api, driver, start):
    api.order(orders(1, gate={"open": True}))
    start()
    _, found = driver.poll()
    api.cut()
    assert driver.poll(found["serial"], wait_ms=50) == (200, found)
    assert driver.report(state=plugin.state(serial=found["serial"]), batch=plugin.batch(99))[0] == 200
    assert measured("sluice_query_batch_id") == 99
    api.order(orders(2, gate={"open": True}, warmUp=True))
    api.back()
    status, newer = driver.poll(found["serial"], wait_ms=20_000, serial=found["serial"])
    assert (status, newer["warmUp"]) == (200, True)
    told(api, phase="Running")


def test_started_without_the_api_server_it_leaves_the_plugin_to_itself_until_it_is_there(api, driver, start):
    api.cut()
    start()
    assert driver.poll(wait_ms=50)[0] == 503
    api.order(orders(1, gate={"open": True}))
    api.back()
    assert driver.poll(wait_ms=20_000)[0] == 200


def test_it_stays_small_and_cheap_at_a_batch_of_16_executors(driver, start):
    start()
    work = {str(number): plugin.work(taskMs=[[n, 1] for n in range(100)]) for number in range(16)}
    pairs = {one: dict.fromkeys(work, 123456) for one in work}
    driver.report(batch=plugin.batch(0, executors=work, shuffledBytes=pairs))
    before_s = measured("process_cpu_seconds_total")
    for number in range(1, 51):
        driver.report(batch=plugin.batch(number, executors=work, shuffledBytes=pairs))
    each_ms = 1000 * (measured("process_cpu_seconds_total") - before_s) / 50
    assert measured("process_resident_memory_bytes") < 80 << 20
    assert each_ms < 20  # 2 % of a core at one a second


def hung_up(driver):
    with pytest.raises((OSError, http.client.HTTPException)):
        driver.poll()


def test_told_to_end_it_ends_at_once_though_the_plugin_and_the_watch_wait(api, driver, start):
    process = start()
    polling = threading.Thread(target=hung_up, args=(driver,))
    polling.start()
    told(api, phase="Running")  # the poll has come
    process.terminate()
    assert process.wait(5) == 0
    polling.join()


def test_a_thread_that_falls_takes_the_agent_along_so_that_the_kubelet_starts_it_anew():
    falls = "import threading, time; from sluice_agent import main; threading.excepthook = main._fall; "
    done = processes.python(falls + "main._beside(lambda: 1 / 0, 'orders'); time.sleep(30)")
    assert (done.returncode, "the thread orders fell" in done.stderr) == (1, True)


def test_without_the_template_it_says_what_is_missing(api, tmp_path):
    process = processes.start(
        api.url, tmp_path, SLUICE_POD=POD, SLUICE_POD_UID="u", SLUICE_POD_IP=ADDRESS, SLUICE_AGENT_DIR=str(tmp_path),
        SLUICE_EXECUTOR_TEMPLATE=str(tmp_path / "nowhere"),
    )  # fmt: skip
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"sluice_agent: cannot start: [Errno 2] No such file or directory: '{tmp_path / 'nowhere'}'" in said
