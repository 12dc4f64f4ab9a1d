"""What is this server's stays here, whoever the request is passed on to."""

from __future__ import annotations

import base64

import pytest

from mock_platform.control.guard import COOKIE
from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.delivery.passing_on import OF_CONSOLE, OF_SERVER, leave_out_own

TOKEN = "s3cret"
BASIC = base64.b64encode(f"me:{TOKEN}".encode()).decode()
OTHER_BASIC = base64.b64encode(b"key:other").decode()


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ((TOKEN_HEADER, TOKEN), None),
        (("Authorization", f"Bearer {TOKEN}"), None),
        (("authorization", f"Basic {BASIC}"), None),
        (("Authorization", "Bearer other"), "Bearer other"),
        (("Authorization", f"Basic {OTHER_BASIC}"), f"Basic {OTHER_BASIC}"),
        (("Authorization", "Basic %"), "Basic %"),
        (("Cookie", f"{COOKIE}=a"), None),
        (("Cookie", f"a=1; {COOKIE}_8080=b; c=2"), "a=1; c=2"),
        (("Cookie", "mock_platform_said=b;d=3"), "d=3"),
        (("Cookie", f"a={COOKIE}"), f"a={COOKIE}"),
        (("Accept", "a/b"), "a/b"),
    ],
)
@pytest.mark.parametrize("names", [OF_SERVER, OF_CONSOLE])
def test_what_opens_the_console_is_left_out(
    sent: tuple[str, str], kept: str | None, names: str | tuple[str, ...]
) -> None:
    """The control token in each place, and the console's cookies; nothing else is changed."""
    expected = [] if kept is None else [(sent[0], kept)]

    assert expected == leave_out_own([sent], names, TOKEN)


def test_a_login_of_the_sandbox_is_left_out_where_the_sandbox_answers() -> None:
    """`record` passes it on: the other server may be a sandbox, which made it."""
    sent = ("Cookie", "mock_platform_session_default=a")

    assert ([], [sent]) == (leave_out_own([sent], OF_SERVER), leave_out_own([sent], OF_CONSOLE))
