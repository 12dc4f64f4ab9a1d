"""The pages can be read and used: contrast in both color schemes, visible focus, small screens."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect
from requests_oauthlib import OAuth1

from tests.browser.conftest import NewContext
from tests.live_servers import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]

COLORS = """() => {
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color !== 'rgba(0, 0, 0, 0)') return color;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.querySelectorAll('body *')]
    .filter((e) => e.getClientRects().length
      && (e.matches('input:not([type=hidden])')
          || [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())))
    .map((e) => ({what: e.tagName + ' ' + (e.innerText || e.name || '').slice(0, 30),
                  text: getComputedStyle(e).color, ground: ground(e)}));
}"""

RING = """() => {
  const style = getComputedStyle(document.activeElement);
  return {what: document.activeElement.outerHTML,
          width: parseFloat(style.outlineWidth), line: style.outlineStyle,
          color: style.outlineColor,
          ground: getComputedStyle(document.querySelector('main')).backgroundColor};
}"""

SIZES = """() => [...document.querySelectorAll('button, input:not([type=hidden])')]
  .map((e) => e.getBoundingClientRect().height)"""


def luminance(color: str) -> float:
    """The relative luminance of `rgb(…)`, by WCAG 2."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colors, by WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def opened(page: Page, world: LiveWorld) -> None:
    """Open the login page of a new request token."""
    auth = OAuth1(world.key, world.secret, callback_uri="oob")
    answer = world.session().post(f"{world.base_url}/oauth/request_token", auth=auth)
    page.goto(f"{world.base_url}/oauth/authorize?{answer.text}")


def walk(page: Page, world: LiveWorld, step: str) -> None:
    """Go from one page of the flow to the next."""
    if step == "login":
        opened(page, world)
    elif step == "login, again":
        page.get_by_label("Username").fill("nobody")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_be_visible()
    elif step == "consent":
        page.get_by_label("Username").fill(world.screen_name)
        page.get_by_label("Password").fill(world.password)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("button", name="Allow")).to_be_visible()
    elif step == "pin":
        page.get_by_role("button", name="Allow").click()
        expect(page.locator("#pin")).to_be_visible()
    else:
        page.goto(f"{world.base_url}/oauth/authorize?oauth_token=unknown")


STEPS = ("login", "login, again", "consent", "pin", "refusal")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out(
    live_world: LiveWorld, new_context: NewContext, scheme: Literal["light", "dark"]
) -> None:
    """Text has at least 4.5 to 1 against its ground on every page, in light and in dark."""
    page = new_context(color_scheme=scheme).new_page()
    grounds = set()
    for step in STEPS:
        walk(page, live_world, step)
        shown = page.evaluate(COLORS)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        weak = [item for item in shown if contrast(item["text"], item["ground"]) < 4.5]

        assert len(shown) >= 2
        assert weak == []

    assert 1 == len(grounds)
    assert (luminance(grounds.pop()) > 0.5) == (scheme == "light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_focus_is_visible(
    live_world: LiveWorld, new_context: NewContext, scheme: Literal["light", "dark"]
) -> None:
    """Whatever the keyboard reaches shows a ring of 3 pixels, 3 to 1 against the ground."""
    page = new_context(color_scheme=scheme).new_page()
    for step, stops in (("login", 4), ("login, again", 4), ("consent", 3), ("pin", 1)):
        walk(page, live_world, step)
        page.evaluate("document.body.tabIndex = -1, document.body.focus()")
        rings = []
        for _ in range(stops):
            page.keyboard.press("Tab")
            rings.append(page.evaluate(RING))

        assert stops == len({ring["what"] for ring in rings})
        assert all((3, "solid") == (ring["width"], ring["line"]) for ring in rings)
        assert all(contrast(ring["color"], ring["ground"]) >= 3 for ring in rings)


def test_the_pages_fit_a_small_screen(live_world: LiveWorld, new_context: NewContext) -> None:
    """At 320 pixels nothing has to be scrolled sideways, and what is pressed is 44 pixels high."""
    page = new_context(viewport={"width": 320, "height": 640}).new_page()
    for step in STEPS:
        walk(page, live_world, step)

        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert all(height >= 44 for height in page.evaluate(SIZES))


def test_the_pages_have_names_for_assistive_technology(
    live_world: LiveWorld, new_context: NewContext
) -> None:
    """What a screen reader says: title, heading, names of fields and buttons, the complaint."""
    page = new_context().new_page()
    opened(page, live_world)

    expect(page).to_have_title("Log in to continue to Harbor Campaign Desk")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("main")).to_match_aria_snapshot(
        """
        - heading "Log in to continue to Harbor Campaign Desk" [level=1]
        - paragraph
        - text: Username
        - textbox "Username"
        - text: Password
        - textbox "Password"
        - button "Log in"
        - button "Cancel"
        """
    )
    walk(page, live_world, "login, again")
    expect(page.get_by_label("Password")).to_have_accessible_description(
        re.compile("No user has this username")
    )
