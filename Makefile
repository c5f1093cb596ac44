# Each target does its own set-up: an active virtual environment is used, else .venv is made.
#
#   make run      build, then inspect the example model on fake tensors; leaves the command `dispatch`
#                 in the environment
#   make test     build, run the tests, try the built wheel from another folder
#   make build    compile in place; stops at once when nothing that it reads has changed
#   make bench    the table of README.md; TORCH_PYTHON=/path/to/python adds PyTorch's column,
#                 MODELS=/folder/of/exported/programs adds whole models, ARGS=... is passed on
#   make operators  every recorded operator here and in PyTorch, in turn (TORCH_PYTHON=..., and
#                 ARGS="--large --threads 2" or ARGS="--cases FOLDER --op REGEX")
#   make coverage docs/coverage.md, which kernels every operator has (CASES=/folder/of/recorded/calls
#                 replays those too)
#   make instructions  what a call costs in instructions against benchmarks/instructions.json
#                 (needs valgrind; ARGS=--keep keeps what was counted)
#   make fuzz     1,000 broken copies of model files (MODELS=/folder/of/archives, ARGS=...), and
#                 500 processes of calls with arguments that nobody should pass, two minutes of
#                 random programs over memory, 20 random calls of every operator and 20 that are nearly
#                 right, 300 processes of calls of `dispatch.symbolic`, files and objects that lie, user
#                 code that answers anything, large calls on tensors that other threads change, calls
#                 of every operator beside user code that changes their tensors, and what calls leave
#   make sanitize build once more with AddressSanitizer and UBSan, in build/sanitize; a minute of the
#                 programs over memory, random and nearly right calls of every operator, those beside user
#                 code, then the tests (ARGS=tests/dispatch/_C: only those)
#   make stress   threads in each other's way, a million calls of each path (ARGS="threads --seconds 5")
#   make mutants  faults put into a copy of the sources one at a time: which do the tests miss?
#                 (ARGS="--jobs 2 --only fake/cache"; it goes on where it was stopped: hours)
#   make sdist    what the sdist holds builds, and the wheel made of it works (PYTHON=python3.13;
#                 SUITE="tests/dispatch": these tests too, away from the sources)
#   make lint     ruff and mypy          make check    lint, emitted files, test
#   make emitted  do the emitted files say what the schemas say?
#   make docs     the reference, out of doc strings and schemas: build/reference/html/index.html
#   make clean    remove what the build made

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= $(or $(VIRTUAL_ENV),.venv)
# Folders may have a space in their names: quoted in commands, escaped where Make names files.
PY := "$(VENV)/bin/python"
PIP := $(PY) -m pip --disable-pip-version-check
HERE := $(subst $() ,\ ,$(VENV))
# From below a folder of ours.
AWAY = "$(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)/bin/python"
EXAMPLE := $(firstword $(sort $(wildcard examples/models/*.pt2 examples/models/*.json*)))
MODEL ?= $(EXAMPLE)
WHEEL := build/wheel
SDIST := build/sdist

.PHONY: run test build bench operators coverage instructions fuzz sanitize stress mutants lint ruff mypy emitted check \
    docs clean wheel sdist

run: build $(HERE)/bin/dispatch
	$(PY) -m dispatch inspect $(MODEL) $(ARGS)
	@echo && echo "The command: $(VENV)/bin/dispatch (try: $(VENV)/bin/dispatch inspect $(MODEL) --ops)"

test: build $(HERE)/.has-dev
	$(PY) -m pytest $(ARGS)
	$(MAKE) --no-print-directory wheel

build: $(HERE)/.has-build
	@$(PY) -I dispatch/build/stamps.py build/inplace.json $(PY) setup.py --quiet build_ext --inplace
	@$(PY) -I -m compileall -q dispatch

bench: build
	$(PY) -m benchmarks $(if $(TORCH_PYTHON),--torch-python $(TORCH_PYTHON)) \
	    $(if $(MODELS),--models $(MODELS)) $(ARGS)

operators: build
	$(PY) -m benchmarks operators $(if $(TORCH_PYTHON),--torch-python $(TORCH_PYTHON)) $(ARGS)

coverage: build
	$(PY) -m dispatch ops --coverage --markdown $(if $(CASES),--cases $(CASES)) > build/coverage.md
	mv build/coverage.md docs/coverage.md

instructions: build
	$(PY) -m benchmarks.instructions $(ARGS)

fuzz: build $(HERE)/.has-dev
	$(PY) -m tests.fuzz $(if $(MODELS),$(wildcard $(MODELS)/*.pt2),$(MODEL)) $(ARGS)
	$(PY) -m tests.fuzz.api
	$(PY) -m tests.fuzz.memory --seconds 120
	$(PY) -m tests.fuzz.hostile
	$(PY) -m tests.fuzz.operators --rounds 20
	$(PY) -m tests.fuzz.near --rounds 20
	$(PY) -m tests.fuzz.symbolic
	$(PY) -m tests.fuzz.inputs --n 2000
	$(PY) -m tests.fuzz.answers
	$(PY) -m tests.fuzz.geometry
	$(PY) -m tests.fuzz.midcall --rounds 20
	$(PY) -m tests.fuzz.leaks --rounds 3

# The interpreter is not sanitized, so the runtimes come first, and its memory from malloc. What was
# cythonized is taken over; objects are the folder's own, which is no checkout. What tests build there
# is built in the same way.
SANITIZED := build/sanitize
SANITIZERS := -O1 -fsanitize=address,undefined -fno-omit-frame-pointer
RUNTIMES = $(foreach name,libasan.so libubsan.so libstdc++.so.6,$(shell $(or $(CC),cc) -print-file-name=$(name)))
SANITIZED_PY = LD_PRELOAD="$(RUNTIMES)" PYTHONMALLOC=malloc UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=8192 $(AWAY)

sanitize: build $(HERE)/.has-dev
	mkdir -p $(SANITIZED)
	tar -c --exclude=./$(SANITIZED) --exclude=./.git --exclude=./.venv --exclude='*.so' --exclude='*.o' \
	    --exclude='*.o.json' . | tar -x -C $(SANITIZED)
	cd $(SANITIZED) && CFLAGS="$(SANITIZERS)" LDFLAGS="$(SANITIZERS)" $(AWAY) setup.py --quiet build_ext --inplace
	cd $(SANITIZED) && $(SANITIZED_PY) -m tests.fuzz.memory --seconds 60
	cd $(SANITIZED) && $(SANITIZED_PY) -m tests.fuzz.operators --rounds 3
	cd $(SANITIZED) && $(SANITIZED_PY) -m tests.fuzz.near --rounds 5
	cd $(SANITIZED) && $(SANITIZED_PY) -m tests.fuzz.midcall --rounds 5
	cd $(SANITIZED) && CFLAGS="$(SANITIZERS)" LDFLAGS="$(SANITIZERS)" $(SANITIZED_PY) -m pytest \
	    --ignore=tests/test_tree.py $(ARGS)

stress: build
	$(PY) -X faulthandler -m tests.stress $(ARGS)

mutants: build $(HERE)/.has-dev
	$(PY) -m tests.mutants $(ARGS)

lint: ruff mypy

ruff: $(HERE)/.has-dev
	$(PY) -m ruff check .

mypy: $(HERE)/.has-dev
	$(PY) -m mypy

emitted: build
	$(PY) -m codegen --schemas schemas --out dispatch/_C/generated --check

REFERENCE := build/reference
docs: build $(HERE)/.has-docs
	rm -rf $(REFERENCE)
	$(PY) -m docs.site.pages $(REFERENCE)/pages
	$(PY) -m sphinx -q -W --keep-going -b html -c docs/site $(REFERENCE)/pages $(REFERENCE)/html
	@echo "$(REFERENCE)/html/index.html"

check: build lint emitted
	$(MAKE) --no-print-directory test

# The wheel as a user gets it: built in isolation, installed alone, used from elsewhere.
wheel: $(HERE)/bin/python
	rm -rf $(WHEEL) build/lib.* build/bdist.*
	$(PIP) wheel --quiet --no-deps --wheel-dir $(WHEEL) .
	$(PYTHON) -m venv $(WHEEL)/venv || $(PYTHON) -m venv --without-pip $(WHEEL)/venv
	$(PIP) --python $(WHEEL)/venv/bin/python install --quiet $(WHEEL)/*.whl
	cd $(WHEEL) && venv/bin/python -I "$(CURDIR)/.ci/smoke.py" "$(CURDIR)/$(EXAMPLE)"

# Compiled without optimisation: what counts is that nothing is missing.
sdist: $(HERE)/.has-build
	rm -rf $(SDIST)
	$(PY) setup.py --quiet sdist --dist-dir $(SDIST)
	CFLAGS=-O0 $(PIP) wheel --quiet --no-deps --wheel-dir $(SDIST) $(SDIST)/*.tar.gz
	$(PYTHON) -m venv $(SDIST)/venv || $(PYTHON) -m venv --without-pip $(SDIST)/venv
	$(PIP) --python $(SDIST)/venv/bin/python install --quiet $(SDIST)/*.whl
	cd $(SDIST) && venv/bin/python -I "$(CURDIR)/.ci/smoke.py" "$(CURDIR)/$(EXAMPLE)"
ifdef SUITE
	$(PIP) --python $(SDIST)/venv/bin/python install --quiet $$($(PY) .ci/requirements.py test)
	tar -c --exclude=__pycache__ tests examples benchmarks docs schemas codegen pyproject.toml README.md | tar -x -C $(SDIST)
	cd $(SDIST) && venv/bin/python -m pytest $(SUITE) $(ARGS)
endif

clean:
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find dispatch codegen -name '*.so' -delete
	find dispatch -name '*.c' -delete
	find dispatch/_C/generated -type f ! -name '__init__.p*' -delete
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# A Python without ensurepip (Debian's) makes an environment that its own pip then fills.
$(HERE)/bin/python:
	$(PYTHON) -m venv "$(VENV)" || { $(PYTHON) -m venv --clear --without-pip "$(VENV)" && \
	    $(PYTHON) -m pip --python $(PY) install --quiet pip; }

$(HERE)/.has-build: pyproject.toml | $(HERE)/bin/python
	$(PIP) install --quiet $$($(PY) .ci/requirements.py build)
	@touch "$(VENV)/.has-build"

$(HERE)/.has-dev: pyproject.toml | $(HERE)/bin/python
	$(PIP) install --quiet $$($(PY) .ci/requirements.py dev)
	@touch "$(VENV)/.has-dev"

$(HERE)/.has-docs: pyproject.toml | $(HERE)/bin/python
	$(PIP) install --quiet $$($(PY) .ci/requirements.py docs)
	@touch "$(VENV)/.has-docs"

# Of this tree, unless a `dispatch` is installed there. (A script in Python would need a path without
# spaces in its first line.)
$(HERE)/bin/dispatch: | $(HERE)/bin/python
	@printf '%s\n' '#!/bin/sh' \
	    'PYTHONPATH="$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH}" exec $(AWAY) -P -m dispatch "$$@"' > "$(VENV)/bin/dispatch"
	@chmod +x "$(VENV)/bin/dispatch"
