"""Creatives against a plain model: whatever is created, changed and deleted, all reads agree."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.api.ads.cards.creatives import (
    GIF,
    IMAGE,
    IMAGE_800,
    OTHER_VIDEO,
    UPLOADED_AMPLIFY,
    UPLOADED_GIF,
    UPLOADED_IMAGE,
    UPLOADED_VIDEO,
    VIDEO,
)
from tests.api.ads.support import alter, drop, get, load, make, send
from tests.property.machine import Family, run
from tests.support import data_of

SOFT = ("cards", "cards/video_conversation", "media_library", "account_media")
FAMILIES = (*SOFT, "cards/poll")
UPLOADS = (UPLOADED_IMAGE, UPLOADED_GIF, UPLOADED_VIDEO, UPLOADED_AMPLIFY)
NAMES = st.sampled_from(["Alpha", "alpine", "Beta", "BETA 2", "gamma"])
MEDIA = st.sampled_from([IMAGE, IMAGE_800, GIF, VIDEO, OTHER_VIDEO])
TAGS = st.sampled_from(["#One", "#Two"])
DESTINATIONS: dict[str, dict[str, Any]] = {
    "DETAILS": {"title": "T", "destination": {"type": "WEBSITE", "url": "https://a.example"}},
    "BUTTON": {
        "label": {"type": "ENUM", "value": "OPEN"},
        "destination": {"type": "APP", "country_code": "US", "googleplay_app_id": "a"},
    },
}
VIDEOS = {VIDEO, OTHER_VIDEO}


def key_of(family: str) -> str:
    """The field that holds the id."""
    return "media_key" if family == "media_library" else "id"


def card_type(keys: list[str], end: str, *, slides: bool = False) -> str:
    """The documented type of a card, defined in another way than in the product."""
    kinds = {"VIDEO" if key in VIDEOS else "IMAGE" for key in keys}
    kind = kinds.pop() if len(kinds) == 1 else "MIXED_MEDIA"
    where = {"DETAILS": "WEBSITE", "BUTTON": "APP"}[end]
    if slides:
        return f"{kind}_MULTI_DEST_CAROUSEL_WEBSITE"
    if len(keys) == 1:
        return f"{kind}_{where}"
    single = "SINGLE_DEST_" if kind == "MIXED_MEDIA" else ""
    return f"{kind}_{single}CAROUSEL_{where}"


class Creatives(Family):
    """Random work on all families; `model` holds every record that should be there, by id."""

    @initialize()
    def begin(self) -> None:
        """Begin with the fixtures, read once."""
        self.start()
        self.waiting = set(UPLOADS)
        self.posts: dict[str, str | None] = {}
        self.model: dict[str, dict[str, Any]] = {}
        for family in FAMILIES:
            listed = load(self.box, family, with_deleted="true", count="50")
            self.model[family] = {record[key_of(family)]: record for record in listed}

    def keep(self, family: str, record: dict[str, Any]) -> None:
        """The record as answered is what every later read must return."""
        self.model[family][record[key_of(family)]] = record

    def living(self, family: str) -> list[str]:
        """Ids that are not deleted."""
        return [key for key, record in self.model[family].items() if not record["deleted"]]

    @rule(
        name=NAMES,
        keys=st.lists(MEDIA, min_size=1, max_size=3),
        end=st.sampled_from(["DETAILS", "BUTTON"]),
        slides=st.booleans(),
        replace=st.booleans(),
        pick=st.randoms(use_true_random=False),
    )
    def card(
        self, name: str, keys: list[str], end: str, slides: bool, replace: bool, pick: Any
    ) -> None:
        """Create a card, or replace what one holds."""
        slides = slides and len(keys) > 1
        if slides:
            end = "DETAILS"
        tail = {"type": end} | DESTINATIONS[end]
        body: dict[str, Any] = {"name": name}
        if slides:
            body["slides"] = [[{"type": "MEDIA", "media_key": key}, tail] for key in keys]
        elif len(keys) == 1:
            body["components"] = [{"type": "MEDIA", "media_key": keys[0]}, tail]
        else:
            body["components"] = [{"type": "SWIPEABLE_MEDIA", "media_keys": keys}, tail]
        if replace:
            one = pick.choice(self.living("cards"))
            record = data_of(send(self.box, "PUT", f"cards/{one}", body))
        else:
            record = data_of(send(self.box, "POST", "cards", body))

        assert body.items() <= record.items()
        assert card_type(keys, end, slides=slides) == record["card_type"]
        self.keep("cards", record)

    @rule(
        name=NAMES,
        choices=st.lists(st.text("abc", min_size=1, max_size=25), min_size=2, max_size=4),
        minutes=st.integers(5, 10080),
        media=st.sampled_from([None, VIDEO, IMAGE_800]),
    )
    def poll(self, name: str, choices: list[str], minutes: int, media: str | None) -> None:
        """Create a poll card."""
        ordinals = ("first", "second", "third", "fourth")
        sent = {f"{o}_choice": text for o, text in zip(ordinals, choices, strict=False)}
        query = {"name": name, **sent, "duration_in_minutes": str(minutes)}
        if media is not None and media in self.living("media_library"):
            query["media_key"] = media
        record = make(self.box, "cards/poll", **query)

        assert sent == {n: v for n, v in record.items() if n.endswith("_choice")}
        assert str(minutes) == record["duration_in_minutes"]
        self.keep("cards/poll", record)

    @precondition(lambda self: VIDEO in self.living("media_library"))
    @rule(name=NAMES, tag=TAGS)
    def conversation(self, name: str, tag: str) -> None:
        """Create a video conversation card."""
        query = {"name": name, "title": "T", "first_cta": tag, "first_cta_post": "p"}
        record = make(
            self.box,
            "cards/video_conversation",
            **query,
            thank_you_text="t",
            media_key=VIDEO,
        )

        assert query.items() <= record.items()
        self.keep("cards/video_conversation", record)

    @rule(
        changes=st.fixed_dictionaries(
            {}, optional={"name": NAMES, "thank_you_text": st.sampled_from(["a", "b"])}
        ),
        pick=st.randoms(use_true_random=False),
    )
    def change_conversation(self, changes: dict[str, str], pick: Any) -> None:
        """Change a video conversation card."""
        family = "cards/video_conversation"
        if not (living := self.living(family)):
            return
        one = pick.choice(living)
        record = alter(self.box, f"{family}/{one}", **changes)

        expected = self.model[family][one] | changes
        assert expected | {"updated_at": record["updated_at"]} == record
        self.keep(family, record)

    @precondition(lambda self: self.waiting)
    @rule(name=NAMES, pick=st.randoms(use_true_random=False))
    def add(self, name: str, pick: Any) -> None:
        """Add uploaded media to the library."""
        key = pick.choice(sorted(self.waiting))
        self.waiting.discard(key)
        self.keep("media_library", make(self.box, "media_library", media_key=key, name=name))
        if key == UPLOADED_AMPLIFY:
            listed = load(self.box, "account_media", creative_types="PREROLL")
            self.keep("account_media", listed[-1])
            assert key == listed[-1]["video_id"]

    @rule(name=NAMES, pick=st.randoms(use_true_random=False))
    def rename_media(self, name: str, pick: Any) -> None:
        """Name an object of the library."""
        one = pick.choice(self.living("media_library"))
        record = alter(self.box, f"media_library/{one}", name=name)

        expected = self.model["media_library"][one] | {"name": name}
        assert expected | {"updated_at": record["updated_at"]} == record
        self.keep("media_library", record)

    @rule(name=st.none() | NAMES, media=st.none() | MEDIA)
    def make_post(self, name: str | None, media: str | None) -> None:
        """Post, with media perhaps, which the library then knows as posted."""
        query = {} if name is None else {"name": name}
        if media is not None and media in self.living("media_library"):
            query["media_keys"] = media
            shown = self.model["media_library"][media]
            if not shown["posted"]:
                self.model["media_library"][media] = shown | {"posted": True, "updated_at": ANY}
        record = make(self.box, "post", as_user_id="2244994945", text="Hi", **query)

        assert name == record["name"]
        self.posts[record["id_str"]] = name

    @precondition(lambda self: self.posts)
    @rule(name=NAMES, pick=st.randoms(use_true_random=False))
    def name_post(self, name: str, pick: Any) -> None:
        """Name a post."""
        one = pick.choice(sorted(self.posts))
        record = alter(self.box, f"posts/{one}/name", name=name)

        assert (one, name) == (record["id_str"], record["name"])
        self.posts[one] = name

    @rule(family=st.sampled_from(FAMILIES), pick=st.randoms(use_true_random=False))
    def remove(self, family: str, pick: Any) -> None:
        """Delete a record, unless the other rules would have too little left."""
        keep = {IMAGE, IMAGE_800, GIF, VIDEO, OTHER_VIDEO}
        living = [key for key in self.living(family) if key not in keep]
        if len(living) < 2:
            return
        one = pick.choice(living)
        record = drop(self.box, f"{family}/{one}")

        assert record["deleted"] is True
        if family in SOFT:
            self.keep(family, record)
        else:
            del self.model[family][one]

    @invariant()
    def lists_agree(self) -> None:
        """Every list, with and without what is deleted, in one piece and in pages, is the model."""
        self.tick()
        for family in FAMILIES:
            model = list(self.model[family].values())
            everything = load(self.box, family, with_deleted="true", count="50")
            assert model == everything
            living = [record for record in model if not record["deleted"]]
            first = get(self.box, family, count="5", with_total_count="true").get_json()
            assert (living[:5], len(living)) == (first["data"], first["total_count"])

    @rule(family=st.sampled_from(["cards", "cards/poll", "cards/video_conversation"]), q=NAMES)
    def search(self, family: str, q: str) -> None:
        """A prefix finds the living records whose names begin with it, in any case."""
        found = load(self.box, family, q=q)
        expected = [
            record
            for record in self.model[family].values()
            if not record["deleted"] and record["name"].lower().startswith(q.lower())
        ]

        assert expected == found

    @rule(family=st.sampled_from(FAMILIES), pick=st.randoms(use_true_random=False))
    def read(self, family: str, pick: Any) -> None:
        """One record reads as the model has it; a deleted one is not found."""
        one = pick.choice(sorted(self.model[family]))
        record = self.model[family][one]
        response = get(self.box, f"{family}/{one}")

        if record["deleted"]:
            assert 404 == response.status_code
        else:
            assert record == data_of(response)


class _Any:
    """Equal to everything: a moment that the model need not foretell."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


ANY = _Any()


def test_creatives_agree_with_a_plain_model() -> None:
    """Random sequences of operations leave every family as the model says."""
    run(Creatives, sequences=10, steps=20)
