# The entry point. Every target sets up a bare machine by itself. Each target is one script in scripts/.

PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-% check sim sim-controls models fuzz setup build dist packages bench install docs \
  format lint abi-baseline clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo "  make test-PART     one part of the tests: $$(scripts/test --list | awk '{ printf "%s ", $$1 }')"

demo: ## four processes (C, Python, Java, Go) on one configuration and one store
	scripts/setup demo
	scripts/demo

test: ## what a change breaks first, in some six minutes on two cores
	scripts/setup servers
	scripts/test

test-all: ## everything: also real faults of real servers, sanitizers, models, fuzz, projects that use idgen
	scripts/setup servers
	scripts/test --all

test-%:
	scripts/setup servers
	scripts/test $*

check: setup ## the tests that the changes in the working tree need first
	scripts/test --check

sim: setup ## the simulation: SEEDS=N runs N seeds, SEED=S shows what one does, step by step (docs/simulation.md)
	scripts/sim $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),10000))

sim-controls: setup ## planted faults and other generators' rules: in how many seeds the simulation catches each
	scripts/sim --controls $(or $(SEEDS),200)

models: ## the models of the protocols, with Spin: every state of them, and with each rule left out (docs/models.md)
	scripts/setup models
	scripts/models

fuzz: ## every parser, fed with what nobody would write, for SECONDS=N (60) each
	scripts/setup fuzz
	scripts/fuzz --seconds $(or $(SECONDS),60)

setup: ## install what is missing; names it first, and does nothing the second time
	scripts/setup

build: setup ## build/lib/libidgen.so and build/bin/idgen, as they are tested
	scripts/build

dist: setup ## build/dist/: the Python wheel and sdist, the Java jar; its library is optimised as a whole
	scripts/build dist
	IDGEN_BUILD_DIR=$(CURDIR)/build/whole scripts/dist

packages: ## build/dist/packages/: libidgen.so, wheels and a jar for any Linux; .deb packages for this one
	scripts/setup packages
	scripts/build
	scripts/dist java
	scripts/packages
	scripts/deb

bench: dist ## measure, and write build/bench/report.md
	scripts/bench

install: setup ## into PREFIX (/usr/local), below DESTDIR if given
	scripts/build dist
	scripts/install

docs: setup ## README and docs/ as HTML, in build/site/
	scripts/docs

format: setup ## rewrite C, C++, Python and Go sources in the one style
	scripts/format

lint: setup ## format, line lengths, clang-tidy, thread safety, ruff, mypy, go vet, staticcheck, javac -Xlint
	scripts/lint

abi-baseline: build ## accept the present ABI as the one to keep: rewrites tests/abi/libidgen.abi
	tests/abi/baseline

clean: ## remove everything that was made, the Python environment included
	rm -rf build java/target java/jmh/target
