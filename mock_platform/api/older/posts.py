"""Posts of the older interface: made, deleted, read and reposted, liked, listed and searched."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from urllib.parse import urlencode

from mock_platform.api.older import conventions as older
from mock_platform.api.older import media, objects
from mock_platform.api.older.conventions import SITE, Switch, add_fields, run
from mock_platform.api.older.objects import OlderPost, require_post, show_found_posts, show_post
from mock_platform.api.v2 import conventions as v2
from mock_platform.api.v2 import likes, posts, reposts, search, timelines
from mock_platform.api.v2.media.operations import PIXEL
from mock_platform.api.v2.objects import answers, post_view, relations
from mock_platform.api.v2.pages import USERS
from mock_platform.api.v2.posts import creation, named_posts
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import NO_AUTH
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Choice, CommaList, Integer, Json, ListOf, Nested, Text
from mock_platform.core.operation import Handler, Location
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

REPLY_RULES = public_fact(
    "older.replies",
    "in_reply_to_status_id makes a reply only if the text mentions the author of that post, if "
    "that is the caller, or with auto_populate_reply_metadata.",
    "developer pages of version 1.1, statuses/update",
)
PRIVATE_LIKES = expectation(
    "older.likes",
    "favorites/list shows the likes of the caller, newest post first; those of others are private "
    "and the list is empty. A second like is refused with code 139, the end of none with 144.",
)
SEARCH_OPERATORS = expectation(
    "older.search",
    "search/posts takes the operators of this platform, and of the older ones filter:, since: and "
    "until:. It reaches seven days back; result_type popular and mixed are by relevance.",
)
EMBEDDED_POSTS = public_fact(
    "older.oembed",
    "statuses/oembed, and /oembed on the host for publishers, describe a public post for other "
    "pages; nobody has to sign in. html is a quotation, and a script unless omit_script is true. "
    "The wishes about its look have no effect but maxwidth, from 220 to 550.",
    "developer pages of version 1.1, statuses/oembed",
)
_EMBEDDED = ("hide_media", "hide_thread", "omit_script", "dnt")
Embedded = v2.make_schema(
    "OlderEmbeddedPost",
    width=Integer(),
    height=Integer(allow_none=True),
    **older.require(
        Text, "url", "author_name", "author_url", "html", "type", "cache_age", "provider_name",
        "provider_url", "version",
    ),
)  # fmt: skip
_POST_ADDRESS = re.compile(r"https?://[^/]+/[^/]+/status(?:es)?/([0-9]{1,19})")
_OLDER_OPERATORS = {
    **{f"filter:{name}": f"has:{name}" for name in ("links", "media", "images")},
    **{f"filter:{name}": f"is:{name}" for name in ("quote", "verified")},
    **{f"filter:{name}": "is:repost" for name in ("retweets", "nativeretweets", "reposts")},
    "filter:replies": "is:reply",
}
_OPERATOR = re.compile(r"\bfilter:\w+", re.ASCII)
_DAY = re.compile(r"\s*\b(since|until):([0-9]{4}-[0-9]{2}-[0-9]{2})\b", re.ASCII)
_id = partial(v2.make_id_field, "a post id of ")
_NamedPost = add_fields(older.FormQuery, id=_id(required=True))


class NewStatus(older.FormQuery):
    """What a user posts."""

    status = Text()
    in_reply_to_status_id = _id()
    auto_populate_reply_metadata = Switch(load_default=False)
    exclude_reply_user_ids = CommaList(_id())
    attachment_url = Text()
    media_ids = CommaList(v2.make_id_field("a media id of "))
    possibly_sensitive = Switch(load_default=False)
    lat = Text()
    long = Text()
    place_id = Text(min_length=1)
    display_coordinates = Switch()
    card_uri = Text(pattern=post_view.CARD_URI, pattern_text="card://<card_id>")


class NewStatusWithMedia(NewStatus):
    """What a user posts, with an image that is uploaded by the same request."""

    file = media.Picture(data_key="media[]", required=True)


class FoundStatuses(Schema):
    """Posts that a search found, and the queries of the pages around this one."""

    statuses = ListOf(Nested(OlderPost), required=True)
    search_metadata = Json(required=True)


def update(create: Handler, call: Call, world: World) -> Record:
    """Make a post of the caller, and return it as it is shown."""
    id_ = run(create, call, world, **_read_new(call, world))["data"]["id"]
    if call.params["possibly_sensitive"]:
        stored = require_post(call, world, id_)
        world.store.put("posts", id_, stored | {"_possibly_sensitive": True})
    return show_post(call, world, require_post(call, world, id_))


def _read_new(call: Call, world: World) -> Record:
    """Return a new post as the v2 interface takes it.

    Raises:
        NumericFailure: It has no content (170), or several attachments (386).
    """
    sent, text = call.params, call.params.get("status", "")
    attached = sent.keys() & {"media_ids", "attachment_url", "card_uri"}
    if len(attached) > 1:
        raise NumericFailure(386)
    if not text.strip() and not attached:
        raise NumericFailure(170, "Missing required parameter: status.")
    new: Record = {"text": text} | {name: sent[name] for name in attached & {"card_uri"}}
    for part, name in (("media", "media_ids"), ("geo", "place_id")):
        if name in sent:
            new[part] = {name: sent[name]}
    if "attachment_url" in sent:
        address = _POST_ADDRESS.match(sent["attachment_url"])
        if address is None:
            raise NumericFailure(44, "attachment_url parameter is invalid.")
        new["quote_post_id"] = address[1]
    if _is_reply(call, world):
        excluded = sent.get("exclude_reply_user_ids", [])
        answered = sent["in_reply_to_status_id"]
        new["reply"] = {"in_reply_to_post_id": answered, "exclude_reply_user_ids": excluded}
    ignored = [name for name in ("lat", "long") if name in sent]
    if ignored:
        call.warn(f"{', '.join(ignored)} have no effect: posts have places alone", NO_EFFECT)
    return new


def _is_reply(call: Call, world: World) -> bool:
    if "in_reply_to_status_id" not in call.params:
        return False
    call.assume(REPLY_RULES)
    post = world.store.get("posts", call.params["in_reply_to_status_id"]) or {}
    author = world.store.get("users", post.get("_user_id", ""))
    if author is None or author["id"] == v2.get_user_id(call):
        return True  # an unknown one is refused
    name = f"@{author['screen_name']}"
    is_mentioned = name.casefold() in call.params.get("status", "").casefold()
    if is_mentioned or call.params["auto_populate_reply_metadata"]:
        return True
    call.warn(f"in_reply_to_status_id has no effect: the text does not say {name}", NO_EFFECT)
    return False


def destroy(call: Call, world: World) -> Record:
    """Delete a post of the caller, and return it."""
    post = world.store.get("posts", call.path_params["id"])
    shown = {} if post is None else show_post(call, world, post)
    run(posts.operations.delete, call, world, call.path_params)
    return shown


def show(call: Call, world: World) -> Record:
    """Return the post that the path or the parameter names."""
    post_id = call.path_params.get("id") or call.params.get("id")
    if post_id is None:
        raise NumericFailure(38, "id parameter is missing.")
    return objects.show_read_posts(call, world, [require_post(call, world, post_id)])[0]


def look_up(call: Call, world: World) -> Record | list[Record]:
    """Return those posts with these ids that the caller may see."""
    ids = list(dict.fromkeys(call.params["id"]))
    may_see = relations.make_sight_of(world, answers.get_viewer_id(call))
    found = (world.store.get("posts", id_) for id_ in ids)
    shown = objects.show_read_posts(call, world, [post for post in found if post and may_see(post)])
    by_id = {post["id_str"]: post for post in shown}
    return {"id": {id_: by_id.get(id_) for id_ in ids}} if call.params["map"] else shown


def repost(call: Call, world: World) -> Record:
    """Repost a post, and return the repost."""
    require_post(call, world, call.path_params["id"])
    made = run(reposts.operations.create, call, world, post_id=call.path_params["id"])
    return show_post(call, world, require_post(call, world, made["data"]["id"]))


def list_reposts(call: Call, world: World) -> list[Record]:
    """Return the latest reposts of a post."""
    asked = {"max_results": older.clamp(call, 100, 100)}
    found = run(reposts.operations.list_reposts, call, world, call.path_params, **asked)
    return show_found_posts(call, world, found)


def list_reposters(call: Call, world: World) -> Record:
    """Return the page of the ids of those who reposted a post."""
    list_ = reposts.operations.list_reposters
    return older.run_id_page(list_, USERS, 100, call, world, call.params["id"])


def list_reposted(call: Call, world: World) -> list[Record]:
    """Return the caller's posts that others reposted."""
    low, high = older.read_bounds(call)
    found = run(reposts.operations.list_reposted, call, world, max_results=100).get("data", ())
    ids = [one["id"] for one in found if low < int(one["id"]) < high]
    return [show_post(call, world, require_post(call, world, id_))
            for id_ in ids[: older.clamp(call, 20, 100)]]  # fmt: skip


