"""Manifests as files, for reading: `pytest tests/build --rewrite` writes them anew; commit only what you understand."""

import pathlib

import pytest
import yaml

from build import jobs
from sluice import build

GOLDEN = pathlib.Path(__file__).parent / "golden"
CASES = {
    "smallest": (jobs.job(), jobs.AROUND),
    "full": (jobs.job(jobs.FULL), jobs.AROUND),
    "plugged": (jobs.job(jobs.FULL), jobs.PLUGGED),
}


class Plain(yaml.SafeDumper):
    """Writes a value as often as it stands there."""

    def ignore_aliases(self, _):
        return True


@pytest.mark.parametrize("name", CASES)
def test_the_objects_of_a_job_are_those_of_its_file(name, request):
    job, around = CASES[name]
    found = yaml.dump_all(build.objects(job, jobs.REVISION, 1, around), Dumper=Plain, width=120)
    file = GOLDEN / f"{name}.yaml"
    if request.config.getoption("--rewrite"):
        file.write_text(found)
    assert found == file.read_text()
