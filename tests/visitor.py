"""A user at a browser without script: opens pages, fills in their forms, keeps their cookies."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

PASSWORDS = {"harbor_roasters": "espresso-2026", "northbike_co": "gravel-2026"}
"""The users of the default fixtures."""


@dataclass
class PageForm:
    """A form as it is in a page."""

    action: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Finds the form, the heading and the PIN of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.form: PageForm | None = None
        self.texts: dict[str, str] = {}
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a user could fill in or press."""
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = PageForm(values["action"])
        elif tag == "input" and self.form is not None:
            self.form.fields[values["name"]] = values.get("value", "")
        elif tag == "button" and self.form is not None:
            self.form.buttons.append(values["value"])
        self._inside = "fault" if values.get("role") == "alert" else tag

    def handle_endtag(self, tag: str) -> None:
        """Nothing is read between elements."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Collect the text of the innermost element."""
        if self._inside:
            self.texts[self._inside] = self.texts.get(self._inside, "") + data


class Visitor:
    """Follows the site's own redirects and stops where it is sent elsewhere: at the callback."""

    def __init__(self, session: requests.Session, base_url: str = "http://localhost") -> None:
        self.session = session
        self.base_url = base_url
        self.response = requests.Response()

    @property
    def status(self) -> int:
        """Status of the last page."""
        return self.response.status_code

    @property
    def form(self) -> PageForm:
        """The form of the last page."""
        form = _Reader(self.response.text).form
        assert form is not None, self.response.text
        return form

    @property
    def heading(self) -> str:
        """The heading of the last page."""
        return _Reader(self.response.text).texts["h1"]

    @property
    def text(self) -> str:
        """The first paragraphs of the last page."""
        return _Reader(self.response.text).texts["p"]

    @property
    def fault(self) -> str:
        """What the last page complains about."""
        return _Reader(self.response.text).texts["fault"]

    @property
    def pin(self) -> str:
        """The PIN that the last page shows."""
        return _Reader(self.response.text).texts["code"]

    @property
    def landed(self) -> str:
        """The address outside this site to which the last answer leads."""
        assert self.status == 302, self.response.text
        return self.response.headers["Location"]

    @property
    def landed_with(self) -> dict[str, str]:
        """The parameters that the callback gets."""
        query = self.landed.partition("?")[2].partition("#")[0]
        return {name: values[0] for name, values in parse_qs(query).items()}

    def open(self, path: str, **query: str) -> Visitor:
        """Open an address of the site."""
        return self._go("GET", self.base_url + path, params=query)

    def submit(self, action: str, **fields: str) -> Visitor:
        """Fill in the page's form and press a button."""
        form = self.form
        assert action in form.buttons, f"no button {action}, but {form.buttons}"
        data = form.fields | fields | {"action": action}
        return self._go("POST", urljoin(self.response.url, form.action), data=data)

    def log_in(self, screen_name: str = "harbor_roasters") -> Visitor:
        """Log in as a user of the default fixtures."""
        return self.submit("log_in", screen_name=screen_name, password=PASSWORDS[screen_name])

    def _go(
        self,
        method: str,
        url: str,
        params: dict[str, str] | None = None,
        data: dict[str, str] | None = None,
    ) -> Visitor:
        while True:
            self.response = self.session.request(
                method, url, params=params, data=data, allow_redirects=False
            )
            if self.status not in {302, 303}:
                return self
            target = urljoin(url, self.response.headers["Location"])
            if urlsplit(target).netloc != urlsplit(self.base_url).netloc or self.status == 302:
                return self
            method, url, params, data = "GET", target, None, None
