# `make demo` and `make test` set everything up by themselves, with plain Python and pip.
PYTHON ?= python3
BIN := .venv/bin
# One BLAS thread per process: two on two cores get in each other's way.
export OPENBLAS_NUM_THREADS ?= 1
# Processes that run tests.
WORKERS ?= 2

.PHONY: demo test coverage check check-fast accuracy choice methods alternatives captions photos sizes paper paper-quick speed house clean

demo: .venv/demo.stamp
	$(BIN)/candidly demo --album

test: .venv/test.stamp check
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m pytest -n $(WORKERS)

coverage: .venv/test.stamp
	$(BIN)/python -m pytest -n $(WORKERS) --cov

check: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.house --check

# The inner loop: under two minutes on two idle cores.
check-fast: check
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" tests

accuracy: .venv/demo.stamp
	$(BIN)/python -m benchmarks.accuracy.labelling_error
	$(BIN)/python -m benchmarks.accuracy.confidence
	$(BIN)/python -m benchmarks.accuracy.ten_fold

# The choice without truth on problems of many kinds, and probabilities: a quarter of an hour.
choice: .venv/demo.stamp
	$(BIN)/python -m benchmarks.accuracy.chosen_families
	$(BIN)/python -m benchmarks.accuracy.probabilities

methods: .venv/demo.stamp
	$(BIN)/python -m benchmarks.accuracy.all_methods

alternatives: .venv/demo.stamp
	$(BIN)/python -m benchmarks.accuracy.alternatives

# The model of names on real captions, each fitted without its source.
captions: .venv/demo.stamp
	$(BIN)/python -m benchmarks.captions.train_mentions --score

photos: .venv/demo.stamp
	$(BIN)/python -m benchmarks.photos.newsroom_ingest
	$(BIN)/python -m benchmarks.photos.caption_names
	$(BIN)/python -m benchmarks.photos.caption_names --own tests/data/captions.jsonl
	$(BIN)/python -m benchmarks.photos.caption_positions
	$(BIN)/python -m benchmarks.photos.face_sizes --photos 0
	$(BIN)/python -m benchmarks.photos.newsroom_naming
	$(BIN)/python -m benchmarks.photos.uncaptioned

# Sure names in collections of every size; each picture is looked at once.
sizes: .venv/demo.stamp
	$(BIN)/python -m benchmarks.photos.collection_sizes

# Every experiment of the paper, twenty repeats: hours; it continues where it was interrupted.
paper: .venv/demo.stamp
	$(BIN)/python -m benchmarks.paper

# Three repeats on a coarse grid: within 20 minutes on two cores.
paper-quick: .venv/demo.stamp
	$(BIN)/python -m benchmarks.paper --quick --out paper-quick

# Seconds and memory, against others and the hardware; pip install pyrpca tensorly for all rows.
speed: .venv/test.stamp
	$(BIN)/python -m benchmarks.speed

# Size of the code, and how many files a call passes through.
house: .venv/demo.stamp
	$(BIN)/python -m benchmarks.house

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[plot,photos,review]'
	touch $@

.venv/test.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[fast,plot,photos,ray,review,heic,test]'
	touch $@ .venv/demo.stamp

clean:
	rm -rf .venv dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
