// A switch of three ports out of port slices, for CXL.mem: classes M2S Req, M2S RwD, S2M NDR, S2M DRS. Each input takes part in one
// transfer at a time, with the slices in turn; one that is not enabled in none.
module switch_slices_top #(
    parameter int PORTS = 3,
    parameter int CLASSES = 4,
    parameter int WIDTH = 16
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic [PORTS-1:0]               enable_i,
    // By output, then by input.
    input  logic [PORTS*PORTS-1:0]         push_i,
    input  logic [PORTS*CLASSES-1:0]       push_class_i, // by input
    input  logic [PORTS*WIDTH-1:0]         push_data_i,  // by input
    output logic [PORTS*PORTS*CLASSES-1:0] returned_o,
    output logic [PORTS*PORTS-1:0]         offer_o,
    // By output.
    output logic [PORTS-1:0]               sent_o,
    output logic [PORTS*CLASSES-1:0]       class_o,
    output logic [PORTS*WIDTH-1:0]         data_o,
    input  logic [PORTS*CLASSES-1:0]       credit_i,
    output logic [PORTS-1:0]               error_o
);
    localparam logic [CLASSES-1:0] HAS_DATA = 4'b1010;
    localparam int DATA_BEATS = 5; // 80 bytes, 16 in a cycle

    logic [PORTS*PORTS-1:0] taken; // by input, then by output

    for (genvar o = 0; o < PORTS; o++) begin : g_output
        logic accept;

        always_comb begin
            accept = 1'b0;
            for (int i = 0; i < PORTS; i++) accept |= taken[PORTS*i + o];
        end
        assign sent_o[o] = accept;
        switch_port_slice #(
            .INPUTS(PORTS), .CLASSES(CLASSES), .WIDTH(WIDTH), .DATA_BEATS(DATA_BEATS), .HAS_DATA(HAS_DATA)
        ) slice (
            .clk_i, .rst_ni, .push_i(push_i[PORTS*o +: PORTS]), .push_class_i, .push_data_i,
            .returned_o(returned_o[PORTS*CLASSES*o +: PORTS*CLASSES]), .offer_o(offer_o[PORTS*o +: PORTS]),
            .accept_i(accept), .class_o(class_o[CLASSES*o +: CLASSES]), .data_o(data_o[WIDTH*o +: WIDTH]),
            .credit_i(credit_i[CLASSES*o +: CLASSES]), .error_o(error_o[o])
        );
    end

    for (genvar i = 0; i < PORTS; i++) begin : g_input
        logic [PORTS-1:0] asking, granted;
        logic has_data;
        logic [2:0] busy_q;

        always_comb begin
            asking = '0;
            has_data = 1'b0;
            for (int o = 0; o < PORTS; o++) begin
                asking[o] = offer_o[PORTS*o + i] && enable_i[i] && busy_q == 0;
                has_data |= granted[o] && (class_o[CLASSES*o +: CLASSES] & HAS_DATA) != 0;
            end
        end
        assign taken[PORTS*i +: PORTS] = granted;
        arb_round_robin #(.N(PORTS)) outputs (.clk_i, .rst_ni, .request_i(asking), .used_i(1'b1), .grant_o(granted));
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) busy_q <= '0;
            else if (has_data) busy_q <= 3'(DATA_BEATS - 1);
            else if (busy_q != 0) busy_q <= busy_q - 3'd1;
        end
    end
endmodule
