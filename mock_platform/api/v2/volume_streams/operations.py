"""The volume streams: samples, firehoses, firehoses by language, and those of likes.

Public posts and likes go to every app that listens, without rules or subscriptions. The shapes are
public facts (all of v2, section 16).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from zlib import crc32

from msgspec import Struct

from mock_platform.api.v2.conventions import (
    ENTERPRISE_ONLY,
    OLDER_NAMES,
    Rates,
    declare_public,
    get_app,
    require_enterprise,
    wrap_data,
)
from mock_platform.api.v2.filtered_stream.links import is_of_post, show_posted
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    MEDIA_FIELDS,
    PARTIAL_ERRORS,
    ObjectAnswer,
    PostAnswer,
    PostSelectionQuery,
    Selection,
    UserSelectionQuery,
    make_names_field,
    read_selection,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.objects.post_text import find_links
from mock_platform.api.v2.objects.relations import may_see_posts_of
from mock_platform.api.v2.prices import LIKE_READ, POST_READ
from mock_platform.api.v2.streams.endpoint import (
    STREAM_PARTITIONS,
    BackfillQuery,
    Line,
    StreamEndpoint,
    WindowQuery,
    find_window_faults,
    make_partition_field,
)
from mock_platform.api.v2.streams.open_streams import OPENING, OpenStreams, open_stream
from mock_platform.api.v2.streams.stream import STREAM_ENDING, STREAM_WIRE, Stream
from mock_platform.api.v2.usage.counting import (
    COUNTED_ONCE,
    MONTHLY_CAP,
    count_posts,
    find_reached_cap,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Lines
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Text
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreError
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

VOLUME_SHAPES = public_fact(
    "volume-streams.shapes",
    "The volume streams take app tokens alone. A line is a post or a like with the fields and "
    "expansions that were asked for; an edited post is a new post.",
    "all of v2, section 16",
    gap=True,
)
PUBLIC_ALONE = expectation(
    "volume-streams.public",
    "Posts of protected, suspended and withheld users, and posts that are promoted only, withheld "
    "or dropped are on no volume stream, nor are likes of them or by such users.",
)
SAMPLE_SHARES = expectation(
    "volume-streams.samples",
    "Every app sees the same sample, by a hash of the id. In a sandbox a hundredth of a handful is "
    "nothing, so samples carry everything; --stream-samples public lets them carry 1 % and 10 %.",
)
STREAM_LANGUAGES = expectation(
    "volume-streams.languages", "A language stream carries posts by their lang."
)
VOLUME_CONNECTIONS = expectation(
    "volume-streams.connections",
    "An app may have 2 connections to each volume stream, in each partition. Streams whose limit "
    "is not published take 50 connects of an app in 15 minutes, like the sample stream.",
)
LIKE_FIELDS_SHOWN = expectation(
    "volume-streams.likes",
    "A like has id, created_at, liked_post_id, post_author_id and timestamp_ms; with "
    "like_with_post_author.fields its id, and what was named: liked_post_author_id selects "
    "post_author_id too.",
)
VOLUME_COUNTED = expectation(
    "volume-streams.capped",
    "Posts of volume streams count as read. At the monthly cap a stream ends with usage-capped as "
    "its last line, and connecting answers 429.",
)
LIKE_FIELDS = (
    "attachments_media_keys", "created_at", "id", "liked_post_author_id", "liked_post_id",
    "timestamp_ms",
)  # fmt: skip
LIKE_EXPANSIONS = ("attachments.media_keys", "liked_post_author_id", "liked_post_id")
_USUAL = ("id", "created_at", "liked_post_id", "post_author_id", "timestamp_ms")
_CONNECTIONS = 2
CONNECTS = Rates(app=50)


class PostStreamQuery(WindowQuery, PostSelectionQuery):
    """What a stream of posts begins with, and what it shows of each."""


class SampleQuery(BackfillQuery, PostSelectionQuery):
    """What the sample stream begins with, and what it shows of each post."""


class NameOfLikeField(Choice):
    """The name of a field or an expansion of likes; `liked_tweet_id` and its kin are read too."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return super()._deserialize(value, attr, data, **kwargs).replace("tweet", "post")


class LikeStreamQuery(WindowQuery, UserSelectionQuery):
    """What a stream of likes begins with, and what it shows of each."""

    like_fields = CommaList(NameOfLikeField(LIKE_FIELDS), data_key="like_with_post_author.fields")
    older_like_fields = CommaList(
        NameOfLikeField(LIKE_FIELDS), data_key="like_with_tweet_author.fields"
    )
    media_fields = make_names_field(MEDIA_FIELDS, data_key="media.fields")
    expansions = CommaList(NameOfLikeField(LIKE_EXPANSIONS))


