"""Larger worlds to begin with: many users, posts and relations, so that every list has pages.

The default fixtures are a small business. `social` adds its followers, their posts, likes and
bookmarks; `large` adds so many of each that depths and ceilings are reached. Names and texts are
made up by number, not by chance, so a dataset is the same every time. Moments end at the start of
the server, and ids grow with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from msgspec import Struct

from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record

MAIN = "2244994945"
"""The user in the centre, who is in the default fixtures, as are two followers."""
_KNOWN_FOLLOWERS = 2
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
_Edges = list[tuple[str, str]]


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


SIZES: Mapping[str, Sizes] = {
    "social": Sizes(
        users=140, followers=120, follows=45, blocks=3, mutes=7, posts=130, posts_of_others=260,
        mentions=35, quotes=12, replies=105, likes=110, likes_of_one=120, reposts_of_one=104,
        bookmarks=115,
    ),
    "large": Sizes(
        users=5000, followers=3500, follows=1500, blocks=120, mutes=250, posts=3300,
        posts_of_others=20_000, mentions=900, quotes=1200, replies=3000, likes=4000,
        likes_of_one=4900, reposts_of_one=3000, bookmarks=820,
    ),
}  # fmt: skip
"""The datasets by name. `small`, which is the default fixtures alone, adds nothing."""


def make_dataset(name: str, now: datetime) -> Mapping[str, Sequence[Record]]:
    """Return the records that a dataset adds to the default fixtures, by table, oldest first.

    Records are in wire form, without the fields that have their default; none is later than `now`.
    """
    # Moments that count from the start of each world would put every record into every world. With
    # fixed ones all worlds of a server share the records and their indexes.
    return _Dataset(SIZES[name], now).make()


class _Dataset:
    """The records of one dataset while they are made."""

    def __init__(self, sizes: Sizes, now: datetime) -> None:
        self.sizes, self.now = sizes, now
        self.ids = [str(_FIRST_USER + 7919 * number) for number in range(1, sizes.users)]
        # The last five are not like the others: a business with an affiliate, two protected users
        # (the first of them has accepted the main user), one who is suspended, one who has left.
        self.business, self.accepting, self.asking, self.suspended, self.gone = self.ids[-5:]
        self.plain = self.ids[:-5]
        self.posts: list[Record] = []
        self.edges: dict[str, _Edges] = {}

    def make(self) -> Mapping[str, Sequence[Record]]:
        """Return all records by table."""
        self._link_users()
        self._write_posts()
        self._link_posts()
        # The counts of these users and posts are those of the relations, which are complete now.
        ends = {
            name: [Counter(edge[side] for edge in edges) for side in (0, 1)]
            for name, edges in self.edges.items()
        }
        written = Counter(post["author_id"] for post in self.posts)
        users = [
            self._make_user(number, id_)
            | {
                "followers_count": ends["follows"][1][id_],
                "friends_count": ends["follows"][0][id_],
                "favourites_count": ends["likes"][0][id_],
                "statuses_count": written[id_],
            }
            for number, id_ in enumerate(self.ids)
        ]
        references = {
            kind: Counter(_find(post, kind) for post in self.posts)
            for kind in ("reposted", "quoted", "replied_to")
        }
        for post in self.posts:
            post["public_metrics"] = {
                "repost_count": references["reposted"][post["id"]],
                "quote_count": references["quoted"][post["id"]],
                "reply_count": references["replied_to"][post["id"]],
                "like_count": ends["likes"][1][post["id"]],
                "bookmark_count": ends["bookmarks"][1][post["id"]],
            }
        return {
            "users": users,
            "posts": _note_reposts(self._date(self.posts, timedelta(days=40))),
            **{
                name: self._date([_name_ends(name, edge) for edge in edges], timedelta(days=90))
                for name, edges in self.edges.items()
            },
        }

    def _link_users(self) -> None:
        sizes, plain = self.sizes, self.plain
        followers = plain[: sizes.followers - _KNOWN_FOLLOWERS]
        followed = plain[: sizes.follows - 2]
        neighbours = pairwise(plain)
        self.edges["follows"] = [
            *((one, other) for one, other in neighbours),
            *((MAIN, user) for user in (*followed, self.accepting)),
            *((user, MAIN) for user in followers),
        ]
        self.edges["follow_requests"] = [(MAIN, self.asking)]
        blocked, muted = plain[-sizes.blocks :], plain[: sizes.mutes]
        blocker = plain[-sizes.blocks - 1]
        self.edges["blocks"] = [(blocker, MAIN), *((MAIN, user) for user in blocked)]
        self.edges["mutes"] = [(MAIN, user) for user in muted]

    # -- posts -----------------------------------------------------------------------------------

    def _write_posts(self) -> None:
        """Write the posts of the main user and of others in turn: all have old and new ones."""
        sizes = self.sizes
        self.famous = self._post(MAIN, "Our new roast is here: Harbor Light.")
        own, others = self._write_own(), self._write_of_others()
        for _ in own:
            for _ in range(1 + sizes.posts_of_others // sizes.posts):
                next(others, None)
        for _ in others:
            pass

    def _write_own(self) -> Iterator[Record]:
        """Write the posts of the main user: of ten, two are replies, and one is a repost."""
        for number in range(1, self.sizes.posts):
            newest = self.posts[-1]
            kind = number % 10
            if newest["author_id"] == MAIN or _find(newest, "reposted") is not None:
                kind = 0
            if kind in {3, 7}:
                yield self._post(MAIN, _REPLIES[number % 4], replied_to=newest)
            elif kind == 5:
                yield self._post(MAIN, f"RT: {newest['text']}", reposted=newest)
            elif kind == 9:
                yield self._post(MAIN, "Worth a look.", quoted=newest)
            else:
                yield self._post(MAIN, _TEXTS[number % len(_TEXTS)])

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
            yield self._post(user, f"RT @harbor_roasters: {famous['text']}", reposted=famous)

    def _post(self, author_id: str, text: str, **references: Record) -> Record:
        post: Record = {
            "id": str(_FIRST_POST + (len(self.posts) << 22)),
            "text": text,
            "author_id": author_id,
            "lang": "en",
        }
        if references:
            post["referenced_posts"] = [
                {"type": kind, "id": other["id"]} for kind, other in references.items()
            ]
        replied = references.get("replied_to")
        if replied is not None:
            post["in_reply_to_user_id"] = replied["author_id"]
            post["conversation_id"] = replied.get("conversation_id") or replied["id"]
        if "@harbor_roasters" in text:
            start = text.index("@harbor_roasters")
            mention = {"start": start, "end": start + 16, "username": "harbor_roasters", "id": MAIN}
            post["entities"] = {"mentions": [mention]}
        self.posts.append(post)
        return post

    def _link_posts(self) -> None:
        sizes = self.sizes
        reposts = {post["id"] for post in self.posts if _find(post, "reposted")}
        public = [
            post["id"]
            for post in self.posts
            if post["author_id"] not in {MAIN, self.asking} and post["id"] not in reposts
        ]
        self.edges["likes"] = [
            *((user, self.famous["id"]) for user in self.plain[: sizes.likes_of_one]),
            *((MAIN, post_id) for post_id in public[: sizes.likes]),
        ]
        self.edges["bookmarks"] = [(MAIN, post_id) for post_id in public[-sizes.bookmarks :]]

    def _date(self, records: list[Record], since: timedelta) -> list[Record]:
        """Return records with moments at even distances, the last one a minute ago."""
        end, distance = self.now - timedelta(minutes=1), since / max(1, len(records))
        return [
            record | {"created_at": wire_millis(end - distance * before)}
            for before, record in zip(range(len(records) - 1, -1, -1), records, strict=True)
        ]

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
        marks: Mapping[str, Record] = {
            self.business: {"verified": True, "verified_type": "business"},
            self.accepting: {"protected": True},
            self.asking: {"protected": True},
            self.suspended: {"_suspended": True},
            self.gone: {"_deactivated": True},
        }
        if number == 0:
            badge = {"description": "Harbor Roasters", "user_id": [MAIN]}
            user["affiliation"] = badge
        return user | marks.get(id_, {})


def _note_reposts(posts: list[Record]) -> list[Record]:
    """Return posts with the moment at which each was last reposted by another user."""
    authors = {post["id"]: post["author_id"] for post in posts}
    latest: dict[str, str] = {}
    for post in posts:
        target = _find(post, "reposted")
        if target is not None and authors[target] != post["author_id"]:
            latest[target] = post["created_at"]
    return [post | {"_reposted_at": latest.get(post["id"])} for post in posts]


def _find(post: Record, kind: str) -> str | None:
    """Return the id of the post to which a post refers in this way, or `None`."""
    for reference in post.get("referenced_posts", ()):
        if reference["type"] == kind:
            return str(reference["id"])
    return None


def _name_ends(name: str, edge: tuple[str, str]) -> Record:
    target = "post_id" if name in {"likes", "bookmarks"} else "target_user_id"
    return {"user_id": edge[0], target: edge[1]}
