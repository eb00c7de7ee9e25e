// Verilator: testbenches/uvm/run.py lints with this list, and builds and runs the demo with --full. UVM_NO_DPI leaves out of UVM what its C
// files have: regular expressions and back doors of registers.
--timing
-DUVM_NO_DPI
--top-module demo_top
verilator.vlt
-F sources.f
-F demo.f
