// Transmitter of link layer retry for CXL 68-byte flits: the retry buffer (LLRB) with WrPtr, RdPtr and NumFreeBuf, and the
// framed Req and Ack sequences (cxl-68b §7).
//
// One flit leaves in each cycle with `step_i`: `flit_o` with its CRC. What `cxl68_retry_rx` asks for and hears comes in on
// `req_i`, `ack_i` and `freed_i`. A new flit is taken (`taken_o`) when nothing older is due and NumFreeBuf allows it:
// `run_i` all-data flits follow it, and it returns `returns_i` acknowledgements or none. One of `all_data_i` continues a
// run and has to be there in the cycle after the one before it. Left out: LLCRD flits, which come in ready made, and the
// spoilt CRC that goes before a RETRY.Ack with Viral.
//
// A walk through one cycle: a run of data under way goes on, be it resent or new; else a sequence under way, or one that
// begins now, Ack before Req; else the next flit that has to be resent; else a new one; else RETRY.Idle.
module cxl68_retry_tx #(
    parameter int ENTRIES = 32             // 22 to 255; the wrap value of INIT.Param is one less
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         training_i,       // the physical layer trains; nothing is sent
    input  logic         step_i,
    input  logic         valid_i,
    input  logic [511:0] slots_i,
    input  logic         all_data_i,
    input  logic [2:0]   run_i,
    input  logic         returns_i,
    output logic         taken_o,
    input  logic [7:0]   freed_i,
    input  logic         req_i,
    input  logic [7:0]   eseq_i,
    input  logic [4:0]   num_retry_i,
    input  logic [4:0]   num_reinit_i,
    output logic         req_sent_o,
    input  logic         ack_i,
    input  logic [7:0]   ack_eseq_i,
    input  logic [4:0]   ack_num_retry_i,
    output logic         ack_begun_o,
    input  logic         viral_i,          // goes into RETRY.Ack as it stands
    input  logic [15:0]  viral_ld_i,
    output logic         sent_o,
    output logic [527:0] flit_o,
    output logic [7:0]   free_o
);
    // Slot 0 of a control flit: Type, then LLCTRL 1 and the SubType (§6.2).
    function automatic logic [511:0] retry_flit(input logic [3:0] sub_type, input logic [63:0] payload);
        retry_flit = {384'd0, payload, 24'd0, sub_type, 4'h1, 32'h1};
    endfunction

    localparam int W = $clog2(ENTRIES);
    localparam logic [3:0] RETRY_IDLE = 4'd0;
    localparam logic [3:0] RETRY_REQ = 4'd1;
    localparam logic [3:0] RETRY_ACK = 4'd2;
    localparam logic [3:0] RETRY_FRAME = 4'd3;
    localparam logic [2:0] FRAMES = 3'd5;

    logic [511:0] buffer_q [0:ENTRIES-1];
    logic [ENTRIES-1:0] all_data_q;        // the entry continues a run
    logic [W-1:0] wr_q, rd_q;
    logic [7:0] free_q;
    logic [2:0] framed_q;                  // Frames of a sequence that have left; 0: none is under way
    logic is_ack_q;                        // which sequence
    logic [7:0] eseq_q;                    // of the Ack
    logic [4:0] num_retry_q;

    logic resend, in_run, under_way, begins, last, replays, allowed;
    logic [511:0] slots;
    logic [15:0] crc;

    function automatic logic [W-1:0] after(input logic [W-1:0] pointer);
        after = 32'(pointer) == ENTRIES - 1 ? '0 : pointer + 1'b1;
    endfunction

    assign resend = rd_q != wr_q;
    assign in_run = resend ? all_data_q[rd_q] : valid_i && all_data_i;
    assign under_way = framed_q != 0;
    assign begins = !under_way && !in_run && (ack_i || req_i);
    assign last = framed_q == FRAMES;
    assign replays = !under_way && !begins && resend;
    // Three before each flit, two where it returns acknowledgements; the end of a run is thought of at its begin.
    assign allowed = free_q >= 8'(run_i) + 8'd3 || (free_q == 8'd2 && returns_i && run_i == 0);

    assign sent_o = step_i && !training_i;
    assign taken_o = sent_o && !under_way && !begins && !resend && valid_i && allowed;
    assign ack_begun_o = sent_o && begins && ack_i;
    assign req_sent_o = sent_o && under_way && last && !is_ack_q;
    assign free_o = free_q;

    always_comb begin
        if (begins || (under_way && !last)) slots = retry_flit(RETRY_FRAME, '0);
        else if (under_way && is_ack_q)
            slots = retry_flit(RETRY_ACK,
                {16'd0, viral_ld_i, free_q, eseq_q, 8'(wr_q), num_retry_q, 1'b0, viral_i, eseq_q == 8'(wr_q)});
        else if (under_way) slots = retry_flit(RETRY_REQ, {38'd0, num_reinit_i, num_retry_i, 8'd0, eseq_i});
        else if (replays) slots = buffer_q[rd_q];
        else if (taken_o) slots = slots_i;
        else slots = retry_flit(RETRY_IDLE, '0);
    end

    cxl68_crc16 checksum (.slots_i(slots), .crc_o(crc));
    assign flit_o = {crc, slots};

    // What leaves the buffer is what went into it, so it needs no reset.
    always_ff @(posedge clk_i) if (taken_o) buffer_q[wr_q] <= slots_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            all_data_q <= '0;
            wr_q <= '0;
            rd_q <= '0;
            free_q <= 8'(ENTRIES);
            framed_q <= '0;
            is_ack_q <= 1'b0;
            eseq_q <= '0;
            num_retry_q <= '0;
        end else begin
            free_q <= free_q + freed_i - 8'(taken_o);
            if (training_i) begin
                // The Ack is dropped; what was asked for is resent all the same (§7.4).
                framed_q <= '0;
                if (ack_i) rd_q <= W'(ack_eseq_i);
                else if (under_way && is_ack_q) rd_q <= W'(eseq_q);
            end else if (step_i) begin
                if (begins) begin
                    framed_q <= 3'd1;
                    is_ack_q <= ack_i;
                    eseq_q <= ack_eseq_i;
                    num_retry_q <= ack_num_retry_i;
                end else if (under_way && !last) framed_q <= framed_q + 3'd1;
                else if (under_way) begin
                    framed_q <= '0;
                    if (is_ack_q) rd_q <= W'(eseq_q);
                end else if (replays) rd_q <= after(rd_q);
                else if (taken_o) begin
                    all_data_q[wr_q] <= all_data_i;
                    wr_q <= after(wr_q);
                    rd_q <= after(wr_q);
                end
            end
        end
    end
endmodule
