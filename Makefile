# Thin names over cargo and the command line. `make` alone lists them.
#
# Paths are relative to this folder, so that a folder with spaces in its name is no different from another.

PROFILE  ?= release
TARGET   := $(or $(CARGO_TARGET_DIR),target)
SCALEPOOL = "$(TARGET)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/scalepool"
STIMULUS  = testbenches/stimulus/hash_list_matrix.lackey.gz
DEMO      = target/demo

# The flit of README.md: a read in slot 0, slots 1 to 3 are empty.
FLIT := 5555a00000000370000008$(shell printf '%0110d' 0)e29b

.PHONY: help demo test cosim bench wheel soak golden waves clean program
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16
	@echo '  make cosim FULL=1      with every mutant and the full number of random flits; FRESH=1 forgets what is built'
	@echo '  make test ORACLE=DIR   also compares the program with the fact sheets in DIR; JUNIT=FILE writes the tests of cargo as JUnit XML'

demo: program ## a memory trace of a real program through a CXL link; waves and trace in target/demo
	@mkdir -p $(DEMO)
	$(SCALEPOOL) run cxl68-expander --stimulus $(STIMULUS) --vcd $(DEMO)/expander.vcd --trace $(DEMO)/expander.jsonl
	$(SCALEPOOL) flit decode cxl-68b --dir down $(FLIT)
	@echo 'Now: cd $(DEMO) && gtkwave expander.gtkw'

test: ## the whole regression; installs what is missing, ends with a table of durations
	@bash testbenches/setup/test.sh

cosim: ## the RTL of testbenches/rtl beside the model, in Verilator, Icarus, cocotb, UVM and SystemC; installs what is missing
	@bash testbenches/setup/cosimulate.sh

bench: ## speed of codecs and kernel beside their peers, of calls from Python and SystemVerilog, of fabrics and superclusters, in one run
	cargo bench -p scalepool-testbenches --bench '*'
	@bash testbenches/setup/calls.sh
	@bash testbenches/setup/build.sh dist
	@python3 -B testbenches/setup/fabric_cost.py --program "$(TARGET)/dist/scalepool"
	@python3 -B testbenches/setup/supercluster_cost.py --program "$(TARGET)/dist/scalepool"

wheel: ## a wheel for pip (manylinux, with library and program) and a source distribution in target/wheel; tries the wheel
	@bash testbenches/setup/wheel.sh

# The suites read the number of flits, packets or flit clocks of a run, see the text of each.
soak: export SCALEPOOL_SOAK ?= 1000000
soak: export SCALEPOOL_SOAK_FLITS ?= 1000000
soak: export SCALEPOOL_FLITS ?= 10000000
soak: program ## millions of accesses, flits and packets of every link under bit errors; settings at their ends; every build profile; mutants; all Murphi models; litmus programs; 10^7 states
	@for seed in 1 2 3 4; do for rate in 1e-6 1e-5 1e-4; do \
		echo "seed $$seed, bit error rate $$rate"; \
		summary=$$($(SCALEPOOL) run cxl68-expander --seed $$seed --set link.ber=$$rate --set link.timeout_flits=256 \
			--set host.pattern=mix --set host.accesses=1000000) || { echo "$$summary"; exit 1; }; \
		echo "$$summary" | grep -E '^(retries|errors|violations)'; \
	done; done
	cargo test --profile $(PROFILE) -p scalepool-testbenches --test link --test system --test codec --test observe -- --nocapture \
		soak in_all_states large_pods mutated_files nothing_wrong_is_delivered router:: sim_lnk_01 ends_of_its_range \
		counters_equal_the_faults integrity_under_pressure can_stand_outside conservation:: nothing_but_the_design \
		reports_are_the_same separable_with_matrices any_bytes cxl68_vir_03 closed_form no_watcher_blames \
		systems_are_silent bit_errors_shows
	SCALEPOOL_SOAK=80 cargo test --profile $(PROFILE) -p scalepool-testbenches --test coherence -- --nocapture stress drops \
		behind_bridge bridge_litmus named_explorations renaming a_visited_state two_lines shapes_by_hand scenario_coh_t shapes_over \
		what_commutes that_are_off forbidden_outcome
	bash testbenches/setup/build.sh dist
	bash testbenches/setup/profiles.sh $(SCALEPOOL) "$(TARGET)/dist/scalepool"
	FULL=1 bash testbenches/setup/cosimulate.sh
	bash testbenches/setup/tools.sh
	python3 -B testbenches/models/compare.py --program $(SCALEPOOL) --full
	python3 -B testbenches/litmus/compare.py --program $(SCALEPOOL) --cases 5000
	python3 -B testbenches/litmus/herd.py --program $(SCALEPOOL) --full --random 200
	python3 -B testbenches/litmus/runs.py --program $(SCALEPOOL) --runs 100000
	python3 -B testbenches/litmus/runs.py --program $(SCALEPOOL) --runs 10000 --noise 1e-6
	$(SCALEPOOL) explore cxl-cache-2-core --agents 4 --no-liveness --reduce --threads 2 --memory 8192
	bash testbenches/setup/wheel.sh
	bash testbenches/setup/readers.sh $(SCALEPOOL)
	bash testbenches/setup/mutants.sh

golden: program ## write the committed vectors anew
	$(SCALEPOOL) golden --out golden

waves: ## write the committed reference waves anew
	SCALEPOOL_BLESS=1 cargo test -p scalepool-testbenches --test observe waves

clean: ## remove everything that was built
	cargo clean

# As testbenches/setup/build.sh builds it, so that nothing is built a second time.
program:
	@cargo build --profile $(PROFILE) $(if $(filter dev,$(PROFILE)),--workspace,-p scalepool -p scalepool-shared) --bin scalepool
