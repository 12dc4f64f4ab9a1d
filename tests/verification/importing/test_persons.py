"""`import --anonymise`: nothing of a person is left, and the folder answers as recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group
from mock_platform.verification.har.reader import read_har
from mock_platform.verification.importing.folder import ImportOptions, import_har
from mock_platform.verification.importing.persons import PersonTranslation, find_kind
from mock_platform.verification.importing.result import ImportReport, describe
from tests.support import Sandbox
from tests.verification.har.support import make_entry, write_har
from tests.verification.importing.support import read_table, write_bare_journal

API = "https://api.x.com"
TEXT = "Lunch with @ben_okri at Café Müller, call 030 5550142 or ada@lovelace.org #Zürich 🙂 &amp;"
HASH = TEXT.index("#")
USER = {
    "id": "815081508150815", "username": "AdaLovelace", "name": "Ada Lovelace",
    "description": "Countess of Lovelace. Numbers & engines https://t.co/Xy12Zw",
    "location": "Marylebone, London", "url": "https://lovelace.org/ada",
    "profile_image_url": "https://pbs.twimg.com/profile_images/1/ada_normal.jpg",
}  # fmt: skip
POST = {
    "id": "1990000000000000123", "text": TEXT, "author_id": USER["id"],
    "created_at": "2026-02-28T10:00:00.000Z",
    "geo": {"coordinates": {"type": "Point", "coordinates": [-0.15, 51.52]}},
    "entities": {
        "mentions": [{"start": 11, "end": 20, "username": "ben_okri", "id": "77001122334455667"}],
        "hashtags": [{"start": HASH, "end": HASH + 7, "tag": "Zürich"}],
    },
}  # fmt: skip
SECRETS = (
    "AdaLovelace", "Ada Lovelace", "ben_okri", "Countess", "Marylebone", "lovelace.org",
    "ada_normal", "Müller", "5550142", "Zürich", "51.52", "grace_hopper", "Murray Hopper",
    "Lunch with",
)  # fmt: skip


def record(tmp_path: Path) -> Path:
    """A recording of lookups, a search, a post of the older interface and a refusal."""
    bearer = [{"name": "Authorization", "value": "Bearer [redacted-1]"}]
    missing = "Could not find user with username: [grace_hopper]."
    problem = {"value": "grace_hopper", "detail": missing, "title": "Not Found Error",
               "parameter": "username", "type": "about:blank"}  # fmt: skip
    searched = quote("from:AdaLovelace lunch -is:reply")
    bodies = {
        "users/by/username/AdaLovelace?user.fields=description,location,url": {"data": USER},
        f"posts/search/recent?query={searched}": {"data": [POST], "includes": {"users": [USER]}},
        "users/by/username/grace_hopper": {"errors": [problem]},
    }
    said = "Dinner with Grace Murray Hopper"
    form = {"mimeType": "application/x-www-form-urlencoded", "text": f"status={quote(said)}"}
    return write_har(
        tmp_path,
        *(
            make_entry(url=f"{API}/2/{path}", text=json.dumps(body), request_headers=bearer)
            for path, body in bodies.items()
        ),
        make_entry(
            url=f"{API}/1.1/statuses/update.json", method="POST", posted=form,
            text=json.dumps({"id": 5, "full_text": said}),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> ImportReport:
    """What became of the recording without persons."""
    folder = tmp_path_factory.mktemp("persons")
    return import_har(record(folder), folder / "made", ImportOptions(anonymise=True))


def read_all(folder: Path) -> str:
    """Everything in a folder, in one text."""
    return "\n".join(file.read_text("utf-8") for file in folder.rglob("*") if file.is_file())


def test_nothing_is_left(imported: ImportReport) -> None:
    """Names, handles, texts, pictures, addresses and positions are gone; the answers hold."""
    text, told = read_all(imported.folder), "\n".join(describe(imported))

    assert [] == [secret for secret in SECRETS if re.search(secret, text, re.IGNORECASE)]
    assert [] == [secret for secret in SECRETS if secret in told]
    assert 4 == imported.answered
    assert imported.replaced > 10
    assert "None of them is in the folder." in told
    assert USER["id"] in text
    assert "-is:reply" in text


def test_the_same_becomes_the_same(imported: ImportReport, tmp_path: Path) -> None:
    """Twice imported, the folder is the same; ids become fresh ones as well if that is asked."""
    file = record(tmp_path)
    import_har(file, tmp_path / "two", ImportOptions(anonymise=True))
    import_har(file, tmp_path / "three", ImportOptions(anonymise=True, ids="map"))

    assert read_all(imported.folder) == read_all(tmp_path / "two")
    assert USER["id"] not in read_all(tmp_path / "three")
    made = next(user for user in read_table(imported, "users") if user["id"] == USER["id"])
    assert re.fullmatch(r"[a-z]{11}", made["username"])
    assert [USER["id"]] == [post["author_id"] for post in read_table(imported, "posts")]


def test_places_in_texts_stay(imported: ImportReport) -> None:
    """Texts keep their length, so the indices of mentions and hashtags lead to the same words."""
    (post,) = read_table(imported, "posts")
    text, entities = post["text"], post["entities"]
    assert len(TEXT) == len(text)
    assert text.endswith(" 🙂 &amp;")
    (mention,), (hashtag,) = entities["mentions"], entities["hashtags"]
    assert f"@{mention['username']}" == text[mention["start"] : mention["end"]]
    assert f"#{hashtag['tag']}" == text[hashtag["start"] : hashtag["end"]]


def test_the_whole_surface(traffic: Sandbox, tmp_path: Path) -> None:
    """Of every operation's sample nothing personal is left, and as many are answered as before."""
    file = write_bare_journal(traffic, tmp_path / "traffic.har")
    options = ImportOptions(hosts=("localhost",), anonymise=True)

    report = import_har(file, tmp_path / "made", options)

    text = read_all(tmp_path / "made")
    assert report.exchanges - 2 <= report.answered
    for secret in ("harbor_roasters", "Ines", "Duarte", "northbike_co", "Small-batch", "Harbor "):
        assert secret not in text


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says how much was replaced; what would be left is named, and not written."""
    words = ["import", "--har", str(record(tmp_path)), "--anonymise", "--format", "json", "--to"]

    done = CliRunner().invoke(group, [*words, str(tmp_path / "made")])
    monkeypatch.setattr(PersonTranslation, "_make_link", lambda _, text: text)
    refused = CliRunner().invoke(group, [*words, str(tmp_path / "other")])

    assert json.loads(done.stdout)["replaced"] > 10
    assert 1 == refused.exit_code
    assert "so no folder was written:" in refused.stderr
    assert re.search(r"users\.json: a link, ht… of 24 characters", refused.stderr)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(("name", "beside", "parent", "kind"), [
    ("in_reply_to_screen_name", "", "", "handle"),
    ("usernames", "", "", "handle"),
    ("name", "username", "", "name"),
    ("name", "budget_optimization", "", None),
    ("name", "member_count", "", "text"),
    ("name", "place_type", "", "address"),
    ("name", "id", "domain", None),
    ("description", "name", "entity", None),
    ("description", "username", "", "text"),
    ("title", "detail", "", None),
    ("profile_image_url_https", "", "", "picture"),
    ("url", "media_key", "", "picture"),
    ("url", "indices", "", "link"),
    ("url", "webhook_id", "", None),
    ("value", "value tag", "", "query"),
    ("value", "value parameter", "", None),
    ("_confirmed_email", "", "", "address"),
    ("address_country", "", "", None),
    ("client_ip", "", "", "address"),
])  # fmt: skip
def test_keys_say_what_a_value_is(name: str, beside: str, parent: str, kind: str | None) -> None:
    """By its key and those beside it, a value is personal or not."""
    assert kind == find_kind(name, frozenset(beside.split()), parent)


def translate(value: Any, *more: Any) -> Any:
    """What a value becomes after it and others were learned."""
    persons = PersonTranslation()
    for each in (value, *more):
        persons.rewrite_value(each)
    persons.prepare()
    return persons.rewrite_value(value)


def test_values_elsewhere() -> None:
    """A full name, a text or a rare handle is replaced in any other text, also without a key."""
    shown = {"message": "ben_okri told Ada Lovelace: be [redacted-3]", "state": "ada",
             "kind": "Ada", "n": 3, "sale": "The Ada sale"}  # fmt: skip
    known = {"username": "ben_okri", "name": "Ada Lovelace"}, {"username": "ada", "name": "A"}
    made = translate(shown, *known)

    assert re.fullmatch(r"[a-z]{8} told [A-Z]\w+ [A-Z]\w+: be \[redacted-3\]", made["message"])
    assert ("ada", "Ada", 3) == (made["state"], made["kind"], made["n"])
    assert re.fullmatch(r"The [A-Z][a-z]{2} sale", made["sale"])
    assert "Ada" not in made["sale"]
    assert "ben" not in made["message"]


def test_names_of_letters() -> None:
    """Case, digits, scripts, links and mail addresses keep their form, no real host is left."""
    made = translate({"text": "NASA an Иван 東京 x1 2024 https://bit.ly/Ab9 me@mail.de www"})[
        "text"
    ]

    form = r"[A-Z]{4} an [A-Z][a-z]{3} [a-z]{2} x1 \d{4} https://[a-z]\.test/\w{3} "
    assert re.fullmatch(form + r"[a-z]{2}@[a-z]{2}\.test [a-z]{3}", made), made


def test_read_har_is_not_changed(imported: ImportReport, tmp_path: Path) -> None:
    """The recording itself stays as it is."""
    file = imported.folder.with_name("traffic.har")

    assert record(tmp_path).read_bytes() == file.read_bytes()
    assert 4 == len(list(read_har(file)))
