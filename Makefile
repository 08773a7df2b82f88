# `make build` leaves .venv/bin/multihop; `make test` is what CI runs. Needs Python 3.11+, Rust and make, nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.PHONY: build build-pgo demo test check-all lint format test-rust test-python checked test-docs wheel wheels wheel-check pages hunt fuzz fuzz-importers fuzz-store mutants faults audit bench bench-peers budget bench-capture bench-study bench-viewer validation results claims league when media docs figures playground clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FIVE := recn winf ewccp varcap retfrc
PAPERS ?= $(FIVE) wifi
PY := benches docs python tests tools validation

build: $(READY)
	$(BIN)/maturin develop --quiet --release --uv
	@$(BIN)/multihop --version

# A new environment, or new requirements: everything but the package itself, which `build` compiles as far as it changed. pip brings uv, which
# installs the rest in a quarter of pip's time.
EXTRAS := report parquet mesh optimum cluster learning

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("multihop needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9,<1"
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --requirements pyproject.toml $(EXTRAS:%=--extra %) --group dev
	touch $(READY)

# The same by what runs of the shipped scenarios take (profile-guided optimisation), 1.1 to 1.4 times as fast. Two builds, some minutes;
# needs `rustup component add llvm-tools`.
PGO := target/pgo
build-pgo: $(READY)
	rm -rf $(PGO)
	CARGO_PROFILE_RELEASE_LTO=thin $(BIN)/maturin build --quiet --release --pgo --interpreter $(BIN)/python --out $(PGO)
	$(BIN)/python -m zipfile -e $(PGO)/*.whl $(PGO)/unpacked
	cp $(PGO)/unpacked/multihop/_core*.so python/multihop/
	@$(BIN)/multihop --version

demo: build
	$(BIN)/multihop compare scenarios/mesh-demo.toml --schemes tcp-newreno,tcp-sack,recn --seeds 10 --out results/demo
	@echo "Open results/demo/report.html"

# What protects behaviour; the rest is in `check-all`. The engine that Python's tests run is compiled together with the Rust tests, with debug
# assertions; `make build` then compiles the fast one. Compiling keeps two cores busy, and so do the tests of Python: two jobs side by side.
test: $(READY)
	$(MAKE) --no-print-directory -j2 test-python test-rust lint test-docs

checked: $(READY)
	$(BIN)/maturin develop --quiet --uv

lint: $(READY)
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check $(PY)
	$(BIN)/ruff format --check --quiet $(PY)
	$(BIN)/mypy

format: $(READY)
	cargo fmt
	$(BIN)/ruff check --fix $(PY)
	$(BIN)/ruff format $(PY)

test-rust:
	cargo test --workspace --quiet

test-docs: checked
	$(SITE)
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# What is in wheel and sdist, and the README's commands from the wheel in a clean environment of its own, where the plain install has to
# stay small; WHEEL=--pgo for one as `make build-pgo` makes it, WHEEL=--quick for one in front of what is installed here.
wheel: build
	$(BIN)/python -m tools.wheel $(WHEEL)

# A release in dist/: the wheel for Linux (glibc 2.17, x86-64), which must be below 5 MB, and the sdist. Needs rustup.
wheels: $(READY)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group release
	$(BIN)/python -m tools.wheels

# The wheel of dist/ for this machine, in clean environments of several Pythons in which nothing can be compiled;
# ROOT=DIR PYTHONS=/usr/bin/python3.11 in the unpacked system DIR, with an older glibc or another processor.
PYTHONS ?= 3.11 3.12 3.13
wheel-check: $(READY)
	$(BIN)/python -m tools.wheel_check $(if $(ROOT),--root $(ROOT)) $(PYTHONS)

# All commands and all Python of the hand-written pages, also those that the tests leave out as slow; PAGES=--write writes the outputs into
# the pages, PAGES=--list says what is not run, and why.
pages: build
	$(BIN)/python -m tools.pages --full $(PAGES)

# Scenarios drawn from the schema, with overflow checks and debug assertions: HUNT of them from number HUNT_FROM on. What fails is left, made
# small, in target/hunt. Then check, bound, run and explain on one of fifty.
HUNT ?= 100000
HUNT_FROM ?= 0
DRAWN := target/hunt/drawn
hunt: build
	rm -rf $(DRAWN)
	mkdir -p $(DRAWN)
	HUNT=$(HUNT) HUNT_FROM=$(HUNT_FROM) HUNT_OUT=$(CURDIR)/$(DRAWN) cargo test -p multihop-scenario --test it hunt:: -- --nocapture
	$(BIN)/python tools/hunt.py $(DRAWN)

# A file's tests stay together, so that what they share is made once. Tests marked `long` are left to `check-all`.
test-python: checked
	$(BIN)/pytest -n auto --dist loadfile -m "not long"

# All checks: also the long tests with the fast engine, the playground, every command of the pages, the wheel in a clean environment, drawn
# scenarios, damaged files, commands ended at 20 instants, mutants. Takes hours.
check-all: test
	$(MAKE) --no-print-directory build playground
	$(BIN)/pytest -n auto --dist loadfile -m long
	$(MAKE) --no-print-directory wheel pages hunt fuzz-importers fuzz-store faults mutants

# Coverage-guided fuzzing of what reads files, for FUZZ_SECONDS each, or FUZZ_RUNS runs each; FUZZ=capture for one target. What is new
# joins target/fuzz/corpus; what crashes is left in target/fuzz. Stable Rust and a C++ compiler will do.
FUZZ ?= capture frame measure scenario mobility
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1
SANCOV := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg=fuzzing

fuzz:
	cd fuzz && RUSTFLAGS="$(SANCOV)" cargo build --quiet --release --target-dir ../target/fuzz \
	    --target "$$(rustc -vV | sed -n 's/^host: //p')" $(if $(filter scenario mobility,$(FUZZ)),--features sim)
	for target in $(FUZZ); do \
	    mkdir -p target/fuzz/corpus/$$target; \
	    target/fuzz/*/release/$$target -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) -rss_limit_mb=4096 -timeout=20 \
	        -max_len=8192 -print_final_stats=1 -artifact_prefix=target/fuzz/$$target- target/fuzz/corpus/$$target fuzz/corpus/$$target; \
	done

