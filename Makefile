# What a person does with a checkout. It needs make, git and Python 3.11 or newer; everything else goes into .venv.
#
#   make run          set up what running needs, then start the service      (ARGS="--port 9000" is handed on)
#   make test         set up what development needs, then run the tests      (ARGS="-k words" is handed on)
#   make check        formatting, lint, types, layers, documentation         (make -k check shows all findings)
#   make bench        the benchmarks                                         (ARGS is handed on)
#   make reference    write the generated pages of the documentation
#   make format       apply the formatter and the safe fixes of the linter
#   make install      only the set-up of `make run`
#   make install-dev  only the set-up of `make test`
#   make lock         bring the lock files up to pyproject.toml, moving no other pin
#                     (ARGS=--upgrade moves all, ARGS="--upgrade-package NAME" moves one)
#   make clean        remove .venv and everything that can be made again

PYTHON ?= python3
ARGS ?=
# How many processes `make test` uses: a number, or "auto" for one a core.
JOBS ?= auto

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

# Stamps: what has been done in .venv already. Each is made after its step has succeeded.
MADE := $(VENV)/.made
RUNTIME := $(VENV)/.runtime
DEVELOPMENT := $(VENV)/.development
PROJECT := $(VENV)/.project

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run install install-dev test check lint format-check types layers docs-check bench reference format lock clean

help:
	@sed -n 's/^#   make/make/p; s/^#    \{8,\}/                  /p' Makefile

# --- set-up ----------------------------------------------------------------------------------------------------------

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Plugyard needs Python 3.11 or newer, and '$(PYTHON)' is not. Name another: make PYTHON=python3.13 ..." >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(RUNTIME): requirements.lock | $(MADE)
	$(PIP) install --require-hashes --requirement requirements.lock
	@touch $@

$(DEVELOPMENT): requirements-dev.lock | $(MADE)
	$(PIP) install --require-hashes --requirement requirements-dev.lock
	@touch $(RUNTIME) $@

# Editable: the console script, the metadata and the entry points; the code is read from the checkout.
$(PROJECT): pyproject.toml | $(MADE)
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

install: $(RUNTIME) $(PROJECT)

install-dev: $(DEVELOPMENT) $(PROJECT)

# --- use -------------------------------------------------------------------------------------------------------------

run: install
	@exec $(BIN)/plugyard serve $(ARGS)

test: install-dev
	$(BIN)/python -m pytest --numprocesses $(JOBS) $(ARGS)

bench: install-dev
	$(BIN)/python -m benchmarks $(ARGS)

# --- checks ----------------------------------------------------------------------------------------------------------

check: lint format-check types layers docs-check

lint: install-dev
	$(BIN)/ruff check

format-check: install-dev
	$(BIN)/ruff format --check

types: install-dev
	$(BIN)/mypy

layers: install-dev
	$(BIN)/lint-imports --no-logo

docs-check: install-dev
	$(BIN)/python -m tests.checks

reference: install-dev
	$(BIN)/python -m tests.checks --write

format: install-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# --- upkeep ----------------------------------------------------------------------------------------------------------

COMPILE = $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(ARGS)

# The runtime lock also holds the build backend, so that the project itself installs without an isolated build.
lock: install-dev
	$(COMPILE) --group build --output-file requirements.lock
	$(COMPILE) --group dev --constraint requirements.lock --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
