"""What a bench says: bars with a verdict, one section per bench, and no measurement made twice."""

import sys
import types

import pytest

from bench import __main__ as command_line
from bench import ledger, outcome, results
from house import trouble


@pytest.mark.parametrize(
    ("bar", "line"),
    [
        (outcome.Bar("warm-s", 13.5, 90), "bar warm-s 13.5 <=90 ok"),
        (outcome.Bar("warm-s", 90.1, 90), "bar warm-s 90.1 <=90 short"),
        (outcome.Bar("throughput", 0.7, 0.7, at_least=True), "bar throughput 0.7 >=0.7 ok"),
        (outcome.Bar("throughput", 0.6, 0.7, at_least=True), "bar throughput 0.6 >=0.7 short"),
    ],
)
def test_a_bar_says_name_value_limit_and_verdict(bar, line):
    assert bar.line() == line


def found(value):
    table = outcome.Table("Times", ("run", "took"), (("1", f"{value} s"),))
    return outcome.Outcome((table,), (outcome.Bar("took-s", value, 10),))


def test_a_run_replaces_its_own_section_and_keeps_the_others(tmp_path):
    file = tmp_path / "RESULTS.md"
    results.write("slow", found(1), file)
    results.write("quick", found(2), file)
    results.write("slow", found(3), file)
    text = file.read_text()
    assert text.count("## make bench NAME=") == 2
    assert text.index("NAME=quick") < text.index("NAME=slow")
    assert "| 1 | 3 s |" in text
    assert "| 1 | 1 s |" not in text
    assert "bar took-s 3 <=10 ok" in text


def test_a_measurement_is_made_once_until_the_ledger_is_closed(tmp_path):
    made = []
    measure = lambda: made.append(1) or len(made)  # noqa: E731
    book = ledger.Ledger(tmp_path / "bench.json")
    assert [book.once("a", measure), ledger.Ledger(book.file).once("a", measure), book.once("b", measure)] == [1, 1, 2]
    book.close()
    assert book.once("a", measure) == 3


UNKNOWN = {
    (): "no NAME; there are checkpoint, cluster",
    ("unheard-of",): "NAME=unheard-of; there are checkpoint, cluster",
    ("cluster", "cluster"): "there are checkpoint, cluster",
    ("redeploy.unheard-of",): "NAME=redeploy.unheard-of; there are redeploy.pause, redeploy.rolling",
    ("cluster.warm",): "NAME=cluster.warm; there are cluster",
}


@pytest.mark.parametrize(("words", "answer"), UNKNOWN.items())
def test_an_unknown_bench_or_part_is_answered_with_those_there_are(words, answer, capsys):
    assert command_line.main(list(words)) == 2
    assert answer in capsys.readouterr().err


class Part:
    """A part of a bench in hours; one may be in trouble."""

    def __init__(self, name, value, why=""):
        self.__name__ = f"bench.long_{name}"
        self.made, self._value, self.why = 0, value, why

    def run(self, book):
        """Its figure, once."""
        if self.why:
            raise trouble.Trouble(self.why)
        return found(book.once("it", self._measure))

    def _measure(self):
        self.made += 1
        return self._value


@pytest.fixture
def long(monkeypatch, tmp_path):
    """A bench of two parts."""
    module = types.SimpleNamespace(PARTS=(Part("first", 1), Part("second", 20)))
    monkeypatch.setattr(command_line, "MODULES", {"long": "long"})
    monkeypatch.setitem(sys.modules, "long", module)
    monkeypatch.setattr(ledger.Ledger, "of", lambda name: ledger.Ledger(tmp_path / f"{name}.json"))
    filed = {}
    monkeypatch.setattr(results, "write", lambda name, part: filed.update({name: part}))
    return module.PARTS, filed


def test_each_part_is_filed_by_itself_and_a_run_cut_short_makes_none_again(long, capsys):
    (first, second), filed = long
    second.why = "this hour is full"
    assert command_line.main(["long"]) == 1
    assert list(filed) == ["long.first"]
    assert "NAME=long: long.second: this hour is full" in capsys.readouterr().err
    second.why = ""
    assert command_line.main(["long"]) == 1
    assert list(filed) == ["long.first", "long.second"]
    assert (first.made, second.made) == (1, 1)
    assert capsys.readouterr().out.endswith("bar took-s 1 <=10 ok\nbar took-s 20 <=10 short\n")
    assert command_line.main(["long"]) == 1
    assert (first.made, second.made) == (2, 2)


def test_one_part_is_run_by_its_name(long):
    (first, second), filed = long
    assert command_line.main(["long.first"]) == 0
    assert (list(filed), first.made, second.made) == (["long.first"], 1, 0)
