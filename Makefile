# `make run` to try HGMem, `make test` for everything that CI checks. `make` alone lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Compiling everything ahead takes longer than compiling what is used.
INSTALL := $(PIP) install --no-compile -c constraints.txt
AGENTS_INSTALL := $(VENV)-agents/bin/python -m pip --disable-pip-version-check --quiet install --no-compile \
  -c constraints-agents.txt
# The first interpreter that is new enough and can make a virtual environment.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.14; do \
  if $$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
  then echo $$name; break; fi; done)
# Checks must never touch the data, the database or the broker of a running installation.
CHECK_ENV := env -u DATABASE_URL -u REDIS_URL -u SECRET_KEY HGMEM_VAR=var/check
# One more than the cores of a small machine: tests also wait, for workers and browsers.
WORKERS ?= 3
ARGS ?=
# Once is enough for tests that no database takes part in, or only one of their own, for those of the browser and the
# benchmarks, and for the guards that walk every route and read every file.
FRAMEWORKS := langchain,llamaindex,ag2,openai-agents,pydantic-ai,claude,mcp
ONCE := tests/integrations tests/hgmem tests/memory/domain tests/corrections/domain tests/browser tests/benchmarks tests/architecture \
  tests/hgmem_site

.PHONY: help setup run test lint types contracts checks openapi screenshot pytest bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST)

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "HGMem needs Python 3.11 or newer with its venv module (on Debian and Ubuntu: apt install python3-venv). None was found; name one with: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# No build isolation: the build backend is pinned like everything else.
$(VENV)/.server: pyproject.toml constraints.txt $(VENV)/.made
	@echo "Installing the server (about a minute the first time)"
	$(INSTALL) setuptools
	$(INSTALL) --no-build-isolation -e '.[server]'
	@# Its 30 dependencies serve model clients; only its tool classes are wanted.
	$(INSTALL) --no-deps bfcl-eval mpmath
	@touch $@

$(VENV)/.test: $(VENV)/.server
	@echo "Installing what the tests need"
	$(INSTALL) --no-build-isolation -e '.[server,test]'
	@touch $@

# CrewAI and AutoGen want older versions of what the others use: an environment of their own, for their tests.
$(VENV)-agents/.made: pyproject.toml constraints-agents.txt $(VENV)/.made
	@echo "Installing the frameworks that do not fit beside the others"
	$(VENV)/bin/python -m venv --clear $(VENV)-agents
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 14))'; \
	then echo "CrewAI has no release for this Python: its tests and those of AutoGen are left out."; \
	else $(AGENTS_INSTALL) setuptools && \
	  $(AGENTS_INSTALL) --no-build-isolation -e '.[crewai,autogen]' pytest pytest-socket; fi
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	@echo "Installing the peers of the benchmarks"
	$(INSTALL) --no-build-isolation -e '.[server,test,bench]'
	@touch $@

setup: $(VENV)/.test ## install everything for development

run: $(VENV)/.server ## start web, worker and beat with the demo; Ctrl-C stops all
	@exec $(BIN)/python manage.py up $(ARGS)

test: lint types contracts checks pytest ## everything, on SQLite and on PostgreSQL

lint: $(VENV)/.test ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test ## static types
	$(CHECK_ENV) $(BIN)/mypy hgmem memory corrections hgmem_site

contracts: $(VENV)/.test ## which module may import which
	$(BIN)/lint-imports

checks: $(VENV)/.test ## migrations, deployment settings, OpenAPI file
	$(CHECK_ENV) $(BIN)/python manage.py makemigrations --check --dry-run
	$(CHECK_ENV) HGMEM_URL=https://hgmem.example $(BIN)/python manage.py check --deploy --fail-level WARNING
	@mkdir -p var/check
	$(CHECK_ENV) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file var/check/openapi.yaml
	@diff -u docs/openapi.yaml var/check/openapi.yaml || { echo "docs/openapi.yaml is not current: run make openapi" >&2; exit 1; }

openapi: $(VENV)/.test ## write docs/openapi.yaml and docs/api.md
	$(CHECK_ENV) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml
	$(CHECK_ENV) $(BIN)/python manage.py api_reference

screenshot: $(VENV)/.test ## take the README's screenshots of the demo
	$(BIN)/python docs/screenshot.py

# On SQLite the tables are made from the models, ten seconds sooner; PostgreSQL's tests run on the migrations.
pytest: $(VENV)/.test $(VENV)-agents/.made
	HGMEM_TEST_AGENTS=$(FRAMEWORKS) $(BIN)/python -m pytest -q -n $(WORKERS) --nomigrations $(ARGS)
	@$(if $(ARGS),true,test ! -e $(VENV)-agents/bin/pytest || HGMEM_TEST_AGENTS=crewai,autogen \
	  $(VENV)-agents/bin/python -m pytest -q -c tests/integrations/second.ini --rootdir . \
	  tests/integrations/test_crewai.py tests/integrations/test_autogen.py)
	HGMEM_TEST_DATABASE=postgres $(BIN)/python -m pytest -q -n $(WORKERS) $(if $(ARGS),,$(ONCE:%=--ignore=%)) $(ARGS)

bench: $(VENV)/.bench ## the benchmarks, each beside its floor and its peers
	@status=0; for file in benchmarks/*.py; do \
	  grep -q '__main__' "$$file" || continue; \
	  name=$$(basename "$$file" .py); echo "== $$name"; \
	  $(BIN)/python -m benchmarks.$$name $(ARGS) || status=1; \
	done; exit $$status

clean: ## remove what was installed and cached; var/, where your data is, stays
	rm -rf $(VENV) $(VENV)-agents .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info build var/check
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
