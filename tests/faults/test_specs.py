"""The fuzzer of specs: the same for the same seed, and every fault it knows comes up."""

from faults import specs


def test_the_same_seed_makes_the_same_specs_and_a_longer_run_begins_with_a_shorter_one():
    assert list(specs.fuzzed(7, 20)) == list(specs.fuzzed(7, 40))[:20]
    assert list(specs.fuzzed(7, 20)) != list(specs.fuzzed(8, 20))


def test_two_thousand_specs_have_every_verdict_a_name_each_and_every_fault():
    made = list(specs.fuzzed(1, 2_000))
    assert {spec.verdict for spec in made} == {"good", "spoilt", "noisy"}
    assert len({spec.name for spec in made}) == len(made)
    tried = {what.split("=")[0] for spec in made if spec.verdict == "spoilt" for what in spec.done}
    assert tried == {path for path, _ in specs.FAULTS}


def test_a_good_spec_has_nothing_done_to_it_and_the_others_have():
    assert all(bool(spec.done) == (spec.verdict != "good") for spec in specs.fuzzed(1, 200))
