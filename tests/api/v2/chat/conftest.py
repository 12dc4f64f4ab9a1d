"""A sandbox in which three users can call, for each test of encrypted conversations."""

from __future__ import annotations

import pytest

from tests.api.v2.chat.people import add_tokens
from tests.support import Sandbox


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox in which three users can call."""
    add_tokens(box)
    return box