# Importers, and what reads the folders of studies and papers, on damaged files: FUZZ_EXAMPLES of each.
FUZZ_EXAMPLES ?= 5000

fuzz-importers fuzz-store: build
	MULTIHOP_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/pytest -q -n auto tests/*/test_$(@:fuzz-%=%)_fuzz.py

# Mutation testing: does a test of meaning notice each changed operator and replaced function? All mutants of a crate are woven into one
# build, so that a sample of MUTANTS of each costs minutes; MUTANTS=all for every one, MUTANTS_SEED for another sample. Golden results do
# not count; of the simulator it is the MAC. Needs cargo-mutants from crates.io, for its list. What survived, and why it may:
# docs/explanation/mutants.md.
MUTANTS ?= 60
MUTANTS_SEED ?= 1
MUTATED ?= dot11 link transport schemes sim

mutants:
	cargo mutants --version > /dev/null || cargo install --locked cargo-mutants
	$(PYTHON) tools/mutants.py $(MUTATED) $(if $(filter all,$(MUTANTS)),,--sample $(MUTANTS)) --seed $(MUTANTS_SEED)

# The validation pages in docs/results: validation.md, from runs against closed forms and figures of ns-2 and ns-3;
# measured-back.md, estimators in runs, on captures of them, and the truth; explicit-rates.md, XCP, RCP and what
# derives from them over wires, beside ns-2's XCP, and over radio; link-capacity.md, the model of a link beside saturated stations; imports.md,
# imported meshes beside the networks that they were measured on; kernel.md, TCP beside recorded figures of the Linux kernel's, which
# `python -m validation.kernel --measure` measures in real time on a machine that does nothing else.
validation: build
	$(BIN)/python -m validation
	$(BIN)/python -m validation.measured_back
	$(BIN)/python -m validation.explicit_rates
	$(BIN)/python -m validation.link_capacity
	$(BIN)/python -m validation.imports
	$(BIN)/python -m validation.kernel

# The pages of papers' results, docs/results/PAPER.md, and the verdicts in the package, from all runs of their studies; PAPERS=winf for one of
# them, RESULTS=--quick for a quick look. Interrupted, it resumes.
results: build
	for paper in $(PAPERS); do \
	    $(BIN)/multihop reproduce $$paper $(RESULTS); \
	    $(BIN)/python -m docs.results $$paper results/reproduce/$$paper $(RESULTS); \
	done

# Claims at a glance from the verdicts that `make results` leaves: docs/results/claims.md and the README's picture of the five papers, and
# docs/results/claims-wifi.md of what modern Wi-Fi does to them.
claims: build
	$(BIN)/python -m docs.claims results/reproduce --papers $(shell echo $(sort $(FIVE)) | tr " " ,)
	$(BIN)/python -m docs.claims results/reproduce --papers wifi --to docs/results/claims-wifi.md

# The page of the league of all schemes, docs/results/league.md; LEAGUE_MESH=file for the community mesh, which is left out without one, and
# LEAGUE=--quick for a quick look. Interrupted, it resumes.
league: build
	$(BIN)/multihop league $(if $(LEAGUE_MESH),--mesh $(LEAGUE_MESH)) $(LEAGUE)
	$(BIN)/python docs/league.py results/league

# The page of when which scheme helps, docs/results/when.md; WHEN=--quick for a quick look. Interrupted, it resumes.
when: build
	$(BIN)/multihop when $(WHEN)
	cp results/when/when.md docs/results/when.md

# The page of video under congestion control, docs/results/media.md.
media: build
	$(BIN)/python -m docs.media

# Events per second and CPU per simulated second; with ns-2 and ns-3 beside it where they are installed.
bench: build
	$(BIN)/python benches/run.py

bench-peers: build
	$(BIN)/python benches/run.py --peers

# Instructions per simulated second of ten scenarios against the table of benches/budget.toml; BUDGET=--write writes it anew. Needs valgrind.
budget: build
	$(BIN)/python benches/budget.py $(BUDGET)

# Speed and memory of `multihop measure` on captures of up to 1 GB; with tshark beside it where it is installed.
bench-capture: build
	$(BIN)/python benches/capture.py

# The site. Links and references that lead nowhere are errors. SITE_URL is the address at which it will be published, for a sitemap and
# canonical addresses; without one neither is written.
SITE = $(BIN)/python -m docs.generate && $(BIN)/sphinx-build -q -W --keep-going -b html docs site

docs: build playground
	$(SITE)
	@echo "Open site/index.html"

# The engine in a browser: one HTML file, target/playground/playground.html. Needs Rust's target wasm32-unknown-unknown, which rustup adds;
# without it the page is left out, and that is said.
playground: build
	$(BIN)/python tools/playground.py

# A study of 1000 runs: how busy it keeps the cores, and whether kills change what it leaves.
bench-study: build
	$(BIN)/python benches/study.py

# The viewer of frame logs with a million transmissions, in headless Chromium: until it is there, and frames per second.
bench-viewer: build
	$(BIN)/python benches/viewer.py

# Advisories on what this is built from and runs on, and licences. Whatever cannot be reached is said, and fails.
audit: build
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group audit
	$(BIN)/python tools/audit.py

# Commands ended at each of 20 instants by each signal: what they leave once they have gone on are the same bytes, and of those that do not
# go on whole files. Takes long.
faults: build
	MULTIHOP_INSTANTS=20 $(BIN)/pytest -n 0 tests/cli/test_kills.py

# The pictures in docs/images, from real runs.
figures: build
	$(BIN)/python -m docs.figures

clean:
	cargo clean
	rm -rf $(VENV) results site docs/reference/generated python/multihop/_core*.so
