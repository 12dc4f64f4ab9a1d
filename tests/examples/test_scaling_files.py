"""The files with which orchestrators start the sandbox: valid, and about what there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import check_jsonschema
import kubernetes_validate
import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from mock_platform.cli.serve_command import serve
from mock_platform.control.routes import ROUTES

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "scaling"
SCHEMAS = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor"
KUBERNETES = "1.30"


def read(name: str) -> list[Any]:
    """The documents of a file, as plain values."""
    documents = YAML(typ="safe").load_all((FOLDER / name).read_text("utf-8"))
    return [json.loads(json.dumps(document)) for document in documents]


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    """The service of the compose file."""
    (document,) = read("compose.yaml")
    found: dict[str, Any] = document["services"]["sandbox"]
    return found


@pytest.fixture(scope="module")
def container() -> dict[str, Any]:
    """The container of the deployment."""
    found: dict[str, Any] = read("kubernetes.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
    return found


def test_the_compose_file_is_valid() -> None:
    """It follows the schema of Compose."""
    schema = json.loads((SCHEMAS / "compose-spec.json").read_text("utf-8"))
    (document,) = read("compose.yaml")
    Draft7Validator(schema).validate(document)


def test_the_manifest_is_valid() -> None:
    """Each object follows the schema of its kind, without unknown keys."""
    kinds = []
    for document in read("kubernetes.yaml"):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
        kinds.append(document["kind"])
    assert ["Deployment", "PersistentVolumeClaim", "Service", "PodDisruptionBudget"] == kinds


def test_the_parts_of_the_manifest_find_one_another() -> None:
    """Service and budget select the pods, which use the claim."""
    deployment, claim, entry, budget = read("kubernetes.yaml")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels == deployment["spec"]["selector"]["matchLabels"] == entry["spec"]["selector"]
    assert labels == budget["spec"]["selector"]["matchLabels"]
    (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
    assert claim["metadata"]["name"] == volume["persistentVolumeClaim"]["claimName"]
    assert {"replicas": 1, "strategy": {"type": "Recreate"}}.items() <= deployment["spec"].items()


def test_they_use_options_and_probes_that_exist(
    service: dict[str, Any], container: dict[str, Any]
) -> None:
    """Options, variables and the address of the probes are those of this version."""
    options = {option for parameter in serve.params for option in parameter.opts}
    variables = {f"MOCK_PLATFORM_SERVE_{parameter.name}".upper() for parameter in serve.params}
    routes = {route.rule for route in ROUTES}
    names = {each["name"] for each in container["env"]}
    for words in (service["command"], container["args"]):
        assert "serve" == words[0]
        assert options >= {word for word in words if word.startswith("--")}
    assert variables >= names | {*service["environment"]}
    probes = [service["healthcheck"]["test"], container["readinessProbe"]["exec"]["command"]]
    for probe in probes:
        compile(probe[-1], "the probe", "exec")
        assert "http://127.0.0.1:8080/_mock/health/ready" in probe[-1]
    assert "/_mock/health/ready" in routes
