# Everything a contributor does, in one place. Needs Python 3.11 to 3.13, git and make; `make` alone lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup demo test lint types imports unit bench fix clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: .venv/.ready ## make .venv once; does nothing when it is up to date

demo: .venv/.ready ## the paper's loan and label-bias examples, then a fair classifier from unfair loans
	@echo "demo: Example 1 of the paper, examples/loan.pl: who gets the loan?"
	@$(BIN)/p4f query examples/loan.pl
	@echo
	@echo "demo: label bias, examples/label.pl: what is in it"
	@$(BIN)/p4f check examples/label.pl
	@echo
	@echo "demo: a fair chance of 0.7 in the sensitive group, of which 30% are turned down: what is recorded?"
	@$(BIN)/p4f query examples/label.pl --nn h=0.7 --nn a=1 --set p1=0.3 --set p2=0 --set p3=0 --set p4=0
	@echo
	@echo "demo: the assumption as a picture"
	@mkdir -p build/demo
	@$(BIN)/p4f draw examples/label.pl -o build/demo/label.png
	@echo
	@echo "demo: from recorded loans and 400 audited ones to a classifier of the fair label"
	@OMP_NUM_THREADS=1 $(BIN)/python examples/loans.py -o build/demo/loans.png

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
	@OMP_NUM_THREADS=1 $(BIN)/pytest -q -n auto --maxprocesses 4

bench: .venv/.ready .venv/.deepproblog ## measure speed against plain PyTorch and DeepProbLog
	@for script in benchmarks/*.py; do \
		test -f "$$script" || { echo "bench: no benchmarks/*.py" >&2; exit 1; }; \
		echo "bench: $$script"; $(BIN)/python "$$script" || exit 1; done

fix: .venv/.ready ## repair what ruff can repair, and format
	@echo "fix: ruff check --fix, ruff format"
	@$(BIN)/ruff check --fix; status=$$?; $(BIN)/ruff format && exit $$status

clean: ## remove .venv and everything the tools left behind
	@rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
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

# The reference that `make bench` compares with. Its dependencies stay out: torchvision would replace torch.
.venv/.deepproblog: constraints.txt | .venv/.ready
	@echo "bench: installing DeepProbLog 2.1, without its dependencies"
	@$(PIP) install --no-deps -c constraints.txt deepproblog && touch $@ || \
		echo "bench: DeepProbLog 2.1 could not be installed (see above); it is left out of the comparison"