def update_with_media(create: Handler, call: Call, world: World) -> Record:
    """Upload an image, and make a post of the caller with it."""
    uploaded = run(media.upload, call, world, media=call.params["file"])
    call.params = {**call.params, "media_ids": [uploaded["media_id_string"]]}
    return update(create, call, world)


def embed(call: Call, world: World) -> Record:
    """Return a post as HTML for pages of others.

    Raises:
        NumericFailure: No post is named (25), or none that everybody may see (144, 179).
    """
    sent, named = call.params, _POST_ADDRESS.match(call.params.get("url", ""))
    id_ = sent.get("id") or (named and named[1])
    if not id_:
        raise NumericFailure(144 if "url" in sent else 25)
    post = require_post(call, world, id_)
    call.params = {**sent, "post_mode": "extended"}
    shown = show_post(call, world, post)
    name, written = shown["user"]["screen_name"], parse_instant(post["created_at"])
    address = f"{SITE}/{name}/status/{id_}"
    html = (
        f'<blockquote class="platform-post"><p lang="{escape(shown["lang"] or "und")}" dir="ltr">'
        f"{_mark_up(shown)}</p>&mdash; {escape(shown['user']['name'])} (@{name}) "
        f'<a href="{address}">{written:%B} {written.day}, {written.year}</a></blockquote>\n'
    )
    if not sent["omit_script"]:
        html += f'<script async src="{SITE}/widgets.js" charset="utf-8"></script>\n'
    return {
        "url": address,
        "author_name": shown["user"]["name"],
        "author_url": f"{SITE}/{name}",
        "html": html,
        "width": max(220, min(sent.get("maxwidth", 550), 550)),
        "height": None,
        "type": "rich",
        "cache_age": "3153600000",
        "provider_name": "Platform",
        "provider_url": SITE,
        "version": "1.0",
    }


