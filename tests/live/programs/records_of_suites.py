"""Writes the records that the tests of tweepy and twitter-api-v2 name, as a folder of fixtures.

`python records_of_suites.py FOLDER`. The tests name users, posts, lists and Spaces of the real
service by id; `docs/programs.md` says how the suites are run with them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Record = dict[str, Any]
OWN = "2244994945"
"""The user who calls, who is among the default fixtures."""
USERS = {
    "12": "jack", "783214": "Twitter", "786491": "ev", "6253282": "TwitterAPI",
    "6844292": "TwitterEng", "14561327": "dhh", "17874544": "TwitterSupport",
    "145336962": "Harmon758", "357750891": "TwitterSports", "357750892": "TwitterMktg",
    "372575989": "TwitterNews", "2328002822": "TwitterWomen", "3015271772": "TwitterLive",
    "750362064426721281": "Harmon758Public", "1065249714214457345": "TwitterSpaces",
    "1072250532645998596": "TweepyDev",
}  # fmt: skip
JACK, DHH, NEWS = "12", "14561327", "783214"
LONG_AGO = "2009-01-01T00:00:00.000Z"
CONVERSATION, VIDEO = "1344794369447030784", "13_870042535890235395"
_FIRST = datetime(2010, 11, 4, 1, 42, 54, 657000, UTC)


def find_moment(id_: str) -> str:
    """When an id was drawn; of those before 2010 a moment before it."""
    number = int(id_)
    if number < 10**12:
        return LONG_AGO
    return f"{_FIRST + timedelta(milliseconds=number >> 22):%Y-%m-%dT%H:%M:%S.000Z}"


def make_post(id_: str, author_id: str, text: str, **more: Any) -> Record:
    """A post as version 2 serves it."""
    post = {"id": id_, "author_id": author_id, "text": text, "created_at": find_moment(id_)}
    return post | more


def make_place(id_: str, name: str, kind: str, long: float, lat: float) -> Record:
    """A place around a position, as a post of version 1.1 has it."""
    sides = ((-1, -1), (-1, 1), (1, 1), (1, -1), (-1, -1))
    box = [[long + east / 10, lat + north / 10] for east, north in sides]
    return {
        "id": id_, "full_name": name, "name": name.partition(",")[0], "place_type": kind,
        "bounding_box": {"type": "Polygon", "coordinates": [box]},
    }  # fmt: skip


def list_posts() -> Iterable[Record]:
    """The posts that are named, and enough for second pages."""
    for id_ in ("1507070437557096461", "1293593516040269825", "1415348607813832708"):
        yield make_post(id_, NEWS, f"News {id_}")
    for id_ in ("266367358078169089", "145344012"):
        yield make_post(id_, NEWS, f"Old news {id_}")
    for id_ in ("1293595870563381249", "1306166445135605761", "1257577057862610951"):
        yield make_post(id_, "6253282", f"News of the interface {id_}")
    yield make_post(CONVERSATION, OWN, "A test")
    root = {"type": "replied_to", "id": CONVERSATION}
    yield make_post(
        "1344794616005066752", "1072250532645998596", "A reply", conversation_id=CONVERSATION,
        in_reply_to_user_id=OWN, referenced_posts=[root],
    )  # fmt: skip
    yield make_post("20", JACK, "just setting up my twttr", place=make_place(
        "1ffd3558f2e98349", "Dogpatch, San Francisco", "neighborhood", -122.39, 37.76,
    ))  # fmt: skip
    yield make_post("21", JACK, "hello austin", place=make_place(
        "c3f37afa9efcf94b", "Austin, TX", "city", -97.74, 30.27,
    ))  # fmt: skip
    media = {"media_keys": [VIDEO]}
    yield make_post("870042717589340160", NEWS, "A video", attachments=media)
    for number in range(30):
        yield make_post(str(1_600_000_000_000_000_000 + number), JACK, f"Thought {number}")
        yield make_post(
            str(1_990_000_000_000_000_000 + number), DHH, f"nodeJS number {number}",
            created_at=f"now-{number + 1}h",
        )  # fmt: skip
    mention = {"start": 0, "end": 5, "username": "jack", "id": JACK}
    yield make_post(
        "1989999999999999999", DHH, "@jack Hello", created_at="now-40h",
        entities={"mentions": [mention]},
    )  # fmt: skip
    yield make_post(
        "1660000000000000000", DHH, "RT @jack: just setting up my twttr",
        referenced_posts=[{"type": "reposted", "id": "20"}],
    )  # fmt: skip
    for number in range(8):
        yield make_post(str(1_700_000_000_000_000_000 + number), NEWS, f"Headline {number}")


def make_space(id_: str, creator_id: str) -> Record:
    """A Space that has ended."""
    moments = {f"{name}_at": LONG_AGO for name in ("created", "updated", "started", "ended")}
    made = {"id": id_, "state": "ended", "title": "Twitter Spaces", "creator_id": creator_id}
    return made | moments | {"host_ids": [creator_id]}


def make_list(id_: str, name: str, owner_id: str) -> Record:
    """A list."""
    return {"id": id_, "name": name, "owner_id": owner_id, "created_at": LONG_AGO}


def make_edge(**ends: str) -> Record:
    """A relation of long ago."""
    return {**ends, "created_at": LONG_AGO}


def list_tables() -> dict[str, list[Record]]:
    """All records, by table."""
    listed = "84839422"
    return {
        "users": [
            {"id": id_, "username": name, "name": name, "created_at": find_moment(id_)}
            for id_, name in USERS.items()
        ],
        "posts": [*list_posts()],
        "media": [
            {
                "media_key": VIDEO,
                "media_type": "VIDEO",
                "media_category": "AMPLIFY_VIDEO",
                "media_url": "https://video.example/870042535890235395.mp4",
                "aspect_ratio": "16:9",
                "duration": 30_000,
                "created_at": LONG_AGO,
                "updated_at": LONG_AGO,
                "_user_id": NEWS,
            }
        ],
        "follows": [
            make_edge(user_id=JACK, target_user_id=DHH),
            make_edge(user_id=DHH, target_user_id=JACK),
        ],
        "lists": [
            make_list(listed, "Official Twitter Accounts", NEWS),
            make_list("84839423", "test", OWN),
        ],
        "list_members": [make_edge(list_id=listed, user_id="6253282")],
        "list_followers": [make_edge(list_id=listed, user_id="357750892")],
        "spaces": [
            make_space("1YpKkzBgBlVxj", "1065249714214457345"),
            make_space("1OwGWzarWnNKQ", "2328002822"),
            make_space("1ynKOZVRyOwxR", "1065249714214457345"),
            make_space("1mrGmanRNNkGy", "2328002822"),
        ],
        "communities": [{"id": "123456789", "name": "Test", "created_at": LONG_AGO}],
    }


def write(folder: Path) -> None:
    """Write a file for each table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in list_tables().items():
        (folder / f"{name}.json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
