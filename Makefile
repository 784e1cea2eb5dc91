# Each target does its own set-up: a virtual environment in .venv, exact versions from constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATASET ?= microworld
PEERS ?=

.PHONY: demo lab bench bench-align test sanitize lint types check clean

demo: $(VENV)/.demo-ready
	$(BIN)/regard demo $(DATASET)

lab: $(VENV)/.demo-ready
	$(BIN)/regard lab all

# PEERS=folder of virtual environments named venv-fairseq, venv-eole, … compares with them too
bench: $(VENV)/.demo-ready
	$(BIN)/python -m benchmarks $(if $(PEERS),--peers $(PEERS))

# CORPUS=folder of src, tgt, both and gold.json; PEERS=a virtual environment with eflomal and systran-align
bench-align: $(VENV)/.demo-ready
	$(BIN)/python -m benchmarks.align runs/bench-align --corpus $(CORPUS) $(if $(PEERS),--peers $(PEERS))

test: $(VENV)/.dev-ready
	$(BIN)/python -m pytest -n 2

# the C kernels by gcc's address and undefined-behaviour sanitizers, under the tests of what they compute; Python's own
# memory is never given back, so leaks are not looked for. What they find they write to standard error, past pytest
sanitize: $(VENV)/.dev-ready
	tools/sanitize $(BIN)/python -m pytest --capture=sys tests/ops tests/inference

lint: $(VENV)/.dev-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev-ready
	$(BIN)/mypy

check: lint types test

clean:
	rm -rf $(VENV)

$(VENV)/bin/pip:
	$(PYTHON) -c 'import sys; sys.exit("Regard needs Python 3.11 or newer; name one with: make PYTHON=python3.12 …") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo-ready: pyproject.toml constraints.txt | $(VENV)/bin/pip
	@echo "setting up $(VENV) (about a minute) …"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]'
	@touch $@

$(VENV)/.dev-ready: pyproject.toml constraints.txt | $(VENV)/bin/pip
	@echo "setting up $(VENV) (about a minute) …"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.demo-ready
