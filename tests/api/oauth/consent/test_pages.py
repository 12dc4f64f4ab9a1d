"""The pages as documents: structure, escaping, policy."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from mock_platform.api.oauth.consent import pages
from mock_platform.core.envelope import Document

HOSTILE = '</style></h1><script>alert("1")</script>&amp;'
APP = {
    "name": "Desk", "description": "Plans.", "_permissions": ["read", "write", "direct_messages"],
    "callback_urls": ["https://a.example/cb"],
}  # fmt: skip
USER = {"screen_name": "harbor", "name": "Harbor"}
HIDDEN = (("oauth_token", "token"), ("authenticity_token", "authentic"))
ABLE = (["Do this"], ["Do that"])


def form(callback: str = "https://a.example/cb", *more: str) -> pages.PageForm:
    """A form about a request token with this callback."""
    return pages.PageForm("authorize", HIDDEN, callback, (callback, *more))


ALL = {
    "login": pages.render_login_page(form(), APP, ""),
    "login, prefilled": pages.render_login_page(form(), APP, "harbor"),
    "login, again": pages.render_login_page(form(), APP, "harbor", "Wrong."),
    "consent": pages.render_consent_page(form(), APP, USER, ABLE),
    "pin": pages.render_pin_page(APP, "1234567"),
    "denied": pages.render_denial_page(APP),
    "refusal": pages.render_refusal_page(404, "Nothing here."),
    "redirect": pages.render_redirect("https://a.example/cb?x=1"),
}


@pytest.fixture(params=list(ALL))
def page(request: pytest.FixtureRequest) -> Document:
    """Each of the pages."""
    return ALL[str(request.param)]


class Outline(HTMLParser):
    """The elements of a page with their attributes, in order; fails where they do not nest."""

    VOID = frozenset({"meta", "input", "link", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(html)
        assert [] == self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element."""
        assert tag == self._open.pop()

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


def test_a_page_has_language_title_heading_and_landmark(page: Document) -> None:
    """lang, a title that is also the one heading, a viewport and a main element."""
    outline = Outline(page.html)
    title = re.search(r"<title>(.+)</title>", page.html)

    assert title is not None
    assert [{"lang": "en"}] == outline.all("html")
    assert f"<h1>{title[1]}</h1>" in page.html
    assert (1, 1, 1) == tuple(len(outline.all(tag)) for tag in ("h1", "main", "title"))
    assert "viewport" in {meta.get("name") for meta in outline.all("meta")}


def test_every_field_has_a_label_and_every_button_a_text(page: Document) -> None:
    """Whoever cannot see the page knows what to fill in and what to press."""
    outline = Outline(page.html)
    labelled = {label["for"] for label in outline.all("label")}
    fields = [field for field in outline.all("input") if field.get("type") != "hidden"]

    assert {field["id"] for field in fields} == labelled
    assert len(outline.all("button")) == len(re.findall(r"<button[^>]*>[A-Z]\w+", page.html))


def test_nothing_on_a_page_runs_and_only_its_style_is_allowed(page: Document) -> None:
    """No script, no handler, no style attribute; the policy allows the one style by its hash."""
    outline = Outline(page.html)
    style = page.html.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()

    assert [] == outline.all("script") == outline.all("link") == outline.all("img")
    assert not any(
        name == "style" or name.startswith("on")
        for _, attributes in outline.elements
        for name in attributes
    )
    assert f"style-src 'sha256-{digest}'" in page.policy
    assert page.policy.startswith("default-src 'none'; ")
    assert page.policy.endswith("; frame-ancestors 'none'; base-uri 'none'")


@pytest.mark.parametrize(("name", "focused"), [
    ("login", "screen_name"), ("login, prefilled", "password"), ("login, again", "screen_name"),
])  # fmt: skip
def test_the_first_field_to_fill_in_has_the_focus(name: str, focused: str) -> None:
    """The username, or the password where the name is known; after a fault the name again."""
    fields = Outline(ALL[name].html).all("input")

    assert [focused] == [field["id"] for field in fields if "autofocus" in field]


