"""Whose activities an app may hear of: scopes of user tokens, and grants for private activities."""

from __future__ import annotations

from mock_platform.api.v2.release_history import canonicalize_name
from mock_platform.api.v2.webhooks.validation import get_app
from mock_platform.core.assumptions import expectation, settled
from mock_platform.core.auth.oauth2 import find_missing, is_granted, refuse_missing
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.world.world import World

PRIVATE = settled(
    "activity.private-types",
    "For private event types (like, chat, dm, mention, reply, quote, repost, mute, block) the user "
    "must have granted the app access, or sign the request; dm and chat also need the app's "
    "permission for direct messages. Otherwise 403 about:blank.",
    "Events and streams",
)
SCOPE_BY_TYPE = expectation(
    "activity.scope-by-type",
    "A user's token needs post.read and the scope of the type: dm.read for dm and chat, like.read "
    "for like, mute.read, block.read, follows.read and space.read for theirs. So does the grant "
    "that a private type rests on, if it is one of OAuth 2.0.",
)
_PRIVATE = (
    "like.", "chat.", "dm.", "post.mention.", "post.reply.", "post.quote.", "post.repost.",
    "mute.", "block.", "broadcast.chat",
)  # fmt: skip
_SCOPES = (
    ("dm.", "dm.read"), ("chat.", "dm.read"), ("like.", "like.read"), ("mute.", "mute.read"),
    ("block.", "block.read"), ("follow.", "follows.read"), ("spaces.", "space.read"),
)  # fmt: skip
"""The scope that each type needs beside post.read, by the beginning of its name."""


def require_scope(call: Call, event_type: str) -> None:
    """Require that a user's token has the scope of a type of events.

    Raises:
        ProblemFailure: It lacks the scope.
    """
    caller = call.caller
    if caller.scheme != "oauth2" or caller.token is None:
        return
    missing = find_missing([_find_scope(canonicalize_name(event_type))], caller.token["scopes"])
    if missing:
        raise refuse_missing(missing, caller.token)


def _find_scope(name: str) -> str:
    return next((scope for start, scope in _SCOPES if name.startswith(start)), "post.read")


def require_grant(call: Call, world: World, event_type: str, user_id: str | None) -> None:
    """Require that the app may hear of a user's private activities (`activity.private-types`).

    Raises:
        ProblemFailure: It may not.
    """
    name = canonicalize_name(event_type)
    if user_id is None or not name.startswith(_PRIVATE):
        return
    caller, app = call.caller, get_app(call)
    signs = caller.scheme in {"oauth1", "oauth2"}
    signs = signs and caller.user is not None and caller.user["id"] == user_id
    scope = _find_scope(name)
    if not signs and not is_granted(world, app["id"], user_id, scope):
        text = (
            f"{event_type} is private: user {user_id} has not granted app {app['id']} access. "
            f"The user signs in with the app, by OAuth 2.0 with the scope {scope}, or signs this "
            "request."
        )
        raise _forbid(text)
    if name.startswith(("dm.", "chat.")) and "direct_messages" not in app["_permissions"]:
        text = (
            f"{event_type} needs the permission for direct messages, which app {app['id']} lacks."
        )
        raise _forbid(text)


def _forbid(detail: str) -> ProblemFailure:
    value = problem("about:blank", title="Forbidden", status=403, detail=detail)
    return ProblemFailure(value, PRIVATE)
