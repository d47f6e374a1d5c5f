# Two commands from a fresh clone: `make demo` and `make test`. `make help` lists the others.
#
# Everything happens in one virtual environment. The package is installed as a user would install it, never
# in editable form, so that the tests see what a wheel holds. It is built without pip's build isolation: a
# temporary environment would give the compiler new paths each time and build/ could never be reused.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# What the tests and the compiler may occupy.
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Says what is installed and how far that is: the name of it comes first, then the command.
PROGRESS := $(BIN)/python build_progress.py
# Files and directories: a deleted or added file changes its directory.
SOURCES := $(shell find core src -not -path '*/__pycache__*' -not -name '*.so') CMakeLists.txt pyproject.toml
EXPERIMENTS := $(shell find experiments/src -not -path '*/__pycache__*') experiments/pyproject.toml experiments/README.md
NATIVE := $(shell find core -name '*.cpp' -o -name '*.hpp')
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test test-all record test-tools test-spark lint format bench sanitize sanitize-core sanitize-threads soak docs stubs wheel check-archive clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- the environment, in stamps -------------------------------------------------------------------------

$(VENV)/.tools: pyproject.toml build_requires.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, " \
	  "$(PYTHON) is " + sys.version.split()[0] + "; say make PYTHON=python3.12, for example")'
	@echo "$(VENV): a virtual environment is made"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python build_requires.py static | xargs $(PROGRESS) "tools of the build" $(PIP) install
	@$(BIN)/python build_requires.py dynamic | xargs -r $(PROGRESS) "CMake and Ninja" $(PIP) install
	@touch $@

$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	@$(PROGRESS) "hornbeam, compiled from its sources" $(PIP) install --verbose --no-build-isolation .
	@touch $@

# The papers' experiments are a package of their own beside the library; there is nothing to compile.
$(VENV)/.experiments: $(EXPERIMENTS) | $(VENV)/.installed
	@$(PROGRESS) "experiments" $(PIP) install --no-build-isolation ./experiments
	@touch $@

# The package is installed by then, so `hornbeam[extra]` adds only what the extra names.
$(VENV)/.extra-%: pyproject.toml | $(VENV)/.installed
	@$(PROGRESS) "packages for $*" $(PIP) install "hornbeam[$*]"
	@touch $@

# GOSDT does not know the scikit-learn of our own environment.
.venv-gosdt:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check install 'gosdt==1.0.4' 'scikit-learn<1.6'

# --- what people run ------------------------------------------------------------------------------------

demo: $(VENV)/.installed $(VENV)/.experiments ## grow, draw and score a tree on built-in data
	$(BIN)/hornbeam demo $(ARGS)

reproduce: $(VENV)/.installed $(VENV)/.experiments ## run a paper's experiment again, such as ARGS="cvc45 --quick"
	$(BIN)/hornbeam reproduce $(or $(ARGS),--help)

# What the oracle says is recorded, and the oracle is asked where the record is of other inputs.
test: $(VENV)/.installed $(VENV)/.experiments $(VENV)/.extra-test ## run every test against the installed package
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

test-all: $(VENV)/.installed $(VENV)/.experiments $(VENV)/.extra-test ## run every test, with all that is recorded
	$(BIN)/python -m pytest -n $(JOBS) --run-recorded $(ARGS)

record: $(VENV)/.installed $(VENV)/.experiments $(VENV)/.extra-test ## ask the oracle everything, and write its answers down
	$(BIN)/python -m pytest -n $(JOBS) --record $(ARGS)

# They bring half a gigabyte; without them `make test` skips their tests and says so.
test-tools: $(VENV)/.installed $(VENV)/.extra-test $(VENV)/.extra-tools ## exported trees in shap, skl2onnx, dtreeviz, matplotlib
	$(BIN)/python -m pytest tests/unit/model/test_sklearn_tools.py $(ARGS)

# It brings half a gigabyte and needs Java; without them `make test` skips its tests and says so.
test-spark: $(VENV)/.installed $(VENV)/.extra-test $(VENV)/.extra-spark ## trees, bags and answers by a local Spark session
	$(BIN)/python -m pytest tests/unit/distributed -k spark $(ARGS)

lint: $(VENV)/.installed $(VENV)/.extra-test $(VENV)/.extra-lint ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

format: $(VENV)/.installed $(VENV)/.extra-lint ## write the style that lint checks
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

bench: $(VENV)/.installed $(VENV)/.experiments $(VENV)/.extra-bench ## measure against the peers; exit code 1 if a floor is missed
	@missed=; for name in model prune j48 fit cross_validation tuning bagging anytime boat maintained distributed relational interrupt; do \
	  echo "== $$name"; \
	  if [ $$name = fit ]; then set -- $(ARGS); else set --; fi; \
	  $(BIN)/python -m benchmarks.$$name "$$@" || missed="$$missed $$name"; \
	done; \
	if [ -n "$$missed" ]; then echo "a floor was missed:$$missed" >&2; exit 1; fi

