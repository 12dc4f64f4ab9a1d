"""Every method of the vendor's Python SDK reaches an operation of the sandbox.

The methods are found by a walk over the clients of the SDK, and each is called once with made-up
arguments. What it answers is looked at elsewhere; here only that there is something that answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import pytest

from mock_platform import MockPlatform
from mock_platform.api.served import OPERATIONS

if TYPE_CHECKING:
    from requests import Response
    from xdk import Client

pytestmark = pytest.mark.live

Method = Callable[..., Any]
OPERATIONS_BY_ID: Mapping[str, list[list[str]]] = {
    "openapi.get": [["", "2", "openapi.json"]],
    **{each.id: [path.split("/") for path in (each.path, *each.also)] for each in OPERATIONS},
}
"""The paths of each operation, in parts."""


class Answered(BaseException):
    """The first answer of a method, before the SDK reads it; no handler of the SDK catches it."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def stop(response: Response, **_: Any) -> NoReturn:
    """End a call of the SDK as soon as the headers of the answer are there."""
    raise Answered(response)


@pytest.fixture
def client() -> Iterator[Client]:
    """The SDK with the app's token and the user's, at a sandbox that has all releases."""
    from xdk import Client

    with MockPlatform.start(releases="all") as platform:
        credentials = platform.credentials
        made = Client(
            base_url=platform.base_url, bearer_token=credentials["bearer_token"],
            access_token=credentials["user"]["oauth2_access_token"],
        )  # fmt: skip
        made.session.hooks["response"].append(stop)
        yield made


def list_methods(client: Client) -> Iterator[tuple[str, Method]]:
    """The public methods of all clients of the SDK, each with its name."""
    for name, part in vars(client).items():
        if type(part).__module__.startswith(f"xdk.{name}."):
            for own, method in inspect.getmembers(part, inspect.ismethod):
                if not own.startswith("_"):
                    yield f"{name}.{own}", method


def make_up(parameter: inspect.Parameter) -> Any:
    """A value that a parameter of the SDK takes."""
    kind = str(parameter.annotation)
    if parameter.name == "body":
        return {}
    if "Literal[" in kind:
        return kind.partition("Literal[")[2].partition(",")[0].strip("'] ")
    if "List[" in kind:
        return ["1"]
    return {"int": 1, "bool": True}.get(kind, "1")


def ask(method: Method) -> tuple[Response, set[str]]:
    """Call a method with what it requires; its first answer, and the values that were made up."""
    needed = [
        each
        for each in inspect.signature(method).parameters.values()
        if each.default is inspect.Parameter.empty
    ]
    sent = {each.name: make_up(each) for each in needed}
    try:
        result = method(**sent)
        if inspect.isgenerator(result):  # pages and streams, which ask when they are read
            next(result)
    except Answered as answered:
        return answered.response, set(map(str, sent.values()))
    raise AssertionError("the method sent nothing")


def fits(path: str, operation: str | None, made_up: Collection[str]) -> bool:
    """Whether an operation is that of a path, in which ids were made up.

    `/2/users/search` is not answered by the operation that reads the user in `/2/users/:id`.
    """
    sent = path.split("/")
    return any(
        len(sent) == len(template)
        and all(
            part in made_up if known.startswith(":") else part == known
            for part, known in zip(sent, template, strict=True)
        )
        for template in OPERATIONS_BY_ID.get(operation or "", ())
    )


def is_answered(response: Response, made_up: set[str]) -> bool:
    """Whether the operation of a method has answered, if only with a refusal."""
    response.close()
    path = urlsplit(str(response.request.url)).path
    operation = response.headers.get("X-Mock-Operation")
    return response.status_code < 500 and fits(path, operation, made_up)


def test_every_method_is_served(client: Client) -> None:
    """Each method is answered by the operation of its path."""
    methods = dict(list_methods(client))
    unknown = {name for name, method in methods.items() if not is_answered(*ask(method))}

    assert 170 < len(methods)
    assert [] == sorted(unknown)
