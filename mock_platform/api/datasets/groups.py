"""What users of a dataset gather around: lists, folders of bookmarks, Spaces, communities, trends.

A Space, a buyer and a place of the default fixtures get more; lists, folders and communities are
new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from mock_platform.api.datasets.network import MAIN, Network, Tables, date_evenly, link
from mock_platform.api.v2.lists.records import LIST_FOLLOWERS, LIST_MEMBERS, LIST_PINS
from mock_platform.api.v2.objects.relations import BOOKMARKS, FOLDER_POSTS, SPACE_POSTS
from mock_platform.api.v2.spaces.records import SPACE_BUYERS
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record

_FIRST_LIST, _FIRST_FOLDER = 1_715_400_000_000_000_000, 1_990_200_000_000_000_000
_FIRST_COMMUNITY = 1_600_000_000_000_000_000
_FOLDERS = {"Recipes": 12, "To read": 30, "Empty": 0}
_OWN_LISTS = ("Regulars", "Cellar team", "To be filled", "By the water")
_MEMBERSHIPS = 12
_LIVE, _TICKETED = "1HarborTaste1", "1HarborTicket"
_PLACES = {
    "1": ("Worldwide", "#ColdBrew", "#RideAndRoast", "Pour over"),
    "23424977": ("United States", "#ColdBrew", "First frost", "Pour over"),
    "44418": ("London", "Night trains", "#RepairCafe", "Old ferries"),
}
"""The places with most trends, and the first ones there, as in the default fixtures."""
_COORDINATES = {"23424977": [-98.6, 39.8], "44418": [-0.1, 51.5]}
"""Longitude and latitude of these places, as in the default fixtures; the world has none."""
_TREND_WORDS = (
    "Market", "Derby", "Harvest", "Tide", "Choir", "Ferry", "Lantern", "Orchard", "Regatta",
    "Bakery",
)  # fmt: skip
_TREND_FORMS = ("#{}Day", "{} night", "{} season")


class Groups:
    """The lists, folders, Spaces, communities and trends of a dataset."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.end = network.end
        self.lists = self._make_lists()
        members, by_the_water = self.lists[0]["id"], self.lists[3]["id"]
        of_others = [each["id"] for each in self.lists[-_MEMBERSHIPS:]]
        plain, sizes = network.plain, network.sizes
        self.members = [
            *((members, user) for user in plain[: sizes.list_members]),
            *((self.lists[1]["id"], user) for user in plain[:6]),
            *((list_id, MAIN) for list_id in of_others),
        ]
        self.followers = [
            *((user, by_the_water) for user in plain[: sizes.list_followers]),
            *((MAIN, list_id) for list_id in of_others[:3]),
        ]
        self.pins = [(MAIN, of_others[0]), (MAIN, members)]

    def list_public_members(self) -> list[str]:
        """Return the member of each membership in a public list."""
        private = {each["id"] for each in self.lists if each.get("private")}
        return [user for list_id, user in self.members if list_id not in private]

    def make(self) -> Tables:
        """Return all records by table."""
        counts = Counter(edge[0] for edge in self.members)
        followers = Counter(edge[1] for edge in self.followers)
        for each in self.lists:
            each |= {
                "member_count": counts[each["id"]],
                "follower_count": followers[each["id"]],
            }
        return {
            "lists": date_evenly(self.lists, self.end - timedelta(days=31), 60),
            "list_members": link(LIST_MEMBERS, self.members, self.end, 30),
            "list_followers": link(LIST_FOLLOWERS, self.followers, self.end, 30),
            "list_pins": link(LIST_PINS, self.pins, self.end, 20),
            **self._fill_folders(),
            **self._make_spaces(),
            "communities": self._make_communities(),
            **_make_trends(),
        }

    def _make_lists(self) -> list[Record]:
        """Return the lists of the main user, and one of each of twelve others."""
        own = max(len(_OWN_LISTS), self.network.sizes.owned_lists)
        names = [*_OWN_LISTS, *(f"Route {number}" for number in range(len(_OWN_LISTS), own))]
        owners = [MAIN] * own + self.network.plain[:_MEMBERSHIPS]
        names += [f"Good neighbours {number}" for number in range(_MEMBERSHIPS)]
        lists: list[Record] = [
            {"id": str(_FIRST_LIST + number), "name": name, "owner_id": owner}
            for number, (name, owner) in enumerate(zip(names, owners, strict=True))
        ]
        lists[1]["private"] = True
        return lists

    def _fill_folders(self) -> Tables:
        folders: list[Record] = []
        edges: list[tuple[str, str]] = []
        moments = self.network.list_moments()
        marked = [post_id for _, post_id in self.network.edges[BOOKMARKS]]
        for number, (name, size) in enumerate(_FOLDERS.items()):
            id_ = str(_FIRST_FOLDER + number)
            folders.append({"id": id_, "name": name, "_user_id": MAIN})
            edges += [(id_, post_id) for post_id in marked[-size:] if size]
        return {
            "bookmark_folders": date_evenly(folders, self.end - timedelta(days=11), 30),
            "bookmark_folder_posts": link(FOLDER_POSTS, edges, self.end, 10, since=moments),
        }

    def _make_spaces(self) -> Tables:
        plain, sizes = self.network.plain, self.network.sizes
        spaces: list[Record] = []
        for number in range(sizes.spaces):
            begin = self.end - timedelta(days=2, hours=number)
            moments = {
                name: wire_millis(begin + timedelta(hours=hours))
                for name, hours in (
                    ("created_at", -48), ("scheduled_start", 0), ("started_at", 0),
                    ("ended_at", 1), ("updated_at", 1),
                )
            }  # fmt: skip
            speakers = plain[number % 20 : number % 20 + 3]
            spaces.append(
                {
                    "id": f"1Evening{number:05}",
                    "state": "ended",
                    "title": f"An evening with guests, number {number + 1}",
                    "creator_id": speakers[0],
                    "host_ids": speakers[:1],
                    "speaker_ids": speakers,
                    **moments,
                }
            )
        buyers = ((_TICKETED, user) for user in plain[: sizes.buyers])
        shared = ((_LIVE, post_id) for post_id in self.network.public[:13])
        return {
            "spaces": spaces,
            "space_buyers": link(SPACE_BUYERS, buyers, self.end, 2),
            "space_posts": link(SPACE_POSTS, shared, self.end, 0.02),
        }

    def _make_communities(self) -> list[Record]:
        """Return communities which all match one word; the last one is closed."""
        communities: list[Record] = [
            {
                "id": str(_FIRST_COMMUNITY + number),
                "name": f"Gardeners {number + 1}",
                "description": "Balconies, allotments and window sills.",
                "member_count": 40 + number,
            }
            for number in range(self.network.sizes.communities)
        ]
        communities[-1] |= {
            "access": "Closed",
            "join_policy": "RestrictedJoinRequestsRequireModeratorApproval",
        }
        return date_evenly(communities, self.end, 300)


def _make_trends() -> Tables:
    """Return thirty trends for each of three places, and twelve for the main user."""
    names = [form.format(word) for form in _TREND_FORMS for word in _TREND_WORDS]
    return {
        "trend_places": [
            {
                "woeid": woeid,
                "name": place,
                "trends": _rank([*first, *names[: 30 - len(first)]]),
                **({"_coordinates": _COORDINATES[woeid]} if woeid in _COORDINATES else {}),
            }
            for woeid, (place, *first) in _PLACES.items()
        ],
        "personal_trends": [
            {
                "user_id": MAIN,
                "trends": [
                    {
                        "category": "Food",
                        "post_count": f"{12 - rank}K posts",
                        "trend_name": name,
                        "trending_since": f"{rank + 1} hours ago",
                    }
                    for rank, name in enumerate(names[:12])
                ],
            }
        ],
    }


def _rank(names: Sequence[str]) -> list[Record]:
    """Return the trends of a place, the largest first."""
    return [
        {"trend_name": name, "post_count": 248_000 - 4_100 * rank}
        for rank, name in enumerate(names)
    ]
