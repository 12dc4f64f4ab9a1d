"""The editor: a text is checked, defined in the world, saved in a folder, downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.scenario.director import find_engine
from tests.control.console.support import OWN, done, refused, show, submit
from tests.control.support import call
from tests.scenario.support import SOUND, define, write
from tests.support import Sandbox, sandbox

SCENARIOS = "/console/scenarios"
EDITOR = f"{SCENARIOS}/+new"
FAULTY = "name: a\nrules:\n  - on: webhooks.replya\n    then: {error: 89}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one scenario, `known`."""
    root = tmp_path_factory.mktemp("scenarios") / "mine"
    write(root, "known.yaml", "# kept\nname: known\nrules: [{then: {error: 89}}]\n")
    return root


@pytest.fixture(scope="module")
def own(folder: Path) -> Sandbox:
    """A sandbox that begins with that folder; each test saves under names of its own."""
    return sandbox(scenarios=(str(folder),), default_fixtures=False)


def test_faults_while_one_types(box: Sandbox) -> None:
    """The part of the page below the text has line, column, field and what was meant."""
    headers = OWN | {"HX-Request": "true"}
    form = {"text": FAULTY}
    answer = call(box, "POST", f"{SCENARIOS}/+check", form=form, headers=headers)
    page = call(box, "POST", f"{SCENARIOS}/+check", form=form, headers=OWN).text

    assert answer.text.strip().startswith('<div id="findings"')
    for text in (answer.text, page):
        assert "Line 3, column 5" in text
        assert "rules[0].on" in text
        assert "Did you mean &#39;webhooks.replay&#39;?" in text
    assert "No faults: a , 1 rule." in refused(
        submit(box, f"{SCENARIOS}/+check", text=SOUND.format("a")), 200
    )


def test_the_example_has_no_faults(box: Sandbox) -> None:
    """A new text begins as a scenario that works."""
    assert "No faults: my-failure , 1 rule, parameters times." in show(box, f"{SCENARIOS}/+new")


def test_define(box: Sandbox) -> None:
    """A text without faults is a scenario of the world; one with faults is shown again."""
    assert "a is defined" in done(submit(box, EDITOR, action="define", text=SOUND.format("a")))
    assert find_engine(box.world).find("a")

    page = refused(submit(box, EDITOR, action="define", text=FAULTY), 422)
    assert "The scenario was not defined: line 3, column 5" in page
    assert "webhooks.replya" in page
    assert "cannot 'defin'" in refused(submit(box, EDITOR, action="defin", text=""), 422)


def test_edit_what_was_defined(box: Sandbox) -> None:
    """A scenario without a file is edited as YAML; one of the package is not saved over."""
    define(box, {"name": "own", "rules": [{"then": {"error": 89}}]})

    assert "name: own rules: - then: error: 89" in show(box, f"{SCENARIOS}/own/edit")
    assert "name: rate-limited" in show(box, f"{SCENARIOS}/rate-limited/edit")


def test_download(box: Sandbox) -> None:
    """A text is sent as it is, under its file's name or its scenario's, even with faults."""
    named = submit(box, EDITOR, action="download", text=SOUND.format("a"))
    faulty = submit(box, EDITOR, action="download", text=FAULTY)
    strange = submit(box, EDITOR, action="download", text="x", file='a"\n/é.yaml')

    assert 'attachment; filename="a.yaml"' == named.headers["Content-Disposition"]
    assert FAULTY == faulty.text
    for answer in (faulty, strange):
        assert 'attachment; filename="scenario.yaml"' == answer.headers["Content-Disposition"]


def test_save(own: Sandbox, folder: Path) -> None:
    """A text becomes a file of the folder, which is replaced only if asked."""
    text = SOUND.format("new")

    said = done(submit(own, EDITOR, action="save", text=text, file="below/new.yaml"))
    assert f"{folder / 'below' / 'new.yaml'} is saved" in said
    assert text == (folder / "below" / "new.yaml").read_text()
    again = {"action": "save", "text": text, "file": "below/new.yaml"}
    assert "exists already" in refused(submit(own, EDITOR, **again), 409)
    assert done(submit(own, EDITOR, **again, replace="on"))
    assert 'value="below/new.yaml"' in call(own, "GET", f"{SCENARIOS}/new/edit").text
    assert "# kept" in show(own, f"{SCENARIOS}/known/edit")


def test_a_file_has_the_name_of_its_scenario(own: Sandbox, folder: Path) -> None:
    """If none is given; the field is empty until then, so the name may still change."""
    assert 'name="file" value=""' in call(own, "GET", f"{SCENARIOS}/+new").text

    done(submit(own, EDITOR, action="save", text=SOUND.format("later"), file=""))

    assert (folder / "later.yaml").exists()


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ({"file": "../out.yaml"}, "is no name for a file"),
        ({"file": "a.txt"}, "must end in one of"),
        ({"folder": "/etc"}, "is no folder of scenarios"),
        ({"text": FAULTY}, "line 3, column 5"),
        ({"text": SOUND.format("known")}, "is the name of"),
    ],
)
def test_refused_saves(own: Sandbox, folder: Path, form: dict[str, str], text: str) -> None:
    """What cannot be saved is said beside the field or above the form; nothing is written."""
    sent = {"action": "save", "text": SOUND.format("a"), "file": "a.yaml", **form}

    assert text in refused(submit(own, EDITOR, **sent), 422)
    assert not (folder / "a.yaml").exists()
    assert not (folder.parent / "out.yaml").exists()


def test_without_a_folder(box: Sandbox) -> None:
    """A server without a folder of scenarios saves nothing, and says how it would."""
    assert "--scenario FOLDER" in show(box, f"{SCENARIOS}/+new")
    sent = {"action": "save", "text": SOUND.format("a"), "file": "a.yaml"}
    assert "--scenario FOLDER" in refused(submit(box, EDITOR, **sent), 409)


def test_own_version_hides_the_file(own: Sandbox) -> None:
    """Who saves what the world defines as well learns that the world keeps its own version."""
    submit(own, EDITOR, action="define", text=SOUND.format("hidden"))

    said = done(submit(own, EDITOR, action="save", text=SOUND.format("hidden"), file="hidden.yaml"))

    assert "still has its own version" in said
