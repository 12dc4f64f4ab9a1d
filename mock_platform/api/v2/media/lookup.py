"""Media by their keys, as expansions of posts show them.

What is shown is a public fact (all of v2, section 11). Media are seen by whoever sees a post that
has them, and by those who may use them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    MEDIA_KEY,
    MediaKey,
    check_path,
    declare_public,
    find_nothing,
    start_on,
)
from mock_platform.api.v2.media.uploads import is_expired
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    MEDIA_FIELDS,
    PARTIAL_ERRORS,
    ObjectAnswer,
    hide_record,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.figures import find_posts_with
from mock_platform.api.v2.objects.media_view import find_any_media, may_use
from mock_platform.api.v2.objects.object_types import MEDIA_OBJECT
from mock_platform.api.v2.objects.relations import may_see
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import Problem
from mock_platform.core.fields import CommaList
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MEDIA_LOOKUP = public_fact(
    "media.lookup",
    "Media by their keys are the objects of includes.media. What is missing among several is named "
    "in errors of a 200 with resource_type media; a single missing one answers 404.",
    "all of v2, section 11",
    gap=True,
)
SEEN_MEDIA = expectation(
    "media.seen",
    "Media are shown to whoever sees a post that has them, and to users who may use them. Of a "
    "post that the caller may not see they answer not-authorized-for-resource; without a post, for "
    "instance after its deletion, they are not found. Their private metrics are for users who may "
    "use them; for others errors has a not-authorized-for-field.",
)


class MediaFieldsQuery(Schema):
    """What a client wants to see of media."""

    media_fields = make_names_field(MEDIA_FIELDS, data_key="media.fields")


class MediaQuery(MediaFieldsQuery):
    """Which media to show."""

    media_keys = CommaList(MediaKey(), most=100, required=True)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the media that the path names."""
    answer = start_answer(call, world)
    found = _find_seen(world, call.path_params["media_key"], answer.viewer_id, "media_key")
    if isinstance(found, Problem):
        raise ProblemFailure(found, SEEN_MEDIA)
    answer.add_media(found)
    return answer.show_one()


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return media; those that are not found or not seen are named in `errors`."""
    answer = start_answer(call, world)
    for key in dict.fromkeys(call.params["media_keys"]):
        found = _find_seen(world, key, answer.viewer_id, "media_keys")
        if isinstance(found, Problem):
            call.assume(PARTIAL_ERRORS)
            answer.errors.append(found.as_item(call.base_url))
        else:
            answer.add_media(found)
    return answer.show_all()


def _find_seen(world: World, key: str, viewer_id: str | None, parameter: str) -> Record | Problem:
    """Return media that a viewer sees, or the problem that they are missing or hidden."""
    media = find_any_media(world, key)
    missing = find_nothing("media", parameter, key, repeated=parameter == "media_key")
    if media is None or media["media_type"] == "SUBTITLES" or is_expired(world, media):
        return missing
    if viewer_id is not None and may_use(world, viewer_id, media):
        return media
    posts = find_posts_with(world, key)
    if any(may_see(world, post, viewer_id) for post in posts):
        return media
    return hide_record(parameter, key, "media") if posts else missing


class SingleMediaAnswer(ObjectAnswer):
    """Media with the selected fields."""

    data = MEDIA_OBJECT.one()


class SeveralMediaAnswer(ObjectAnswer):
    """Several media with the selected fields, and what was not found."""

    data = MEDIA_OBJECT.several()


_declare = partial(
    declare_public,
    auth=Auth(ANY_CALLER, scopes=("post.read",)),
    errors=("invalid-request", "resource-not-found", "not-authorized-for-resource"),
    assumptions=(MEDIA_LOOKUP, SEEN_MEDIA, FIELD_SELECTION),
    may_assume=(PARTIAL_ERRORS,),
)
_OF_A_POST = "3_1712850617439550001"
OPERATIONS = (
    _declare(
        "media.get_many",
        "GET /2/media",
        get_many,
        "List media by their keys",
        params=MediaQuery,
        returns=SeveralMediaAnswer,
        since=start_on("2025-04-25"),
        example=Example(query={"media_keys": _OF_A_POST, "media.fields": "url,alt_text"}),
    ),
    _declare(
        "media.get",
        "GET /2/media/:media_key",
        get,
        "Read media by their key",
        params=MediaFieldsQuery,
        rules=check_path(media_key=MEDIA_KEY),
        returns=SingleMediaAnswer,
        since=start_on("2025-04-15"),
        example=Example(path={"media_key": _OF_A_POST}),
    ),
)
