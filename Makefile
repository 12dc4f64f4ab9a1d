# Everything one does with a checkout. A machine needs Python 3.11 or newer and make; the rest is
# installed into .venv by the first target that needs it.

ifndef PYTHON
PYTHON := $(shell for name in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then \
	command -v $$name; break; fi; done)
endif
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# More than a usual small machine has cores: many tests wait for servers, browsers and commands.
JOBS ?= 3
ARGS ?=

.PHONY: help serve test test-quick check format fidelity bench docs site wheel clean distclean
.DELETE_ON_ERROR:

help:
	@echo "make serve    serve the sandbox on http://127.0.0.1:8080   (ARGS='--port 0 …')"
	@echo "make test     run the tests                              (ARGS='-k replay …')"
	@echo "make test-quick  without sockets, browsers, killed processes and generated requests"
	@echo "make check    formatting, lint, types, import rules"
	@echo "make format   put the formatting right"
	@echo "make fidelity measure how true the answers are            (ARGS='--against FOLDER')"
	@echo "make bench    measure"
	@echo "make docs     write the generated pages and pictures in docs/"
	@echo "make site     build the pages as a site, in build/site"
	@echo "make wheel    build the wheel and try it in an environment of its own"
	@echo "make clean    remove what was made; make distclean removes $(VENV) as well"

serve: $(VENV)/.runtime
	@exec $(BIN)/mock-platform serve $(ARGS)

# Without compiled files each process would compile all tests, and each server it starts the sandbox.
test: $(VENV)/.dev
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test-quick: $(VENV)/.dev
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist worksteal \
		-m "not live and not browser and not crash" --ignore tests/property $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fidelity: $(VENV)/.runtime
	@$(BIN)/mock-platform fidelity $(ARGS)

bench: $(VENV)/.dev
	@set -e; for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script $(ARGS); done

docs: $(VENV)/.dev
	$(BIN)/python -m docs.generators
	$(BIN)/python -m docs.generators.pictures

# The generator of the site is in the extra `dev`; what a user installs does not need it.
site: $(VENV)/.dev
	@$(BIN)/python -m docs.generators.site build/site

# The fresh environment borrows the libraries of $(VENV), but not the package: it finds its own first.
wheel: site
	rm -rf dist build/wheel
	$(PIP) wheel --quiet --no-deps --wheel-dir dist .
	@$(BIN)/python -m zipfile --list dist/*.whl | awk 'NR > 1 && $$1 !~ /^mock_platform[-\/]/ \
		{ print "The wheel holds " $$1 ", which is no part of the package."; bad = 1 } END { exit bad }'
	$(BIN)/python -m venv build/wheel
	build/wheel/bin/python -m pip --disable-pip-version-check --quiet install --no-deps dist/*.whl
	@build/wheel/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > build/wheel/here
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$(cat build/wheel/here)/borrowed.pth"
	cd / && "$(CURDIR)/build/wheel/bin/mock-platform" run -- sh -c \
		'test -n "$$MOCK_PLATFORM_BEARER_TOKEN" && echo "the wheel serves $$MOCK_PLATFORM_URL"'

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

$(VENV)/.created:
	@test -n "$(PYTHON)" || { \
		echo "No Python 3.11 or newer found. Install one, or say PYTHON=/path/to/python3.11." >&2; \
		exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) does not run or is older than 3.11. Say PYTHON=/path/to/python3.11." >&2; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
		echo "$(PYTHON) cannot make environments: its venv module is not complete." >&2; \
		echo "On Debian and Ubuntu: apt-get install python3-venv." >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created pyproject.toml
	@echo "Installing what the sandbox needs into $(VENV), about a minute …" >&2
	@$(PIP) install --editable '.[all]' >&2
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml
	@echo "Installing what development needs into $(VENV), some minutes …" >&2
	@$(PIP) install --editable '.[dev]' >&2
	@touch $(VENV)/.runtime $@
