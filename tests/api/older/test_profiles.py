"""Profiles of the older interface: what users say of themselves, pictures and settings."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from tests.api.older.numbers import invalid, numbers
from tests.images import make_png
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, Sandbox, body_of

OWN = "2244994945"
PNG = make_png(16, 9)
ENCODED = b64encode(PNG).decode()


def change(box: Sandbox, what: str = "profile", **form: str) -> Any:
    """The user after a change of the profile."""
    return body_of(box.call("POST", f"/1.1/account/update_{what}.json", form=form))


def list_events(box: Sandbox) -> list[tuple[str, str, str]]:
    """What changed in profiles: the event, what was there before, and what after."""
    found = (entry.record for entry in box.world.store.page("activities"))
    return [(one["event_type"], *one["payload"].values()) for one in found]


def test_a_profile_is_the_same_in_both_interfaces(box: Sandbox) -> None:
    """Changes are shown by v2, and each is an activity; what is empty is removed."""
    changed = change(box, name="Harbor", location="Rotterdam", description="Coffee",
                     url="https://h.example", profile_link_color="00ff00")  # fmt: skip
    fields: dict[str, Any] = {"user.fields": "location,description"}
    there = box.read("/2/users/me", **fields)["data"]
    emptied = change(box, location="", url="")

    assert ("Harbor", "Rotterdam", "Coffee") == (
        there["name"], there["location"], there["description"],
    )  # fmt: skip
    assert ("00ff00", "Harbor") == (changed["profile_link_color"], changed["name"])
    assert ("", None, "Coffee") == (emptied["location"], emptied["url"], emptied["description"])
    assert [
        ("profile.update.bio", "Small-batch coffee by the water. Open daily, 7 to 8.", "Coffee"),
        ("profile.update.geo", "Seattle, WA", "Rotterdam"),
        ("profile.update.url", "https://harbor-roasters.example", "https://h.example"),
        ("profile.update.geo", "Rotterdam", ""),
        ("profile.update.url", "https://h.example", ""),
    ] == list_events(box)


def test_the_same_profile_is_no_event(box: Sandbox) -> None:
    """What stays as it is does not happen."""
    change(box, location="Seattle, WA")

    assert [] == list_events(box)


@pytest.mark.parametrize(
    "form",
    [lambda: (BytesIO(PNG), "x.png"), lambda: ENCODED],
    ids=["file", "base64"],
)
def test_pictures(box: Sandbox, form: Any) -> None:
    """A picture and a banner get new addresses, and are events; a banner has sizes."""
    send = partial(box.call, "POST", content_type="multipart/form-data")
    before = box.record("users", OWN)
    user = body_of(send("/1.1/account/update_profile_image.json", data={"image": form()}))
    banner = send("/1.1/account/update_profile_banner.json", data={"banner": form()})
    sizes = box.read("/1.1/users/profile_banner.json", user_id=OWN)["sizes"]
    removed = box.call("POST", "/1.1/account/remove_profile_banner.json")

    assert before["profile_image_url_https"] != user["profile_image_url_https"]
    assert user["profile_image_url"] == user["profile_image_url_https"].replace("https", "http")
    assert (201, b"", 200, b"") == (
        banner.status_code, banner.data, removed.status_code, removed.data,
    )  # fmt: skip
    assert (1500, 500) == (sizes["1500x500"]["w"], sizes["1500x500"]["h"])
    assert sizes["web"]["url"].endswith("/web")
    assert before["profile_banner_url"] not in sizes["web"]["url"]
    names = [name for name, *_ in list_events(box)]
    assert ["profile.update.profile_picture"] + ["profile.update.banner_picture"] * 2 == names
    assert 404 == box.ask("GET", "/1.1/users/profile_banner.json", user_id=OWN).status_code


def test_settings(box: Sandbox) -> None:
    """A user changes some settings; the others stay, and those of other users."""
    before = box.read("/1.1/account/settings.json")
    first = body_of(box.call("POST", "/1.1/account/settings.json", form={
        "lang": "de", "time_zone": "Europe/Berlin", "sleep_time_enabled": "true",
        "start_sleep_time": "22", "end_sleep_time": "06", "trend_location_woeid": "44418",
    }))  # fmt: skip
    body_of(box.call("POST", "/1.1/account/settings.json", form={"time_zone": "Nowhere"}))
    after = box.read("/1.1/account/settings.json")

    assert ("UTC", False) == (before["time_zone"]["name"], before["sleep_time"]["enabled"])
    assert ("de", 44418) == (first["language"], first["trend_location"][0]["woeid"])
    assert first["time_zone"]["utc_offset"] in {3600, 7200}
    assert {"enabled": True, "start_time": "22", "end_time": "06"} == after["sleep_time"]
    assert {"name": "Nowhere", "tzinfo_name": "Nowhere", "utc_offset": 0} == after["time_zone"]


def test_languages(box: Sandbox) -> None:
    """An app may ask for the languages of the interface."""
    found = {one["code"]: one for one in box.read("/1.1/help/languages.json", keys=BEARER)}

    french = {"name": "French", "local_name": "français", "status": "production"}
    assert french | {"code": "fr", "debug": False} == found["fr"]
    assert "beta" == found["ur"]["status"]


profile = partial(Refusal, "POST /1.1/account/update_profile.json")
picture = partial(Refusal, "POST /1.1/account/update_profile_image.json")
banner = partial(Refusal, "POST /1.1/account/update_profile_banner.json")
settings = partial(Refusal, "POST /1.1/account/settings.json")
_LARGE = b64encode(PNG + bytes(700 * 1024 + 1 - len(PNG))).decode()
REFUSED = [
    Refusal("GET /1.1/account/settings.json", "the settings of an app", 403, keys=BEARER,
            shows=numbers(220)),
    *(profile(f"a {name} of {most + 1} characters", 400, form={name: "x" * (most + 1)},
              shows=invalid(name))
      for name, most in (("name", 50), ("location", 30), ("description", 160), ("url", 100))),
    profile("a color in words", 400, form={"profile_link_color": "red"},
            shows=invalid("profile_link_color")),
    profile("to change the profile by an app", 403, keys=BEARER, form={"name": "x"},
            shows=numbers(220)),
    picture("no picture", 403, shows=numbers(38, "image parameter is missing.")),
    picture("text in place of a picture", 400, json={"image": b64encode(b"text").decode()},
            shows=numbers(44, "image must be an image: JPEG, PNG, GIF or WebP")),
    picture("what is no base64", 400, json={"image": "?"}, shows=invalid("image")),
    picture("a picture of 700 kilobytes and a byte", 422, json={"image": _LARGE},
            shows=numbers(44, "image must have at most 716800 bytes, got 716801")),
    banner("no banner", 403, shows=numbers(38, "banner parameter is missing.")),
    settings("the hour 24", 400, form={"start_sleep_time": "24"},
             shows=invalid("start_sleep_time")),
    settings("an unknown language", 400, form={"lang": "tlh"}, shows=invalid("lang")),
    Refusal("GET /1.1/users/profile_banner.json", "the banner of an unknown user", 404,
            query={"user_id": "99"}, shows=numbers(50)),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


@pytest.mark.parametrize(
    ("name", "most"), [("name", 50), ("location", 30), ("description", 160), ("url", 100)]
)
def test_the_longest(box: Sandbox, name: str, most: int) -> None:
    """What is as long as may be is taken."""
    assert body_of(box.call("POST", "/1.1/account/update_profile.json", form={name: "x" * most}))[
        name
    ]


def test_the_largest_picture(box: Sandbox) -> None:
    """A picture of 700 kilobytes is taken."""
    image = b64encode(PNG + bytes(700 * 1024 - len(PNG))).decode()

    answer = box.call("POST", "/1.1/account/update_profile_image.json", json={"image": image})

    assert 200 == answer.status_code
