"""What all pages of the console share: answers, parts of pages for htmx, and forms."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from flask import Response, current_app, redirect
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from msgspec import Struct, field
from werkzeug.exceptions import RequestEntityTooLarge

from mock_platform.control.refusals import ControlRefusal, as_refusal, refuse_values
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.address import ICON
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.scenario.director import find_engine
from mock_platform.version import __version__
from mock_platform.world.clock import format_date, machine_now, wire_millis
from mock_platform.world.names import DEFAULT, UnknownWorld

# Forms: what a browser sent, and what is wrong with it.

MAX_BYTES = 1024 * 1024
"""Maximum size of a form; an editor's text is the largest."""


class FormState(Struct, frozen=True):
    """What a form shows: values by the names of its fields, and what is wrong with them."""

    values: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Messages by the name of the field."""
    text: str = ""
    """What is wrong as a whole; empty if nothing is."""
    status: int = 200
    """The status of an answer that shows the form."""

    def value(self, name: str, default: object = "") -> str:
        """Return what a field shows: what was sent, or the default."""
        return self.values.get(name, str(default))

    def faults_of(self, name: str) -> Sequence[str]:
        """Return the messages to be shown beside a field."""
        return self.faults.get(name, ())


def read_form(request: ControlRequest) -> dict[str, str]:
    """Return the values of a form by name; of several with the same name, the first.

    Raises:
        ControlRefusal: 413; it is larger than `MAX_BYTES`.
    """
    request.flask.max_content_length = MAX_BYTES
    # One value may be as large as the form: without this, Werkzeug allows half a megabyte.
    request.flask.max_form_memory_size = MAX_BYTES
    try:
        sent = request.flask.form
    except RequestEntityTooLarge as fault:
        text = f"A form may have at most {MAX_BYTES:,} bytes; nothing was done with this one."
        raise ControlRefusal(413, text) from fault
    return {name: value.replace("\r\n", "\n") for name, value in sent.items()}


def attempt(values: Mapping[str, str], act: Callable[[], object]) -> FormState | None:
    """Return what is wrong with a form if `act` refuses it; `None` if it was done.

    Errors that are not refusals are raised.
    """
    try:
        act()
    except Exception as fault:
        refusal = as_refusal(fault)
        if refusal is None:
            raise
        return refuse_form(values, refusal)
    return None


def answer_form(
    request: ControlRequest,
    act: Callable[[dict[str, str]], Response],
    show: Callable[[ControlRequest, FormState], Response],
) -> Response:
    """Return what `act` answers to the values of a form; if it refuses them, the form again.

    `show` returns the page with the form.
    """
    values, answers = read_form(request), list[Response]()
    refused = attempt(values, lambda: answers.append(act(values)))
    return answers[0] if refused is None else show(request, refused)


def refuse_form(values: Mapping[str, str], refusal: ControlRefusal) -> FormState:
    """Return a form as it was sent, with the messages of a refusal at their fields."""
    faults: dict[str, list[str]] = {}
    for each in refusal.extra.get("faults", ()):
        faults.setdefault(each["field"], []).append(each["message"])
    return FormState(values, faults, refusal.detail, refusal.status)


# Values of forms in the types that the views of the control plane take.

_NO_INTEGER = 2**63


def to_number(text: str) -> int | float | str:
    """Return a number that a text holds, else the text, which a schema refuses with its reason."""
    try:
        if text.strip().lstrip("+-").isdecimal() and abs(number := int(text)) < _NO_INTEGER:
            return number
        # As JSON reads a number that is too large for an integer.
        return found if math.isfinite(found := float(text)) else text
    except ValueError:
        return text


def read_json(values: Mapping[str, str], name: str, failed: str) -> dict[str, Any]:
    """Return the JSON of a field under its name; nothing if the field is empty.

    Raises:
        ControlRefusal: 422, beside the field; `failed` says what was not done.
    """
    text = values.get(name, "").strip()
    if not text:
        return {}
    try:
        return {name: loads(text.encode())}
    except BadJson as fault:
        raise refuse_values(422, [(name, str(fault))], failed) from fault


# The files that pages load: style sheet, scripts, icon. Each has the hash of its content in its
# address, so browsers keep it until it changes.

FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"


class Assets:
    """The files by name; they are read once."""

    def __init__(self) -> None:
        files = [file for file in sorted(FOLDER.iterdir()) if file.suffix in _TYPES]
        self._files = {file.name: file.read_bytes() for file in files}
        self._hashes = {
            name: hashlib.sha256(data).hexdigest()[:16] for name, data in self._files.items()
        }

    def locate(self, name: str) -> str:
        """Return the path of a file below `/_mock`."""
        return f"/console/assets/{self._hashes[name]}/{name}"

    def send_file(self, request: ControlRequest) -> Response:
        """One file of the pages."""
        name = request.args["name"]
        data = self._files.get(name)
        if data is None or self._hashes[name] != request.args["hash"]:
            raise ControlRefusal(404, "The console has no such file; reload the page.")
        kind = _TYPES[Path(name).suffix]
        return Response(data, content_type=kind, headers={"Cache-Control": _FOREVER})

    def send_icon(self, _request: ControlRequest) -> Response:
        """Return the icon, for pages that name none."""
        return Response(self._files["icon.svg"], content_type=_TYPES[".svg"])

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes of all files."""
        return (
            Route("GET", "/console/assets/<hash>/<name>", self.send_file, media_type="*/*"),
            Route("GET", ICON, self.send_icon, media_type="*/*"),
        )


