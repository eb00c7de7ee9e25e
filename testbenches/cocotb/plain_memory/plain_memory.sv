// A CXL.mem memory whose interface hands over protocol flits of 68 bytes and has no link layer (cxl-68b §1 to §3, §5): valid and ready, no
// initialisation, credits, acknowledgements or replays. The device of test_plain_memory.
//
// Modelled: M2S Req and M2S RwD in any slot, a memory of LINES lines of the kind HDM-H that wraps around, S2M DRS and S2M NDR in slot 0.
// Left out: CXL.cache, poison, metadata, a check of the CRC that comes.
//
// A walk through one read: the unpacker finds the request, which waits in `request_*`; in its turn the line goes to `drs_*`; the next flit has
// its header in slot 0 and three chunks behind it, the fourth follows in the flit behind.
//
// `bug` is 0, or the number of a seeded bug, from `+bug=N` on the command line of the simulator.
module plain_memory #(
    parameter LINES = 64
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         s_flit_valid,
    output logic         s_flit_ready,
    input  logic [543:0] s_flit_data,
    output logic         m_flit_valid,
    input  logic         m_flit_ready,
    output logic [543:0] m_flit_data
);
    localparam int DEPTH = 64, AW = $clog2(LINES);
    localparam logic [2:0] REQ = 3'd4, RWD = 3'd5; // classes of the unpacker
    // The seeded bugs.
    localparam int TAG_WRONG = 1, CHUNKS_SWAPPED = 2, ANSWER_LOST = 3, CRC_WRONG = 4, DATA_LEFT = 5;
    int bug;
    initial if (!$value$plusargs("bug=%d", bug)) bug = 0;

    wire takes = s_flit_valid && s_flit_ready;
    wire [3:0] chunk, enables;
    wire [59:0] class_of;
    wire [20*87-1:0] message;
    cxl68_unpacker #(.UP(0)) unpacker (
        .clk_i, .rst_ni, .valid_i(takes), .slots_i(s_flit_data[527:16]), .all_data_o(), .control_o(), .chunk_o(chunk),
        .enables_o(enables), .class_o(class_of), .message_o(message), .owed_o(), .error_o());

    // Requests in their order. Numbers go on without end; their low bits are places.
    logic [86:0]  request [DEPTH];
    logic         request_writes [DEPTH];
    logic [511:0] request_line [DEPTH];
    logic [63:0]  request_enables [DEPTH];
    logic [2:0]   request_chunks [DEPTH];  // that have come
    logic [2:0]   request_needs [DEPTH];
    int           request_first, request_end, filling;
    assign s_flit_ready = request_end - request_first < DEPTH - 8;

    // Answers.
    logic [15:0]  drs_tag [DEPTH], ndr_tag [DEPTH];
    logic [511:0] drs_line [DEPTH];
    int           drs_first, drs_end, ndr_first, ndr_end;
    logic [511:0] memory [LINES];
    logic [127:0] owed [8];
    int           owed_count, writes, flits;

    function automatic logic is_partial(input logic [86:0] bits);
        is_partial = bits[4:1] == 4'd2; // MemWrPtl
    endfunction

    // The next flit, if there is anything to send.
    logic [511:0] slots;
    wire [15:0] crc;
    cxl68_crc16 check (.slots_i(slots), .crc_o(crc));
    logic has_flit;
    assign m_flit_data = {bug == CRC_WRONG && flits % 16 == 15 ? ~crc : crc, slots, 16'h5555};
    assign m_flit_valid = has_flit;

    int at, write_at, place;
    logic [511:0] line, mask;
    always @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            request_first = 0; request_end = 0; filling = 0;
            drs_first = 0; drs_end = 0; ndr_first = 0; ndr_end = 0;
            owed_count = 0; writes = 0; flits = 0;
            has_flit <= 1'b0;
            slots <= '0;
            for (int n = 0; n < LINES; n++) memory[n] = '0;
        end else begin
            // ---- what comes
            if (takes)
                for (int s = 0; s < 4; s++)
                    if (chunk[s]) begin
                        // Data is of the oldest write that is not whole.
                        while (!request_writes[filling % DEPTH] || request_chunks[filling % DEPTH] == request_needs[filling % DEPTH])
                            filling = filling + 1;
                        at = filling % DEPTH;
                        if (enables[s]) request_enables[at] = s_flit_data[16 + 128*s +: 64];
                        else request_line[at][128*request_chunks[at] +: 128] = s_flit_data[16 + 128*s +: 128];
                        request_chunks[at] = request_chunks[at] + 3'd1;
                    end else
                        for (int p = 5*s; p < 5*s + 5; p++)
                            if (class_of[3*p +: 3] == REQ || class_of[3*p +: 3] == RWD) begin
                                at = request_end % DEPTH;
                                request[at] = message[87*p +: 87];
                                request_writes[at] = class_of[3*p +: 3] == RWD;
                                request_chunks[at] = 3'd0;
                                request_needs[at] = is_partial(request[at]) ? 3'd5 : 3'd4;
                                request_enables[at] = '1;
                                request_end = request_end + 1;
                            end
            // ---- the oldest request, once it is whole
            at = request_first % DEPTH;
            if (request_first != request_end && drs_end - drs_first < DEPTH && ndr_end - ndr_first < DEPTH
                && (!request_writes[at] || request_chunks[at] == request_needs[at])) begin
                if (request_writes[at]) begin
                    place = request[at][28 +: AW]; // address bits 51:6
                    for (int n = 0; n < 64; n++) mask[8*n +: 8] = {8{request_enables[at][n]}};
                    memory[place] = (memory[place] & ~mask) | (request_line[at] & mask);
                    writes = writes + 1;
                end
                if (request_writes[at] || request[at][4:1] == 4'd0) begin // a write or MemInv
                    ndr_tag[ndr_end % DEPTH] = request[at][27:12];
                    if (!(bug == ANSWER_LOST && writes % 8 == 7)) ndr_end = ndr_end + 1;
                end else begin
                    place = request[at][29 +: AW]; // address bits 51:5
                    drs_tag[drs_end % DEPTH] = request[at][27:12];
                    line = memory[place];
                    if (bug == CHUNKS_SWAPPED) line = {line[511:384], line[255:128], line[383:256], line[127:0]};
                    drs_line[drs_end % DEPTH] = line;
                    drs_end = drs_end + 1;
                end
                request_first = request_first + 1;
                if (filling < request_first) filling = request_first;
            end
            // ---- what is sent
            if (!has_flit || m_flit_ready) begin
                flits = flits + int'(has_flit);
                line = '0;
                if (owed_count > 3) begin
                    for (int n = 0; n < 4; n++) line[128*n +: 128] = owed[n];
                    for (int n = 0; n < 4; n++) owed[n] = owed[n + 4];
                    owed_count = owed_count - 4;
                    has_flit <= 1'b1;
                end else begin
                    has_flit <= owed_count != 0 || drs_first != drs_end || ndr_first != ndr_end;
                    line[7:5] = 3'd3; // slot 0 is H3: DRS, then NDR
                    if (drs_first != drs_end) begin
                        line[4] = 1'b1; // Sz: 64 bytes
                        line[32 +: 40] = {16'd0, drs_tag[drs_first % DEPTH] ^ (bug == TAG_WRONG ? 16'h100 : 16'h0), 8'b00_00_000_1};
                        for (int n = 0; n < 4; n++) owed[owed_count + n] = drs_line[drs_first % DEPTH][128*n +: 128];
                        owed_count = owed_count + 4;
                        drs_first = drs_first + 1;
                    end
                    if (ndr_first != ndr_end) begin
                        line[72 +: 30] = {6'd0, ndr_tag[ndr_first % DEPTH], 8'b00_00_000_1};
                        ndr_first = ndr_first + 1;
                    end
                    for (int s = 1; s < 4; s++)
                        if (owed_count != 0) begin
                            line[128*s +: 128] = owed[0];
                            for (int n = 0; n < 7; n++) owed[n] = owed[n + 1];
                            owed_count = owed_count - 1;
                        end
                    if (bug == DATA_LEFT && line[4] && owed_count != 0) owed_count = owed_count - 1;
                end
                slots <= line;
            end
        end
    end
endmodule
