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

from mock_platform.cli.serving_commands import serve
from mock_platform.control.routes import ROUTES

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "scaling"
SCHEMAS = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor"
KUBERNETES = "1.30"
COMPOSE = ("compose.yaml", "compose-engine.yaml")
MANIFESTS = {
    "kubernetes.yaml": ["Deployment", "PersistentVolumeClaim", "Service", "PodDisruptionBudget"],
    "kubernetes-engine.yaml": [
        "Deployment", "Service", "PodDisruptionBudget",
        "StatefulSet", "Service", "NetworkPolicy", "NetworkPolicy",
    ],
}  # fmt: skip
"""The objects of each manifest."""


def read(name: str) -> list[Any]:
    """The documents of a file, as plain values."""
    documents = YAML(typ="safe").load_all((FOLDER / name).read_text("utf-8"))
    return [json.loads(json.dumps(document)) for document in documents]


def read_containers() -> list[tuple[list[str], set[str], list[str]]]:
    """Of each sandbox in the files: its words, the names of its variables, the ready probe."""
    found = []
    for name in COMPOSE:
        for service in read(name)[0]["services"].values():
            if service["image"] == "mock-platform":
                probe = service["healthcheck"]["test"]
                found.append((service["command"], {*service["environment"]}, probe))
    for name in MANIFESTS:
        (container,) = read(name)[0]["spec"]["template"]["spec"]["containers"]
        names = {each["name"] for each in container["env"]}
        found.append((container["args"], names, container["readinessProbe"]["exec"]["command"]))
    return found


@pytest.mark.parametrize("name", COMPOSE)
def test_the_compose_files_are_valid(name: str) -> None:
    """They follow the schema of Compose."""
    schema = json.loads((SCHEMAS / "compose-spec.json").read_text("utf-8"))
    (document,) = read(name)
    Draft7Validator(schema).validate(document)


@pytest.mark.parametrize(("name", "kinds"), MANIFESTS.items(), ids=MANIFESTS)
def test_the_manifests_are_valid(name: str, kinds: list[str]) -> None:
    """Each object follows the schema of its kind, without unknown keys."""
    documents = read(name)
    for document in documents:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    assert kinds == [document["kind"] for document in documents]


@pytest.mark.parametrize("name", MANIFESTS)
def test_the_parts_of_a_manifest_find_one_another(name: str) -> None:
    """Service and budget select the pods."""
    deployment, *others = read(name)
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels == deployment["spec"]["selector"]["matchLabels"]
    own = [each for each in others if each["metadata"]["name"] == "mock-platform"]
    (entry,) = (each for each in own if each["kind"] == "Service")
    (budget,) = (each for each in own if each["kind"] == "PodDisruptionBudget")
    assert labels == entry["spec"]["selector"] == budget["spec"]["selector"]["matchLabels"]


def test_one_pod_has_the_files() -> None:
    """It uses the claim, and is never doubled."""
    deployment, claim, *_ = read("kubernetes.yaml")
    (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
    assert claim["metadata"]["name"] == volume["persistentVolumeClaim"]["claimName"]
    assert {"replicas": 1, "strategy": {"type": "Recreate"}}.items() <= deployment["spec"].items()


def test_pods_on_an_engine_find_it_and_one_another() -> None:
    """The store is the engine's service, and each pod advertises a port that others may reach."""
    deployment, *others = read("kubernetes-engine.yaml")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (engine,) = (each for each in others if each["kind"] == "StatefulSet")
    (entry,) = (
        each["metadata"]["name"]
        for each in others
        if each["kind"] == "Service"
        and each["spec"]["selector"] == engine["spec"]["template"]["metadata"]["labels"]
    )
    assert f"redis://{entry}:6379/0" in container["args"]
    advertised = {each["name"]: each.get("value") for each in container["env"]}
    ports = {each["containerPort"]: each["name"] for each in container["ports"]}
    assert "$(POD_IP):8081" == advertised["MOCK_PLATFORM_SERVE_ADVERTISE"]
    policies = {
        each["metadata"]["name"]: each["spec"]["ingress"]
        for each in others
        if each["kind"] == "NetworkPolicy"
    }
    assert {"port": ports[8081]} in policies["mock-platform"][1]["ports"]
    assert policies["mock-platform"][1]["from"] == policies[entry][0]["from"]


def test_they_use_options_and_probes_that_exist() -> None:
    """Options, their values, variables and the address of the probes are those of this version."""
    variables = {f"MOCK_PLATFORM_SERVE_{parameter.name}".upper() for parameter in serve.params}
    routes = {route.rule for route in ROUTES}
    for words, names, probe in read_containers():
        assert "serve" == words[0]
        serve.make_context("serve", words[1:], resilient_parsing=False)
        assert variables >= names - {"POD_IP"}
        compile(probe[-1], "the probe", "exec")
        assert "http://127.0.0.1:8080/_mock/health/ready" in probe[-1]
    assert "/_mock/health/ready" in routes
