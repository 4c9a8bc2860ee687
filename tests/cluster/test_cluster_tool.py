"""The cluster tool without a cluster: what it says to wrong words, and what decides whether it builds again."""

import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

from house import paths, shell, stages, trouble
from testbed import __main__ as command_line
from testbed import addons, binaries, box, cluster, images, machine, network, oci, report, store

DESK = stages.Desk(shell.Shell(pathlib.Path("/dev/null")), lambda _: None)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(machine, "reason_against", lambda: None)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["slow", "node1", "20%"], "there is no cluster; `make cluster` brings one up"),
        (["kill", "node1"], "there is no cluster"),
        (["up", "--nodes", "0"], "nodes is 0; allowed are 1 to 9"),
        (["up", "--nodes", "12"], "nodes is 12; allowed are 1 to 9"),
        (["fake", "-1"], "count is -1; allowed are 0 to 5000"),
    ],
)
@pytest.mark.usefixtures("empty_cache")
def test_what_cannot_be_done_is_one_sentence_and_exit_code_1(words, sentence, capsys):
    assert command_line.main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"testbed: {sentence}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["explode"], ["slow", "node1"], ["up", "--nodes", "many"]])
def test_an_unknown_verb_or_a_missing_word_is_answered_with_the_usage(words, capsys):
    with pytest.raises(SystemExit, match="2"):
        command_line.main(words)
    assert "usage: python -m testbed" in capsys.readouterr().err


def test_who_is_not_root_is_told_so(monkeypatch, capsys):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert command_line.main(["up"]) == 1
    assert "needs root, for namespaces and cgroups; this is user 1000" in capsys.readouterr().err


