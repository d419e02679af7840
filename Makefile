# Everything runs in a virtual environment of the project's own, made on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test coverage lint bench docs clean

# Composes the example overlays. Exit code 1 says that some were left out, and they are.
run: $(STAMP)
	@$(BIN)/msd compose --home docs/examples/home --project docs/examples/project \
		|| [ $$? -eq 1 ]
	@echo
	@$(BIN)/msd explain deploy-freeze \
		--home docs/examples/home --project docs/examples/project || [ $$? -eq 1 ]

test: $(STAMP)
	$(BIN)/python -m pytest -n auto

coverage: $(STAMP)
	$(BIN)/python -m pytest -n auto --cov --cov-report=term --cov-fail-under=97

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	@mkdir -p .benchmarks
	$(BIN)/python -m pytest benchmarks -p no:xdist -o pythonpath=benchmarks \
		--benchmark-columns=median,iqr,rounds --benchmark-group-by=func \
		--benchmark-json=.benchmarks/suites.json
	$(BIN)/python benchmarks/ratios.py --json .benchmarks/ratios.json
	$(BIN)/python benchmarks/plot.py --json .benchmarks/scaling.json

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(STAMP): pyproject.toml msdcomp/_version.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[test,lint]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
