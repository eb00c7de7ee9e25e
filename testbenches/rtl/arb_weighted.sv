// Smooth weighted round robin: grants the requester that is furthest behind its share (fabric §6.2: w of every W grants).
//
// In a cycle each that asks earns its weight; the one with the most is granted, the lower number of equals, and pays the
// weights of all that asked. One that does not ask neither earns nor pays. The grant is combinational and one-hot; what
// is earned and paid is booked at a clock edge with `used_i` alone. Weights are at least 1. What is owed stays within
// N - 1 times the sum of weights either way, which is what sizes OWED_BITS.
module arb_weighted #(
    parameter int N = 4,
    parameter int WEIGHT_BITS = 8,
    parameter logic [N*WEIGHT_BITS-1:0] WEIGHTS = {N{WEIGHT_BITS'(1)}}  // that of requester 0 lowest
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [N-1:0] request_i,
    input  logic         used_i,
    output logic [N-1:0] grant_o
);
    localparam int OWED_BITS = WEIGHT_BITS + 2 * $clog2(N) + 1;

    logic [N*OWED_BITS-1:0] owed_q, earned;
    logic [OWED_BITS-1:0] paid;

    for (genvar i = 0; i < N; i++) begin : gen_earned
        assign earned[OWED_BITS*i +: OWED_BITS] =
            owed_q[OWED_BITS*i +: OWED_BITS] + OWED_BITS'(WEIGHTS[WEIGHT_BITS*i +: WEIGHT_BITS]);
    end

    function automatic logic [OWED_BITS-1:0] sum_of(input logic [N-1:0] request);
        sum_of = '0;
        for (int i = 0; i < N; i++)
            if (request[i]) sum_of = sum_of + OWED_BITS'(WEIGHTS[WEIGHT_BITS*i +: WEIGHT_BITS]);
    endfunction

    function automatic logic [N-1:0] most_owed(input logic [N-1:0] request, input logic [N*OWED_BITS-1:0] amounts);
        logic signed [OWED_BITS-1:0] best, mine;
        best = '0;
        most_owed = '0;
        for (int i = 0; i < N; i++) begin
            mine = amounts[OWED_BITS*i +: OWED_BITS];
            if (request[i] && (most_owed == 0 || mine > best)) begin
                best = mine;
                most_owed = '0;
                most_owed[i] = 1'b1;
            end
        end
    endfunction

    assign paid = sum_of(request_i);
    assign grant_o = most_owed(request_i, earned);

    for (genvar i = 0; i < N; i++) begin : gen_owed
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) owed_q[OWED_BITS*i +: OWED_BITS] <= '0;
            else if (used_i && request_i[i])
                owed_q[OWED_BITS*i +: OWED_BITS] <= earned[OWED_BITS*i +: OWED_BITS] - (grant_o[i] ? paid : '0);
        end
    end
endmodule