def test_who_is_not_on_linux_is_told_so(monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert machine.reason_against() == "the testbed needs Linux; this is Darwin"


def test_a_taken_port_is_named_with_what_needs_it():
    with machine.listen(0, "nothing") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(trouble.Trouble, match=f"port {port} of 127.0.0.1, needed for Kafka, is taken"):
            machine.listen(port, "Kafka")


@pytest.mark.usefixtures("empty_cache")
def test_a_full_disk_is_told_before_anything_is_built(monkeypatch):
    monkeypatch.setattr(machine, "_HIDDEN_IN_BOXES", ())
    usage = shutil.disk_usage("/")._replace(free=2**30)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(trouble.Trouble, match=r"has 1\.0 GiB free; needed are 25 GiB"):
        machine.check(DESK)


@pytest.mark.parametrize("hidden", ["cache", "Python"])
def test_what_nodes_could_not_see_is_told_before_anything_is_built(tmp_path, monkeypatch, hidden):
    monkeypatch.setattr(machine, "_HIDDEN_IN_BOXES", (str(tmp_path),))
    monkeypatch.setattr(paths, "CACHE", (tmp_path if hidden == "cache" else paths.ROOT) / "cache")
    monkeypatch.setattr(box, "PYTHON", (tmp_path if hidden == "Python" else paths.ROOT) / "python")
    with pytest.raises(trouble.Trouble, match=f"{hidden} .* is below {tmp_path}"):
        machine.check(DESK)


def test_a_clone_below_tmp_starts_boxes_all_the_same(tmp_path):
    interpreter = tmp_path / "python"
    interpreter.symlink_to(sys.executable)
    program = "from testbed import box; print(box.PYTHON)"
    env = {**os.environ, "PYTHONPATH": paths.PYTHONPATH}
    said = subprocess.run([interpreter, "-c", program], env=env, capture_output=True, text=True, check=True).stdout
    assert pathlib.Path(said.strip()) == pathlib.Path(sys.executable).resolve()


def test_a_missing_kernel_feature_is_named(monkeypatch):
    monkeypatch.setattr(machine, "_PROBES", {"time travel (CONFIG_TARDIS)": "false"})
    with pytest.raises(trouble.Trouble, match=r"the kernel lacks time travel \(CONFIG_TARDIS\)"):
        machine.check_kernel(DESK)


def test_an_image_is_built_again_when_a_file_of_it_changes_and_only_then(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("a")
    image = images.Image("agent", "dev", tmp_path / "Dockerfile", (tmp_path / "code",))
    first = image.key()
    (tmp_path / "code" / "__pycache__").mkdir()
    (tmp_path / "code" / "__pycache__" / "a.pyc").write_text("compiled")
    assert image.key() == first
    (tmp_path / "code" / "a.py").rename(tmp_path / "code" / "b.py")
    assert image.key() != first


def test_programs_are_built_again_when_their_sources_their_version_or_their_packages_change():
    assert binaries.KUBE.directory == binaries.Programs("kube", flags=binaries.KUBE.flags).directory
    assert binaries.KUBE.directory != binaries.Programs("kube", flags="-X version=2").directory
    assert binaries.OTHERS.directory != binaries.Programs("others", binaries.OTHERS.packages[:1]).directory
    assert len({programs.directory for programs in binaries.ALL}) == len(binaries.ALL)


def blob(layout, content):
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs" / "sha256" / digest).write_bytes(content)
    return f"sha256:{digest}"


def layout_of(folder, layers):
    config = blob(folder, b"{}")
    manifest = {"config": {"digest": config}, "layers": [{"digest": blob(folder, layer)} for layer in layers]}
    earlier = json.loads((folder / "index.json").read_text())["manifests"] if (folder / "index.json").exists() else []
    named = {"annotations": {"org.opencontainers.image.ref.name": "dev"}}
    now = {"digest": blob(folder, json.dumps(manifest).encode()), **named}
    index = {"manifests": [*({"digest": build["digest"]} for build in earlier), now]}
    (folder / "index.json").write_text(json.dumps(index))
    (folder / "oci-layout").write_text("{}")
    return folder


def test_only_the_layers_that_a_node_lacks_are_sent(tmp_path):
    layout = layout_of(tmp_path / "image", [b"base", b"code"])
    have = tmp_path / "have"
    have.mkdir()
    base = blob(layout, b"base").removeprefix("sha256:")
    (have / base).touch()
    sent = io.BytesIO()
    oci.send(layout, have, sent)
    with tarfile.open(fileobj=io.BytesIO(sent.getvalue())) as tar:
        names = tar.getnames()
    assert {"oci-layout", "index.json"} < set(names)
    assert len(names) == 2 + len(oci.digests(layout)) - 1
    assert f"blobs/sha256/{base}" not in names


def test_layers_of_earlier_builds_are_dropped(tmp_path):
    layout_of(tmp_path / "image", [b"base", b"code of yesterday"])
    layout = layout_of(tmp_path / "image", [b"base", b"code"])
    old = blob(layout, b"code of yesterday").removeprefix("sha256:")
    oci.prune(layout)
    assert len(json.loads((layout / "index.json").read_text())["manifests"]) == 1
    assert not (layout / "blobs" / "sha256" / old).exists()
    assert len(list((layout / "blobs" / "sha256").iterdir())) == len(oci.digests(layout))


def test_every_box_has_an_address_of_its_own():
    names = [network.SWITCH, network.CONTROL, *network.NODE_NAMES]
    assert len({network.address(name) for name in names}) == len(names)
    assert len({network.pod_range(name) for name in network.NODE_NAMES}) == network.MOST_NODES


def test_a_store_is_current_when_it_holds_every_image_as_it_is(empty_cache):
    assert not store.current()
    store.record_of_store().parent.mkdir(parents=True)
    store.record_of_store().write_text(json.dumps(store.wanted()))
    assert store.current()
    assert empty_cache in store.record_of_store().parents


def test_shares_are_told_longest_first_without_what_was_kept():
    took = [
        stages.Took("a", 1, kept=False),
        stages.Took("b", 3, kept=False),
        stages.Took("c", 0, kept=True),
    ]
    lines = report.shares(took).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["b", "a"]
    assert lines[1].endswith("75%")


def test_the_add_ons_of_an_own_cluster_bring_no_dns_and_pick_no_address(monkeypatch, tmp_path):
    applied = []
    monkeypatch.setattr(addons, "kubectl", lambda _, *words, text=None: applied.append((words, text)))
    addons.apply(tmp_path, own_cluster=True)
    ((_, text),) = applied
    assert "kube-dns" not in text
    assert "10.96." not in text
    assert "$" not in text


def test_a_stage_of_the_build_comes_after_what_it_needs():
    after = {stage.name: set(stage.after) for stage in cluster.build_stages()}
    assert "build others" in after["image coredns"]
    assert "base" in after["image spark"]
    assert {"base", "Spark"} <= after["image plugin"]  # its jar is compiled against Spark's
    assert {f"image {image.name}" for image in images.ALL} == after["unpack images"]
