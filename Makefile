# Each target does its own set-up: an active virtual environment is used, else .venv is made.
#
#   make run      build, then inspect the example model on fake tensors
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
#                 500 processes of calls with arguments that nobody should pass, and two minutes of
#                 random programs over memory
#   make sanitize build once more with AddressSanitizer and UBSan, in build/sanitize; a minute of the
#                 programs over memory, then the tests (ARGS=tests/dispatch/_C: only those)
#   make stress   threads in each other's way, a million calls of each path (ARGS="threads --seconds 5")
#   make mutants  faults put into a copy of the sources one at a time: which do the tests miss?
#                 (ARGS="--jobs 2 --only fake/cache"; it goes on where it was stopped: hours)
#   make lint     ruff and mypy          make check    lint, emitted files, test
#   make clean    remove what the build made

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= $(or $(VIRTUAL_ENV),$(CURDIR)/.venv)
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
MODEL ?= $(firstword $(sort $(wildcard examples/models/*.pt2 examples/models/*.json*)))
WHEEL := build/wheel

.PHONY: run test build bench operators coverage instructions fuzz sanitize stress mutants lint ruff mypy check clean wheel

run: build
	$(PY) -m dispatch inspect $(MODEL) $(ARGS)

test: build $(VENV)/.has-dev
	$(PY) -m pytest $(ARGS)
	$(MAKE) --no-print-directory wheel

build: $(VENV)/.has-build
	@$(PY) -I dispatch/build/stamps.py build/inplace.json $(PY) setup.py --quiet build_ext --inplace

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

fuzz: build $(VENV)/.has-dev
	$(PY) -m tests.fuzz $(if $(MODELS),$(wildcard $(MODELS)/*.pt2),$(MODEL)) $(ARGS)
	$(PY) -m tests.fuzz.api
	$(PY) -m tests.fuzz.memory --seconds 120
	$(PY) -m tests.fuzz.hostile

# The interpreter is not sanitized, so the runtimes come first, and its memory from malloc. What was
# cythonized is taken over; objects are the folder's own.
SANITIZED := build/sanitize
SANITIZERS := -fsanitize=address,undefined -fno-omit-frame-pointer
RUNTIMES = $(foreach name,libasan.so libubsan.so libstdc++.so.6,$(shell $(or $(CC),cc) -print-file-name=$(name)))
SANITIZED_PY = LD_PRELOAD="$(RUNTIMES)" PYTHONMALLOC=malloc UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 $(abspath $(PY))

sanitize: build $(VENV)/.has-dev
	mkdir -p $(SANITIZED)
	tar -c --exclude=./$(SANITIZED) --exclude=./.git --exclude=./.venv --exclude='*.so' --exclude='*.o' \
	    --exclude='*.o.json' . | tar -x -C $(SANITIZED)
	cd $(SANITIZED) && CFLAGS="$(SANITIZERS)" LDFLAGS="$(SANITIZERS)" $(abspath $(PY)) setup.py --quiet build_ext --inplace
	cd $(SANITIZED) && $(SANITIZED_PY) -m tests.fuzz.memory --seconds 60
	cd $(SANITIZED) && $(SANITIZED_PY) -m pytest $(ARGS)

stress: build
	$(PY) -X faulthandler -m tests.stress $(ARGS)

mutants: build $(VENV)/.has-dev
	$(PY) -m tests.mutants $(ARGS)

lint: ruff mypy

ruff: $(VENV)/.has-dev
	$(VENV)/bin/ruff check .

mypy: $(VENV)/.has-dev
	$(VENV)/bin/mypy

check: build lint
	$(PY) -m codegen --schemas schemas --out dispatch/_C/generated --check
	$(MAKE) --no-print-directory test

# The wheel as a user gets it: built in isolation, installed alone, used from elsewhere.
wheel: $(PY)
	rm -rf $(WHEEL) build/lib.* build/bdist.*
	$(PIP) wheel --quiet --no-deps --wheel-dir $(WHEEL) .
	$(PYTHON) -m venv $(WHEEL)/venv || $(PYTHON) -m venv --without-pip $(WHEEL)/venv
	$(PIP) --python $(WHEEL)/venv/bin/python install --quiet $(WHEEL)/*.whl
	cd $(WHEEL) && venv/bin/python -I $(CURDIR)/.ci/smoke.py $(CURDIR)/$(MODEL)

clean:
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find dispatch codegen -name '*.so' -delete
	find dispatch -name '*.c' -delete
	find dispatch/_C/generated -type f ! -name '__init__.p*' -delete
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# A Python without ensurepip (Debian's) makes an environment that its own pip then fills.
$(PY):
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	    $(PYTHON) -m pip --python $(PY) install --quiet pip; }

$(VENV)/.has-build: pyproject.toml | $(PY)
	$(PIP) install --quiet $$($(PY) .ci/requirements.py build)
	@touch $@

$(VENV)/.has-dev: pyproject.toml | $(PY)
	$(PIP) install --quiet $$($(PY) .ci/requirements.py dev)
	@touch $@
