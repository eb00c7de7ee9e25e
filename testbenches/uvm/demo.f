// The demo: tests of the agent beside the RTL host of testbenches/rtl.
+incdir+../rtl
-y ../rtl
+libext+.sv
demo/demo_host_if.sv
demo/demo_pkg.sv
demo/demo_top.sv