def test_a_fault_is_announced_and_tied_to_the_fields() -> None:
    """role=alert, aria-invalid and aria-describedby."""
    outline = Outline(ALL["login, again"].html)
    fields = [field for field in outline.all("input") if field.get("type") != "hidden"]

    assert ["alert"] == [p["role"] for p in outline.all("p") if "role" in p]
    assert all(
        ("true", "fault") == (field["aria-invalid"], field["aria-describedby"]) for field in fields
    )
    assert "aria-invalid" not in ALL["login"].html
    assert (403, 200) == (ALL["login, again"].status, ALL["login"].status)


def test_whatever_comes_from_outside_is_escaped() -> None:
    """Names, texts and addresses of the world and of the request never become markup."""
    app = APP | {"name": HOSTILE, "description": HOSTILE}
    user = {"screen_name": HOSTILE, "name": HOSTILE}
    hostile = pages.PageForm("authorize", ((HOSTILE, HOSTILE),), f"x:{HOSTILE}", ())
    documents = [
        pages.render_login_page(hostile, app, HOSTILE, HOSTILE),
        pages.render_consent_page(hostile, app, user, ([HOSTILE], [HOSTILE])),
        pages.render_pin_page(app, HOSTILE),
        pages.render_denial_page(app),
        pages.render_refusal_page(400, HOSTILE),
        pages.render_redirect(HOSTILE),
    ]

    for document in documents:
        assert [] == Outline(document.html).all("script")
        assert "alert(&#34;1&#34;)" in document.html


@pytest.mark.parametrize(("access", "permissions", "inabilities"), [
    ("write", ["read", "write", "direct_messages"], 1), ("write", ["read", "write"], 2),
    ("read", ["read", "write", "direct_messages"], 3),
])  # fmt: skip
def test_the_consent_page_says_what_the_app_can_and_cannot_do(
    access: str, permissions: list[str], inabilities: int
) -> None:
    """By the access that is asked for and the app's permissions."""
    abilities = pages.list_abilities(APP | {"_permissions": permissions}, access)
    html = pages.render_consent_page(form(), APP, USER, abilities).html
    can, cannot = html.split("<h2>")[1:]

    assert (4 - inabilities, inabilities) == (can.count("<li>"), cannot.count("<li>"))
    assert "See your profile and your posts" in can
    assert "See your password" in cannot
    assert ("Post and change things in your name" in can) == (access == "write")


@pytest.mark.parametrize(("callback", "more", "targets"), [
    ("oob", (), "'self'"),
    ("https://a.example/cb", (), "'self' http: https:"),
    ("http://127.0.0.1:8090/cb", ("myapp://x",), "'self' http: https: myapp:"),
    ("myapp://x", (), "'self' myapp:"),
    ("myapp://x", ("https://a.example/cb",), "'self' http: https: myapp:"),
])  # fmt: skip
def test_a_form_may_lead_to_callbacks_and_beyond(callback: str, more: Any, targets: str) -> None:
    """Browsers hold the redirect to the callback, and those after it, against form-action."""
    page_ = pages.render_consent_page(form(callback, *more), APP, USER, ABLE)

    assert f"; form-action {targets}; " in page_.policy


@pytest.mark.parametrize("name", ["pin", "denied", "refusal", "redirect"])
def test_pages_without_a_form_may_send_none(name: str) -> None:
    """Their policy allows no form at all."""
    assert "; form-action 'none'; " in ALL[name].policy


def test_the_consent_page_says_where_the_user_goes() -> None:
    """Back to the callback, shown without query and fragment, or to a PIN."""
    back = pages.render_consent_page(form("https://a.example/cb?secret=1#x"), APP, USER, ABLE).html
    pin = pages.render_consent_page(form("oob"), APP, USER, ABLE).html

    assert "Either way you are sent back to https://a.example/cb.<" in back
    assert "you get a PIN to enter in Desk" in pin


def test_a_status_without_a_name_gets_a_heading_too() -> None:
    """Scenarios may answer with any status."""
    assert "<h1>Status 499</h1>" in pages.render_refusal_page(499, "Odd.").html
