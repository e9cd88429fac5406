# Everything runs in one virtual environment, made on first use from the locked requirements.
# Portable on purpose: GNU make 3.81 and a POSIX shell are enough.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; \
	done; echo python3)
VENV ?= .venv
UV ?= uv
COMPOSE ?= docker compose
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
COMPILE := $(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test check bench conformance validate-corpus corpus-list \
	build start stop restart logs ps down lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Pass options on with ARGS, as in: make serve ARGS='--port 9000'"

serve: $(VENV)/.runtime ## serve corpus.toml on http://127.0.0.1:8000/mcp
	@$(BIN)/refdesk serve $(ARGS)

test: $(VENV)/.dev ## run the tests
	@$(BIN)/pytest $(ARGS)

check: $(VENV)/.dev ## format, lint, types and import rules: what CI runs before the tests
	@status=0; \
	for step in "ruff format --check" "ruff check" "mypy" "lint-imports"; do \
		if report=$$($(BIN)/$$step 2>&1); then echo "ok      $$step"; \
		else status=1; echo "$$report"; echo "failed  $$step"; fi; \
	done; exit $$status

bench: $(VENV)/.dev ## run every bench, on the data that REFDESK_CORPORA names
	@for bench in $$(grep -l __main__ bench/*.py); do \
		echo "== $$bench"; $(BIN)/python "$$bench" $(ARGS) || exit 1; \
	done

conformance: $(VENV)/.dev ## run the protocol's conformance suite and foreign clients (needs npm)
	@$(BIN)/python conformance/run.py all $(ARGS)

validate-corpus: $(VENV)/.runtime ## open every configured library and report
	@$(BIN)/refdesk check $(ARGS)

corpus-list: $(VENV)/.runtime ## list the configured libraries
	@$(BIN)/refdesk list $(ARGS)

build: ## build the container image
	@$(COMPOSE) build $(ARGS)

start: ## start the container in the background
	@$(COMPOSE) up --detach $(ARGS)

stop: ## stop the container, keep it and its index
	@$(COMPOSE) stop $(ARGS)

restart: ## restart the container
	@$(COMPOSE) restart $(ARGS)

logs: ## follow the container's log
	@$(COMPOSE) logs --follow $(ARGS)

ps: ## show the container's state and health
	@$(COMPOSE) ps $(ARGS)

down: ## remove the container; the index volume stays
	@$(COMPOSE) down $(ARGS)

lock: ## resolve the dependencies anew (needs uv)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: see docs.astral.sh/uv" >&2; exit 1; }
	@$(COMPILE) --group build pyproject.toml -o requirements.lock
	@$(COMPILE) -c requirements.lock --group build --group dev pyproject.toml -o requirements-dev.lock

clean: ## remove the virtual environment, caches and build output; indexes stay
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A missing or dangling interpreter means a new environment; an interrupted one leaves no target.
$(BIN)/python:
	@python='$(PYTHON)'; \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "refdesk needs Python 3.11 or newer and '$$python' is not:" \
			"install one, or name it with make PYTHON=/path/to/python" >&2; exit 1; }; \
	$$python -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$$python' cannot make virtual environments:" \
			"on Debian and Ubuntu install python3-venv" >&2; exit 1; }; \
	echo "Making $(VENV) with $$python"; \
	$$python -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# hatchling and editables are locked too, so that building refdesk itself needs no network.
$(VENV)/.runtime: $(BIN)/python requirements.lock pyproject.toml
	@echo "Installing the locked dependencies into $(VENV) (only when they changed)"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python requirements-dev.lock requirements.lock pyproject.toml
	@echo "Installing the locked development dependencies into $(VENV) (only when they changed)"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $(VENV)/.runtime $@
