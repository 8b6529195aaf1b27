# Everything runs in .venv, made on first use from pyproject.toml and constraints.txt.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow smoke browser check format clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,dmc,export,ray]"
	@touch $@

demo: .venv/installed  ## train MACURA on InvertedPendulum-v5 for a few minutes; leaves curves.png and policy.safetensors in runs/demo
	test -e runs/demo/done || $(BIN)/macura train --env InvertedPendulum-v5 --preset quick --steps 4000 --epoch-steps 500 --out runs/demo
	$(BIN)/macura plot runs/demo

test: .venv/installed  ## every test that is not marked slow
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: .venv/installed  ## the learning tests that take minutes
	$(BIN)/python -m pytest -m slow

smoke: .venv/installed  ## all ten studies at smoke scale, and their report, in runs/smoke
	rm -rf runs/smoke
	$(BIN)/macura study all --scale smoke --out runs/smoke
	$(BIN)/macura report runs/smoke

PAGE ?= docs/sample-report/index.html
browser: .venv/installed  ## a report in headless Chromium, which must be installed; PAGE=... for another one
	$(BIN)/python tests/browser/report.py $(PAGE)

check: .venv/installed  ## format, lint, types, borders
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: .venv/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build dist
