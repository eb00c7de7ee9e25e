// Registers of a device in RTL: one double word in a cycle.
interface demo_register_if (
    input logic clk,
    input logic rst_n
);
    logic        write;
    logic [11:0] address; // of bytes
    logic [31:0] data;
    logic [3:0]  enables;
    logic [31:0] found; // at `address`
endinterface
