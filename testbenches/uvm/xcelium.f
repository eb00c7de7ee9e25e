// Xcelium, not run here: xrun -sv -uvm -timescale 1ps/1ps -F testbenches/uvm/xcelium.f testbenches/dpi/scalepool_dpi.c
//     -sv_lib libscalepool.so +UVM_TESTNAME=demo_rtl_test
-top demo_top
-F sources.f
-F demo.f