def _mark_up(post: Record) -> str:
    """Return the text of a post as HTML, with links where it names users, tags and addresses."""
    text, entities, end = post["full_text"], post["entities"], 0
    links = [(one["indices"], f"{SITE}/{one['screen_name']}") for one in entities["user_mentions"]]
    links += [(one["indices"], f"{SITE}/hashtag/{one['text']}") for one in entities["hashtags"]]
    links += [(one["indices"], one["url"]) for one in entities["urls"]]
    parts = []
    for (start, stop), address in sorted(links):
        # The text has & and < as references of HTML already, and the places count these.
        parts += [text[end:start], f'<a href="{escape(address)}">{text[start:stop]}</a>']
        end = stop
    return "".join([*parts, text[end:]]).replace("\n", "<br>")


def change(handler: Handler, call: Call, world: World) -> Record:
    """Like a post, or end a like or a repost of it, and return the post: of a repost the original.

    Raises:
        NumericFailure: The caller likes it already (139), or does not like it (144).
    """
    named = call.path_params.get("id") or call.params["id"]
    post = named_posts.find_named_post(world, named)
    id_ = require_post(call, world, named if post is None else post["id_str"])["id_str"]
    is_liked = relations.LIKES.find(world, v2.get_user_id(call), id_) is not None
    if is_liked and handler is likes.operations.create:
        raise NumericFailure(139)
    if not is_liked and handler is likes.operations.delete:
        raise NumericFailure(144)
    run(handler, call, world, {"post_id": id_, "source_post_id": id_}, post_id=id_)
    return show_post(call, world, require_post(call, world, id_))


def list_likes(call: Call, world: World) -> list[Record]:
    """Return the posts that the caller likes, newest first."""
    user_id, viewer = older.find_owner(call, world)["id"], answers.get_viewer_id(call)
    if user_id != viewer:
        return []
    may_see, (low, high) = relations.make_sight_of(world, viewer), older.read_bounds(call)
    found = [world.store.get("posts", id_) for id_ in relations.LIKES.list_targets(world, user_id)]
    seen = [one for one in found if one and low < one["id"] < high and may_see(one)]
    seen.sort(key=lambda one: -int(one["id"]))
    return objects.show_read_posts(call, world, seen[: older.clamp(call, 20, 200)])


