"""What the tests of uploads share: batches for custom audiences and do-not-reach lists."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from werkzeug.test import TestResponse

from tests.support import ACCOUNT, Sandbox

AUDIENCE = f"/12/accounts/{ACCOUNT}/custom_audiences/1nmth/users"
DO_NOT_REACH_LIST = f"/12/batch/accounts/{ACCOUNT}/do_not_reach_lists/4y1bc/users"


def hashed(text: str) -> str:
    """SHA256 in lowercase hex."""
    return sha256(text.encode()).hexdigest()


EMAIL = hashed("ada@example.com")


def update(*users: Any, kind: str = "Update", **params: Any) -> dict[str, Any]:
    """One operation of a batch."""
    return {"operation_type": kind, "params": {"users": list(users), **params}}


def upload(box: Sandbox, body: Any, path: str = AUDIENCE, **more: Any) -> TestResponse:
    """Send a batch."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    more.setdefault("content_type", "application/json")
    return box.call("POST", path, data=data, **more)


def base(audience: str = "1nmth", account: str = ACCOUNT) -> str:
    """Address of an audience."""
    return f"/12/accounts/{account}/custom_audiences/{audience}"
