// The three arbiters side by side, four requesters each; weights 5, 1, 1, 2.
module arbiters_top (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic [3:0] request_i,
    input  logic       used_i,
    output logic [3:0] round_robin_o,
    output logic [3:0] matrix_o,
    output logic [3:0] weighted_o
);
    arb_round_robin #(.N(4)) round_robin (.grant_o(round_robin_o), .*);
    arb_matrix #(.N(4)) matrix (.grant_o(matrix_o), .*);
    arb_weighted #(.N(4), .WEIGHT_BITS(8), .WEIGHTS(32'h02_01_01_05)) weighted (.grant_o(weighted_o), .*);
endmodule