# --- the native core under the sanitizers ---------------------------------------------------------------

SANITIZED := build/sanitize
# The sanitizer's runtime must be first in the process, and the C++ runtime must be there when it looks for
# the functions that throw.
SANITIZER_RUNTIME = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)
# Python itself never frees everything, so leaks are not looked for.
SANITIZER_OPTIONS = ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# The tests that reach every path of the core; tests of the oracle, of files and of texts are left to
# `make test`, and so are those that start the installed command, count loaded modules or have a time limit.
SANITIZED_TESTS := tests/unit/boat tests/unit/column tests/unit/growth tests/unit/estimators tests/unit/maintained \
  $(addprefix tests/unit/model/test_,routing.py verify.py tree.py competitors.py present.py canonical.py) \
  $(addprefix tests/unit/relational/test_,engine.py growth.py growth_known.py) \
  $(addprefix tests/laws/test_,bagging.py c45.py core_identity.py cuts.py engine.py first_order.py identity.py lookahead.py maintained.py pruning.py pruning_weights.py stable.py \
    settings.py weights.py)

$(SANITIZED)/.installed: $(VENV)/.tools $(SOURCES) $(wildcard core/tests/*)
	@$(PROGRESS) "hornbeam under the sanitizers" $(PIP) install --verbose \
	  --no-build-isolation --no-deps --upgrade --target $(SANITIZED)/site \
	  --config-settings=build-dir=$(SANITIZED)/native --config-settings=cmake.build-type=RelWithDebInfo \
	  --config-settings=install.strip=false --config-settings=cmake.define.HORNBEAM_SANITIZE=address,undefined \
	  --config-settings=cmake.define.HORNBEAM_NATIVE_TESTS=ON .
	@touch $@

sanitize: sanitize-core sanitize-threads ## the core and its tests under the address, undefined-behaviour and thread sanitizers

# The core's own driver, then the tests. A test that hangs shows where after five minutes.
sanitize-core: $(SANITIZED)/.installed $(VENV)/.experiments $(VENV)/.extra-test
	$(SANITIZER_OPTIONS) $(SANITIZED)/native/hornbeam_native_tests
	LD_PRELOAD="$(SANITIZER_RUNTIME)" $(SANITIZER_OPTIONS) PYTHONPATH=$(SANITIZED)/site PYTHONMALLOC=malloc \
	HYPOTHESIS_PROFILE=sanitize \
	$(BIN)/python -m pytest -n $(JOBS) -m "not house and not timed" -o faulthandler_timeout=300 \
	  $(SANITIZED_TESTS) $(ARGS)

# The thread sanitizer cannot live inside a plain Python: it sees the driver alone.
sanitize-threads: $(VENV)/.tools
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/native-thread -DHORNBEAM_NATIVE_TESTS=ON \
	  -DHORNBEAM_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo -Wno-dev >/dev/null
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/native-thread >/dev/null
	build/native-thread/hornbeam_native_tests

SECONDS ?= 600

soak: $(VENV)/.installed $(VENV)/.extra-test ## try random cases for SECONDS=600 in all, and compare; prints their seed
	$(BIN)/python -m tests.soak --seconds $(SECONDS) $(ARGS)

# --- documents, stubs, wheels ---------------------------------------------------------------------------

docs: $(VENV)/.installed $(VENV)/.extra-docs ## build the documentation site into site/
	$(BIN)/zensical build --clean

stubs: $(VENV)/.installed ## write src/hornbeam/_core.pyi from the compiled module
	$(BIN)/python -m nanobind.stubgen -q -m hornbeam._core -o src/hornbeam/_core.pyi

wheel: $(VENV)/.tools ## build a wheel into dist/
	@$(PROGRESS) "the wheel" $(PIP) wheel --verbose --no-build-isolation --no-deps --wheel-dir dist .

# What a person gets who downloads an archive of the sources: no git, no build tools but a compiler.
check-archive: $(VENV)/.installed ## build and import a wheel from an archive without git
	rm -rf build/archive && mkdir -p build/archive/source
	git archive HEAD | tar -x -C build/archive/source
	@$(PROGRESS) "the wheel of the archive" $(PIP) wheel --verbose --no-deps --wheel-dir build/archive build/archive/source
	@$(PROGRESS) "its installation" $(PIP) install --no-deps --target build/archive/site build/archive/*.whl
	cd build/archive && PYTHONPATH=site $(abspath $(BIN))/python -c \
	  "import hornbeam, hornbeam._core as c; print('archive', hornbeam.__version__, 'imports', c.__file__)"

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist site .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
