"""Who is in a dataset and what they write: users, posts, and what connects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    BOOKMARKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    LIKES,
    MUTES,
    Relation,
)
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record

MAIN = "2244994945"
"""The user in the centre, who is in the default fixtures, as are two followers."""
_KNOWN_FOLLOWERS = 2
_FRIENDS, _REPOSTERS = 6, 100
_FIRST_USER, _FIRST_POST = 1_500_000_000, 1_800_000_000_000_000_000
_FIRST_WORDS = (
    "amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "hazel", "iris", "juniper",
    "kelp", "larch", "maple", "north", "olive", "pine", "quartz", "reed", "slate", "tide",
)  # fmt: skip
_LAST_WORDS = ("baker", "cycle", "field", "grain", "house", "mills", "notes", "press", "trail")
_TEXTS = (
    "A quiet morning by the water.", "Two new roasts on the shelf today.",
    "Rain all day, so we baked.", "Fixed the old grinder at last.",
    "Who is at the market on Saturday?", "The first peaches are here.",
    "Closed on Monday for the stock count.", "Thank you for a full house last night!",
    "Trying a longer brew this week.", "The window seat is free again.",
)  # fmt: skip
_REPLIES = ("We will be there.", "Lovely!", "Which one do you like best?", "Save me one, please.")
Tables = dict[str, list[Record]]
_DAY = timedelta(days=1)
_SCOPES = {"followers": True}
_IMAGES = tuple(f"3_18000000000000001{number:02}" for number in range(12))
_ATTACHED = (
    *([key] for key in _IMAGES[:9]), [*_IMAGES[9:]],
    ["16_1800000000000000112"], ["7_1800000000000000113"], ["7_1800000000000000114"],
)  # fmt: skip
"""The media of every tenth post of the main user: twelve images, a GIF and two videos."""
_KINDS_OF_MEDIA: Mapping[str, tuple[str, str, Record]] = {
    "3": ("IMAGE", "jpg", {"aspect_ratio": "4:3"}),
    "16": ("GIF", "mp4", {"aspect_ratio": "4:3"}),
    "7": ("VIDEO", "mp4", {"aspect_ratio": "4:3", "duration": 12_000}),
}
_SUBTITLES = (
    ("24_1712850617439560008", "EN", "English"),
    ("24_1712850617439560009", "DE", "Deutsch"),
)
"""Files of the default fixtures, with their languages."""
_POLL = {
    "id": "1800000000000000200",
    "options": [
        {"position": 1, "label": "Light", "votes": 12},
        {"position": 2, "label": "Dark", "votes": 19},
    ],
    "duration_minutes": 1440,
}


class Sizes(Struct, frozen=True):
    """How many of each a dataset has; most of it is about the user in the centre."""

    users: int
    followers: int
    follows: int
    blocks: int
    mutes: int
    posts: int
    posts_of_others: int
    mentions: int
    quotes: int
    replies: int
    likes: int
    likes_of_one: int
    reposts_of_one: int
    bookmarks: int
    owned_lists: int
    list_members: int
    list_followers: int
    spaces: int
    buyers: int
    communities: int
    messages: int


SIZES: Mapping[str, Sizes] = {
    "social": Sizes(
        users=140, followers=120, follows=45, blocks=3, mutes=7, posts=130, posts_of_others=260,
        mentions=35, quotes=12, replies=105, likes=110, likes_of_one=120, reposts_of_one=104,
        bookmarks=115, owned_lists=4, list_members=105, list_followers=103, spaces=2, buyers=101,
        communities=12, messages=130,
    ),
    "large": Sizes(
        users=5000, followers=3500, follows=1500, blocks=120, mutes=250, posts=3300,
        posts_of_others=20_000, mentions=900, quotes=1200, replies=3000, likes=4000,
        likes_of_one=4900, reposts_of_one=3000, bookmarks=820,
        owned_lists=150, list_members=4800, list_followers=3000, spaces=150, buyers=1200,
        communities=200, messages=1000,
    ),
}  # fmt: skip
"""The datasets by name. `small`, which is the default fixtures alone, adds nothing."""


def link(
    relation: Relation, edges: Iterable[tuple[str, str]], until: datetime, days: float = 90, *,
    since: Mapping[str, str] | None = None,
) -> list[Record]:  # fmt: skip
    """Return edges of a relation, oldest first, the last one at a moment.

    `since` are the moments of the targets, which no edge is older than.
    """
    source, target = relation.source.field, relation.target.field
    found = [{"id": relation.key(*edge), source: edge[0], target: edge[1]} for edge in edges]
    for edge in date_evenly(found, until, days):
        edge["created_at"] = max(edge["created_at"], (since or {}).get(edge[target], ""))
    return found


def date_evenly(records: list[Record], until: datetime, days: float) -> list[Record]:
    """Give records moments at even distances, the last one at `until`; return them."""
    distance = days * _DAY / max(1, len(records))
    moment = until - distance * (len(records) - 1)
    for record in records:
        record["created_at"] = wire_millis(moment)
        moment += distance
    return records


class Network:
    """The users and posts of a dataset, and the relations between them."""

    def __init__(self, sizes: Sizes, now: datetime) -> None:
        self.sizes, self.end = sizes, now - timedelta(minutes=1)
        self.ids = [str(_FIRST_USER + 7919 * number) for number in range(1, sizes.users)]
        # The last five are not like the others: a business with an affiliate, two protected users
        # (the first of them has accepted the main user), one who is suspended, one who has left.
        self.business, self.accepting, self.asking, self.suspended, self.gone = self.ids[-5:]
        self.plain = self.ids[:-5]
        self.employers = {
            self.ids[0]: ("Harbor Roasters", MAIN),
            self.ids[20]: ("North Mills", self.ids[10]),
            self.ids[21]: ("Olive House", self.ids[11]),
            self.ids[22]: ("Tide Press", self.business),
        }
        self.posts: list[Record] = []
        self.public: list[str] = []
        self.edges: dict[Relation, list[tuple[str, str]]] = {}
        self._link_users()
        self._write_posts()
        self._link_posts()

    def make(self, memberships: Iterable[str]) -> Tables:
        """Return all records by table; `memberships` has the user of each one in a public list."""
        # The counts of these users and posts are those of the relations, which are complete now.
        ends = {
            relation: [Counter(edge[side] for edge in edges) for side in (0, 1)]
            for relation, edges in self.edges.items()
        }
        written = Counter(post["_user_id"] for post in self.posts)
        listed = Counter(memberships)
        users = [
            self._make_user(number, id_)
            | {
                "followers_count": ends[FOLLOWS][1][id_],
                "friends_count": ends[FOLLOWS][0][id_],
                "favourites_count": ends[LIKES][0][id_],
                "listed_count": listed[id_],
                "statuses_count": written[id_],
            }
            for number, id_ in enumerate(self.ids)
        ]
        counted: Mapping[str, Counter[Any]] = {
            "repost_count": Counter(post.get("_reposted_post_id") for post in self.posts),
            "_quote_count": Counter(post.get("_quoted_post_id") for post in self.posts),
            "_reply_count": Counter(post.get("in_reply_to_status_id_str") for post in self.posts),
            "favorite_count": ends[LIKES][1],
            "_bookmark_count": ends[BOOKMARKS][1],
        }
        for post in self.posts:
            for name, counts in counted.items():
                post[name] = counts[post["id_str"]]
        date_evenly(self.posts, self.end, 40)
        self._date_edits()
        _note_reposts(self.posts)
        moments = self.list_moments()
        return {
            "users": users,
            "posts": self.posts,
            "media": self._make_media(),
            **{
                relation.name: link(relation, edges, self.end, since=moments)
                for relation, edges in self.edges.items()
            },
        }

    def list_moments(self) -> dict[str, str]:
        """Return when each post was made; they have no moments before `make`."""
        return {post["id_str"]: post["created_at"] for post in self.posts}

    def _link_users(self) -> None:
        sizes, plain = self.sizes, self.plain
        followers = plain[: sizes.followers - _KNOWN_FOLLOWERS]
        followed = plain[: sizes.follows - 2]
        neighbours = pairwise(plain)
        self.edges[FOLLOWS] = [
            *((one, other) for one, other in neighbours),
            *((MAIN, user) for user in (*followed, self.accepting)),
            *((user, MAIN) for user in followers),
        ]
        self.edges[FOLLOW_REQUESTS] = [
            (MAIN, self.asking),
            *((user, self.accepting) for user in plain[:2]),
        ]
        blocked, muted = plain[-sizes.blocks :], plain[: sizes.mutes]
        blocker = plain[-sizes.blocks - 1]
        self.edges[BLOCKS] = [(blocker, MAIN), *((MAIN, user) for user in blocked)]
        self.edges[MUTES] = [(MAIN, user) for user in muted]

    # -- posts -----------------------------------------------------------------------------------

    def _write_posts(self) -> None:
        """Write the posts of the main user and of others in turn: all have old and new ones.

        Each one of the main user is reposted by somebody before the next one.
        """
        sizes = self.sizes
        self.famous = self._post(MAIN, "Our new roast is here: Harbor Light.")
        own, others = self._write_own(), self._write_of_others()
        latest = self.famous
        for number, post in enumerate(own):
            if "_reposted_post_id" not in latest:
                self._repost(self.plain[number % _REPOSTERS], latest)
            latest = post
            for _ in range(1 + sizes.posts_of_others // sizes.posts):
                next(others, None)
        for _ in others:
            pass

    def _write_own(self) -> Iterator[Record]:
        """Write the posts of the main user: of ten, two are replies, one a repost, one has media.

        The first plain posts are a poll and two that were edited; the last six are a thread.
        """
        for number in range(1, self.sizes.posts - 6):
            newest = self.posts[-1]
            kind = number % 10
            if kind == 1:
                keys = _ATTACHED[number // 10 % len(_ATTACHED)]
                yield self._post(MAIN, _TEXTS[number % len(_TEXTS)], _media_keys=keys)
            elif number == 2:
                yield self._post(MAIN, "Which roast for the winter?", _poll=_POLL)
            elif newest["_user_id"] == MAIN or "_reposted_post_id" in newest:
                yield self._post(MAIN, _TEXTS[number % len(_TEXTS)])
            elif kind in {3, 7}:
                yield self._post(MAIN, _REPLIES[number % 4], replied_to=newest)
            elif kind == 5:
                yield self._post(MAIN, f"RT: {newest['full_text']}", reposted=newest)
            elif kind == 9:
                yield self._post(MAIN, "Worth a look.", quoted=newest)
            elif number in {4, 14}:
                yield self._edit(self._post(MAIN, "We open at eigth tomorrow."))
            else:
                yield self._post(MAIN, _TEXTS[number % len(_TEXTS)])
        newest = self._post(MAIN, "How a coffee gets on our shelf, in six steps. 1")
        for step in range(2, 7):
            yield newest
            newest = self._post(MAIN, f"{_TEXTS[step]} {step}", replied_to=newest)

    def _edit(self, old: Record) -> Record:
        """Write the second version of a post of the main user."""
        new = self._post(MAIN, "We open at eight tomorrow.", _conversation_id=old["id_str"])
        old["_edit_history"] = new["_edit_history"] = [old["id_str"], new["id_str"]]
        return new

    def _date_edits(self) -> None:
        """Let an edit be five minutes after the post: half an hour is what a client has."""
        for old, new in pairwise(self.posts):
            if new.get("_edit_history", [""])[-1] == new["id_str"]:
                moment = parse_instant(old["created_at"]) + timedelta(minutes=5)
                new["created_at"] = wire_millis(moment)

    def _write_of_others(self) -> Iterator[Record]:
        sizes, famous = self.sizes, self.famous
        authors = [*self.plain, self.accepting, self.asking]
        kinds: Sequence[tuple[int, Callable[[str, int], Record]]] = (
            (sizes.mentions, lambda user, n: self._post(user, f"Thank you @harbor_roasters! {n}")),
            (sizes.quotes, lambda user, n: self._post(user, f"Look at this. {n}", quoted=famous)),
            (sizes.replies, lambda user, n: self._post(user, _REPLIES[n % 4], replied_to=famous)),
        )
        made = 0
        for number, write in kinds:
            for index in range(number):
                yield write(authors[index % len(authors)], index)
            made += number
        for index in range(sizes.posts_of_others - made):
            yield self._post(authors[index % len(authors)], _TEXTS[index % len(_TEXTS)])
        for user in self.plain[: sizes.reposts_of_one]:
            if user != self.plain[0]:
                yield self._repost(user, famous)

    def _repost(self, user: str, post: Record) -> Record:
        return self._post(user, f"RT @harbor_roasters: {post['full_text']}", reposted=post)

    def _post(
        self, author_id: str, text: str, *, replied_to: Record | None = None,
        quoted: Record | None = None, reposted: Record | None = None, **more: Any,
    ) -> Record:  # fmt: skip
        number = _FIRST_POST + (len(self.posts) << 22)
        post: Record = {
            "id": number,
            "id_str": str(number),
            "post_id": str(number),
            "full_text": text,
            "display_text_range": [0, len(text)],
            "_user_id": author_id,
            "nullcast": False,
            "scopes": _SCOPES,
            **more,
        }
        if quoted is not None:
            post["_quoted_post_id"] = quoted["id_str"]
        if reposted is not None:
            post["_reposted_post_id"] = reposted["id_str"]
        if replied_to is not None:
            post |= {
                "in_reply_to_status_id": replied_to["id"],
                "in_reply_to_status_id_str": replied_to["id_str"],
                "in_reply_to_user_id": int(replied_to["_user_id"]),
                "in_reply_to_user_id_str": replied_to["_user_id"],
                "_conversation_id": replied_to.get("_conversation_id") or replied_to["id_str"],
            }
        at = text.find("@harbor_roasters")
        if at >= 0:
            post["entities"] = {
                "hashtags": [],
                "symbols": [],
                "urls": [],
                "user_mentions": [
                    {
                        "screen_name": "harbor_roasters",
                        "name": "Harbor Roasters",
                        "id": int(MAIN),
                        "id_str": MAIN,
                        "indices": [at, at + len("@harbor_roasters")],
                    }
                ],
            }
        if author_id not in {MAIN, self.asking} and reposted is None:
            self.public.append(post["id_str"])
        self.posts.append(post)
        return post

    def _link_posts(self) -> None:
        sizes, famous = self.sizes, self.famous["id_str"]
        self.edges[LIKES] = [
            *((user, famous) for user in self.plain[: sizes.likes_of_one]),
            *((MAIN, post_id) for post_id in self.public[: sizes.likes]),
        ]
        self.edges[BOOKMARKS] = [(MAIN, post_id) for post_id in self.public[-sizes.bookmarks :]]

    def _make_media(self) -> list[Record]:
        """Return twelve images, of which every second has an alternative text, and three more."""
        found = []
        for number, key in enumerate(key for keys in _ATTACHED for key in keys):
            kind, ending, more = _KINDS_OF_MEDIA[key[: key.index("_")]]
            media: Record = {
                "media_key": key,
                "media_url": f"https://assets.harbor-roasters.example/social/{number}.{ending}",
                "created_at": "2026-01-05T10:00:00Z",
                "updated_at": "2026-01-05T10:00:00Z",
                "media_type": kind,
                "media_category": f"POST_{kind}",
                "_width": 1200,
                "_height": 900,
                "_user_id": MAIN,
                **more,
            }
            if number % 2 == 0:
                media["_metadata"] = {"alt_text": {"text": f"The roastery, picture {number}."}}
            found.append(media)
        found[-2]["_subtitles"] = [
            {"id": key.partition("_")[2], "language_code": code, "display_name": name}
            for key, code, name in _SUBTITLES
        ]
        return found

    def _make_user(self, number: int, id_: str) -> Record:
        first, last = number % len(_FIRST_WORDS), number // len(_FIRST_WORDS)
        words = (_FIRST_WORDS[first], _LAST_WORDS[last % len(_LAST_WORDS)])
        rest = last // len(_LAST_WORDS)
        user: Record = {
            "id": id_,
            "screen_name": "_".join(words) + (str(rest) if rest else ""),
            "name": " ".join(word.title() for word in words),
            "description": f"{words[1].title()} of {words[0]} things.",
        }
        business = {"verified": True, "verified_type": "business"}
        marks: Mapping[str, Record] = {
            **dict.fromkeys(self.plain[10:12], business),
            self.business: business,
            self.accepting: {"protected": True},
            self.asking: {"protected": True},
            self.suspended: {"_suspended": True},
            self.gone: {"_deactivated": True},
        }
        employer = self.employers.get(id_)
        if employer is not None:
            user["affiliation"] = {"description": employer[0], "user_id": [employer[1]]}
        if number < _FRIENDS:
            user |= {"location": "Seattle, WA", "url": f"https://{words[0]}.example"}
        return user | marks.get(id_, {})


def _note_reposts(posts: Sequence[Record]) -> None:
    """Note in each post the moment at which another user reposted it last."""
    by_id = {post["id_str"]: post for post in posts}
    for post in posts:
        target = by_id.get(post.get("_reposted_post_id", ""))
        if target is not None and target["_user_id"] != post["_user_id"]:
            target["_reposted_at"] = post["created_at"]
