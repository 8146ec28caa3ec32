# Everything runs in .venv with the versions of constraints.txt. Needs Python 3.11 or newer.
#
# On Linux the default build of torch brings CUDA libraries of several gigabytes. For the CPU build:
#     make install TORCH_INDEX=https://download.pytorch.org/whl/cpu
#
# To renew constraints.txt: `make lock`, which installs the newest allowed versions in a fresh environment and writes them down.

PYTHON ?= python3
TORCH_INDEX ?=
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := -e clients/python -e '.[demo,test,bench]'
INDEX := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: install demo test lint up bench-store bench-gate lock clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml clients/python/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "skillhub needs Python 3.11 or newer; name one with PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt $(INDEX) $(PACKAGES)
	@touch $@

demo: install
	$(BIN)/skillhub demo

test: install lint
	$(BIN)/python -m pytest -n auto

lint: install
	$(BIN)/ruff check .

bench-store: install
	$(BIN)/python -m tests.bench.store

bench-gate: install
	$(BIN)/python -m tests.bench.gate

up: install
	$(BIN)/skillhub up

lock:
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet $(INDEX) torch==2.13.0 $(PACKAGES)
	{ sed '/^[^#]/,$$d' constraints.txt; $(VENV)-lock/bin/python -m pip freeze --exclude-editable | sed 's/+cpu$$//'; } > constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) $(VENV)-lock build .pytest_cache .ruff_cache .hypothesis *.egg-info clients/python/*.egg-info clients/python/build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
