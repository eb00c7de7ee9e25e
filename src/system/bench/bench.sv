// The bench of `@PATH@`: the test sends what arrives at its ports and takes what they send, and the model is all around it.
`timescale 1ns / 1ps
module bench (
    input  logic clk,
    input  logic rst_n@PORTS@
);
    @MODULE@ dut (.*);
endmodule
