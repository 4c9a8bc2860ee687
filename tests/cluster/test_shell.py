"""Commands: what they print is kept, what went wrong is quoted."""

import pytest

from house import install, paths, shell, testing, trouble


def test_a_failed_command_is_quoted_with_its_exit_code_and_its_last_lines(tmp_path):
    work = shell.Shell(tmp_path / "log")
    with pytest.raises(trouble.Trouble) as failure:
        work.run("sh", "-c", "seq 40; echo no such thing >&2; exit 3")
    said = str(failure.value)
    assert "ended with exit code 3" in said
    assert said.endswith("    no such thing")
    assert "\n    27\n" in said
    assert "\n    26\n" not in said


@pytest.mark.parametrize(
    ("said", "unreached"),
    [
        ("dial tcp: lookup proxy.example: no such host", True),
        ("curl: Network is unreachable", True),
        ("no such file", False),
    ],
)
def test_a_network_that_is_not_there_is_said_first(said, unreached):
    assert shell.failed(["go", "build"], 1, said).startswith("the network cannot be reached: `go build`") is unreached


def test_a_failure_quotes_only_its_own_command(tmp_path):
    work = shell.Shell(tmp_path / "log")
    work.run("echo", "earlier")
    with pytest.raises(trouble.Trouble) as failure:
        work.run("sh", "-c", "echo later; exit 1")
    assert "earlier" not in str(failure.value)
    assert "earlier" in (tmp_path / "log").read_text()


def test_what_a_command_prints_can_be_read_and_what_it_is_told_reaches_it():
    assert shell.read("cat", text="hello") == "hello"
    assert shell.read("sh", "-c", "echo $WORD", env={"WORD": "sesame"}) == "sesame\n"


def test_a_package_nobody_made_is_missing_and_the_shell_is_not():
    assert install.missing_packages(["no-such-package-at-all"]) == ["no-such-package-at-all"]


REPORT = """<?xml version="1.0"?><testsuites><testsuite tests="7" failures="1" errors="1" skipped="2"/></testsuites>"""


def test_a_report_is_counted_without_counting_a_test_twice(tmp_path):
    file = tmp_path / "report.xml"
    file.write_text(REPORT)
    assert testing.read_report(file) == testing.Count(passed=3, failed=2, skipped=2)
    assert testing.Count(1, 2, 3) + testing.Count(10, 20, 30) == testing.Count(11, 22, 33)


def test_a_folder_is_removed_at_one_stroke_and_what_an_earlier_removal_left_goes_too(tmp_path):
    folder, half = tmp_path / "cluster", tmp_path / "cluster.gone"
    for path in (folder, half):
        path.mkdir()
        (path / "disk").touch()
    paths.remove(folder)
    assert list(tmp_path.iterdir()) == []
    paths.remove(folder)