def _read_window(call: Call) -> Record:
    """Return the ids between which posts lie as the v2 interface takes them."""
    low, high = older.read_bounds(call)
    names = (("since_id", "since_id", low), ("max_id", "until_id", high))
    return {name: str(bound) for sent, name, bound in names if sent in call.params}


def list_timeline(timeline: Handler, call: Call, world: World) -> list[Record]:
    """Return the page of a timeline."""
    user, wanted = older.find_owner(call, world), call.params
    excluded = ["replies"] if wanted.get("exclude_replies") else []
    excluded += [] if wanted["include_rts"] else ["reposts"]
    asked = {"max_results": older.clamp(call, 20, 200), "excluded": excluded, **_read_window(call)}
    found = run(timeline, call, world, {"id": user["id"]}, **asked)
    return show_found_posts(call, world, older.require_shown(call, found))


def find(search_recent: Handler, call: Call, world: World) -> Record:
    """Return the page of posts that a query finds."""
    query, window = _read_query(call)
    order = "recency" if call.params["result_type"] == "recent" else "relevancy"
    asked = {"query": query, "max_results": older.clamp(call, 15, 100), "sort_order": order}
    found = run(search_recent, call, world, **asked, **window, **_read_window(call))
    shown = show_found_posts(call, world, found)
    return {"statuses": shown, "search_metadata": _describe_search(call, shown)}


def _read_query(call: Call) -> tuple[str, Record]:
    """Return a query in the language of the v2 interface, and the times that it names."""
    query = call.params["q"].strip()
    days = dict(_DAY.findall(query))
    days |= {"until": call.params["until"]} if "until" in call.params else {}
    query += f" lang:{call.params['lang']}" if "lang" in call.params else ""
    query = _OPERATOR.sub(lambda found: _OLDER_OPERATORS.get(found[0], found[0]), query)
    names = {"since": "start_time", "until": "end_time"}
    try:
        times = {names[word]: wire_millis(v2.start_on(day)) for word, day in days.items()}
    except ValueError as fault:
        wrong = "since and until take a day such as 2026-03-01, in UTC"
        call.diagnosis = {"mistake": "query", "explanation": wrong}
        raise NumericFailure(195) from fault
    return _DAY.sub("", query).strip(), times


def _describe_search(call: Call, shown: list[Record]) -> Record:
    ids, count = [post["id"] for post in shown], older.clamp(call, 15, 100)
    newest = max(ids, default=0)
    about = {"q": call.params["q"], "include_entities": 1}
    described: Record = {
        "completed_in": 0.01,
        "query": urlencode({"q": call.params["q"]})[2:],
        "refresh_url": f"?{urlencode({'since_id': newest, **about})}",
        "count": count,
        **post_view.add_texts({"max_id": newest, "since_id": int(call.params.get("since_id", 0))}),
    }
    if len(ids) == count:
        following = urlencode({"max_id": min(ids) - 1, "count": count, **about})
        described["next_results"] = f"?{following}"
    return described


