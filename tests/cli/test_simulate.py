"""`sluice simulate`: what it prints and what it refuses."""

import json

import pytest

from sluice import __main__ as front_door
from sluice_policies import model


@pytest.fixture
def dump(tmp_path):
    nodes = (model.Node("n0", 2), model.Node("n1", 2))
    tasks = (model.Task("a", node="n0"), model.Task("b", node="n1"))
    file = tmp_path / "cluster.json"
    file.write_text(model.Snapshot(nodes, tasks, (model.Edge("a", "b", 1000),)).to_json())
    return file


@pytest.mark.timeout(60)  # the placer compiles its loops on a first call
def test_what_if_shows_the_cluster_as_it_is_and_under_each_policy(dump, capsys):
    words = ["simulate", "what-if", "--snapshot", str(dump), "--far-ms", "10", "--near-ms", "1", "--service-ms", "2"]
    assert front_door.main(words) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["now"] == "now             14.000 ms a tuple, 100.0% far, fullest node 50%"
    assert lines["stay"].split(maxsplit=1)[1] == lines["now"].split(maxsplit=1)[1]
    assert lines["turbostream"].split(maxsplit=1)[1].startswith(("5.000 ms", "14.000 ms"))


@pytest.mark.timeout(60)
def test_what_if_as_json_is_the_numbers_themselves(dump, capsys):
    words = ["simulate", "what-if", "--snapshot", str(dump), "--far-ms", "10", "--service-ms", "2", "-o", "json"]
    assert front_door.main(words) == 0
    assert json.loads(capsys.readouterr().out)["now"] == {"tuple_ms": 14.0, "far_share": 1.0, "fullest": 0.5}


def test_what_if_names_what_is_wrong_with_a_dump(tmp_path, capsys):
    file = tmp_path / "bad.json"
    file.write_text("{}")
    assert front_door.main(["simulate", "what-if", "--snapshot", str(file)]) == 1
    assert capsys.readouterr().err == f"sluice: {file}: snapshot: nodes is missing\n"


def test_what_if_names_a_wrong_cost(dump, capsys):
    assert front_door.main(["simulate", "what-if", "--snapshot", str(dump), "--far-ms", "-1"]) == 1
    assert "far_ms=-1.0: allowed is 0 to 100000" in capsys.readouterr().err


def test_figures_need_the_source_tree(tmp_path, capsys):
    assert front_door.main(["simulate", "figures", "--tree", str(tmp_path)]) == 1
    assert "allowed is a source tree of Sluice" in capsys.readouterr().err
