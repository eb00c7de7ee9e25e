// A CXL.mem memory with a 68-byte flit link, in the style of another house: a flit takes four beats of 17 bytes, the reset is
// active low, ports are in capitals. It is the device of docs/guide/your-dut-in-30-minutes.md. Facts: cxl-68b, by section.
//
// Modelled: the whole link layer but for retraining (INIT.Param, credits, acknowledgements, the retry buffer, both retry machines), the
// packing of answers, and a memory of LINES lines of the kind HDM-H that wraps around. Left out: CXL.cache, all multi-data headers,
// metadata, poison, viral, link-down. Every slot of the host side is understood that carries M2S Req or M2S RwD.
//
// A walk through one read: four beats make a flit in `rx_flit`; in the next clock its CRC is checked, its slots are taken apart and
// the request goes into `req_*`. One clock later at the earliest the line is read and waits in `drs_*`. When the transmitter has sent
// the last beat of a flit, the next one is put together: the header goes to slot 0, the four chunks follow in the generic slots, the flit is
// kept in `llrb` until it is acknowledged and leaves in four beats.
//
// `bug` is 0, or the number of a seeded bug, from `+bug=N` on the command line of the simulator.
module cxl_mem_expander #(
    parameter LINES = 256,             // lines of 64 bytes, a power of two
    parameter REQUESTS = 8,            // M2S Req that fit, and credits for them; a power of two
    parameter WRITES = 4,              // the same of M2S RwD
    parameter ENTRIES = 32,            // retry buffer
    parameter TIMEOUT = 32             // flits sent without an answer to a RETRY.Req before the next one; 7.3 suggests 4096
) (
    input  wire         CLK,
    input  wire         RESETN,
    input  wire         RXVALID,
    output wire         RXREADY,
    input  wire [135:0] RXDATA,
    output reg          TXVALID,
    input  wire         TXREADY,
    output wire [135:0] TXDATA
);
    localparam AW = $clog2(LINES);
    localparam RW = $clog2(REQUESTS);
    localparam WW = $clog2(WRITES);
    localparam EW = $clog2(ENTRIES);

    // The seeded bugs.
    localparam TAG_SWAPPED    = 1;     // the two bytes of the tag change places in MemData
    localparam TAG_OF_NEXT    = 2;     // MemData takes the tag of the youngest read that waits
    localparam CHUNKS_SWAPPED = 3;     // chunks 1 and 2 of a line change places
    localparam SIZE_WRONG     = 4;     // Sz says 32 B, and 64 follow
    localparam READ_STALE     = 5;     // a write is visible 32 clocks behind its Cmp
    localparam ANSWER_LOST    = 6;     // no Cmp for every 8th write
    localparam ANSWER_DOUBLED = 7;     // two Cmp for MemWrPtl
    localparam OPCODE_WRONG   = 8;     // Cmp-E for a write
    localparam CREDITS_LOST   = 9;     // MemWrPtl does not return its credit
    localparam ACKS_LOST      = 10;    // flits of the host are never acknowledged
    localparam CRC_EARLY      = 11;    // the CRC is computed before Ak is put in
    localparam REPLAY_OFF     = 12;    // a replay starts one flit late
    reg [31:0] bug;
    initial if (!$value$plusargs("bug=%d", bug)) bug = 0;

    // ---- checks (1.6): bit 511 first, so that every bit of the CRC is the parity of the bits of a constant mask
    function automatic [511:0] crc_mask(input integer n);
        reg [15:0] r;
        integer i;
        begin
            r = 16'hF053;
            for (i = 0; i < 512; i = i + 1) begin
                crc_mask[i] = r[n];
                r = {r[14:0], 1'b0} ^ (r[15] ? 16'hF053 : 16'h0000);
            end
        end
    endfunction
    wire [15:0] rx_crc, tx_crc;
    reg  [543:0] rx_flit;
    reg  [511:0] tx_slots, tx_covered;
    genvar g;
    generate
        for (g = 0; g < 16; g = g + 1) begin : gen_crc
            localparam [511:0] MASK = crc_mask(g);
            assign rx_crc[g] = ^(rx_flit[527:16] & MASK);
            assign tx_crc[g] = ^(tx_covered & MASK);
        end
    endgenerate

    // Credits: the largest power of two that is not above what waits (5.4), as code and as number.
    function automatic [3:0] credit_code(input [7:0] waiting);
        credit_code = waiting >= 16 ? 4'd13 : waiting >= 8 ? 4'd12 : waiting >= 4 ? 4'd11 : waiting >= 2 ? 4'd10
            : waiting == 1 ? 4'd9 : 4'd0;
    endfunction
    function automatic [7:0] credit_count(input [3:0] code);
        credit_count = !code[3] || code[2:0] == 0 ? 8'd0 : 8'd1 << (code[2:0] - 3'd1);
    endfunction

    // ---- receiver: beats to flits
    reg [1:0] rx_beat;
    reg rx_whole;
    assign RXREADY = RESETN;
    always @(posedge CLK or negedge RESETN) begin
        if (!RESETN) begin
            rx_beat <= 0;
            rx_whole <= 0;
        end else begin
            rx_whole <= RXVALID && rx_beat == 3;
            if (RXVALID) begin
                rx_flit <= {RXDATA, rx_flit[543:136]};
                rx_beat <= rx_beat + 2'd1;
            end
        end
    end

    // ---- receiver: what kind of flit it is (6.2)
    localparam [7:0] LLCRD = 8'h10, RETRY_IDLE = 8'h01, RETRY_REQ = 8'h11, RETRY_ACK = 8'h21, RETRY_FRAME = 8'h31, INIT = 8'h8C;
    localparam [1:0] NORMAL = 0, ASK = 1, WAIT = 2;
    reg [1:0] lrsm;
    reg [2:0] frames;
    reg [4:0] rx_owed;                 // chunks that are owed by the host, byte enables included
    wire [511:0] slots = rx_flit[527:16];
    wire [7:0] kind = slots[39:32];
    wire all_data = rx_owed > 3;
    wire control = slots[0] && !(all_data && lrsm == NORMAL);
    // Protocol ID (1.2): one good byte is enough; of the others only NULL and ARB/MUX come here, which this device never gets.
    function automatic is_id(input [7:0] code);
        is_id = code == 8'hFF || code == 8'hD2 || code == 8'h55 || code == 8'h87 || code == 8'h99 || code == 8'h4B || code == 8'hCC
            || code == 8'h1E;
    endfunction
    wire [7:0] id = is_id(rx_flit[7:0]) ? rx_flit[7:0] : rx_flit[15:8];
    wire id_good = (id == 8'h55 || id == 8'h87) && !(is_id(rx_flit[15:8]) && rx_flit[15:8] != id);
    wire is_good = id_good && rx_crc == rx_flit[543:528]
        && !(control && kind[3:0] != 4'h2 && (slots[63:40] != 0 || slots[7:5] != 0));
    wire is_retry = control && kind[3:0] == 4'h1;
    wire good = rx_whole && is_good;
    wire bad = rx_whole && !is_good;
    wire accept = good && !is_retry && lrsm == NORMAL;
    wire sequence_end = good && is_retry && frames == 5;
    wire hears_req = sequence_end && kind == RETRY_REQ;
    wire hears_ack = sequence_end && kind == RETRY_ACK;

    // ---- receiver: slots to messages and data (3.2, 5.2)
    reg [86:0] new_req [0:1];
    reg [1:0] new_reqs;
    reg [86:0] new_rwd;
    reg new_write;
    reg [127:0] new_chunk [0:3];
    reg [2:0] new_chunks;
    reg [4:0] owed_then;
    integer s;
    reg [127:0] slot;
    reg [2:0] format;
    always @* begin
        new_reqs = 0;
        new_write = 0;
        new_chunks = 0;
        new_req[0] = 0;
        new_req[1] = 0;
        new_rwd = 0;
        owed_then = rx_owed;
        slot = 0;
        format = 0;
        for (s = 0; s < 4; s = s + 1) new_chunk[s] = 0;
        if (accept && !control) for (s = 0; s < 4; s = s + 1) begin
            slot = slots[128*s +: 128];
            format = slots[5+3*s +: 3];
            if (all_data || (s > 0 && owed_then != 0)) begin
                new_chunk[new_chunks[1:0]] = slot;
                new_chunks = new_chunks + 3'd1;
                owed_then = owed_then - 5'd1;
            end else if (s == 0 ? format == 5 && slot[32] : format == 4 && slot[0]) begin
                new_req[new_reqs[0]] = s == 0 ? slot[118:32] : slot[86:0];
                new_reqs = new_reqs + 2'd1;
            end else if (s == 0 ? format == 4 && slot[32] : format == 5 && slot[0]) begin
                new_rwd = s == 0 ? slot[118:32] : slot[86:0];
                new_write = 1;
                owed_then = owed_then + (slots[3] ? 5'd5 : 5'd4);
            end
        end
    end

    // ---- requests that wait: reads as messages, writes as messages with their line and byte enables
    reg [86:0] req_q [0:REQUESTS-1];
    reg [86:0] rwd_q [0:WRITES-1];
    reg [WRITES-1:0] rwd_enables_q;    // byte enables follow the line
    reg [639:0] line_q [0:WRITES-1];   // five chunks
    reg [RW:0] req_in, req_out;
    reg [WW:0] rwd_in, rwd_out, line_in;
    reg [2:0] line_chunks;             // of the line that comes in
    wire [86:0] req = req_q[req_out[RW-1:0]];
    // Neighbours have names, so that they wrap around in every simulator.
    wire [RW-1:0] req_here = req_in[RW-1:0], req_behind = req_in[RW-1:0] + 1'b1, req_before = req_in[RW-1:0] - 1'b1;
    wire [86:0] youngest = req_q[req_before];
    wire [86:0] rwd = rwd_q[rwd_out[WW-1:0]];
    wire [639:0] line = line_q[rwd_out[WW-1:0]];

    // ---- answers that wait
    reg [29:0] ndr_q [0:15];
    reg [39:0] drs_q [0:15];
    reg [511:0] data_q [0:15];
    reg [4:0] ndr_in, ndr_out, drs_in, drs_out;
    wire [3:0] ndr_behind = ndr_in[3:0] + 4'd1;
    wire ndr_room = ndr_in - ndr_out < 5'd14;
    wire drs_room = drs_in - drs_out < 5'd14;

    // ---- the memory, with a write that is late where that is a bug
    reg [511:0] memory [0:LINES-1];
    reg [511:0] late_line;
    reg [AW-1:0] late_address;
    reg [6:0] late_clocks;
    integer n;
    initial for (n = 0; n < LINES; n = n + 1) memory[n] = 0;
    wire [AW-1:0] req_address = req[29 +: AW];
    wire [AW-1:0] rwd_address = rwd[28 +: AW];
    wire partial = rwd[4:1] == 4'd2;
    reg [511:0] written;
    always @* begin
        written = memory[rwd_address];
        for (n = 0; n < 64; n = n + 1)
            if (!partial || line[512+n]) written[8*n +: 8] = line[8*n +: 8];
    end
    function automatic [511:0] swapped(input [511:0] of_line);
        swapped = {of_line[511:384], of_line[255:128], of_line[383:256], of_line[127:0]};
    endfunction

    wire serve_write = rwd_out != line_in && ndr_room && late_clocks == 0;
    wire serve_read = !serve_write && req_in != req_out && ndr_room && drs_room;
    wire reads = req[4:1] == 4'd1 || req[4:1] == 4'd2;              // MemRd, MemRdData
    wire invalidates = req[4:1] == 4'd0 || req[4:1] == 4'd9;        // MemInv, MemInvNT
    wire [15:0] req_tag = req[27:12];
    reg [2:0] writes_served;

    // S2M NDR and DRS (2.3, 2.4). MetaField is No-Op.
    function automatic [29:0] ndr(input [2:0] opcode, input [15:0] tag, input [3:0] ld);
        ndr = {2'd0, ld, tag, 2'd0, 2'd3, opcode, 1'b1};
    endfunction
    function automatic [39:0] drs(input [15:0] tag, input [3:0] ld);
        drs = {11'd0, ld, 1'b0, tag, 2'd0, 2'd3, 3'd0, 1'b1};
    endfunction

    // ---- transmitter: which flit is next (7.2, 7.4)
    reg [511:0] llrb [0:ENTRIES-1];
    reg [7:0] wr, rd, free, eseq, wrap, ack_eseq;
    reg [8:0] num_ack;
    reg [4:0] num_retry, echo, ack_echo;
    reg [15:0] timeout;
    reg ack_waits, heard, init_sent, init_heard;
    reg [2:0] sequence_at;             // Frames that have left; 0: no sequence is under way
    reg sequence_is_ack;
    reg [9:0] ndr_credits, drs_credits;
    reg [7:0] req_return, rwd_return;  // credits that wait to be returned
    reg [5:0] quiet;                   // chances to send an acknowledgement that were not taken
    reg [895:0] tx_chunks;
    reg [2:0] tx_owed;
    reg [1:0] tx_beat;
    reg [543:0] tx_flit;

    function automatic [511:0] control_flit(input [7:0] of_kind, input [63:0] payload);
        control_flit = {384'd0, payload, 24'd0, of_kind, 32'h1};
    endfunction
    function automatic [7:0] after(input [7:0] pointer);
        after = pointer == ENTRIES - 1 ? 8'd0 : pointer + 8'd1;
    endfunction

    wire has_ndr = ndr_in != ndr_out && ndr_credits != 0;
    wire has_drs = drs_in != drs_out && drs_credits != 0 && tx_owed < 3;
    wire returns_credits = req_return != 0 || rwd_return != 0;
    wire [8:0] acks = bug == ACKS_LOST ? 9'd0 : num_ack;
    wire forced = returns_credits || acks >= 16 || (acks > 1 && quiet[5]);
    wire next = !TXVALID || (TXREADY && tx_beat == 3);
    wire replays = rd != wr;
    reg leaves, leaves_ndr, leaves_drs, leaves_init, leaves_sequence, stores;
    reg [8:0] leaving_acks;
    reg [3:0] req_code, rwd_code;
    reg [2:0] owed_next, k;
    reg [895:0] chunks_next;
    always @* begin
        leaves = 1;
        leaves_ndr = 0;
        leaves_drs = 0;
        leaves_init = 0;
        leaves_sequence = 0;
        stores = 0;
        leaving_acks = 0;
        req_code = credit_code(req_return);
        rwd_code = credit_code(rwd_return);
        owed_next = tx_owed;
        chunks_next = tx_chunks;
        tx_slots = 0;
        k = 0;
        if (sequence_at != 0 || ack_waits || lrsm == ASK) begin
            leaves_sequence = 1;
            if (sequence_at != 5) tx_slots = control_flit(RETRY_FRAME, 0);
            else if (sequence_is_ack)
                tx_slots = control_flit(RETRY_ACK, {32'd0, free, ack_eseq, wr, ack_echo, 2'd0, ack_eseq == wr});
            else tx_slots = control_flit(RETRY_REQ, {43'd0, num_retry, 8'd0, eseq});
        end else if (replays) tx_slots = llrb[rd[EW-1:0]];
        else if (heard && !init_sent) begin
            tx_slots = control_flit(INIT, {32'd0, 8'(ENTRIES - 1), 24'd2});
            leaves_init = 1;
            stores = 1;
        end else if (init_heard && free > 2 && (has_ndr || has_drs || tx_owed != 0)) begin
            // Slot 0 is H3: MemData, then Cmp. Chunks follow in slots 1 to 3; there are never more than three left over.
            tx_slots[7:5] = 3;
            stores = 1;
            leaves_ndr = has_ndr;
            if (has_ndr) tx_slots[101:72] = ndr_q[ndr_out[3:0]];
            if (has_drs) begin
                leaves_drs = 1;
                tx_slots[71:32] = drs_q[drs_out[3:0]];
                tx_slots[4] = bug != SIZE_WRONG;
                chunks_next = chunks_next | {384'd0, data_q[drs_out[3:0]]} << {tx_owed, 7'd0};
                owed_next = tx_owed + 3'd4;
            end
            for (k = 1; k < 4; k = k + 3'd1) if (owed_next != 0) begin
                tx_slots[128*k +: 128] = chunks_next[127:0];
                chunks_next = chunks_next >> 128;
                owed_next = owed_next - 3'd1;
            end
            tx_slots[27:24] = req_code;
            tx_slots[31:28] = rwd_code;
            tx_slots[2] = acks >= 8;
            leaving_acks = acks >= 8 ? 9'd8 : 9'd0;
        end else if (init_heard && forced && (free > 2 || (free == 2 && acks != 0))) begin
            leaving_acks = acks > 255 ? 9'd255 : acks;
            tx_slots = control_flit(LLCRD, {56'd0, leaving_acks[7:4], 1'b0, leaving_acks[2:0]});
            tx_slots[2] = leaving_acks[3];
            tx_slots[27:24] = req_code;
            tx_slots[31:28] = rwd_code;
            stores = 1;
        end else begin
            // RETRY.Idle, where the host has to hear something.
            tx_slots = control_flit(RETRY_IDLE, 0);
            leaves = !init_heard || lrsm != NORMAL;
        end
        tx_covered = tx_slots;
        if (bug == CRC_EARLY && !tx_slots[0]) tx_covered[2] = 0;
    end
    assign TXDATA = tx_flit[135:0];

    // ---- everything that moves
    integer c;
    reg [2:0] chunks_now;
    reg [WW:0] line_now;
    always @(posedge CLK or negedge RESETN) begin
        if (!RESETN) begin
            lrsm <= NORMAL;
            frames <= 0;
            rx_owed <= 0;
            req_in <= 0;
            req_out <= 0;
            rwd_in <= 0;
            rwd_out <= 0;
            rwd_enables_q <= 0;
            line_in <= 0;
            line_chunks <= 0;
            ndr_in <= 0;
            ndr_out <= 0;
            drs_in <= 0;
            drs_out <= 0;
            late_clocks <= 0;
            writes_served <= 0;
            wr <= 0;
            rd <= 0;
            free <= ENTRIES;
            eseq <= 0;
            wrap <= 9;                 // until the INIT.Param of the host (6.4)
            ack_eseq <= 0;
            num_ack <= 0;
            num_retry <= 0;
            echo <= 0;
            ack_echo <= 0;
            timeout <= 0;
            ack_waits <= 0;
            heard <= 0;
            init_sent <= 0;
            init_heard <= 0;
            sequence_at <= 0;
            sequence_is_ack <= 0;
            ndr_credits <= 0;
            drs_credits <= 0;
            req_return <= REQUESTS;
            rwd_return <= WRITES;
            quiet <= 0;
            tx_chunks <= 0;
            tx_owed <= 0;
            tx_beat <= 0;
            TXVALID <= 0;
        end else begin
            // Local retry machine (7.3).
            if (rx_whole) frames <= !(good && is_retry && kind == RETRY_FRAME) ? 3'd0 : frames == 5 ? 3'd5 : frames + 3'd1;
            if (good) heard <= 1;
            if (lrsm == NORMAL && bad) lrsm <= ASK;
            if (lrsm == WAIT) begin
                if (hears_ack && slots[71:67] == echo) begin
                    lrsm <= NORMAL;
                    if (slots[64]) num_retry <= 0;
                end else if (timeout == TIMEOUT) lrsm <= ASK;
            end
            if (accept) begin
                eseq <= eseq == wrap ? 8'd0 : eseq + 8'd1;
                num_retry <= 0;
                rx_owed <= owed_then;
                if (control && kind == INIT) begin
                    init_heard <= 1;
                    wrap <= slots[95:88];
                end
            end
            num_ack <= num_ack + accept - (next && stores ? leaving_acks : 9'd0);
            free <= free - (next && stores)
                + (!accept || all_data ? 8'd0 : !control ? {4'd0, slots[2], 3'd0}
                    : kind == LLCRD ? {slots[71:68], slots[2], slots[66:64]} : 8'd0);
            // Remote retry machine (7.4).
            if (hears_req) begin
                ack_waits <= 1;
                ack_eseq <= slots[71:64];
                ack_echo <= slots[84:80];
            end else if (next && leaves_sequence && sequence_at == 0 && ack_waits) ack_waits <= 0;

            // Credits of the host, saturating; ours for requests that have been served.
            if (accept && !all_data && (!control || kind == LLCRD)) begin
                ndr_credits <= ndr_credits + 10'(credit_count(slots[23:20])) - (next && leaves_ndr);
                drs_credits <= drs_credits + 10'(credit_count(slots[31:28])) - (next && leaves_drs);
                if (ndr_credits > 900) ndr_credits <= 900;
                if (drs_credits > 900) drs_credits <= 900;
            end else if (next) begin
                ndr_credits <= ndr_credits - leaves_ndr;
                drs_credits <= drs_credits - leaves_drs;
            end
            req_return <= req_return + serve_read - (next && stores && !leaves_init ? credit_count(req_code) : 8'd0);
            rwd_return <= rwd_return + (serve_write && !(bug == CREDITS_LOST && partial))
                - (next && stores && !leaves_init ? credit_count(rwd_code) : 8'd0);

            // Requests come in.
            if (new_reqs != 0) req_q[req_here] <= new_req[0];
            if (new_reqs == 2) req_q[req_behind] <= new_req[1];
            req_in <= req_in + (RW + 1)'(new_reqs);
            chunks_now = line_chunks;
            line_now = line_in;
            for (c = 0; c < 4; c = c + 1) if (c < new_chunks) begin
                line_q[line_now[WW-1:0]][128*chunks_now +: 128] <= new_chunk[c];
                chunks_now = chunks_now + 3'd1;
                if (chunks_now == (rwd_enables_q[line_now[WW-1:0]] ? 3'd5 : 3'd4)) begin
                    chunks_now = 0;
                    line_now = line_now + 1'b1;
                end
            end
            if (new_write) begin
                rwd_q[rwd_in[WW-1:0]] <= new_rwd;
                rwd_enables_q[rwd_in[WW-1:0]] <= slots[3];
                rwd_in <= rwd_in + 1'b1;
            end
            line_chunks <= chunks_now;
            line_in <= line_now;

            // Requests are served, one a clock, writes first.
            if (late_clocks != 0) begin
                late_clocks <= late_clocks - 7'd1;
                if (late_clocks == 1) memory[late_address] <= late_line;
            end
            if (serve_write) begin
                rwd_out <= rwd_out + 1'b1;
                writes_served <= writes_served + 3'd1;
                if (bug == READ_STALE) begin
                    late_line <= written;
                    late_address <= rwd_address;
                    late_clocks <= 32;
                end else memory[rwd_address] <= written;
                ndr_q[ndr_in[3:0]] <= ndr(bug == OPCODE_WRONG ? 3'd2 : 3'd0, rwd[27:12], rwd[80:77]);
                if (bug == ANSWER_DOUBLED && partial) begin
                    ndr_q[ndr_behind] <= ndr(3'd0, rwd[27:12], rwd[80:77]);
                    ndr_in <= ndr_in + 5'd2;
                end else if (!(bug == ANSWER_LOST && writes_served == 7)) ndr_in <= ndr_in + 5'd1;
            end
            if (serve_read) begin
                req_out <= req_out + 1'b1;
                if (reads) begin
                    drs_q[drs_in[3:0]] <= drs(bug == TAG_SWAPPED ? {req_tag[7:0], req_tag[15:8]}
                        : bug == TAG_OF_NEXT ? youngest[27:12] : req_tag, req[80:77]);
                    data_q[drs_in[3:0]] <= bug == CHUNKS_SWAPPED ? swapped(memory[req_address]) : memory[req_address];
                    drs_in <= drs_in + 5'd1;
                end
                if (invalidates) begin
                    ndr_q[ndr_in[3:0]] <= ndr(3'd0, req_tag, req[80:77]);
                    ndr_in <= ndr_in + 5'd1;
                end
            end

            // A flit leaves, or its next beat.
            if (next) begin
                TXVALID <= leaves;
                tx_beat <= 0;
                tx_flit <= {tx_crc, tx_slots, 16'h5555};
                quiet <= leaving_acks != 0 || acks < 2 ? 6'd0 : quiet[5] ? quiet : quiet + 6'd1;
                if (leaves && lrsm == WAIT) timeout <= timeout + 16'd1;
                if (leaves_ndr) ndr_out <= ndr_out + 5'd1;
                if (leaves_drs) drs_out <= drs_out + 5'd1;
                if (leaves_init) init_sent <= 1;
                if (stores) begin
                    llrb[wr[EW-1:0]] <= tx_slots;
                    wr <= after(wr);
                    rd <= after(wr);
                    tx_owed <= owed_next;
                    tx_chunks <= chunks_next;
                end
                if (leaves_sequence) begin
                    sequence_at <= sequence_at == 5 ? 3'd0 : sequence_at + 3'd1;
                    if (sequence_at == 0) sequence_is_ack <= ack_waits;
                    else if (sequence_at == 5 && sequence_is_ack) rd <= bug == REPLAY_OFF && ack_eseq != wr ? after(ack_eseq) : ack_eseq;
                    else if (sequence_at == 5) begin
                        lrsm <= WAIT;
                        echo <= num_retry;
                        num_retry <= num_retry + 5'd1;
                        timeout <= 0;
                    end
                end else if (replays) rd <= after(rd);
            end else if (TXREADY) begin
                tx_beat <= tx_beat + 2'd1;
                tx_flit <= tx_flit >> 136;
            end
        end
    end
endmodule
