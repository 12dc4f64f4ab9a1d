"""Pages stay right while others write: in threads, and in orders that can be repeated.

Whatever is created, changed and deleted between two pages, every record that exists from the first
page to the last is listed exactly once, in every family and every order.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from mock_platform.api.ads.resource import make_timestamps
from mock_platform.serving.app import create_app
from tests.api.ads.cards.creatives import IMAGE, VIDEO
from tests.api.ads.support import BASE
from tests.generated import examples
from tests.spec.rows import WRITTEN
from tests.support import ACCOUNT, BEARER, Sandbox, Sandboxes, data_of
from tests.waits import PATIENCE

SETTINGS = {"limits": "off"}
CATALOG = "/12/product_catalogs/1547080787865939968/products"
PERMISSIONS = f"/5/accounts/{ACCOUNT}/tailored_audiences/1nmth/permissions"
STANDING = 12
"""So many records of each family stand from beginning to end, the fixtures' not counted."""
CARD = {
    "name": "Card",
    "components": [
        {"type": "MEDIA", "media_key": IMAGE},
        {
            "type": "DETAILS",
            "title": "Title",
            "destination": {"type": "WEBSITE", "url": "https://shop.example.com/"},
        },
    ],
}
PRODUCT = {
    "title": "Beans", "description": "Beans.", "availability": "in stock", "condition": "new",
    "price": "9.00 USD", "link": "https://shop.example.com/beans",
    "image_link": "https://shop.example.com/beans.png", "brand": "Harbor",
}  # fmt: skip

Create = Callable[[Sandbox, int], str]


def ask(box: Sandbox, method: str, path: str, **more: Any) -> TestResponse:
    """One request with the bearer token, which is quicker than a signature."""
    return box.call(method, path, keys=BEARER, **more)


def posted(path: str, **query: str) -> Create:
    """Creates by a POST with these parameters; a name among them is numbered."""

    def create(box: Sandbox, number: int) -> str:
        sent = query | ({"name": f"{query['name']} {number}"} if "name" in query else {})
        return str(data_of(ask(box, "POST", path, query_string=sent))["id"])

    return create


def stored(table: str, template: str, key: str = "id") -> Create:
    """Stores a copy of a fixture, for families whose creation the interface does not have."""

    def create(box: Sandbox, number: int) -> str:
        kind, _, _ = template.partition("_")
        made = f"{kind}_{number}" if key == "media_key" else f"new{number}"
        with box.world.work():
            record = box.record(table, template) | make_timestamps(box.world) | {key: made}
            box.world.store.put(table, made, record)
        return made

    return create


def create_card(box: Sandbox, number: int) -> str:
    """A card by its JSON body."""
    card = CARD | {"name": f"Card {number}"}
    return str(data_of(ask(box, "POST", f"{BASE}/cards", json=card))["id"])


def create_product(box: Sandbox, number: int) -> str:
    """A product by an upsert of one."""
    products = [PRODUCT | {"id": f"new{number}"}]
    answer = data_of(ask(box, "PUT", CATALOG, json={"products": products}))
    return str(answer["products_response"][0]["product_key"])


def delete_product(box: Sandbox, key: str) -> None:
    """Products are deleted by their keys in a body."""
    data_of(ask(box, "DELETE", CATALOG, json={"product_keys": [key]}))


@dataclass(frozen=True)
class Family:
    """One list, how records come into it and go out of it, and by what it is sorted."""

    path: str
    create: Create
    sorts: tuple[str, ...] = ("created_at-asc", "created_at-desc", "updated_at-asc")
    key: str = "id"
    remove: str | None = None
    delete: Callable[[Sandbox, str], None] | None = None
    counted: bool = True

    def gone(self, box: Sandbox, key: str) -> None:
        """Delete a record over the interface."""
        if self.delete is not None:
            self.delete(box, key)
        else:
            data_of(ask(box, "DELETE", f"{self.remove or self.path}/{key}"))


NAMED = ("name-asc", "name-desc", "updated_at-desc")
LINKS = f"{BASE}/line_item_curated_categories"
CONVERSATIONS = f"{BASE}/cards/video_conversation"
FAMILIES = {
    "accounts": Family("/12/accounts", posted("/sandbox/12/accounts"), NAMED,
                       remove="/sandbox/12/accounts"),
    "line_items": Family(f"{BASE}/line_items", stored("line_items", "itttx")),
    "links": Family(LINKS, posted(LINKS, line_item_id="iumz0", curated_category_id="aq1v0m52z7uo")),
    "account_media": Family(f"{BASE}/account_media", stored("account_media", "2pzo")),
    "media_library": Family(f"{BASE}/media_library", stored("media_library", IMAGE, "media_key"),
                            key="media_key"),
    "cards": Family(f"{BASE}/cards", create_card, NAMED),
    "poll_cards": Family(f"{BASE}/cards/poll",
                         posted(f"{BASE}/cards/poll", name="Poll", first_choice="a",
                                second_choice="b", duration_in_minutes="60"), NAMED),
    "conversation_cards": Family(CONVERSATIONS,
                                 posted(CONVERSATIONS, name="Talk", title="T", first_cta="#a",
                                        first_cta_post="a", thank_you_text="t", media_key=VIDEO),
                                 NAMED),
    "permissions": Family(PERMISSIONS, stored("audience_permissions", "ri")),
    "products": Family(CATALOG, create_product, (), "product_key", delete=delete_product,
                       counted=False),
}  # fmt: skip
CASES = [(name, sort) for name, family in FAMILIES.items() for sort in (None, *family.sorts)]


