"""What all tests share: hypothesis that repeats itself, and a cache folder that is not the user's."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from problog4fairness.program import program

_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("fixed", _patient, derandomize=True, database=None)
settings.register_profile("search", _patient)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture(scope="session", autouse=True)
def _cache_folder(tmp_path_factory: pytest.TempPathFactory):
    """No test reads or writes the cache of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("P4F_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def forget():
    """Call it to forget what this process has compiled; the cache on disk stays."""

    def forget_all() -> None:
        program._result.cache_clear()
        program._compiled.cache_clear()

    forget_all()
    yield forget_all
    forget_all()
