"""What a bench says: bars with a verdict, one section per bench, and no measurement made twice."""

import pytest

from bench import __main__ as command_line
from bench import ledger, outcome, results


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


@pytest.mark.parametrize("words", [[], ["unheard-of"], ["cluster", "cluster"]])
def test_an_unknown_bench_is_answered_with_those_there_are(words, capsys):
    assert command_line.main(words) == 2
    assert "there are checkpoint, cluster" in capsys.readouterr().err
