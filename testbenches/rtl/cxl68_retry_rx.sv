// Receiver of link layer retry for CXL 68-byte flits: CRC, the local retry state machine (LRSM), ESeq, NumAck, and what the
// remote one (RRSM) hears (cxl-68b §7).
//
// One flit a cycle with `valid_i`; `accept_o` in the same cycle passes a good retryable flit on, once and in order.
// `all_data_i` comes from the unpacker: the next flit is all data, so in NORMAL it is no control flit, whatever it looks
// like. `cxl68_retry_tx` sends what is asked for here: a Req sequence while `req_o`, an Ack sequence while `ack_o`.
// Left out: the protocol ID, of which `bad_i` tells, viral, initialisation but for INIT.Param's wrap value on `wrap_i`.
//
// A walk through one error: a bad flit in NORMAL leads to LLRREQ and freezes ESeq; when the Req sequence has left
// (`req_sent_i`), IDLE waits for the Ack sequence with the same NUM_RETRY and counts what is sent (`sent_i`) until then;
// the Ack leads back to NORMAL, and the next flit is number ESeq. After MAX_NUM_RETRY Reqs without an answer `retrain_o`
// asks for a training, after MAX_NUM_PHY_REINIT of those `failed_o` is the end.
module cxl68_retry_rx #(
    parameter int MAX_NUM_RETRY = 10,
    parameter int MAX_NUM_PHY_REINIT = 10,
    parameter int TIMEOUT = 4096           // in flits that were sent
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         training_i,       // the physical layer trains; no flit comes
    input  logic         valid_i,
    input  logic         bad_i,            // the physical layer could not tell what flit this is
    input  logic [527:0] flit_i,           // slots, CRC
    input  logic         all_data_i,
    input  logic [7:0]   wrap_i,           // highest sequence number of the peer, 9 until its INIT.Param
    output logic         accept_o,
    output logic         good_o,           // a good flit of any kind
    output logic [7:0]   freed_o,          // flits of ours that this one acknowledges, with accept_o
    input  logic [8:0]   returned_i,       // acknowledgements in the new flit that leaves in this cycle
    output logic [8:0]   num_ack_o,
    input  logic         sent_i,           // a flit leaves
    output logic         req_o,
    output logic [7:0]   eseq_o,
    output logic [4:0]   num_retry_o,
    output logic [4:0]   num_reinit_o,
    input  logic         req_sent_i,       // the last flit of a Req sequence leaves
    output logic         ack_o,
    output logic [7:0]   ack_eseq_o,
    output logic [4:0]   ack_num_retry_o,
    input  logic         ack_begun_i,      // the first flit of an Ack sequence leaves
    output logic         retrain_o,
    output logic         failed_o,
    output logic         unexpected_o      // an Ack sequence that nobody asked for
);
    // LLCTRL and SubType (§6.2).
    localparam logic [7:0] LLCRD = 8'h10;
    localparam logic [7:0] RETRY_REQ = 8'h11;
    localparam logic [7:0] RETRY_ACK = 8'h21;
    localparam logic [7:0] RETRY_FRAME = 8'h31;

    typedef enum logic [2:0] {NORMAL, LLRREQ, IDLE, PHY_REINIT, ABORT} state_e;

    state_e state_q;
    logic asked_q;                         // PHY_REINIT: the training that was asked for has not begun
    logic [2:0] frames_q;                  // good Frames directly before, 5 at most
    logic [7:0] eseq_q, ack_eseq_q;
    logic [8:0] num_ack_q;
    logic [4:0] num_retry_q, num_reinit_q, echo_q, ack_num_retry_q;
    logic [15:0] timeout_q;
    logic ack_q;

    logic [15:0] crc;
    logic control, static_ok, good, error, retryable, retry, sequence_ends, req_seen, ack_seen;
    logic [3:0] llctrl;
    logic [7:0] kind;

    cxl68_crc16 checksum (.slots_i(flit_i[511:0]), .crc_o(crc));

    // Outside NORMAL nobody knows where a run of data ends; five Frames are more than any run can look like.
    assign control = flit_i[0] && !(all_data_i && state_q == NORMAL);
    assign llctrl = flit_i[35:32];
    assign kind = {flit_i[39:36], llctrl};
    // CTL_FMT is 1 for IDE alone, which has payload where the others have zeros.
    assign static_ok = llctrl == 4'h2 ? flit_i[7:5] == 3'd1 : flit_i[7:5] == 3'd0 && flit_i[63:40] == 0;
    assign error = valid_i && (bad_i || crc != flit_i[527:512] || (control && !static_ok));
    assign good = valid_i && !error;
    assign retry = control && llctrl == 4'h1;
    assign retryable = good && !retry;
    assign sequence_ends = good && retry && frames_q == 3'd5;
    assign req_seen = sequence_ends && kind == RETRY_REQ;
    assign ack_seen = sequence_ends && kind == RETRY_ACK;

    assign good_o = good;
    assign accept_o = retryable && state_q == NORMAL && !training_i;
    // Full_Ack has its bit 3 in the place of Ak; an Ak of another flit stands for 8.
    assign freed_o = !accept_o || all_data_i ? 8'd0
        : !control ? {4'd0, flit_i[2], 3'd0}
        : kind == LLCRD ? {flit_i[71:68], flit_i[2], flit_i[66:64]} : 8'd0;
    assign num_ack_o = num_ack_q;
    assign req_o = state_q == LLRREQ && 32'(num_retry_q) < MAX_NUM_RETRY;
    assign eseq_o = eseq_q;
    assign num_retry_o = num_retry_q;
    assign num_reinit_o = num_reinit_q;
    assign ack_o = ack_q;
    assign ack_eseq_o = ack_eseq_q;
    assign ack_num_retry_o = ack_num_retry_q;
    assign retrain_o = state_q == PHY_REINIT && asked_q;
    assign failed_o = state_q == ABORT;
    assign unexpected_o = ack_seen && state_q == NORMAL;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            state_q <= NORMAL;
            asked_q <= 1'b0;
            frames_q <= '0;
            eseq_q <= '0;
            num_ack_q <= '0;
            num_retry_q <= '0;
            num_reinit_q <= '0;
            echo_q <= '0;
            timeout_q <= '0;
            ack_q <= 1'b0;
            ack_eseq_q <= '0;
            ack_num_retry_q <= '0;
        end else begin
            if (valid_i)
                frames_q <= !(good && retry && kind == RETRY_FRAME) ? 3'd0 : frames_q == 3'd5 ? 3'd5 : frames_q + 3'd1;
            num_ack_q <= num_ack_q + 9'(accept_o) - returned_i;

            // The remote machine: a Req that comes while an Ack is under way is answered by another one.
            if (training_i || state_q == PHY_REINIT || state_q == ABORT) ack_q <= 1'b0;
            else if (req_seen) begin
                ack_q <= 1'b1;
                ack_eseq_q <= flit_i[71:64];
                ack_num_retry_q <= flit_i[84:80];
            end else if (ack_begun_i) ack_q <= 1'b0;

            // The local machine.
            case (state_q)
                NORMAL: begin
                    if (training_i) state_q <= PHY_REINIT;
                    else if (error) state_q <= LLRREQ;
                    if (accept_o) begin
                        eseq_q <= eseq_q == wrap_i ? 8'd0 : eseq_q + 8'd1;
                        num_retry_q <= '0;
                        num_reinit_q <= '0;
                    end
                end
                LLRREQ: begin
                    if (training_i) state_q <= PHY_REINIT;
                    else if (32'(num_retry_q) >= MAX_NUM_RETRY) begin
                        if (32'(num_reinit_q) >= MAX_NUM_PHY_REINIT) state_q <= ABORT;
                        else begin
                            state_q <= PHY_REINIT;
                            asked_q <= 1'b1;
                            num_reinit_q <= num_reinit_q + 5'd1;
                        end
                    end else if (req_sent_i) begin
                        state_q <= IDLE;
                        echo_q <= num_retry_q;
                        num_retry_q <= num_retry_q + 5'd1;
                        timeout_q <= '0;
                    end
                end
                IDLE: begin
                    if (sent_i) timeout_q <= timeout_q + 16'd1;
                    if (training_i) state_q <= PHY_REINIT;
                    else if (32'(timeout_q) >= TIMEOUT) state_q <= LLRREQ;
                    else if (ack_seen && flit_i[71:67] == echo_q) begin
                        state_q <= NORMAL;
                        // Nothing to resend, so no flit will come that does this.
                        if (flit_i[64]) begin
                            num_retry_q <= '0;
                            num_reinit_q <= '0;
                        end
                    end
                end
                PHY_REINIT: begin
                    if (training_i) asked_q <= 1'b0;
                    else if (!asked_q) begin
                        state_q <= LLRREQ;
                        num_retry_q <= '0;
                    end
                end
                default: state_q <= ABORT;
            endcase
        end
    end
endmodule
