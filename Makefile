# Engram. `make run` plays a conversation and serves; `make test` is what CI runs; `make help` lists the rest.

PORT ?= 8080
ENGRAM_DIR ?= .engram
STACK ?= embedded
SEARCH ?= partition

VENV := .venv
PYTHON := $(VENV)/bin/python
EMULATOR := .venv-emulator
LIBRARY := layers/engram
ENGRAM = PYTHONPATH=. $(PYTHON) -m infra.local --dir "$(ENGRAM_DIR)"
SERVICE_OPTIONS = --port $(PORT) --stack $(STACK) --search "$(SEARCH)"
WITH_EMULATOR = $(if $(filter emulated,$(STACK)),$(EMULATOR)/.ready)

.DEFAULT_GOAL := help
.PHONY: help run serve key reindex reset requirements test test-unit test-contract test-template test-stack test-built lint \
	types format faults bench validate build deploy places openapi clean opensearch opensearch-stop import-memobase

help:  ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# On one machine -------------------------------------------------------------------------------------

run: $(VENV)/.run $(WITH_EMULATOR)  ## Play a conversation through the API and keep serving (PORT= ENGRAM_DIR= STACK=emulated SEARCH=)
	@$(ENGRAM) run $(SERVICE_OPTIONS)

serve: $(VENV)/.run $(WITH_EMULATOR)  ## Serve without the played conversation
	@$(ENGRAM) serve $(SERVICE_OPTIONS)

key: $(VENV)/.run  ## Make an API key (BUSINESS=name)
	@$(ENGRAM) keys create --business "$(BUSINESS)"

opensearch: $(VENV)/.run  ## Start an OpenSearch node of ENGRAM_DIR and leave it running (needs Java 17 and Maven)
	@PYTHONPATH=. $(PYTHON) -m infra.local.opensearch start --dir "$(ENGRAM_DIR)"

opensearch-stop: $(VENV)/.run  ## Stop it; its data stays
	@PYTHONPATH=. $(PYTHON) -m infra.local.opensearch stop --dir "$(ENGRAM_DIR)"

import-memobase: $(VENV)/.run  ## Bring the users of a Memobase server here (MEMOBASE_URL= MEMOBASE_API_KEY=)
	@PYTHONPATH=. MEMOBASE_URL="$(MEMOBASE_URL)" MEMOBASE_API_KEY="$(MEMOBASE_API_KEY)" \
		$(PYTHON) -m infra.import_memobase --dir "$(ENGRAM_DIR)"

reindex: $(VENV)/.run  ## Rebuild search rows, index and hot profiles of a running service from its table (USER_ID=)
	@PYTHONPATH=. $(PYTHON) -m infra.reindex --dir "$(ENGRAM_DIR)" --user "$(USER_ID)"

reset: $(VENV)/.run  ## Forget everything in ENGRAM_DIR
	@$(ENGRAM) reset

# Environments: made again when their pinned requirements change --------------------------------------

$(VENV)/.run: requirements/run.txt infra/environment.sh
	@infra/environment.sh $(VENV) requirements/run.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt infra/environment.sh
	@infra/environment.sh $(VENV) requirements/dev.txt
	@touch $(VENV)/.run $@

$(EMULATOR)/.ready: requirements/emulator.txt infra/environment.sh
	@infra/environment.sh $(EMULATOR) requirements/emulator.txt
	@touch $@

requirements: $(VENV)/.dev  ## Pin requirements/*.in again
	infra/pin_requirements.sh

# Tests ----------------------------------------------------------------------------------------------

PYTEST = $(VENV)/bin/pytest -q

test: lint types test-unit test-contract test-template test-stack test-built  ## Everything that CI runs

test-unit: $(VENV)/.dev  ## Rules and services, sockets off; key forging
	$(PYTEST) -n auto tests/unit tests/security

test-contract: $(VENV)/.dev $(EMULATOR)/.ready  ## Each port's suite on every adapter
	$(PYTEST) tests/contract

test-template: $(VENV)/.dev  ## What template.yaml promises
	$(PYTEST) tests/template

test-stack: $(VENV)/.dev $(EMULATOR)/.ready  ## The service as a process, on both stacks
	$(PYTEST) tests/stack

test-built: $(VENV)/.dev $(EMULATOR)/.ready  ## Built artefacts under Lambda's runtime, and a deployment
	$(PYTEST) tests/built

lint: $(VENV)/.dev  ## ruff
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.dev  ## mypy, strict, on the library
	$(VENV)/bin/mypy

format: $(VENV)/.dev  ## Format the code
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

faults: $(VENV)/.dev $(EMULATOR)/.ready  ## Break every dependency at every call and print what came of it (ARGS=)
	@PYTHONPATH=.:$(LIBRARY) $(PYTHON) -m tests.fault_table $(ARGS)

# Measurements (a running service and DATA=../shared/data for some; see bench/) ------------------------

bench: $(VENV)/.dev  ## Run one: make bench NAME=context ARGS="--help"
	@PYTHONPATH=.:$(LIBRARY) $(PYTHON) -m bench.$(NAME) $(ARGS)

# On AWS ---------------------------------------------------------------------------------------------

SAM = SAM_CLI_TELEMETRY=0 $(VENV)/bin/sam

validate: $(VENV)/.dev  ## Lint the template and the nested stacks
	$(SAM) validate --lint --region us-east-1
	$(VENV)/bin/cfn-lint template.yaml infra/*.yaml

build: $(VENV)/.dev  ## Build functions and layers for both architectures, without Docker
	$(SAM) build

deploy: build  ## Build and deploy (CONFIG=dev)
	$(SAM) deploy $(if $(CONFIG),--config-env $(CONFIG))

places: $(VENV)/.dev  ## Write smaller cities as a CSV for POST /v1/catalog/import (CSV=places.csv)
	@PYTHONPATH=.:$(LIBRARY) $(PYTHON) -m infra.catalogue.places --csv $(or $(CSV),places.csv)

openapi: $(VENV)/.dev  ## Generate openapi.json from the resolvers
	@PYTHONPATH=.:$(LIBRARY) $(PYTHON) -m infra.openapi

clean:  ## Remove what was built and cached; data in ENGRAM_DIR stays
	rm -rf .aws-sam build .pytest_cache .mypy_cache .ruff_cache .hypothesis
