# One command each. The environment lives in .venv, is made on first use, and grows with what a command needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install -qq --disable-pip-version-check
DATA   ?= ../shared/data
DEVICE ?= cpu
MINUTES ?= 0

CUDA   := $(if $(filter cuda%,$(DEVICE)),-cuda)
BASE   := $(VENV)/.installed-base
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
TRAIN  := $(VENV)/.installed-train$(CUDA)
RAY    := $(VENV)/.installed-ray

# pylate and sentence-transformers ask for torch, and the registry's newest torch brings gigabytes of
# CUDA. A CPU build of this version is taken where one is to be had: from pip's own sources, then
# from PyTorch's index; platforms without one (macOS) have no CUDA build to avoid.
TORCH  := torch==2.13.0
TORCHED := $(PIP) "$(TORCH)+cpu" 2>/dev/null \
	  || $(PIP) --retries 1 --timeout 15 "$(TORCH)+cpu" --index-url https://download.pytorch.org/whl/cpu 2>/dev/null \
	  || $(PIP) $(TORCH)
ifdef CUDA
TORCHED := $(PIP) --force-reinstall $(TORCH)
endif

# tests/conftest.py says which files these are
FAST   := quick or not (process or fuzz or docs or reports or torch or ray)

# as the command line does (smartsearch/__main__.py)
export OPENBLAS_NUM_THREADS ?= 1

# as Python does where nobody says otherwise: with kept bytecode processes start in half the time
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-all check fix release bench bench-check speed scale models

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "smartsearch needs Python 3.10 or later: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml | $(BIN)/python
	@echo "setting up .venv: once, less than a minute, 500 MB"
	@$(PIP) -e .
	@touch $@

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "setting up .venv for the tests: once, a minute, 720 MB"
	@$(PIP) -e ".[test]"
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@$(PIP) -e ".[dev]"
	@touch $@

$(TRAIN): pyproject.toml | $(BIN)/python
	@echo "setting up .venv with torch: once, a minute or two, 2 GB"
	@$(TORCHED)
	@$(PIP) $(TORCH) -e ".[test,batch,train]"
	@touch $@

$(RAY): pyproject.toml | $(BIN)/python
	@$(PIP) -e ".[test,ray]" "moto[s3,server]>=5"
	@touch $@

demo: $(BASE) ## set everything up and answer questions over the sample transcripts
	@$(BIN)/python docs/demo.py

test: $(STAMP) ## set everything up and run the tests that protect every promise: a minute or two
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "$(FAST)"

test-all: $(TRAIN) $(RAY) ## all tests: processes killed, servers, documented commands, training, Ray, more fuzzing; minutes
	SMARTSEARCH_FUZZ=100 $(BIN)/python -m pytest -n 2 --dist loadscope -m "not ray"
	$(BIN)/python -m pytest -m ray

check: $(DEV) ## lint, types and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "$(FAST)"

fix: $(DEV) ## format and mend what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

release: $(BIN)/python ## build sdist and wheel, check them, install them bare, ask them a question, print sizes: minutes
	@$(PIP) build twine uv
	@PATH="$(CURDIR)/$(BIN):$$PATH" .ci/release

bench: $(TRAIN) ## the paper's tables on LoCoMo-10, systems beside them (DATA=folder with eval/locomo10.json): hours, once
	$(BIN)/smartsearch bench $(DATA)/eval/locomo10.json --grid paper,controls \
	  --rival all,xmemory,qrmem:te,qrmem:ges,qrmem:kn --out .out/bench
	for record in .out/bench/*.json; do $(BIN)/python benchmarks/oracle.py $$record || exit; done

bench-check: $(STAMP) ## compare a small set of figures with benchmarks/expected.toml: minutes
	$(BIN)/python benchmarks/check.py --data $(DATA)/eval

speed: $(TRAIN) ## measure speed beside what else there is and write benchmarks/reports/performance.md: a quarter of an hour, nothing beside
	$(BIN)/python benchmarks/speed/run.py --data $(DATA)/eval --out .out/speed
	$(BIN)/python benchmarks/speed/page.py --record .out/speed/record.json

scale: $(RAY) ## measure what batches cost at size, with Ray too, and write docs/scale.md: half an hour, nothing beside
	$(BIN)/python benchmarks/scale.py --out .out/scale/record.json
	$(BIN)/python benchmarks/scale_page.py --record .out/scale/record.json

models: $(TRAIN) ## train the shipped models again from DATA; DEVICE=cuda, MINUTES=9 a call: run again to go on
	$(BIN)/python -m recipe all $(DATA)/train --device $(DEVICE) --minutes $(MINUTES)
