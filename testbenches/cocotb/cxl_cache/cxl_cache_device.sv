// A caching device of CXL.cache with a 68-byte flit link, one flit in a clock. For the tests of the calls of the Python package and of the checker of
// transactions. Facts: cxl-68b and coherence, by section.
//
// Modelled: four lines, direct-mapped by address bits 7:6, in the states I, S, E and M; one request at a time; every snoop, answered at once
// (coherence 2.3, 2.4); INIT.Param, credits, acknowledgements. Left out: retry (a flit with a wrong CRC stops the device), CXL.mem, requests
// but RdCurr, RdShared, RdOwn, RdOwnNoData and the evicts.
//
// A walk through one store: the core asks with `op_valid_i`, and the line is I. RdOwn goes out. GO-E comes: the line is M with the bytes of the store, for it
// replaces all of them; what the data that follows holds does not matter. `done_o` is high for a clock when both have come.
//
// `bug_i` is 0, or the number of a seeded bug.
module cxl_cache_device (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         rx_valid,
    output logic         rx_ready,
    input  logic [543:0] rx_data,
    output logic         tx_valid,
    input  logic         tx_ready,
    output logic [543:0] tx_data,
    // The core. A line is stored as a whole.
    input  logic         op_valid_i,
    input  logic [2:0]   op_i,
    input  logic [51:0]  op_address_i,
    input  logic [511:0] op_line_i,
    output logic         done_o,
    output logic [511:0] line_o,
    output logic [7:0]   states_o,  // two bits for each place
    output logic         stopped_o,
    input  logic [3:0]   bug_i
);
    localparam logic [2:0] LOAD = 1, STORE = 2, EVICT = 3, CURRENT = 4;
    localparam logic [1:0] I = 0, S = 1, E = 2, M = 3;
    localparam logic [11:0] CQID = 12'h123;

    // The seeded bugs.
    localparam logic [3:0] ASKS_TWICE = 1;    // each request goes out twice
    localparam logic [3:0] UQID_WRONG = 2;    // an answer to a snoop with another UQID
    localparam logic [3:0] HIT_FOR_FWD = 3;   // RspIHitSE to SnpInv of a dirty line, whose data goes all the same
    localparam logic [3:0] ANSWER_LOST = 4;   // no answer to a snoop
    localparam logic [3:0] ANSWER_TWICE = 5;  // two answers to a snoop
    localparam logic [3:0] NO_UPGRADE = 6;    // a store into a shared line asks nobody
    localparam logic [3:0] KEEPS_COPY = 7;    // RspSHitSE to SnpInv
    localparam logic [3:0] PULL_IGNORED = 8;  // the data of a pull does not come
    localparam logic [3:0] BOGUS_LOST = 9;    // Bogus is never set
    localparam logic [3:0] SILENT_DROP = 10;  // an evict of a dirty line is no message, and the next load asks again

    // ---- codes (coherence 1) and messages (cxl-68b 2.5 to 2.7)
    localparam logic [4:0] RD_CURR = 1, RD_OWN = 2, RD_SHARED = 3, RD_OWN_NO_DATA = 5, CLEAN_EVICT = 9, DIRTY_EVICT = 10, CLEAN_NO_DATA = 11;
    localparam logic [4:0] RSP_S_HIT_SE = 1, RSP_I_HIT_I = 4, RSP_I_HIT_SE = 5, RSP_V_HIT_V = 6, RSP_S_FWD_M = 7, RSP_I_FWD_M = 15, RSP_V_FWD_V = 22;
    localparam logic [2:0] SNP_DATA = 1, SNP_INV = 2, SNP_CUR = 3;
    localparam logic [3:0] GO = 4, GO_PULL = 5, GO_DROP = 8, GO_ERR_PULL = 15;
    function automatic logic [78:0] d2h_req(input logic [4:0] opcode, input logic [11:0] cqid, input logic [51:0] address);
        d2h_req = {7'd0, address[51:6], 7'd0, 1'b0, cqid, opcode, 1'b1};
    endfunction

    // Credits: the largest power of two that is not above what waits (cxl-68b 5.4), as code of CXL.cache and as number.
    function automatic logic [3:0] credit_code(input logic [7:0] waiting);
        credit_code = waiting >= 8 ? 4'd4 : waiting >= 4 ? 4'd3 : waiting >= 2 ? 4'd2 : {3'd0, waiting == 1};
    endfunction
    function automatic logic [7:0] credit_count(input logic [3:0] code);
        credit_count = code[3] || code == 0 ? 8'd0 : 8'd1 << (code[2:0] - 3'd1);
    endfunction

    // ---- receiver: one flit a clock
    wire [511:0] slots = rx_data[527:16];
    wire [15:0] rx_crc, tx_crc;
    logic [511:0] tx_slots;
    cxl68_crc16 crc_in (.slots_i(slots), .crc_o(rx_crc));
    cxl68_crc16 crc_out (.slots_i(tx_slots), .crc_o(tx_crc));
    localparam logic [7:0] LLCRD = 8'h10, RETRY_IDLE = 8'h01, INIT = 8'h8C;
    logic [4:0] rx_owed;
    wire all_data = rx_owed > 3;
    wire control = slots[0] && !all_data;
    wire [7:0] kind = slots[39:32];
    wire good = rx_valid && !stopped_o && rx_crc == rx_data[543:528];
    wire accept = good && !(control && kind[3:0] == 4'h1);
    assign rx_ready = rst_ni;

    // ---- receiver: slots to messages (cxl-68b 3.2)
    logic [63:0] new_snoop [2];
    logic [31:0] new_rsp;
    logic [2:0] snoops, rsps, headers;
    logic [127:0] new_chunk [4];
    logic [2:0] chunks;
    logic [4:0] owed_then;
    logic [127:0] slot;
    logic [2:0] form;
    always_comb begin
        snoops = 0;
        rsps = 0;
        headers = 0;
        chunks = 0;
        new_rsp = 0;
        new_snoop[0] = 0;
        new_snoop[1] = 0;
        owed_then = rx_owed;
        slot = 0;
        form = 0;
        for (int s = 0; s < 4; s++) new_chunk[s] = 0;
        if (accept && !control) for (int s = 0; s < 4; s++) begin
            slot = slots[128*s +: 128];
            form = slots[5+3*s +: 3];
            if (all_data || (s > 0 && owed_then != 0)) begin
                new_chunk[chunks[1:0]] = slot;
                chunks = chunks + 3'd1;
                owed_then = owed_then - 5'd1;
            end else begin
                if (s == 0 ? (form == 0 || form == 2) && slot[32] : form == 2 && slot[0]) begin
                    new_snoop[snoops[0]] = s == 0 ? slot[95:32] : slot[63:0];
                    snoops = snoops + 3'd1;
                end
                // Answers: at most one of them is for the one request that is open.
                if (s == 0 && form == 0 && slot[96]) begin new_rsp = slot[127:96]; rsps = rsps + 3'd1; end
                if (s == 0 && form == 1 && slot[56]) begin new_rsp = slot[87:56]; rsps = rsps + 3'd1; end
                if (s == 0 && form == 1 && slot[88]) begin new_rsp = slot[119:88]; rsps = rsps + 3'd1; end
                if (s > 0 && form == 1) for (int n = 0; n < 4; n++) if (slot[32*n]) begin
                    new_rsp = slot[32*n +: 32];
                    rsps = rsps + 3'd1;
                end
                if (s > 0 && (form == 2 || form == 5) && slot[88]) begin new_rsp = slot[119:88]; rsps = rsps + 3'd1; end
                if (s > 0 && form == 3 && slot[96]) begin new_rsp = slot[127:96]; rsps = rsps + 3'd1; end
                // Headers of a line.
                if (s == 0 ? (form == 1 && slot[32]) || (form == 2 && slot[96]) : (form == 2 && slot[64]) || (form == 4 && slot[88])) begin
                    headers = headers + 3'd1;
                    owed_then = owed_then + 5'd4;
                end
            end
        end
    end

    // ---- the cache
    logic [1:0] state [4];
    logic [51:6] tag [4];
    logic [511:0] line [4];
    always_comb for (int n = 0; n < 4; n++) states_o[2*n +: 2] = state[n];

    // ---- what waits to be sent
    logic [78:0] req;
    logic req_waits;
    logic [19:0] rsp_q [8];
    logic [2:0] rsp_in, rsp_out;
    logic [528:0] data_q [8];      // header, line
    logic [2:0] data_in, data_out;

    // ---- snoops that wait, one of which is answered a clock
    logic [63:0] snoop_q [8];
    logic [2:0] snoop_in, snoop_out;
    wire [63:0] snoop = snoop_q[snoop_out];
    wire snoops_wait = snoop_in != snoop_out;
    wire [2:0] snoop_kind = snoop[3:1];
    wire [51:6] snoop_line = snoop[49:4];
    wire [11:0] snoop_uqid = bug_i == UQID_WRONG ? snoop[61:50] ^ 12'h800 : snoop[61:50];
    wire [1:0] place = snoop_line[7:6];
    wire hit = state[place] != I && tag[place] == snoop_line;
    logic [4:0] answer;
    logic [1:0] left;
    always_comb begin
        left = state[place];
        if (!hit) answer = RSP_I_HIT_I;
        else if (snoop_kind == SNP_CUR) answer = state[place] == M ? RSP_V_FWD_V : RSP_V_HIT_V;
        else if (snoop_kind == SNP_DATA) begin
            answer = state[place] == M ? RSP_S_FWD_M : RSP_S_HIT_SE;
            left = S;
        end else begin
            answer = state[place] == M && bug_i != HIT_FOR_FWD ? RSP_I_FWD_M : bug_i == KEEPS_COPY ? RSP_S_HIT_SE : RSP_I_HIT_SE;
            left = bug_i == KEEPS_COPY ? S : I;
        end
    end

    // ---- the request that is open
    typedef enum logic [2:0] {IDLE, BEGINS, ASKED, ENDS} step_e;
    step_e step;
    logic [2:0] op;
    logic [51:6] op_line;
    logic [511:0] op_data;
    logic [4:0] opcode;
    logic waits_go, waits_data, bogus;
    logic [511:0] came;
    logic [1:0] came_chunks;
    logic again;
    wire [1:0] at = op_line[7:6];
    wire has = state[at] != I && tag[at] == op_line;
    wire [3:0] answer_code = new_rsp[4:1];
    wire [11:0] answer_data = new_rsp[16:5];
    wire answered = rsps != 0 && new_rsp[30:19] == CQID;

    // ---- link layer: what leaves next (cxl-68b 5, 6, 7.2)
    logic heard, init_sent, init_heard;
    logic [8:0] num_ack;
    logic [7:0] req_return, rsp_return, data_return;
    logic [9:0] req_credits, rsp_credits, data_credits;
    logic [7:0] free;
    logic [895:0] tx_chunks, chunks_next;
    logic [2:0] tx_owed, owed_next;
    logic [5:0] quiet;
    localparam int ENTRIES = 32;
    wire next = !tx_valid || tx_ready;
    wire has_req = req_waits && req_credits != 0;
    wire has_rsp = rsp_in != rsp_out && rsp_credits != 0;
    wire has_data = data_in != data_out && data_credits != 0 && tx_owed < 3;
    wire returns = req_return != 0 || rsp_return != 0 || data_return != 0;
    wire forced = returns || num_ack >= 16 || (num_ack > 1 && quiet[5]);
    logic leaves, leaves_req, leaves_rsp, leaves_data, leaves_init, stores;
    logic [8:0] acks;
    logic [3:0] req_code, rsp_code, data_code;
    function automatic logic [511:0] control_flit(input logic [7:0] of_kind, input logic [63:0] payload);
        control_flit = {384'd0, payload, 24'd0, of_kind, 32'h1};
    endfunction
    always_comb begin
        leaves = 1;
        {leaves_req, leaves_rsp, leaves_data, leaves_init, stores} = '0;
        acks = 0;
        req_code = credit_code(req_return);
        rsp_code = credit_code(rsp_return);
        data_code = credit_code(data_return);
        owed_next = tx_owed;
        chunks_next = tx_chunks;
        tx_slots = 0;
        if (heard && !init_sent) begin
            tx_slots = control_flit(INIT, {32'd0, 8'(ENTRIES - 1), 24'd2});
            leaves_init = 1;
            stores = 1;
        end else if (init_heard && free > 2 && (has_req || has_rsp || has_data || tx_owed != 0)) begin
            stores = 1;
            if (has_req) begin
                // H1: a request and, with it, nothing.
                tx_slots[7:5] = 1;
                tx_slots[110:32] = req;
                leaves_req = 1;
            end else begin
                // H0: a header of a line, and an answer.
                if (has_data) begin
                    leaves_data = 1;
                    tx_slots[48:32] = data_q[data_out][528:512];
                    tx_slots[4] = 1;
                    chunks_next = chunks_next | {384'd0, data_q[data_out][511:0]} << {tx_owed, 7'd0};
                    owed_next = tx_owed + 3'd4;
                end
                if (has_rsp) begin
                    leaves_rsp = 1;
                    tx_slots[68:49] = rsp_q[rsp_out];
                end
            end
            for (int k = 1; k < 4; k++) if (owed_next != 0) begin
                tx_slots[128*k +: 128] = chunks_next[127:0];
                chunks_next = chunks_next >> 128;
                owed_next = owed_next - 3'd1;
            end
            tx_slots[2] = num_ack >= 8;
            acks = num_ack >= 8 ? 9'd8 : 9'd0;
        end else if (init_heard && forced && free > 2) begin
            acks = num_ack > 255 ? 9'd255 : num_ack;
            tx_slots = control_flit(LLCRD, {56'd0, acks[7:4], 1'b0, acks[2:0]});
            tx_slots[2] = acks[3];
            stores = 1;
        end else begin
            tx_slots = control_flit(RETRY_IDLE, 0);
            leaves = !init_heard;
        end
        if (stores && !leaves_init) begin
            tx_slots[23:20] = rsp_code;
            tx_slots[27:24] = req_code;
            tx_slots[31:28] = data_code;
        end
    end

    // ---- everything that moves
    logic [7:0] snoops_done;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            for (int n = 0; n < 4; n++) begin
                state[n] <= I;
                line[n] <= 0;
            end
            line_o <= 0;
            {rx_owed, came_chunks, req_waits, rsp_in, rsp_out, data_in, data_out, snoop_in, snoop_out} <= '0;
            {heard, init_sent, init_heard, num_ack, quiet, tx_chunks, tx_owed, tx_valid, done_o, stopped_o} <= '0;
            {req_credits, rsp_credits, data_credits} <= '0;
            req_return <= 4;
            rsp_return <= 8;
            data_return <= 4;
            free <= ENTRIES;
            step <= IDLE;
            {waits_go, waits_data, bogus, again} <= '0;
        end else begin
            done_o <= 0;
            if (rx_valid && !good) stopped_o <= 1;
            if (good) heard <= 1;
            if (accept) begin
                rx_owed <= owed_then;
                if (control && kind == INIT) init_heard <= 1;
            end
            num_ack <= num_ack + 9'(accept) - (next && stores ? acks : 9'd0);
            free <= free - 8'(next && stores)
                + (!accept || all_data ? 8'd0 : !control ? {4'd0, slots[2], 3'd0}
                    : kind == LLCRD ? {slots[71:68], slots[2], slots[66:64]} : 8'd0);

            // Snoops come in, and one is answered.
            for (int n = 0; n < 2; n++) if (3'(n) < snoops) snoop_q[3'(snoop_in + 3'(n))] <= new_snoop[n];
            snoop_in <= snoop_in + snoops;
            if (snoops_wait) begin
                snoop_out <= snoop_out + 3'd1;
                if (bug_i != ANSWER_LOST) begin
                    rsp_q[rsp_in] <= {2'd0, snoop_uqid, answer, 1'b1};
                    if (bug_i == ANSWER_TWICE) rsp_q[3'(rsp_in + 3'd1)] <= {2'd0, snoop_uqid, answer, 1'b1};
                    rsp_in <= rsp_in + (bug_i == ANSWER_TWICE ? 3'd2 : 3'd1);
                end
                if (hit) begin
                    // Of a line that is being evicted the state is lowered, which its pull tells by Bogus.
                    if (left != state[place] && step == ASKED && place == at) bogus <= 1;
                    state[place] <= left;
                    if (state[place] == M) begin
                        data_q[data_in] <= {4'd0, snoop_uqid, 1'b1, line[place]};
                        data_in <= data_in + 3'd1;
                    end
                end
            end

            // The data of a read, chunk by chunk.
            for (int n = 0; n < 4; n++) if (3'(n) < chunks) came[128*(2'(came_chunks + 2'(n))) +: 128] <= new_chunk[n];
            came_chunks <= came_chunks + chunks[1:0];
            if (chunks != 0 && 3'(came_chunks) + chunks >= 4) waits_data <= 0;

            // The core's operation.
            case (step)
                IDLE: if (op_valid_i && !done_o) begin
                    op <= op_i;
                    op_line <= op_address_i[51:6];
                    op_data <= op_line_i;
                    step <= BEGINS;
                end
                // A snoop that is answered in this clock goes first.
                BEGINS: if (!snoops_wait) begin
                    bogus <= 0;
                    step <= ASKED;
                    waits_go <= 1;
                    waits_data <= 0;
                    req_waits <= 1;
                    again <= bug_i == ASKS_TWICE;
                    came_chunks <= 0;
                    if (has ? op == EVICT : state[at] != I && op != EVICT) begin
                        // The line that is here leaves first, or that is all.
                        opcode <= state[at] == M ? DIRTY_EVICT : state[at] == E ? CLEAN_EVICT : CLEAN_NO_DATA;
                        req <= d2h_req(state[at] == M ? DIRTY_EVICT : state[at] == E ? CLEAN_EVICT : CLEAN_NO_DATA, CQID, {tag[at], 6'd0});
                        if (bug_i == SILENT_DROP && state[at] == M) begin
                            req_waits <= 0;
                            waits_go <= 0;
                            state[at] <= I;
                        end
                    end else if (has && op == STORE && state[at] == S && bug_i != NO_UPGRADE) begin
                        opcode <= RD_OWN_NO_DATA;
                        req <= d2h_req(RD_OWN_NO_DATA, CQID, {op_line, 6'd0});
                    end else if (has || op == EVICT) begin
                        // Nothing is to be asked.
                        if (op == STORE) begin
                            line[at] <= op_data;
                            state[at] <= M;
                        end
                        line_o <= line[at];
                        req_waits <= 0;
                        waits_go <= 0;
                        step <= ENDS;
                    end else begin
                        opcode <= op == STORE ? RD_OWN : op == LOAD ? RD_SHARED : RD_CURR;
                        req <= d2h_req(op == STORE ? RD_OWN : op == LOAD ? RD_SHARED : RD_CURR, CQID, {op_line, 6'd0});
                        waits_go <= op != CURRENT;
                        waits_data <= 1;
                    end
                end
                ASKED: begin
                    if (answered) begin
                        waits_go <= 0;
                        case (opcode)
                            RD_OWN, RD_OWN_NO_DATA: if (answer_data[3:0] == 2 || answer_data[3:0] == 6) begin
                                line[at] <= op_data;
                                tag[at] <= op_line;
                                state[at] <= M;
                            end
                            RD_SHARED: if (answer_data[3:0] == 1) begin
                                tag[at] <= op_line;
                                state[at] <= S;
                            end
                            default: begin
                                if ((answer_code == GO_PULL || answer_code == GO_ERR_PULL) && bug_i != PULL_IGNORED) begin
                                    data_q[data_in] <= {2'd0, bogus && bug_i != BOGUS_LOST, 1'b0, answer_data, 1'b1, line[at]};
                                    data_in <= data_in + 3'd1;
                                end
                                state[at] <= I;
                            end
                        endcase
                    end else if (!waits_go && !waits_data && !req_waits) begin
                        if (opcode == RD_SHARED || opcode == RD_CURR) line_o <= came;
                        // A snoop may have taken the copy before its bytes came: they are used once.
                        if (opcode == RD_SHARED && state[at] != I) line[at] <= came;
                        if (opcode == RD_OWN || opcode == RD_OWN_NO_DATA) line_o <= op_data;
                        // Behind an evict that makes room the operation begins anew.
                        step <= opcode >= CLEAN_EVICT && op != EVICT ? BEGINS : ENDS;
                    end
                end
                default: begin
                    done_o <= 1;
                    step <= IDLE;
                end
            endcase

            // Credits of the host, and those that go back for what has been used.
            if (accept && !all_data && (!control || kind == LLCRD)) begin
                rsp_credits <= rsp_credits + 10'(credit_count(slots[23:20])) - 10'(next && leaves_rsp);
                req_credits <= req_credits + 10'(credit_count(slots[27:24])) - 10'(next && leaves_req);
                data_credits <= data_credits + 10'(credit_count(slots[31:28])) - 10'(next && leaves_data);
            end else if (next) begin
                rsp_credits <= rsp_credits - 10'(leaves_rsp);
                req_credits <= req_credits - 10'(leaves_req);
                data_credits <= data_credits - 10'(leaves_data);
            end
            req_return <= req_return + 8'(snoops_wait) - (next && stores && !leaves_init ? credit_count(req_code) : 8'd0);
            rsp_return <= rsp_return + 8'(rsps) - (next && stores && !leaves_init ? credit_count(rsp_code) : 8'd0);
            data_return <= data_return + 8'(headers) - (next && stores && !leaves_init ? credit_count(data_code) : 8'd0);

            // A flit leaves.
            if (next) begin
                tx_valid <= leaves && !stopped_o;
                tx_data <= {tx_crc, tx_slots, 16'h5555};
                quiet <= acks != 0 || num_ack < 2 ? 6'd0 : quiet[5] ? quiet : quiet + 6'd1;
                if (leaves_init) init_sent <= 1;
                if (leaves_req) begin
                    again <= 0;
                    req_waits <= again;
                end
                if (leaves_rsp) rsp_out <= rsp_out + 3'd1;
                if (leaves_data) data_out <= data_out + 3'd1;
                if (stores) begin
                    tx_owed <= owed_next;
                    tx_chunks <= chunks_next;
                end
            end
        end
    end
endmodule
