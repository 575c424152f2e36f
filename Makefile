# The words a stranger needs. Everything else is `cargo xtask`.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help prepare build demo test slt regress check install

# rustup's folder is not in everybody's PATH.
export PATH := $(HOME)/.cargo/bin:$(PATH)

# A build server throws its checkout away; what was compiled may stay.
ifneq ($(CI),)
export CARGO_TARGET_DIR ?= $(HOME)/.cache/gadus-target
endif

TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile

prepare: ## install what is missing to build (Debian), or say how
	@sh scripts/prepare.sh

build: prepare ## build the gadus program, optimised
	cargo build --release --locked --package gadus-cli

demo: build ## build, then show what Gadus does
	@"$(TARGET)/release/gadus" demo

test: ## run every test
	@sh scripts/prepare.sh python wire guest
	cargo test --workspace --locked
	cargo xtask python
	cargo xtask wire

slt: prepare ## run the corpus of sqllogictest (GADUS_SLT_CORPUS says where it is)
	cargo test --release --locked --package gadus --package gadus-cli --test slt -- --all

regress: ## compare with PostgreSQL on its own regression files
	@sh scripts/prepare.sh python wire
	cargo xtask regress

check: prepare ## what a change must pass: fmt, tidy, clippy, tests, docs, licences
	cargo xtask check

install: prepare ## install the gadus program into ~/.cargo/bin
	cargo install --locked --path crates/gadus-cli
