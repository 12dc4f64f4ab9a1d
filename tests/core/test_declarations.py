"""What declares operations and fields knows its keywords: a misspelt one is a type error.

Each `type: ignore` here is an error of its own as soon as mypy accepts the line.
"""

from __future__ import annotations

from functools import partial

import pytest

from mock_platform.api.ads.catalogs.records import RuledText
from mock_platform.api.ads.conventions import One, ads
from mock_platform.api.ads.resource import Resource
from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.webhooks.event_log import Minute
from mock_platform.core.call import Call
from mock_platform.core.failures.codes import ADS_STATUS
from mock_platform.core.fields import Choice, CommaList, Flag, Instant, Integer, ListOf, Text
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

THINGS = Resource("things", "/12/things", Schema, "thing", "Things")


def read(call: Call, world: World) -> Record:
    """A handler."""
    return {}


declare = partial(ads, summary="Read", spec="Things", returns=One(Schema))


def test_an_operation_knows_its_keywords() -> None:
    """A misspelt, a missing and a wrong part of an operation are errors of types."""
    operation = declare("things.get", "GET", "/12/things", read, also=("/12/thing",))

    assert ("/12/thing",) == operation.also
    with pytest.raises(TypeError, match="alsso"):
        declare("things.get", "GET", "/12/things", read, alsso=())  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="asumptions"):
        ads(
            "things.get", "GET", "/12/things", read,
            summary="Read", spec="Things", returns=One(Schema), asumptions=(),  # type: ignore[call-arg]
        )  # fmt: skip
    with pytest.raises(TypeError, match="returns"):
        ads("things.get", "GET", "/12/things", read, summary="Read", spec="Things")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="id"):
        Operation(method="GET", path="/12/things", handler=read)  # type: ignore[call-arg]
    declare("things.get", "GET", "/12/things", read, returns=Schema)  # type: ignore[arg-type]


def test_a_resource_knows_its_keywords() -> None:
    """A misspelt part of a resource's operation is an error of types."""
    assert "Look" == THINGS.list(summary="Look").summary

    with pytest.raises(TypeError, match="may_asume"):
        THINGS.list(may_asume=())  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="summry"):
        THINGS.get(summry="Look")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="orign"):
        THINGS.delete(orign="A")  # type: ignore[call-arg]


def test_a_field_knows_its_keywords() -> None:
    """A misspelt part of a parameter or of a record's field is an error of types."""
    with pytest.raises(TypeError, match="requird"):
        Text(requird=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="max"):
        Text(max=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="lowest"):
        Integer(lowest=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="default"):
        Flag(default=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="requird"):
        Choice(("A",), requird=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="milis"):
        Instant(milis=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="least"):
        CommaList(Text(), least=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="highest"):
        ListOf(Text(), highest=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="pattern"):
        MediaKey(pattern="[0-9]")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="requird"):
        RuledText(str, requird=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="requird"):
        Minute(requird=True)  # type: ignore[call-arg]


def test_the_status_of_what_is_not_found_is_declared() -> None:
    """An operation whose failures include a 404 describes it; batches answer 400 with theirs."""
    missing = [
        operation.id
        for operation in OPERATIONS
        if operation.dialect == "ads" and not operation.id.endswith(".batch")
        if 404 in {ADS_STATUS.get(code) for code in operation.errors}
        if 404 not in operation.statuses
    ]

    assert [] == missing
