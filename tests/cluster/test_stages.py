"""Work in stages: what waits for what, what a failure does, what a person sees."""

import io
import threading

import pytest

from house import paths, screen, stages, targets, trouble, usual


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(paths, "LOGS", tmp_path / "logs")


def noting(order, name):
    return lambda _: order.append(name)


def test_a_stage_starts_when_all_it_comes_after_are_done():
    order = []
    work = [
        stages.Stage("roof", noting(order, "roof"), ("walls", "beams")),
        stages.Stage("walls", noting(order, "walls"), ("ground",)),
        stages.Stage("beams", noting(order, "beams"), ("walls",)),
        stages.Stage("ground", noting(order, "ground")),
    ]
    took = stages.run("house", work)
    assert order == ["ground", "walls", "beams", "roof"]
    assert [t.name for t in took] == order


def test_stages_that_do_not_need_each_other_run_side_by_side():
    meeting = threading.Barrier(2, timeout=1)
    both = [stages.Stage(name, lambda _: meeting.wait() and None) for name in ("one", "other")]
    assert len(stages.run("pair", both)) == 2


def test_after_a_failure_nothing_new_starts_and_the_failure_names_its_stage_and_log(tmp_path):
    def fail(_):
        raise trouble.Trouble("the well is dry")

    order = []
    work = [stages.Stage("well", fail), stages.Stage("garden", noting(order, "garden"), ("well",))]
    with pytest.raises(trouble.Trouble, match="well: the well is dry") as failure:
        stages.run("farm", work)
    assert order == []
    assert str(tmp_path / "logs" / "farm--well.log") in str(failure.value)


def test_what_an_earlier_run_did_is_kept_and_not_done_again():
    order = []
    took = stages.run("again", [stages.Stage("old", noting(order, "old"), kept=lambda: True)])
    assert order == []
    assert took == [stages.Took("old", 0.0, kept=True)]


@pytest.mark.parametrize(
    ("after", "sentence"),
    [("nothing", "comes after \\['nothing'\\], which are not in"), ("self", "wait for each other")],
)
def test_a_stage_that_can_never_start_is_an_error(after, sentence):
    with pytest.raises(ValueError, match=sentence):
        stages.run("knot", [stages.Stage("self", lambda _: None, (after,))])


def test_the_time_a_stage_took_is_its_usual_time_next_time():
    assert usual.seconds("farm: a stage nobody ran") is None
    stages.run("farm", [stages.Stage("sow", lambda _: None)])
    assert usual.seconds("farm: sow") == 0.0


def test_a_log_gets_plain_lines_with_usual_times_and_no_bar():
    out = io.StringIO()
    with screen.Screen("build", 2, out) as shown:
        shown.began("kube", 270.0)
        shown.say("compiling")
        shown.ended("kube", 260.0, "ok")
    assert out.getvalue().splitlines() == [
        "== build",
        "   .... kube (usually 4 min 30 s)",
        "        compiling",
        "     ok 1/2 kube (4 min 20 s, usually 4 min 30 s)",
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_that_grows_with_the_usual_time():
    out = Terminal()
    with screen.Screen("build", 1, out) as shown:
        shown.began("kube", 0.1)
        painted = threading.Event()
        while "#" not in out.getvalue():
            assert not painted.wait(0.05)
    assert "0/1" in out.getvalue()
    assert "usually 0 s" in out.getvalue()


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (125, "2 min 05 s")])
def test_durations_are_said_as_people_say_them(seconds, said):
    assert screen.duration(seconds) == said


@pytest.mark.parametrize(
    "target", ["bench", "check", "cluster", "demo", "e2e", "images", "jvm", "lock", "test", "unit"]
)
def test_whatever_installs_something_has_its_venv_first_also_in_a_bare_tree(target, monkeypatch):
    class Reached(Exception):
        pass

    def reach(_, work):
        raise Reached(work[0].name)

    monkeypatch.setattr(stages, "run", reach)
    monkeypatch.setattr("subprocess.run", lambda *words, **_: pytest.fail(f"{words} before any stage"))
    with pytest.raises(Reached, match="venv"):
        targets.ALL[target].run([])
