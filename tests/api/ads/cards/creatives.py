"""What the tests of creatives share: the fixtures' media and calls under the well-known account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from tests.support import ACCOUNT, Sandbox

BASE = f"/12/accounts/{ACCOUNT}"

# In the library of the well-known account.
IMAGE = "3_1712850617439550001"
SQUARE = "3_1712850617439550002"
IMAGE_800 = "3_1712850617439550003"
IMAGE_640 = "3_1712850617439550004"
TALL = "3_1712850617439550005"
GIF = "16_1712850617439550007"
VIDEO = "7_1712850617439550009"
SQUARE_VIDEO = "7_1712850617439550010"
TALL_VIDEO = "7_1712850617439550011"
AMPLIFY = "13_1007965804276813271"
OTHER_VIDEO = "7_1712850617439550012"
DELETED_IMAGE = "3_1712850617439550013"
DELETED_VIDEO = "7_1712850617439550014"
# Uploaded only.
UPLOADED_IMAGE = "3_1712850617439560001"
UPLOADED_UNCATEGORISED = "3_1712850617439560003"
UPLOADED_GIF = "16_1712850617439560004"
UPLOADED_VIDEO = "7_1712850617439560005"
UPLOADED_AMPLIFY = "13_1712850617439560006"
# Of other accounts.
FOREIGN_IMAGE = "3_1712850617439552001"
FOREIGN_VIDEO = "13_1011965804276813272"
FOREIGN_UPLOAD = "3_1712850617439560021"
UNKNOWN = "3_999"


def get(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """A read below the well-known account."""
    return box.call("GET", f"{BASE}/{path}", query_string=query)


def post(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """A creation with parameters in the query."""
    return box.call("POST", f"{BASE}/{path}", query_string=query)


def put(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """An update with parameters in the query."""
    return box.call("PUT", f"{BASE}/{path}", query_string=query)


def delete(box: Sandbox, path: str) -> TestResponse:
    """A delete."""
    return box.call("DELETE", f"{BASE}/{path}")


def send(box: Sandbox, method: str, path: str, body: Any) -> TestResponse:
    """A call with a JSON body."""
    return box.call(method, f"{BASE}/{path}", json=body)


def data(response: TestResponse) -> Any:
    """The data of a success."""
    assert response.status_code == 200, response.text
    return response.get_json()["data"]


def echo(response: TestResponse) -> Any:
    """The echoed parameters."""
    return response.get_json()["request"]["params"]


def without(params: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Parameters without some of them."""
    return {name: value for name, value in params.items() if name not in names}


def assumptions(response: TestResponse) -> set[str]:
    """What an answer says it rests on."""
    return set(response.headers["X-Mock-Assumptions"].split(","))
