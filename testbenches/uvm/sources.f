// The agent and what it needs, behind the package of UVM; file lists of simulators name this one with -F.
+incdir+.
../dpi/scalepool_dpi_pkg.sv
../export/sv/scalepool_cxl68_pkg.sv
../export/sv/scalepool_cxl256_pkg.sv
../export/sv/scalepool_cxlpbr_pkg.sv
../export/sv/scalepool_cxlio_pkg.sv
../export/sv/scalepool_nvlink_pkg.sv
../export/sv/scalepool_ualink_pkg.sv
../export/sv/scalepool_pkg.sv
../export/uvm/scalepool_registers_pkg.sv
scalepool_flit_if.sv
scalepool_uvm_pkg.sv
