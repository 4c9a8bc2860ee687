"""What the builder would overrule, the API server refuses: nobody sets a Spark setting in vain."""

import pytest
import yaml

from house import paths
from sluice.build import conf

CRD = yaml.safe_load((paths.ROOT / "crds" / "streamjobs.yaml").read_text())
SPEC = CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
RULES = " ".join(rule["rule"] for rule in SPEC["properties"]["sparkConf"]["x-kubernetes-validations"])


@pytest.mark.parametrize("key", sorted(conf.OWNED))
def test_a_setting_that_sluice_owns_is_denied(key):
    prefixes = [prefix for prefix in conf.OWNED_PREFIXES if key.startswith(prefix)]
    assert f"'{key}'" in RULES or any(f"'{prefix}" in RULES for prefix in prefixes)


@pytest.mark.parametrize("prefix", conf.OWNED_PREFIXES)
def test_a_family_of_settings_that_sluice_owns_is_denied(prefix):
    assert f"startsWith('{prefix}" in RULES


@pytest.mark.parametrize("key", ["spark.plugins", "spark.sql.extensions", "spark.executor.memoryOverhead"])
def test_what_sluice_shares_with_the_user_is_allowed(key):
    assert f"'{key}'" not in RULES
