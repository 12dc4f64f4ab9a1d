"""Public keys: several versions of a user, added by the user alone."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api.v2.chat.people import HARBOR_ID, INES_ID, NORTHBIKE, NORTHBIKE_ID
from tests.refusals import Refusal, make_refusal_test
from tests.support import HARBOR, Keys, Sandbox, data_of

PATH = f"/2/users/{HARBOR_ID}/public_keys"
VERSIONS = ["1771236000000", "1768212000000"]


def versions(box: Sandbox, keys: Keys | str = HARBOR) -> list[str]:
    """The versions of the user's keys."""
    return [each["public_key_version"] for each in box.read(PATH, keys=keys)["data"]]


def add(box: Sandbox, version: str, key: str = "QUJD", **more: Any) -> Any:
    """The data of an addition of keys."""
    body = {"public_key": {"public_key": key}, "version": version, **more}
    return data_of(box.call("POST", PATH, json=body))


def test_the_keys_of_a_user(box: Sandbox) -> None:
    """All versions are listed, the newest first; where the private key is, only the user sees."""
    own, others = box.read(PATH)["data"], box.read(PATH, keys=NORTHBIKE)["data"]

    assert VERSIONS == [each["public_key_version"] for each in own] == versions(box, NORTHBIKE)
    assert 3 == len(own[0]["juicebox_config"]["token_map"])
    public = {"public_key", "public_key_version", "signing_public_key",
              "identity_public_key_signature"}  # fmt: skip
    assert public == set(others[0]) == set(own[0]) - {"juicebox_config"}
    asked: dict[str, Any] = {"public_key.fields": "public_key_version"}
    chosen = box.read(PATH, **asked)["data"]
    assert [{"public_key_version": version} for version in VERSIONS] == chosen


def test_keys_of_several_users(box: Sandbox) -> None:
    """The keys of all users are in one list, and who does not exist is named."""
    found = box.read("/2/users/public_keys", ids=f"{NORTHBIKE_ID},{HARBOR_ID},1,{HARBOR_ID}")
    assert ["1769594400000", *VERSIONS] == [each["public_key_version"] for each in found["data"]]
    assert ["1"] == [each["value"] for each in found["errors"]]


def test_a_user_without_keys(box: Sandbox) -> None:
    """There is no data."""
    box.remove("public_keys", f"{INES_ID}:1770112800000")
    assert {} == box.read(f"/2/users/{INES_ID}/public_keys")


def test_new_versions(box: Sandbox) -> None:
    """Keys are added once under their version, or under one that the server makes."""
    added = add(box, "1780000000000")
    again = add(box, "1780000000000")
    made = add(box, "", "REVG", generate_version=True)["public_key_version"]
    later = add(box, "", "R0hJ", generate_version=True)["public_key_version"]

    assert added == again
    assert "1780000000000" == added["public_key_version"]
    assert ["1795348800000", "1795348800001"] == [made, later]
    assert [later, made, "1780000000000", *VERSIONS] == versions(box)


create = partial(Refusal, f"POST {PATH}", status=400)
NEW = {"public_key": {"public_key": "QUJD"}, "version": "1780000000000"}
REFUSED = [
    create("a version as new as the newest", json=NEW | {"version": VERSIONS[0]},
           messages=[f"The version [{VERSIONS[0]}] is not newer"]),
    create("no version", json=NEW | {"version": ""}, messages=["version is needed"]),
    create("a key that is not base64", json=NEW | {"public_key": {"public_key": "?"}},
           messages=["$.public_key.public_key: does not match the regex pattern"]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
