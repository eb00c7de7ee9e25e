// The demo: tests of the agent beside a host made of the devices of testbenches/rtl, with the interfaces of cores.
+incdir+../rtl
-y ../rtl
+libext+.sv
../export/sv/scalepool_interfaces.sv
../cocotb/interfaces/interfaces_top.sv
../dpi/interface_loop.sv
demo/cxl68_host.sv
demo/demo_host_if.sv
demo/demo_register_if.sv
demo/hdm_registers.sv
demo/demo_endpoint.sv
demo/demo_pkg.sv
demo/demo_top.sv
