// Matrix arbiter: grants the one whose last grant is longest ago (fabric §6.2).
//
// `before_q[N*i+j]` says that i goes before j; after reset the lower number does. The grant is combinational and one-hot.
// At a clock edge with `used_i` the granted one goes behind all others.
module arb_matrix #(
    parameter int N = 4
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [N-1:0] request_i,
    input  logic         used_i,
    output logic [N-1:0] grant_o
);
    logic [N*N-1:0] before_q;

    for (genvar i = 0; i < N; i++) begin : gen_requester
        logic [N-1:0] stopped;
        for (genvar j = 0; j < N; j++) begin : gen_other
            assign stopped[j] = request_i[j] && before_q[N*j+i];
            always_ff @(posedge clk_i or negedge rst_ni) begin
                if (!rst_ni) before_q[N*i+j] <= i < j;
                else if (used_i && i != j && grant_o[i]) before_q[N*i+j] <= 1'b0;
                else if (used_i && i != j && grant_o[j]) before_q[N*i+j] <= 1'b1;
            end
        end
        assign grant_o[i] = request_i[i] && stopped == 0;
    end
endmodule
