// The CXL.mem memory of testbenches/rtl/guide with two flit interfaces, one each way, and the usual names of ports. `bug_i` is the number
// of the seeded bug that it has, 0 for none.
`include "guide/cxl_mem_expander.sv"

module pyuvm_memory_top (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [31:0]  bug_i,
    input  logic         rx_valid,
    output logic         rx_ready,
    input  logic [135:0] rx_data,
    output logic         tx_valid,
    input  logic         tx_ready,
    output logic [135:0] tx_data
);
    cxl_mem_expander memory (
        .CLK(clk_i), .RESETN(rst_ni),
        .RXVALID(rx_valid), .RXREADY(rx_ready), .RXDATA(rx_data),
        .TXVALID(tx_valid), .TXREADY(tx_ready), .TXDATA(tx_data)
    );
    always @(posedge clk_i) memory.bug <= bug_i;
endmodule