class PublicPostLine(ObjectAnswer):
    """A line: a public post, and what it refers to."""

    data = POST_OBJECT.one()


LikeLine = wrap_data(
    "LikeLine",
    "_StreamedLike",
    id=Text(required=True),
    created_at=Instant(millis=True),
    liked_post_id=Text(),
    post_author_id=Text(),
    liked_post_author_id=Text(),
    timestamp_ms=Integer(),
    attachments_media_keys=ListOf(Text()),
)


class Volume(Struct, frozen=True):
    """One of the volume streams."""

    id: str
    path: str
    summary: str
    partitions: int = 0
    percent: int = 100
    lang: str | None = None
    limit: Rates = CONNECTS

    @property
    def is_of_likes(self) -> bool:
        """Whether it carries likes; the others carry posts."""
        return self.id.startswith("likes")

    def find_number(self, activity: Record) -> int:
        """Return the number of a post or a like, by which its partition is found."""
        return int(activity["payload"]["id"])

    def has_share(self, activity: Record, settings: Settings) -> bool:
        """Return whether an activity is in the share that the stream carries."""
        share = self.percent if settings.stream_samples == "public" else 100
        return crc32(activity["payload"]["id"].encode()) % 100 < share

    def find_obstacle(self, world: World, settings: Settings, activity: Record) -> str | None:
        """Return why the stream does not carry an activity; `None` if one partition does."""
        if self.is_of_likes:
            fits = (activity["event_type"], activity["direction"]) == ("like.create", "sent")
            wanted, post_id = "like.create that was sent", activity["payload"].get("liked_post_id")
        else:
            fits = is_of_post(activity)
            wanted, post_id = "post.create", activity["payload"].get("id")
        if not fits:
            return f"it carries {wanted}, not {activity['event_type']}"
        if not _has_number(activity):
            return "the id in the payload is no number"
        if not self.has_share(activity, settings):
            return f"its {self.percent} % do not have {activity['payload']['id']}"
        if not (_is_user_public(world, activity["user_id"]) and _is_post_public(world, post_id)):
            return "the user or the post is not public"
        if self.lang not in {None, _find_language(world, activity)}:
            return f"it carries posts whose lang is {self.lang}"
        return None


VOLUMES = (
    Volume("sample_stream", "/2/posts/sample/stream", "1 % of the posts", percent=1),
    Volume(
        "sample10_stream", "/2/posts/sample10/stream", "10 % of the posts", 2, 10,
        limit=Rates(app=100),
    ),
    Volume("firehose_stream", "/2/posts/firehose/stream", "all posts", 20),
    *(
        Volume(
            f"firehose_stream_lang_{lang}", f"/2/posts/firehose/stream/lang/{lang}",
            f"all {name} posts", partitions, lang=lang,
        )
        for lang, name, partitions in (
            ("en", "English", 8),
            *(("ja", "Japanese", 2), ("ko", "Korean", 2), ("pt", "Portuguese", 2)),
        )
    ),
    Volume("likes_firehose_stream", "/2/likes/firehose/stream", "all likes", 20),
    Volume("likes_sample10_stream", "/2/likes/sample10/stream", "10 % of the likes", 2, 10),
)  # fmt: skip


def _has_number(activity: Record) -> bool:
    """Return whether a post or a like has an id of digits; one of a given payload may have none."""
    id_ = activity["payload"].get("id")
    return isinstance(id_, str) and id_.isascii() and id_.isdigit()


def _find_language(world: World, activity: Record) -> str | None:
    post = world.store.get("posts", activity["payload"]["id"]) or activity["payload"]
    return post.get("lang")


def _is_user_public(world: World, user_id: str | None) -> bool:
    """Return whether anybody anywhere may see what a user does; of unknown users too."""
    user = world.store.get("users", user_id or "")
    if user is None:
        return True
    return may_see_posts_of(world, user, None) and not user.get("withheld_in_countries")


def _is_post_public(world: World, post_id: str | None) -> bool:
    """Return whether anybody anywhere may see a post; of posts that do not exist any more, too."""
    post = world.store.get("posts", post_id or "")
    if post is None:
        return True
    kept_back = post["nullcast"] or post.get("_withheld_in_countries") or post.get("_dropped")
    is_public = not kept_back and _is_user_public(world, post["_user_id"])
    return is_public and _is_post_public(world, post.get("_reposted_post_id"))


def _make_post_lines(
    selection: Selection,
    base_url: str,
    world: World,
    activity: Record,
    app_id: str,
    _params: Mapping[str, Any],
) -> Iterator[Line]:
    app = world.store.get("apps", app_id)
    if app is not None:
        with suppress(UnknownWorld, StoreError), world.work():
            count_posts(world, app, [activity["payload"]["id"]])
        yield show_posted(world, activity, selection, base_url)