_POST, _OTHERS_POST, _NOT_LIKED = (f"178990000000000000{number}" for number in (1, 6, 4))
_UPDATES = v2.limit_users("statuses/update", 300, 10_800)
_NAMED = (objects.POST_FORMS, named_posts.NAMED_POSTS)
_TimelineQuery = add_fields(older.PostRangeQuery, exclude_replies=Switch(load_default=False))
_declare = partial(older.declare, facts=(objects.POST_FORMS,), may_assume=(COUNTED_ONCE,))
_of_user = partial(
    older.declare_of_user,
    facts=(objects.POST_FORMS,),
    may_assume=(older.NOT_AUTHORIZED, COUNTED_ONCE),
)
_write = partial(older.declare, returns=OlderPost, facts=_NAMED, errors="144 179")
_post = partial(
    _write, limit=_UPDATES, configure=posts.operations.make_create,
    errors="44 136 170 186 187 324 385 386 433",
    facts=(objects.POST_FORMS, creation.TEXT_LENGTHS, creation.UNREACHED_POSTS, REPLY_RULES),
    may_assume=(creation.LINKED_POSTS,),
)  # fmt: skip
_like = partial(_write, params=_NamedPost, facts=(*_NAMED, PRIVATE_LIKES))
OPERATIONS = (
    _post("POST statuses/update", update, "Post as a user", params=NewStatus,
          query={"status": "Fresh from the roaster"}),
    _post("POST statuses/update_with_media", update_with_media, "Post as a user with an image",
          params=NewStatusWithMedia, location=Location.UPLOAD,
          json={"status": "A mug in the snow", "media[]": PIXEL}),
    _declare("POST statuses/destroy/:id", destroy, "Delete a post", OlderPost, errors="144 183",
             path={"id": _POST}),
    _declare("GET statuses/show", show, "Read a post", OlderPost,
             add_fields(older.FormQuery, id=_id(), include_my_repost=Switch()), rates=(900, 900),
             also=("/1.1/statuses/show/:id",), errors="144 179", query={"id": _POST}),
    *(_declare(f"{method} statuses/lookup", look_up, "Read several posts",
               older.Listing(OlderPost, by_id=True),
               add_fields(older.FormQuery, map=Switch(load_default=False),
                                id=CommaList(_id(), most=100, required=True)),
               id_=name, rates=(300, 900), query={"id": _POST}, reads=True)
      for method, name in (("GET", "statuses.lookup"), ("POST", "statuses.lookup_by_post"))),
    _declare("GET statuses/reposts/:id", list_reposts, "List the reposts of a post", objects.POSTS,
             add_fields(older.FormQuery, count=Integer(low=0)), rates=(300, 75),
             errors="144 179", path={"id": _POST}),
    _declare("GET statuses/reposters/ids", list_reposters, "List the ids of who reposted a post",
             older.IdPage, add_fields(older.CursorQuery, id=_id(required=True),
                                      stringify_ids=Switch(load_default=False)),
             rates=(300, 75), errors="44 144 179", query={"id": _POST}),
    _declare("GET statuses/reposts_of_me", list_reposted,
             "List the caller's posts that others reposted", objects.POSTS, older.PostRangeQuery,
             rates=(None, 75)),
    _declare("GET statuses/oembed", embed, "Read a post as HTML for other pages", Embedded,
             add_fields(id=_id(), url=Text(), maxwidth=Integer(low=1), align=Text(), theme=Text(),
                        lang=Text(), related=Text(), widget_type=Text(), link_color=Text(),
                        **{name: Switch(load_default=False) for name in _EMBEDDED}),
             auth=NO_AUTH, also=("/oembed",), facts=(EMBEDDED_POSTS,), errors="25 144 179",
             query={"id": _POST}),
    _write("POST statuses/repost/:id", repost, "Repost a post", limit=_UPDATES,
           errors="136 144 179 327", path={"id": _OTHERS_POST}),
    _write("POST statuses/unrepost/:id", partial(change, reposts.operations.delete),
           "Take back a repost", path={"id": _OTHERS_POST}),
    _of_user("GET statuses/user_timeline", partial(list_timeline, timelines.operations.list_posts),
             "List the posts of a user", objects.POSTS, query={"screen_name": "northbike_co"},
             params=add_fields(_TimelineQuery, older.OneUserQuery), rates=(1500, 900)),
    *(_declare(f"GET statuses/{name}_timeline", partial(list_timeline, timeline), text,
               objects.POSTS, _TimelineQuery, rates=(None, most))
      for name, timeline, text, most in (
          ("home", timelines.operations.list_home,
           "List the posts of those whom the caller follows", 15),
          ("mentions", timelines.operations.list_mentions,
           "List the posts that mention the caller", 75))),
    _declare("GET search/posts", find, "Search posts", FoundStatuses,
             add_fields(
                 older.PostRangeQuery, q=Text(required=True, min_length=1, max_length=500),
                 until=Text(), lang=Text(), locale=Text(), geocode=Text(),
                 result_type=Choice(("mixed", "recent", "popular"), load_default="mixed")),
             configure=partial(search.operations.make_search, "recent"), rates=(450, 180),
             errors="195", facts=(objects.POST_FORMS, SEARCH_OPERATORS), query={"q": "coffee"}),
    _like("POST favorites/create", partial(change, likes.operations.create), "Like a post",
          limit=v2.Rates(user_daily=1000), errors="139 144 179", query={"id": _NOT_LIKED}),
    _like("POST favorites/destroy", partial(change, likes.operations.delete),
          "End the like of a post", query={"id": _OTHERS_POST}),
    _of_user("GET favorites/list", list_likes, "List the posts that a user likes", objects.POSTS,
             add_fields(older.PostRangeQuery, older.OneUserQuery), rates=(75, 75),
             facts=(objects.POST_FORMS, PRIVATE_LIKES), query={"screen_name": "harbor_roasters"}),
)  # fmt: skip
