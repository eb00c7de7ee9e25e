// Port slice of a switch: virtual output queues of all inputs towards one output, the two arbiters in front of it, and credits on
// both sides (fabric §4.2 ORD-6, ORD-7, §6.1). A switch has one slice for each output; each input accepts one slice at a time.
//
// Message as a word, one queue for each input and class, DEPTH entries each: the credits that an input gives to the sender of its
// link for this output. In a cycle in which the output is free the inputs with a message whose class has an egress credit are
// asked in turn, then the classes of that input in turn. `accept_i` says that the input takes part; nothing moves without it. A
// message of a class with data holds the output for DATA_BEATS cycles, of any other class for one.
//
// `returned_o` gives a credit back to the link of the input in the cycle in which the entry is freed; a push may use it in the same
// cycle. `credit_i` gives one back to this slice, to be used from the next cycle on. A push or a credit for which there cannot be
// room is dropped, and `error_o` stays up from the next cycle on. Left out: order between classes, several grants a cycle.
module switch_port_slice #(
    parameter int INPUTS = 4,
    parameter int CLASSES = 3,
    parameter int WIDTH = 16,
    parameter int DEPTH = 4,                 // a power of two, at least 2
    parameter int CREDITS = 3,               // egress credits of each class, 1 to 15
    parameter int DATA_BEATS = 5,            // 1 to 15
    parameter logic [CLASSES-1:0] HAS_DATA = 3'b100
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic [INPUTS-1:0]         push_i,
    input  logic [INPUTS*CLASSES-1:0] push_class_i, // one-hot for each input
    input  logic [INPUTS*WIDTH-1:0]   push_data_i,
    output logic [INPUTS*CLASSES-1:0] returned_o,
    output logic [INPUTS-1:0]         offer_o,      // one-hot
    input  logic                      accept_i,
    output logic [CLASSES-1:0]        class_o,      // one-hot, 0 without an offer
    output logic [WIDTH-1:0]          data_o,
    input  logic [CLASSES-1:0]        credit_i,
    output logic                      error_o
);
    localparam int A = $clog2(DEPTH);

    logic [INPUTS*CLASSES-1:0] filled, push, full, pop;
    logic [CLASSES-1:0] has_credit, too_many;
    logic [WIDTH-1:0] first [0:INPUTS*CLASSES-1];
    logic [INPUTS-1:0] request;
    logic [CLASSES-1:0] candidates;
    logic [3:0] busy_q;
    logic used;

    // ---- queues: input i, class c at place i * CLASSES + c
    for (genvar q = 0; q < INPUTS * CLASSES; q++) begin : g_queue
        logic [WIDTH-1:0] entries_q [0:DEPTH-1];
        logic [A:0] write_q, read_q;

        assign filled[q] = write_q != read_q;
        assign full[q] = write_q == {~read_q[A], read_q[A-1:0]} && !pop[q];
        assign push[q] = push_i[q/CLASSES] && push_class_i[q];
        assign first[q] = entries_q[read_q[A-1:0]];
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) begin
                write_q <= '0;
                read_q <= '0;
            end else begin
                if (push[q] && !full[q]) write_q <= write_q + 1'b1;
                if (pop[q]) read_q <= read_q + 1'b1;
            end
        end
        always_ff @(posedge clk_i) begin
            if (push[q] && !full[q]) entries_q[write_q[A-1:0]] <= push_data_i[WIDTH*(q/CLASSES) +: WIDTH];
        end
    end

    // ---- egress credits
    for (genvar c = 0; c < CLASSES; c++) begin : g_credit
        logic [3:0] left_q;
        logic spent;

        assign has_credit[c] = left_q != 0;
        assign spent = used && class_o[c];
        assign too_many[c] = credit_i[c] && left_q == 4'(CREDITS);
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) left_q <= 4'(CREDITS);
            else if (!too_many[c]) left_q <= left_q + 4'(credit_i[c]) - 4'(spent);
            else left_q <= left_q - 4'(spent);
        end
    end

    // ---- who is next
    for (genvar i = 0; i < INPUTS; i++) begin : g_request
        assign request[i] = busy_q == 0 && (filled[CLASSES*i +: CLASSES] & has_credit) != 0;
    end
    always_comb begin
        candidates = '0;
        data_o = '0;
        pop = '0;
        for (int i = 0; i < INPUTS; i++) begin
            if (offer_o[i]) candidates |= filled[CLASSES*i +: CLASSES] & has_credit;
        end
        for (int i = 0; i < INPUTS; i++) begin
            for (int c = 0; c < CLASSES; c++) begin
                if (offer_o[i] && class_o[c]) begin
                    data_o |= first[CLASSES*i + c];
                    pop[CLASSES*i + c] = accept_i;
                end
            end
        end
    end
    assign used = accept_i && offer_o != 0;
    assign returned_o = pop;
    arb_round_robin #(.N(INPUTS)) inputs (.clk_i, .rst_ni, .request_i(request), .used_i(used), .grant_o(offer_o));
    arb_round_robin #(.N(CLASSES)) classes (.clk_i, .rst_ni, .request_i(candidates), .used_i(used), .grant_o(class_o));

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            busy_q <= '0;
            error_o <= 1'b0;
        end else begin
            if (used && (class_o & HAS_DATA) != 0) busy_q <= 4'(DATA_BEATS - 1);
            else if (busy_q != 0) busy_q <= busy_q - 4'd1;
            if ((push & full) != 0 || too_many != 0) error_o <= 1'b1;
        end
    end
endmodule
