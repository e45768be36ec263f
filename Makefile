# make demo   the shipped clues to kept tasks        make test    the whole test suite
# make lint   style and types                        make faults  kill -9 and resume, many times
# make clean  what setup and dead runs left
#
# Each brings what is missing first (scripts/setup.sh) and says so.

SHELL := /bin/bash
PYTHON ?=
SEED ?= 1
WORKERS ?= 2
PYTEST_ARGS ?=
FORGE := .venv/bin/forge
PYTEST := .venv/bin/python -m pytest

.PHONY: setup demo test lint faults clean

setup:
	@PYTHON="$(PYTHON)" bash scripts/setup.sh

demo: setup
	@$(FORGE) run templates/clues/demo.jsonl --config templates/demo/forge.toml --seed $(SEED) --fresh

test: setup
	@$(PYTEST) -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

faults: setup
	@$(PYTEST) -m faults $(PYTEST_ARGS)

lint:
	@PYTHON="$(PYTHON)" bash scripts/setup.sh venv
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

clean:
	@if [ -x $(FORGE) ]; then $(FORGE) clean; fi
	@rm -rf .venv .setup .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info
