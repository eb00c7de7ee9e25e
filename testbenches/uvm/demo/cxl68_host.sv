// The host end of a 68B link of CXL.cachemem: packer, retry transmitter and receiver, unpacker, and what lies between them:
// INIT.Param, credits both ways, acknowledgements (cxl-68b §5.4, §6.3, §7).
//
// Messages go in as into `cxl68_packer`, each class while `credit_o` has its bit; messages and chunks of data come out as from
// `cxl68_unpacker`, in the cycle of the flit that brings them. A flit travels in each direction in a cycle, without protocol
// ID. Left out: training of the link (it begins up), viral, reserved flits.
//
// A walk through one cycle: the flit that has come goes through the receiver and, if it is accepted, through the unpacker;
// its credits count from the next cycle on. The transmitter is offered INIT.Param once the first good flit has come, an LLCRD when
// the first credits or many acknowledgements are due, else the flit of the packer.
module cxl68_host #(
    parameter int ENTRIES = 40,            // of the retry buffer
    parameter int TIMEOUT = 200            // of the receiver, in flits
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    // Messages down: H2D Req, Rsp, Data, M2S Req, RwD.
    input  logic [4:0]    valid_i,
    output logic [4:0]    credit_o,
    output logic [4:0]    taken_o,
    input  logic [63:0]   h2d_req_i,
    input  logic [31:0]   h2d_rsp_i,
    input  logic [23:0]   h2d_data_i,
    input  logic [86:0]   m2s_req_i,
    input  logic [86:0]   m2s_rwd_i,
    input  logic [511:0]  data_line_i,
    input  logic [511:0]  rwd_line_i,
    input  logic          rwd_partial_i,
    input  logic [63:0]   rwd_enables_i,
    // The link.
    output logic          tx_valid_o,
    output logic [527:0]  tx_flit_o,
    input  logic          rx_valid_i,
    input  logic [527:0]  rx_flit_i,
    // Messages up, of the flit that stands at `rx_flit_i`.
    output logic          accept_o,
    output logic [3:0]    chunk_o,
    output logic [59:0]   class_o,
    output logic [1739:0] message_o,
    output logic          failed_o         // the link has given up, or a flit cannot be unpacked
);
    // First credits that this side gives for each class: what one code says.
    localparam logic [9:0] BUFFERS = 10'd64;
    localparam logic [1:0] LLCRDS = 2'd2;  // that carry them: CXL.cache and CXL.mem

    logic clean_q, init_sent_q, init_received_q, mem_turn_q;
    logic [1:0] first_q;
    logic [7:0] wrap_q;
    logic [5:0] idle_q;                    // cycles since credits were returned
    logic [9:0] credits_q [0:4];           // of the peer, for this side
    logic [9:0] owing_q [0:4];             // of this side, to be returned: D2H Req, Rsp, Data, S2M NDR, DRS
    logic [9:0] credits_d [0:4];
    logic [9:0] owing_d [0:4];

    logic valid, taken, from_packer, out_valid, pack_ready, is_llcrd, returns_credits;
    logic req, req_sent, ack, ack_begun, accept, good, retrain, gives_up, unexpected;
    logic ak, shadow_all_data, up_all_data, up_control, up_error;
    logic [4:0] owed_behind, shadow_owed, num_retry, num_reinit, ack_num_retry;
    logic [3:0] shadow_chunk;
    logic [7:0] freed, eseq, ack_eseq, full;
    logic [8:0] acks, num_ack;
    logic [11:0] codes;
    logic [511:0] slots, packed_slots;

    // The code of the most credits that are not more than are owed (cxl-68b §5.4).
    function automatic logic [2:0] code_of(input logic [9:0] many);
        code_of = 3'd0;
        for (int c = 1; c < 8; c++) if (many >= 10'd1 << (c - 1)) code_of = 3'(c);
    endfunction

    // What a code says.
    function automatic logic [9:0] many_of(input logic [2:0] code);
        many_of = code == 3'd0 ? 10'd0 : 10'd1 << (code - 3'd1);
    endfunction

    cxl68_packer packer (
        .clk_i, .rst_ni, .ready_i(pack_ready), .valid_i(valid_i & credit_o), .h2d_req_i, .h2d_rsp_i, .h2d_data_i, .m2s_req_i,
        .m2s_rwd_i, .data_line_i, .rwd_line_i, .rwd_partial_i, .rwd_enables_i, .ak_i(ak), .credits_i(codes),
        .taken_o, .valid_o(out_valid), .slots_o(packed_slots)
    );

    // Where the packer's runs of data are, as the peer will see them.
    /* verilator lint_off PINCONNECTEMPTY */
    cxl68_unpacker #(.UP(0)) shadow (
        .clk_i, .rst_ni, .valid_i(pack_ready && out_valid), .slots_i(packed_slots), .all_data_o(shadow_all_data),
        .control_o(), .chunk_o(shadow_chunk), .enables_o(), .class_o(), .message_o(), .owed_o(shadow_owed), .error_o()
    );
    assign owed_behind = shadow_owed - 5'($countones(shadow_chunk))
        + (shadow_all_data || !packed_slots[4] ? 5'd0 : packed_slots[3] ? 5'd5 : 5'd4);

    cxl68_retry_tx #(.ENTRIES(ENTRIES)) tx (
        .clk_i, .rst_ni, .training_i(1'b0), .step_i(1'b1), .valid_i(valid), .slots_i(slots),
        .all_data_i(from_packer && shadow_all_data), .run_i(from_packer ? 3'(owed_behind / 5'd4) : 3'd0),
        .returns_i(acks != 0), .taken_o(taken), .freed_i(freed), .req_i(req), .eseq_i(eseq), .num_retry_i(num_retry),
        .num_reinit_i(num_reinit), .req_sent_o(req_sent), .ack_i(ack), .ack_eseq_i(ack_eseq),
        .ack_num_retry_i(ack_num_retry), .ack_begun_o(ack_begun), .viral_i(1'b0), .viral_ld_i(16'd0),
        .sent_o(tx_valid_o), .flit_o(tx_flit_o), .free_o()
    );

    cxl68_retry_rx #(.TIMEOUT(TIMEOUT)) rx (
        .clk_i, .rst_ni, .training_i(1'b0), .valid_i(rx_valid_i), .bad_i(1'b0), .flit_i(rx_flit_i),
        .all_data_i(up_all_data), .wrap_i(wrap_q), .accept_o(accept), .good_o(good), .freed_o(freed),
        .returned_i(taken ? acks : 9'd0), .num_ack_o(num_ack), .sent_i(tx_valid_o), .req_o(req), .eseq_o(eseq),
        .num_retry_o(num_retry), .num_reinit_o(num_reinit), .req_sent_i(req_sent), .ack_o(ack), .ack_eseq_o(ack_eseq),
        .ack_num_retry_o(ack_num_retry), .ack_begun_i(ack_begun), .retrain_o(retrain), .failed_o(gives_up),
        .unexpected_o(unexpected)
    );

    cxl68_unpacker #(.UP(1)) unpacker (
        .clk_i, .rst_ni, .valid_i(accept), .slots_i(rx_flit_i[511:0]), .all_data_o(up_all_data), .control_o(up_control),
        .chunk_o, .enables_o(), .class_o, .message_o, .owed_o(), .error_o(up_error)
    );
    /* verilator lint_on PINCONNECTEMPTY */

    assign accept_o = accept;
    assign failed_o = gives_up || retrain || unexpected || (accept && up_error);
    for (genvar c = 0; c < 5; c++) begin : gen_credit
        assign credit_o[c] = init_received_q && credits_q[c] != 0;
    end

    // What this side offers.
    assign codes = mem_turn_q ? {1'b1, code_of(owing_q[4]), 4'd0, 1'b1, code_of(owing_q[3])}
                              : {1'b0, code_of(owing_q[2]), 1'b0, code_of(owing_q[0]), 1'b0, code_of(owing_q[1])};
    assign full = num_ack > 9'd255 ? 8'd255 : num_ack[7:0];
    assign ak = num_ack >= 9'd8;
    assign pack_ready = taken && from_packer;
    assign is_llcrd = !shadow_all_data && (first_q != LLCRDS || num_ack >= 9'd16 || idle_q > 6'd40);
    always_comb begin
        {valid, from_packer, slots, acks} = '0;
        if (clean_q && !init_sent_q) begin
            valid = 1'b1;
            slots = 512'h8C_0000_0001 | 512'(ENTRIES - 1) << 88 | 512'd2 << 64;
        end else if (clean_q && init_received_q && is_llcrd) begin
            valid = 1'b1;
            acks = {1'b0, full};
            slots = 512'h10_0000_0001 | 512'(codes) << 20 | 512'(full[3]) << 2 | 512'({full[7:4], 1'b0, full[2:0]}) << 64;
        end else if (clean_q && init_received_q) begin
            valid = out_valid;
            from_packer = 1'b1;
            slots = packed_slots;
            acks = ak && !shadow_all_data ? 9'd8 : 9'd0;
        end
    end
    // A run of data has no header, and INIT.Param returns nothing.
    assign returns_credits = taken && init_sent_q && !(from_packer && shadow_all_data);

    // Credits that come and go.
    logic [3:0] req_code, rsp_code, data_code;
    assign {data_code, req_code, rsp_code} = rx_flit_i[31:20];
    always_comb begin
        credits_d = credits_q;
        owing_d = owing_q;
        // Of a header, or of an LLCRD.
        if (accept && !up_all_data && !(up_control && rx_flit_i[35:32] != 0)) begin
            if (!rsp_code[3]) credits_d[1] += many_of(rsp_code[2:0]);
            credits_d[req_code[3] ? 3 : 0] += many_of(req_code[2:0]);
            credits_d[data_code[3] ? 4 : 2] += many_of(data_code[2:0]);
        end
        for (int c = 0; c < 5; c++) credits_d[c] -= 10'(pack_ready && taken_o[c]);
        if (returns_credits && mem_turn_q) begin
            owing_d[4] -= many_of(codes[10:8]);
            owing_d[3] -= many_of(codes[2:0]);
        end else if (returns_credits) begin
            owing_d[2] -= many_of(codes[10:8]);
            owing_d[0] -= many_of(codes[6:4]);
            owing_d[1] -= many_of(codes[2:0]);
        end
        for (int p = 0; p < 20; p++)
            for (int c = 0; c < 5; c++) owing_d[c] += 10'(accept && class_o[3*p +: 3] == 3'(c + 1));
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            {clean_q, init_sent_q, init_received_q, mem_turn_q, first_q, idle_q} <= '0;
            wrap_q <= 8'd9;
            for (int c = 0; c < 5; c++) begin
                credits_q[c] <= '0;
                owing_q[c] <= BUFFERS;
            end
        end else begin
            clean_q <= clean_q || good;
            if (accept && up_control && rx_flit_i[35:32] == 4'hC) begin
                init_received_q <= 1'b1;
                wrap_q <= rx_flit_i[95:88];
            end
            if (taken && !init_sent_q) init_sent_q <= 1'b1;
            else if (taken && !from_packer && first_q != LLCRDS) first_q <= first_q + 2'd1;
            idle_q <= returns_credits ? '0 : idle_q == '1 ? '1 : idle_q + 6'd1;
            if (returns_credits) mem_turn_q <= !mem_turn_q;
            credits_q <= credits_d;
            owing_q <= owing_d;
        end
    end
endmodule
