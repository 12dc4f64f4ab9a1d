"""The generated pages, and the generated data of the packages, by their paths from `docs/`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.generators import (
    assumptions,
    data_files,
    front,
    javascript,
    names,
    operations,
    page_parts,
    python,
    scenario_format,
    scenarios,
)

DOCS = Path(__file__).parents[1]
PAGES: dict[str, Callable[[], str]] = {
    "../mock_platform/core/codes.json": data_files.write_codes,
    "../mock_platform/cli/constants.json": data_files.write_constants,
    "operations.md": operations.write_page,
    "assumptions.md": assumptions.write_page,
    "scenarios.md": scenarios.write_page,
    "scenario-format.md": scenario_format.write_page,
    "tables.md": page_parts.write_tables,
    "python.md": python.write_page,
    "javascript.md": javascript.write_page,
    "architecture.md": page_parts.write_architecture,
    "contract.md": page_parts.write_contract,
    "fidelity.md": page_parts.write_fidelity,
    "README.md": front.write_page,
    "../clients/javascript/package.json": javascript.write_package,
    "../clients/javascript/lib/contract.js": javascript.write_values,
    "../clients/javascript/types/contract.d.ts": javascript.write_types,
    "../clients/javascript/types/names.d.ts": names.write_types,
    "../mock_platform/names.pyi": names.write_stub,
}
