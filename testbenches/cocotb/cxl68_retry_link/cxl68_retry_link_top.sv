// The retry layer of a host: transmitter and receiver with what they say to each other, and an unpacker each way, which
// tells where runs of data are. What is above it, packing, credits and acknowledgements, comes in with the flits.
module cxl68_retry_link_top #(
    parameter int ENTRIES = 22,
    parameter int TIMEOUT = 200
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         training_i,
    input  logic         step_i,
    input  logic         valid_i,
    input  logic [511:0] slots_i,
    input  logic [8:0]   acks_i,           // acknowledgements that slots_i returns
    output logic         taken_o,
    output logic         sent_o,
    output logic [527:0] flit_o,
    input  logic         rx_valid_i,
    input  logic [527:0] rx_flit_i,
    input  logic [7:0]   wrap_i,
    output logic         good_o,
    output logic         accept_o,
    output logic [8:0]   num_ack_o,
    output logic         retrain_o,
    output logic         failed_o,
    output logic         unexpected_o
);
    logic req, req_sent, ack, ack_begun, all_data, rx_all_data;
    logic [7:0] freed, eseq, ack_eseq;
    logic [4:0] num_retry, num_reinit, ack_num_retry, owed, owed_behind;
    logic [3:0] chunk;
    logic [59:0] classes;

    cxl68_retry_tx #(.ENTRIES(ENTRIES)) tx (
        .clk_i(clk_i), .rst_ni(rst_ni), .training_i(training_i), .step_i(step_i), .valid_i(valid_i), .slots_i(slots_i),
        .all_data_i(all_data), .run_i(3'(owed_behind / 5'd4)), .returns_i(acks_i != 0), .taken_o(taken_o), .freed_i(freed),
        .req_i(req), .eseq_i(eseq), .num_retry_i(num_retry), .num_reinit_i(num_reinit), .req_sent_o(req_sent),
        .ack_i(ack), .ack_eseq_i(ack_eseq), .ack_num_retry_i(ack_num_retry), .ack_begun_o(ack_begun), .viral_i(1'b0),
        .viral_ld_i(16'd0), .sent_o(sent_o), .flit_o(flit_o), .free_o()
    );
    cxl68_unpacker #(.UP(0)) down (
        .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(taken_o), .slots_i(slots_i), .all_data_o(all_data), .control_o(),
        .chunk_o(chunk), .enables_o(), .class_o(classes), .message_o(), .owed_o(owed), .error_o()
    );
    // What is owed behind this flit, chunks and byte enables of its own data headers (classes 3 and 5) counted in.
    function automatic logic [4:0] data_headers(input logic [59:0] found);
        data_headers = '0;
        for (int p = 0; p < 20; p++)
            if (found[3*p +: 3] == 3'd3 || found[3*p +: 3] == 3'd5) data_headers = data_headers + 5'd1;
    endfunction

    assign owed_behind = owed - 5'(chunk[0]) - 5'(chunk[1]) - 5'(chunk[2]) - 5'(chunk[3])
        + data_headers(classes) * ((slots_i[4] ? 5'd4 : 5'd2) + 5'(slots_i[3]));

    cxl68_retry_rx #(.TIMEOUT(TIMEOUT)) rx (
        .clk_i(clk_i), .rst_ni(rst_ni), .training_i(training_i), .valid_i(rx_valid_i), .bad_i(1'b0), .flit_i(rx_flit_i),
        .all_data_i(rx_all_data), .wrap_i(wrap_i), .accept_o(accept_o), .good_o(good_o), .freed_o(freed),
        .returned_i(taken_o ? acks_i : 9'd0), .num_ack_o(num_ack_o), .sent_i(sent_o), .req_o(req), .eseq_o(eseq),
        .num_retry_o(num_retry), .num_reinit_o(num_reinit), .req_sent_i(req_sent), .ack_o(ack), .ack_eseq_o(ack_eseq),
        .ack_num_retry_o(ack_num_retry), .ack_begun_i(ack_begun), .retrain_o(retrain_o), .failed_o(failed_o),
        .unexpected_o(unexpected_o)
    );
    cxl68_unpacker #(.UP(1)) up (
        .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(accept_o), .slots_i(rx_flit_i[511:0]), .all_data_o(rx_all_data),
        .control_o(), .chunk_o(), .enables_o(), .class_o(), .message_o(), .owed_o(), .error_o()
    );
endmodule
