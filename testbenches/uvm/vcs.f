// VCS, not run here: vcs -full64 -sverilog -ntb_opts uvm-1.2 -timescale=1ps/1ps -F testbenches/uvm/vcs.f
//     scalepool_dpi.c -CFLAGS -I${VCS_HOME}/include libscalepool.so && ./simv +UVM_TESTNAME=demo_rtl_test
// The C file is testbenches/dpi/scalepool_dpi.c.
-top demo_top
-F sources.f
-F demo.f
