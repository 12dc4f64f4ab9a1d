"""Writes a whole Pact file from what was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mock_platform.core.jsonio import canonical
from mock_platform.verification.pact.interactions import InteractionWriter
from mock_platform.verification.pact.recorded import LeftOut, PactDelivery, PactExchange
from mock_platform.version import __version__


class Parties(NamedTuple):
    """Who uses the interface, and who provides it."""

    consumer: str
    provider: str


def make_pact(
    parties: Parties,
    recorded: Iterable[PactExchange | PactDelivery | LeftOut],
    openapi: Mapping[str, Any],
) -> tuple[dict[str, Any], list[LeftOut]]:
    """Return the file, and which requests are not in it.

    `openapi` describes the operations. Requests that are alike, but for the moment at which they
    came, are one interaction.
    """
    writer = InteractionWriter(openapi)
    found: dict[bytes, dict[str, Any]] = {}
    left_out: dict[LeftOut, None] = {}
    for each in recorded:
        if isinstance(each, LeftOut):
            left_out[each] = None
            continue
        written = (
            writer.write_message(each) if isinstance(each, PactDelivery) else writer.write(each)
        )
        if isinstance(written, LeftOut):
            left_out[written] = None
        else:
            found.setdefault(_identify(written), written)
    return _assemble(parties, _name_apart(list(found.values()))), list(left_out)


def _assemble(parties: Parties, interactions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "consumer": {"name": parties.consumer},
        "provider": {"name": parties.provider},
        "interactions": interactions,
        "metadata": {
            "pactSpecification": {"version": "4.0"},
            "mock_platform": {"version": __version__},
        },
    }


def _identify(interaction: Mapping[str, Any]) -> bytes:
    """Return what two interactions that are alike have in common."""
    states = [
        {**state, "params": {k: v for k, v in state["params"].items() if k != "clock"}}
        for state in interaction["providerStates"]
    ]
    if "contents" in interaction:
        # Two deliveries with the same keys and types of values are one message.
        return canonical([interaction["description"], interaction["matchingRules"]])
    status = interaction["response"]["status"]
    return canonical([interaction["description"], interaction["request"], status, states])


def _name_apart(interactions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Number those with the same description, which has to be unique."""
    seen: dict[str, int] = {}
    for each in interactions:
        description = each["description"]
        number = seen[description] = seen.get(description, 0) + 1
        if number > 1:
            each["description"] = f"{description} ({number})"
    return interactions
