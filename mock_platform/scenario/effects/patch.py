"""`patch: {…}` — the true answer with a JSON merge patch (RFC 7386) over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.call import Reply
from mock_platform.core.documents.forms import AnyForm, EntriesForm, make_keyed
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.tables.checking import merge_patch
from mock_platform.scenario.effects.effect import EffectKind, Staging


class PatchEffect(Struct, frozen=True):
    """Merges a patch into the body of the answer."""

    patch: Mapping[str, Any]

    def treat(self, staging: Staging, reply: Reply) -> Reply:
        """Return the reply with its body patched; a body that is not JSON stays unchanged."""
        try:
            body = loads(reply.body)
        except BadJson:
            staging.call.warn("the scenario's patch had no JSON answer to act on")
            return reply
        return replace(reply, body=dumps(merge_patch(body, self.patch)))


KIND = EffectKind(
    "patch",
    lambda value: PatchEffect(value["patch"]),
    form=make_keyed(
        "patch",
        EntriesForm(AnyForm(), least=1),
        "JSON merge patch over the true answer; null removes a field.",
    ),
    changes_answer=True,
    acts_on="operation",
)
