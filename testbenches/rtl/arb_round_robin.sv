// Round robin arbiter: grants the first requester at or behind a pointer (fabric §6.2).
//
// The grant is combinational and one-hot, zero when nobody asks. At a clock edge with `used_i` the pointer moves behind
// the granted one; a grant that was not used leaves it, so the same one is first in the next cycle.
module arb_round_robin #(
    parameter int N = 4
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [N-1:0] request_i,
    input  logic         used_i,
    output logic [N-1:0] grant_o
);
    // Bits at and above the pointer.
    logic [N-1:0] mask_q;
    logic [N-1:0] ahead, pool;

    assign ahead = request_i & mask_q;
    assign pool = ahead != 0 ? ahead : request_i;
    assign grant_o = pool & (~pool + 1'b1);

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) mask_q <= '1;
        // Everything above the granted bit; nothing when it is the last one, and then the next pool is all that ask.
        else if (used_i && grant_o != 0) mask_q <= ~(grant_o | (grant_o - 1'b1));
    end
endmodule
