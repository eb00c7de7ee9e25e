// Questa, not run here: vlog -sv -timescale 1ps/1ps -F testbenches/uvm/questa.f testbenches/dpi/scalepool_dpi.c
//     && vsim -c demo_top -sv_lib libscalepool +UVM_TESTNAME=demo_rtl_test -do "run -all; quit"
// vlog compiles against the library of UVM that it brings along.
-F sources.f
-F demo.f