def _make_like_lines(
    selection: Selection,
    base_url: str,
    world: World,
    activity: Record,
    _app_id: str,
    params: Mapping[str, Any],
) -> Iterator[Line]:
    like = activity["payload"]
    post = world.store.get("posts", like.get("liked_post_id") or "")
    author_id = like.get("liked_post_author_id")
    keys = None if post is None else post["_media_keys"] or None
    whole = {**like, "post_author_id": author_id, "attachments_media_keys": keys}
    named = {*params.get("like_fields", ()), *params.get("older_like_fields", ())}
    named |= selection.expansions & set(LIKE_FIELDS) if named else set()
    if "liked_post_author_id" in named:
        named.add("post_author_id")
    names = [name for name in (*_USUAL, *LIKE_FIELDS) if name in {"id", *(named or _USUAL)}]
    data = {name: whole[name] for name in names if whole.get(name) is not None}
    answer = PostAnswer(world, selection, base_url)
    if "liked_post_id" in selection.expansions and like.get("liked_post_id"):
        answer.include_post("liked_post_id", like["liked_post_id"])
    if "liked_post_author_id" in selection.expansions and author_id:
        answer.include_user("liked_post_author_id", author_id)
    if "attachments.media_keys" in selection.expansions and post is not None:
        answer.include_media(post)
    yield {"data": data, **answer.parts()}


def open_(volume: Volume, call: Call, world: World) -> Stream:
    """Open a volume stream.

    Raises:
        ProblemFailure: The app has read as many posts as it may (429).
    """
    reached = None if volume.is_of_likes else find_reached_cap(world, get_app(call))
    if reached is not None:
        raise ProblemFailure(reached, MONTHLY_CAP, VOLUME_COUNTED)
    make = _make_like_lines if volume.is_of_likes else _make_post_lines
    settings = world.find_attachment(OpenStreams).settings
    find_obstacle = partial(volume.find_obstacle, world, settings)
    endpoint = StreamEndpoint(
        volume.id,
        connections=_CONNECTIONS,
        concerns=lambda activity, _app_id: find_obstacle(activity) is None,
        explain=lambda activity, _app_id: find_obstacle(activity),
        make_lines=partial(make, read_selection(call.params, find_links(call)), call.base_url),
        find_number=volume.find_number if volume.partitions else None,
        partitions=volume.partitions,
    )
    return open_stream(call, world, endpoint)


def _make_query(volume: Volume) -> type[Schema]:
    """Return the schema of a stream's parameters."""
    if not volume.partitions:
        return SampleQuery
    base: type[Schema] = LikeStreamQuery if volume.is_of_likes else PostStreamQuery
    name = f"{volume.id.title().replace('_', '')}Query"
    found = type(name, (base,), {"partition": make_partition_field(volume.partitions)})
    found.__doc__ = base.__doc__
    return found


def _declare(volume: Volume) -> Operation:
    counted = () if volume.is_of_likes else (COUNTED_ONCE, VOLUME_COUNTED)
    capped = () if volume.is_of_likes else ("usage-capped",)
    shown = LIKE_FIELDS_SHOWN if volume.is_of_likes else FIELD_SELECTION
    # The sample of 1 % is for every app.
    gate: Mapping[str, Any] = {} if volume.percent == 1 else {"tier_gate": require_enterprise}
    return declare_public(
        f"{volume.id}.open",
        f"GET {volume.path}",
        partial(open_, volume),
        f"Stream {volume.summary}",
        params=_make_query(volume),
        rules=find_window_faults,
        returns=Lines(LikeLine if volume.is_of_likes else PublicPostLine),
        auth=BEARER,
        limit=volume.limit,
        errors=("invalid-request", "streaming-connection", *capped),
        assumptions=(
            VOLUME_SHAPES,
            STREAM_WIRE,
            PUBLIC_ALONE,
            VOLUME_CONNECTIONS,
            shown,
            *((SAMPLE_SHARES,) if volume.percent < 100 else ()),
            *((STREAM_LANGUAGES,) if volume.lang else ()),
            *((STREAM_PARTITIONS,) if volume.partitions else ()),
            *counted,
        ),
        may_assume=(
            *OPENING,
            STREAM_ENDING,
            MONTHLY_CAP,
            PARTIAL_ERRORS,
            OLDER_NAMES,
            ENTERPRISE_ONLY,
        ),
        price=LIKE_READ if volume.is_of_likes else POST_READ,
        **gate,
    )


OPERATIONS = tuple(map(_declare, VOLUMES))