def nothing() -> None:
    """What happens between two pages without writers."""


def walk(
    box: Sandbox,
    family: Family,
    count: int,
    sort: str | None,
    between: Callable[[], None] = nothing,
) -> list[str]:
    """The keys on all pages, one after the other."""
    query = {"count": str(count)} | ({} if sort is None else {"sort_by": sort})
    found: list[str] = []
    more: dict[str, str] = {}
    while True:
        response = ask(box, "GET", family.path, query_string=query | more)
        page = [record[family.key] for record in data_of(response)]
        found += page
        cursor = response.get_json()["next_cursor"]
        if cursor is None:
            return found
        assert count == len(page), "only the last page may be short"
        more = {"cursor": cursor}
        between()


def everything(box: Sandbox, family: Family) -> list[str]:
    """The keys of a list as it is now, from one page."""
    most = 50 if family.path.endswith("media_library") else 100
    return walk(box, family, most, None)


def total(box: Sandbox, family: Family) -> int:
    """What the list says that its pages add up to."""
    query = {"count": "1", "with_total_count": "true"}
    found: int = ask(box, "GET", family.path, query_string=query).get_json()["total_count"]
    return found


class Writer(threading.Thread):
    """Creates records and deletes what it created, until it must stop."""

    def __init__(self, box: Sandbox, family: Family, numbers: Iterator[int]) -> None:
        super().__init__()
        self.box = copy(box)
        self.box.client = create_app(box.platform).test_client()
        self.family = family
        self.numbers = numbers
        self.made: list[str] = []
        self.left: list[str] = []
        self.enough = threading.Event()
        self.fault: BaseException | None = None

    def run(self) -> None:
        """Two come for one that goes, then three go: the list grows and shrinks."""
        try:
            for turn in itertools.count():
                if self.enough.is_set():
                    return
                if turn % 10 < 6 or len(self.left) < 2:
                    key = self.family.create(self.box, next(self.numbers))
                    self.made.append(key)
                    self.left.append(key)
                else:
                    self.family.gone(self.box, self.left.pop(turn % len(self.left)))
        except BaseException as fault:  # noqa: BLE001 - raised again where the test joins
            self.fault = fault


@pytest.mark.spec(WRITTEN)
@pytest.mark.spec("B, Common conventions", "for lists next_cursor", "sort_by (attribute")
@pytest.mark.usefixtures("hurried_threads")
@pytest.mark.parametrize(("name", "sort"), CASES)
def test_pages_while_threads_write(box: Sandbox, name: str, sort: str | None) -> None:
    """What exists throughout is on exactly one page, nothing is on two, and totals agree after."""
    family = FAMILIES[name]
    numbers = itertools.count()
    standing = [family.create(box, next(numbers)) for _ in range(STANDING)]
    standing += [key for key in everything(box, family) if key not in standing]
    writers = [Writer(box, family, numbers) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        walks: list[list[str]] = []
        while len(walks) < 3 or sum(len(writer.made) for writer in writers) < 10:
            walks.append(walk(box, family, 4, sort))
            if not all(writer.is_alive() for writer in writers):
                break  # one of them met a fault, which is raised below
    finally:
        for writer in writers:
            writer.enough.set()
        for writer in writers:
            writer.join(PATIENCE)
    made = {key for writer in writers for key in writer.made}
    left = {key for writer in writers for key in writer.left}

    assert [None, None] == [writer.fault for writer in writers]
    for found in walks:
        times = Counter(found)
        assert dict.fromkeys(standing, 1) == {key: times[key] for key in standing}
        assert set(times.values()) == {1}
        assert set(times) <= {*standing, *made}
    whole = walk(box, family, 7, sort)
    assert sorted({*standing, *left}) == sorted(whole)
    if family.counted:
        assert total(box, family) == len(whole)


ACTIONS = st.lists(st.tuples(st.booleans(), st.integers(0, 99)), max_size=4)


@pytest.mark.spec(WRITTEN)
@pytest.mark.spec("B, Common conventions", "for lists next_cursor", "sort_by (attribute")
@examples(12, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("name", FAMILIES)
@given(more=st.data())
def test_pages_between_writes(sandboxes: Sandboxes, name: str, more: st.DataObject) -> None:
    """Between any two pages records come and go, those just shown and those about to be too."""
    box, family = sandboxes.get(limits="off"), FAMILIES[name]
    numbers = itertools.count()
    for _ in range(6):
        family.create(box, next(numbers))
    alive = everything(box, family)
    before, created, deleted = set(alive), set[str](), set[str]()
    if name == "products":  # behind a variant that goes, the next one of its group steps forward
        alive = [key for key in alive if box.record("products", key)["item_group_id"] is None]

    def write() -> None:
        for creating, which in more.draw(ACTIONS, label="writes"):
            if creating:
                alive.append(family.create(box, next(numbers)))
                created.add(alive[-1])
            elif len(alive) > 1:
                key = alive.pop(which % len(alive))
                family.gone(box, key)
                deleted.add(key)

    sort = more.draw(st.sampled_from([None, *family.sorts]), label="sort_by")
    count = more.draw(st.integers(1, 4), label="count")
    found = walk(box, family, count, sort, write)

    assert len(found) == len(set(found))
    assert before - deleted <= set(found) <= before | created
    whole = everything(box, family)
    assert (before | created) - deleted == set(whole)
    if family.counted:
        assert total(box, family) == len(whole)
