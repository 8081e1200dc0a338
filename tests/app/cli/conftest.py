"""What tests of commands share."""

from __future__ import annotations

import pytest

from tests.app.cli.running import p4f


@pytest.fixture
def inside():
    """Run ``p4f`` with some words; what it printed, and its exit status."""
    return p4f