# A page of the console is a value: its name in the navigation and the routes behind it.


class ConsolePage(Struct, frozen=True):
    """One entry of the navigation. The routes are those of the page and of its actions."""

    title: str
    """The entry in the navigation."""
    path: str
    """The path below `/_mock` that the entry leads to."""
    routes: tuple[Route, ...]
    section: str
    """The group of the navigation in which it is: one of `SECTIONS`."""

    def leads_to(self, path: str) -> bool:
        """Whether a path below `/_mock` is that of this entry or of a page under it."""
        under = "/console/requests" if self.path == "/" else self.path
        return path in {self.path, under} or path.startswith(f"{under}/")


SECTIONS = ("Watch", "Break", "Data", "Reference")
"""The groups of the navigation."""
KEY = "mock_platform.console"
"""Key of the extensions of the control plane's application: the `Console`."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy: nothing inline, nothing from elsewhere."""
_SAID = "mock_platform_said"
_SAID_SECONDS = 20


class Console(Struct, frozen=True):
    """What all pages share."""

    pages: tuple[ConsolePage, ...]
    assets: Assets
    templates: Environment


@lru_cache(8)
def make_console(pages: tuple[ConsolePage, ...]) -> Console:
    """Return the console with these pages, which all servers of the process share.

    Nothing in it changes. Templates are compiled for each environment, which takes longer than
    all else that the first page of a server needs.
    """
    templates = Environment(
        loader=FileSystemLoader(FOLDER.parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    templates.filters["moment"] = show_moment
    templates.filters["coded"] = mark_code
    return Console(pages, Assets(), templates)


def show_moment(text: str | None) -> str:
    """Return a moment as lists show it: on one line, without what the head of the page says once.

    Example:
        >>> show_moment("2026-03-01T12:00:05.250Z"), show_moment(None)
        ('2026-03-01 12:00:05', '')
    """
    return "" if text is None else text[:19].replace("T", " ")


def mark_code(text: str) -> Markup:
    """Return a text with what is between backticks marked as code.

    Example:
        >>> mark_code("`on` is <b>")
        Markup('<code>on</code> is &lt;b&gt;')
    """
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(marked)  # noqa: S704 - escaped before it was marked


def render(
    request: ControlRequest,
    template: str,
    *,
    block: str | None = None,
    status: int = 200,
    form: FormState | None = None,
    **values: Any,
) -> Response:
    """Return a page; htmx gets only `block` of its template.

    `form` is what the page's form shows; its status is that of the answer. Templates also have
    `root` (the path of the control plane, with the world's prefix), `world`, `now`, `frozen`,
    `base_url`, `menu`, `here` (the path of this page below `root`), `back` (where a button in the
    head returns to), `asset`, and `said`.
    """
    console: Console = current_app.extensions[KEY]
    root = root_of(request)
    found = console.templates.get_template(template)
    partial = "HX-Request" in request.flask.headers
    # A page that polls must not take the text from the page that follows a form at that moment.
    said = "" if partial else unquote(request.flask.cookies.get(_SAID, ""))
    context = found.new_context(
        {
            "root": root,
            "here": request.flask.path.removeprefix("/_mock"),
            "back": _find_way_back(request, console),
            "menu": [
                (title, [page for page in console.pages if page.section == title])
                for title in SECTIONS
            ],
            "asset": lambda name: root + console.assets.locate(name),
            "base_url": request.base_url,
            "version": __version__,
            "locked": request.platform.settings.control_token is not None,
            "said": said,
            "form": form or FormState(),
            **_describe_world(request),
            **values,
        }
    )
    parts = found.root_render_func(context)
    if block is not None and partial:
        next(iter(parts), None)  # so much runs that imports at the template's beginning are there
        parts = found.blocks[block](context)
    response = Response("".join(parts), form.status if form is not None else status)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Vary"] = "HX-Request"
    if said:
        response.delete_cookie(_SAID, samesite="Strict", httponly=True)
    return response


def _find_way_back(request: ControlRequest, console: Console) -> str:
    """Return this page with its query, below `/_mock`; where only forms lead, the nearest page."""
    flask = request.flask
    here, query = flask.path.removeprefix("/_mock"), flask.query_string.decode("latin-1")
    if flask.method == "POST":
        # A form that is refused is shown under its own address, which not every form shares with
        # a page.
        own = flask.url_rule and flask.url_rule.rule
        rules = current_app.url_map.iter_rules()
        if not any(rule.rule == own and "GET" in (rule.methods or ()) for rule in rules):
            return find_nearest_page(console.pages, here)
    return quote(here) + (f"?{query}" if query else "")


def find_nearest_page(pages: Sequence[ConsolePage], path: str) -> str:
    """Return the path of the entry of the navigation to which a path belongs."""
    return next((page.path for page in pages if page.leads_to(path)), "/")


def go(request: ControlRequest, path: str, said: str = "") -> Response:
    """Return the redirection after a form, so that a reload does not send the form again.

    `path` is below `/_mock`; the next page shows `said`.
    """
    response: Response = redirect(root_of(request) + path, 303, Response)  # type: ignore[assignment]
    if said:
        response.set_cookie(
            _SAID, quote(said[:500]), max_age=_SAID_SECONDS, samesite="Strict", httponly=True
        )
    return response


def render_refusal(request: ControlRequest, refusal: ControlRefusal) -> Response:
    """Return the page that says why a request was refused; its menu is that of a world there is."""
    root = root_of(request)
    try:
        _ = request.world
    except UnknownWorld:
        root = f"{find_base(request)}/_mock"
    response = render(
        request,
        "refusal.html",
        block="content",
        status=refusal.status,
        title=HTTPStatus(refusal.status).phrase,
        detail=refusal.detail,
        root=root,
        is_locked_out=refusal.status == HTTPStatus.UNAUTHORIZED,
    )
    response.headers.extend(refusal.headers)
    if "HX-Request" in request.flask.headers:
        # The part that was to be refreshed stays where it is, with the reason in it.
        response.headers["HX-Reswap"], response.headers["HX-Reselect"] = "innerHTML", "unset"
    return response


def root_of(request: ControlRequest) -> str:
    """Return the path of the control plane as the browser called it, with a world's prefix."""
    return f"{request.flask.root_path.rstrip('/')}/_mock"


def _describe_world(request: ControlRequest) -> dict[str, Any]:
    """Return what the head of a page shows of its world; a world that is gone has none."""
    try:
        world = request.world
    except UnknownWorld:
        return {"world": None, "now": ""}
    clock = world.clock
    now = clock.now()
    base = find_base(request)
    return {
        "world": world,
        "now": wire_millis(now),
        "frozen": clock.frozen,
        "as_of": None if world.as_of is None else format_date(world.as_of),
        "distance": describe_distance((now - machine_now()).total_seconds()),
        "failures": [each["name"] for each in find_engine(world).describe_active()],
        "world_list": [
            (each.name, f"{base}/_mock" if each.name == DEFAULT else f"{base}/~{each.name}/_mock")
            for each in islice(request.platform.worlds, MAX_WORLDS)
        ],
    }


MAX_WORLDS = 20
"""Worlds that the head of a page lists."""


def find_base(request: ControlRequest) -> str:
    """Return the path below which all worlds of this server are, wherever it is mounted."""
    return root_of(request).partition("/~")[0].removesuffix("/_mock")


def describe_distance(seconds: float) -> str:
    """Return how far a clock is from real time, in its two largest units; empty within 2 seconds.

    Example:
        >>> describe_distance(7 * 86_400), describe_distance(-5430.2), describe_distance(0.4)
        ('+7 d', '-1 h 30 min', '')
    """
    left, parts = int(abs(seconds) + 0.5), list[str]()
    if left < _NEAR:
        return ""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {unit}")
        left %= size
    return ("+" if seconds > 0 else "-") + " ".join(parts)


_NEAR = 2
"""Seconds between the clock of a world and that of the machine that are not worth a word."""


def find_target(path: str, default: str = "/") -> str:
    """Return a path below `/_mock` on this server; anything else leads to the default."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else default


def ask(
    request: ControlRequest, title: str, text: str, action: str, *, button: str, back: str
) -> Response:
    """Return a page that asks before something is lost; `action` and `back` are below `/_mock`."""
    return render(
        request, "confirm.html", block="content",
        title=title, text=text, action=action, button=button, back=back,
    )  # fmt: skip
