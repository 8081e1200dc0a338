# Everything a contributor does, in one place. Needs Python 3.11 to 3.13, git and make; `make` alone lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup demo test lint types imports unit docs browser screenshots bench wheel oldest fix clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: .venv/.ready ## make .venv once; does nothing when it is up to date

demo: .venv/.ready ## from a CSV to a fair model and a report, on made-up loans: build/demo/report.html
	@OMP_NUM_THREADS=1 $(BIN)/p4f demo -o build/demo
	@echo "demo: '. .venv/bin/activate && cd build/demo', and README.md goes on from there"

test: lint types imports unit ## lint, types, import contract, tests: what CI runs
	@echo "test: all checks passed"

lint: .venv/.ready ## ruff: rules and formatting
	@echo "lint: ruff check, ruff format --check"
	@$(BIN)/ruff check --quiet --output-format concise
	@$(BIN)/ruff format --check || { echo "lint: 'make fix' formats these files" >&2; exit 1; }

types: .venv/.ready ## mypy in strict mode
	@echo "types: mypy"
	@$(BIN)/mypy --no-error-summary

imports: .venv/.ready ## import-linter: each room imports only from rooms below it
	@echo "imports: lint-imports"
	@$(BIN)/lint-imports --no-logo

unit: .venv/.ready ## pytest, warnings as errors, on up to four cores
	@echo "unit: pytest"
	@OMP_NUM_THREADS=1 $(BIN)/pytest -q -n auto --maxprocesses 4 --dist worksteal

docs: .venv/.ready .venv/.docs ## the documentation, its examples executed: build/docs/index.html
	@echo "docs: sphinx-build (minutes: every example is executed)"
	@OMP_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going -b html -d build/doctrees docs build/docs
	@echo "docs: build/docs/index.html"

browser: ## install Chromium where apt is there to do it; tests of pages run in it, and are skipped without it
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
		command -v apt-get >/dev/null && apt-get -qq update && apt-get -qq install -y chromium >/dev/null; } || \
		echo "browser: no Chromium, and apt-get could not install it; tests of pages will be skipped" >&2

screenshots: .venv/.ready ## take the documentation's pictures of p4f studio anew; needs Chromium
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.app.studio.screenshots docs/images/studio light dark phone

bench: .venv/.ready .venv/.deepproblog ## measure speed against plain PyTorch and DeepProbLog
	@for script in benchmarks/*.py; do \
		test -f "$$script" || { echo "bench: no benchmarks/*.py" >&2; exit 1; }; \
		echo "bench: $$script"; $(BIN)/python "$$script" || exit 1; done

wheel: .venv/.ready ## build dist/*.whl, install it in an empty environment, and run the demo from there
	@rm -rf dist build/wheel && mkdir -p dist
	@$(PIP) wheel --no-deps --no-build-isolation -w dist .
	@$(BIN)/python -m venv build/wheel
	@build/wheel/bin/python -m pip --disable-pip-version-check -qq install -c constraints.txt dist/*.whl
	@cd build/wheel && OMP_NUM_THREADS=1 bin/p4f demo -o demo >/dev/null
	@echo "wheel: $$(ls dist), and the demo runs from it"

# Torch stays at the version of constraints.txt: older builds for Linux take several GB.
oldest: ## run the tests with the oldest releases that pyproject.toml allows, in .venv-oldest
	@"$(PYTHON)" -m venv .venv-oldest
	@.venv-oldest/bin/python -c 'import re, tomllib; t = tomllib.load(open("pyproject.toml", "rb")); bounds = [re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", d) for d in t["project"]["dependencies"] + sum(t["project"]["optional-dependencies"].values(), [])]; print(*(f"{b[1]}=={b[2]}.*" for b in bounds if b and b[1] not in ("torch", "torchvision")), sep="\n"); print(*(line for line in open("constraints.txt") if line.startswith("torch==")))' > .venv-oldest/constraints.txt
	@.venv-oldest/bin/python -c 'import tomllib; t = tomllib.load(open("pyproject.toml", "rb")); print(*t["build-system"]["requires"], *t["project"]["dependencies"], *t["dependency-groups"]["dev"], sep="\n")' > .venv-oldest/requirements.txt
	@.venv-oldest/bin/python -m pip --disable-pip-version-check -qq install -c .venv-oldest/constraints.txt -r .venv-oldest/requirements.txt
	@.venv-oldest/bin/python -m pip --disable-pip-version-check -qq install --no-build-isolation --no-deps -e .
	@OMP_NUM_THREADS=1 .venv-oldest/bin/pytest -q -n auto --maxprocesses 4 --dist worksteal

fix: .venv/.ready ## repair what ruff can repair, and format
	@echo "fix: ruff check --fix, ruff format"
	@$(BIN)/ruff check --fix; status=$$?; $(BIN)/ruff format && exit $$status

clean: ## remove .venv and everything the tools left behind
	@rm -rf .venv .venv-oldest build dist docs/_generated .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src studies tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "clean: done"

# Names come from pyproject.toml, versions from constraints.txt. The project itself comes last, built with the pinned
# hatchling that is in .venv by then: an isolated build would fetch a hatchling of any version.
.venv/.ready: pyproject.toml constraints.txt
	@command -v "$(PYTHON)" >/dev/null || { echo "setup: no $(PYTHON) here; name one: make setup PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { \
		echo "setup: Python 3.11, 3.12 or 3.13 is needed, $(PYTHON) is $$("$(PYTHON)" -V 2>&1); name another: make setup PYTHON=python3.12" >&2; exit 1; }
	@echo "setup: making .venv with $$("$(PYTHON)" -V)"
	@"$(PYTHON)" -m venv .venv
	@$(BIN)/python -c 'import tomllib; t = tomllib.load(open("pyproject.toml", "rb")); print(*t["build-system"]["requires"], *t["project"]["dependencies"], *t["dependency-groups"]["dev"], sep="\n")' > .venv/requirements.txt
	@echo "setup: installing the packages of pyproject.toml at the versions of constraints.txt (minutes, the first time)"
	@$(PIP) install -c constraints.txt -r .venv/requirements.txt
	@echo "setup: installing problog4fairness, editable"
	@$(PIP) install --no-index --no-build-isolation --no-deps -e .
	@touch $@
	@echo "setup: done"

# What builds the documentation; nothing else needs it.
.venv/.docs: pyproject.toml constraints.txt | .venv/.ready
	@echo "docs: installing Sphinx and what goes with it"
	@$(BIN)/python -c 'import tomllib; t = tomllib.load(open("pyproject.toml", "rb")); print(*t["dependency-groups"]["docs"], sep="\n")' > .venv/requirements-docs.txt
	@$(PIP) install -c constraints.txt -r .venv/requirements-docs.txt
	@touch $@

# The reference that `make bench` compares with. Its dependencies stay out: torchvision would replace torch.
.venv/.deepproblog: constraints.txt | .venv/.ready
	@echo "bench: installing DeepProbLog 2.1, without its dependencies"
	@$(PIP) install --no-deps -c constraints.txt deepproblog && touch $@ || \
		echo "bench: DeepProbLog 2.1 could not be installed (see above); it is left out of the comparison"
