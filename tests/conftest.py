"""What all tests share: hypothesis that repeats itself, and a cache folder that is not the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from problog4fairness.beliefs.convert import known_kinds
from problog4fairness.program.sandbox import cache

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


@pytest.fixture(scope="module", autouse=True)
def _no_new_kinds_of_beliefs():
    """A belief that one module of tests defines, or an example that it runs, is not known to the next one."""
    known = dict(known_kinds())
    yield
    kinds = known_kinds()
    kinds.clear()
    kinds.update(known)


@pytest.fixture
def forget():
    """Call it to forget what this process has compiled; the cache on disk stays."""

    def forget_all() -> None:
        cache.recent.clear()

    forget_all()
    yield forget_all
    forget_all()


@pytest.fixture(scope="session")
def student_folder() -> Path:
    """Where the published student data are; tests that need them are skipped where they are not."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    data = Path(os.environ["P4F_DATA"]) if os.environ.get("P4F_DATA") else beside
    folder = data / "student"
    if not (folder / "student-mat.csv").exists():
        pytest.skip("the student data are absent: set P4F_DATA to the folder that holds them in student/")
    return folder
