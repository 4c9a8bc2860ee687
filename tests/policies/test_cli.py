"""`sluice plan`: what it prints, and what it says about words and files that make no sense."""

import json

import pytest

from policies import clusters
from sluice import __main__ as front
from sluice_policies import moves


@pytest.fixture
def dump(tmp_path):
    file = tmp_path / "dump.json"
    file.write_text(clusters.near_broker().to_json())
    return str(file)


def test_plan_prints_each_decision_and_the_costs(dump, capsys):
    assert front.main(["plan", "--snapshot", dump]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "consolidate: 2 moves, 0 refused",
        "a: n2 -> n1: meets 0 of its 10 B/s there, 10 where it was",
        "b: n1 -> n2: meets 90 of its 90 B/s there, 0 where it was",
        "before: 90 B/s between nodes (90.0%), fullest node 100%",
        "after:  10 B/s between nodes (10.0%), fullest node 100%",
    ]


def test_plan_takes_any_policy_with_any_of_its_arguments(dump, capsys):
    assert front.main(["plan", "--snapshot", dump, "--policy", "consolidate", "--set", "price=5", "-o", "json"]) == 0
    assert moves.from_json(capsys.readouterr().out).moves == ()


def test_compare_shows_every_policy_the_best_first(dump, capsys):
    assert front.main(["plan", "--snapshot", dump, "--compare"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names[0] == "consolidate"
    assert sorted(names) == ["consolidate", "stay", "stromax", "turbostream"]


def test_compare_as_json_is_the_plans_themselves(dump, capsys):
    assert front.main(["plan", "--snapshot", dump, "--compare", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(found), found[0]["policy"], len(found[0]["moves"])] == [4, "consolidate", 2]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "price=much"], "sluice: price='much': allowed is a number"),
        (["--set", "prize=1"], "sluice: prize=1: policy consolidate allows least_gain=…, level=…, price=…"),
        (["--set", "level=good"], "sluice: level='good': allowed is fast, best"),
    ],
)
def test_a_wrong_word_is_answered_with_what_is_allowed(dump, capsys, words, says):
    assert front.main(["plan", "--snapshot", dump, *words]) == 1
    assert capsys.readouterr().err.strip() == says


def test_a_file_that_is_no_dump_is_named_with_what_is_wrong(tmp_path, capsys):
    file = tmp_path / "dump.json"
    file.write_bytes(b"\xff\xfe")
    assert front.main(["plan", "--snapshot", str(file)]) == 1
    assert "dump.json: " in capsys.readouterr().err
    assert front.main(["plan", "--snapshot", str(tmp_path / "none")]) == 1
    assert "none" in capsys.readouterr().err
