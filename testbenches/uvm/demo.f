// The demo: tests of the agent beside a host made of the devices of testbenches/rtl.
+incdir+../rtl
-y ../rtl
+libext+.sv
demo/cxl68_host.sv
demo/demo_host_if.sv
demo/demo_pkg.sv
demo/demo_top.sv
