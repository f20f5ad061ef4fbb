# Everything happens in .venv; nothing is installed outside it.
#
#   make demo    a guided tour on a bundled sample host: no root, nothing of this computer changes
#   make test    lint and the tests of the program: no root, and no network once .venv is there
#   make all     these and all of the following; what needs root, a Debian mirror or QEMU says so where it cannot run
#   make fast    the tests of the program without lint
#   make coverage  these once more, but for what repeats: which lines of the program they run
#   make fuzz    damaged foreign data: 20,000 inputs of readers, 2,000 whole commands; then ten rounds of the tests that
#                draw their inputs, with others each time (the other targets draw the same in each run)
#   make lint    ruff, mypy --strict, import rules
#   make faults  failing calls and signals under strace, full and read-only file systems, power cuts, races (root);
#                ROCMCFG_TEST_LONG=1 make faults takes each chain's acts whole, in hours
#   make packages  builds wheel and packages, installs them in clean Debian systems; the schema in editors' tools (npm)
#   make ansible   the collection: ansible-test on each supported ansible-core, and a fleet of hosts
#   make loaders boot loaders alone, without Linux: what boots once, on each version that Debian has
#   make vm      real machines under QEMU: GRUB, kernel, amdgpu
#   make peers   the cases of other projects' tests, and random files against the real programs (root, a Debian mirror)
#                each of these six also runs some files only: make vm TESTS=tests/vm/test_trial.py
#   make sources holds the data against the sources of kernels and ROCm: the best part of an hour; fetches 1.5 GB of
#                Debian's and Ubuntu's mirrors, once, and keeps 4.1 GB in the cache
#   make manual  builds the manual as a site, in dist/manual (fetches Sphinx once)
#   make knowledge  figures of what is known and how often doctor is right: docs/explanation/knowledge.md
#   make simulate  experiments of `try` against what they claim: 10,000 of each sort, with fixed seeds; at most 20 minutes
#   make bench   start-up, plan, verify, apply: figures against their bars
#   make release what is published, from a clean tree into dist/, twice the same; packaging/RELEASING.md
#   make lock    resolve the dependencies anew (needs uv)

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# What .venv gets: the locked libraries, or (after `make clean`) the oldest or newest in the ranges of pyproject.toml.
LIBRARIES := locked
INSTALLED := $(if $(filter locked,$(LIBRARIES)),--no-deps --require-hashes -r requirements-dev.lock,--upgrade -r $(VENV)/requirements.txt)
READY := $(VENV)/.ready

.PHONY: demo test all fast coverage slow fuzz faults packages ansible loaders vm peers lint manual sources knowledge simulate bench release lock clean

demo: $(READY)
	@$(RUN) docs/demo/demo.py

test: lint fast
	@echo "The program's own tests have passed. There are more, as root, about two and a half hours: make coverage slow faults packages ansible vm"
	@echo "What continuous integration takes of them for this commit: .ci/run --dry-run"

all: test coverage slow faults packages ansible loaders vm peers

# TURN=1/2 takes every second of the tests, from the first on.
TURNS = $(if $(TURN), --turn $(TURN))

# What needs neither root nor a mirror nor a guest.
PROGRAM := --ignore=tests/vm --ignore=tests/peers --ignore=tests/loaders --ignore=tests/packages --ignore=tests/ansible -n auto --dist worksteal

fast: $(READY)
	$(RUN) -m pytest $(PROGRAM) -m "not faults and not slow"

coverage: $(READY)
	$(RUN) -m coverage erase
	$(RUN) -m coverage run -m pytest $(PROGRAM) -m "not faults and not slow and not bulk"
	$(RUN) -m coverage combine -q
	$(RUN) -m coverage report --fail-under=90

slow: $(READY)
	$(RUN) -m pytest $(PROGRAM) -m slow

fuzz: $(READY)
	ROCMCFG_TEST_LONG=1 $(RUN) -m pytest tests/architecture/test_foreign_data.py -m slow -n 2
	for round in 1 2 3 4 5 6 7 8 9 10; do \
	  ROCMCFG_TEST_LONG=1 $(RUN) -m pytest $(PROGRAM) -q -m "hypothesis and not slow and not faults" || exit 1; done

faults: $(READY)
	$(RUN) -m pytest $(or $(TESTS),tests/crash tests/cases/test_undo_sh.py)$(TURNS) -m faults -n 2

packages: $(READY)
	$(RUN) -m pytest $(or $(TESTS),tests/packages)$(TURNS)

ansible: $(READY)
	$(RUN) -m pytest $(or $(TESTS),tests/ansible)$(TURNS)

loaders: $(READY)
	$(RUN) -m pytest $(or $(TESTS),tests/loaders)$(TURNS)

vm: $(READY)
	$(RUN) -m pytest $(or $(TESTS),tests/vm)$(TURNS) -n 2

peers: $(READY)
	$(RUN) -m pytest $(or $(TESTS),tests/peers) -n 2 $(ARGS)

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-logo

manual:
	@$(PYTHON) docs/site/manual.py

sources: $(READY)
	$(RUN) -m tests.catalogue.sources $(ARGS)

knowledge: $(READY)
	@$(RUN) -m tests.catalogue.figures

simulate: $(READY)
	@$(RUN) -u -m tests.experiments.simulate

bench: $(READY)
	@$(RUN) -m compileall -q rocmcfg
	@$(RUN) tests/benchmarks/bench.py

release:
	@$(PYTHON) packaging/release

lock:
	uv pip compile pyproject.toml --universal --python-version 3.10 --generate-hashes --no-header --no-annotate --upgrade -o requirements.lock
	uv pip compile pyproject.toml --group dev --universal --python-version 3.10 --generate-hashes --no-header --no-annotate -c requirements.lock -o requirements-dev.lock
	uv pip compile docs/site/requirements.in --universal --python-version 3.10 --generate-hashes --no-header --no-annotate --upgrade -o docs/site/requirements.lock
	uv pip compile --group release --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -c requirements.lock -o requirements-release.lock

$(READY): requirements-dev.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	  echo "Python is missing. Debian, Ubuntu: sudo apt install python3 python3-venv   Fedora: sudo dnf install python3   Arch: sudo pacman -S python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "$(PYTHON) is older than 3.10. Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12   (Debian, Ubuntu: sudo apt install python3)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv is missing. Debian, Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	@case "$(LIBRARIES)" in locked|oldest|newest) ;; *) echo "LIBRARIES is locked, oldest or newest" >&2; exit 1;; esac
	@test ! -e recorded-hosts.tar || tar -xf recorded-hosts.tar # in an unpacked sdist
	@echo "setting up $(VENV) (once; needs the package index)"
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	@test "$(LIBRARIES)" = locked || $(RUN) .ci/libraries.py $(LIBRARIES) >$(VENV)/requirements.txt
	@# The lock has every dependency. Left to find them, pip asks for the newest release of one with an extra, which no hash is for.
	@for pause in 5 30 ""; do \
	  $(VENV)/bin/pip install -qq --disable-pip-version-check $(INSTALLED) && exit; \
	  test -z "$$pause" || { echo "once more in $$pause s" >&2; sleep $$pause; }; \
	done; \
	echo "The dependencies could not be fetched: is the package index reachable?" >&2; rm -rf $(VENV); exit 1
	@$(VENV)/bin/pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(RUN) -m compileall -q rocmcfg
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
