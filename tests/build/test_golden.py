"""Manifests as files, for reading: `pytest tests/build --rewrite` writes them anew; commit only what you understand."""

import pathlib

import pytest
import yaml

from build import jobs
from sluice import build

GOLDEN = pathlib.Path(__file__).parent / "golden"
CASES = {"smallest": jobs.job(), "full": jobs.job(jobs.FULL)}


class Plain(yaml.SafeDumper):
    """Writes a value as often as it stands there."""

    def ignore_aliases(self, _):
        return True


@pytest.mark.parametrize("name", CASES)
def test_the_objects_of_a_job_are_those_of_its_file(name, request):
    found = yaml.dump_all(build.objects(CASES[name], jobs.REVISION, 1, jobs.AROUND), Dumper=Plain, width=120)
    file = GOLDEN / f"{name}.yaml"
    if request.config.getoption("--rewrite"):
        file.write_text(found)
    assert found == file.read_text()
