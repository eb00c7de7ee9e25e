# Thin names over cargo and the command line. `make` alone lists them.
#
# Paths are relative to this folder, so that a folder with spaces in its name is no different from another.

TARGET   := $(or $(CARGO_TARGET_DIR),target)
SCALEPOOL = "$(TARGET)/release/scalepool"
STIMULUS  = testbenches/stimulus/hash_list_matrix.lackey.gz
DEMO      = target/demo

# The first flit of README.md: slot 0 holds a read and has room for nothing else, slots 1 to 3 are empty.
FLIT := @FLIT@

.PHONY: help demo test bench soak golden waves clean release
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16
	@echo '  make test ORACLE=DIR   also compares the program with the fact sheets in DIR'

demo: release ## a memory trace of a real program through a CXL link; waves and trace in target/demo
	@mkdir -p $(DEMO)
	$(SCALEPOOL) run cxl68-expander --stimulus $(STIMULUS) --vcd $(DEMO)/expander.vcd --trace $(DEMO)/expander.jsonl
	$(SCALEPOOL) flit decode cxl-68b --dir down $(FLIT)
	@echo 'Waves: cd $(DEMO) && gtkwave expander.gtkw'

test: ## every check there is; installs what is missing, ends with a table of durations
	@bash testbenches/setup/test.sh

bench: ## speed of codecs and kernel beside their peers, in one run
	cargo bench -p scalepool-testbenches --bench '*'

soak: ## the same tests on optimised code with ten times the random input
	SCALEPOOL_SOAK=10 cargo test --release --workspace

golden: release ## write the committed vectors anew
	$(SCALEPOOL) golden --out golden

waves: release ## write the committed reference waves anew
	@bash testbenches/setup/waves.sh $(SCALEPOOL)

clean: ## remove everything that was built
	cargo clean

release:
	@cargo build --release --bin scalepool
