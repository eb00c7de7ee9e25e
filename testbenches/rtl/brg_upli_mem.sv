// Slice of a bridge: reads and writes of UALink to CXL.mem through one window of class MN, with a cache of conversions (bridge §2 to §4, §8,
// §9.7). One request at a time.
//
// A request comes whole: its field, the byte enables of its block, a beat for each line that it touches. Behind LOOKUP + CONVERT cycles, or
// TEMPLATE cycles if its conversion is kept, a message leaves for each line: MemRd, MemWr, MemWrPtl, or none if no byte is written. Answers
// come in any order, by tags 0 to 3; behind the last one the response leaves. Outside the window the status is 3, for commands other than
// Read, Write and WriteFull and for requests over the end of a block 2. Every source has all rights.
module brg_upli_mem #(
    parameter logic [56:0] BASE = 57'h1000_0000,
    parameter logic [56:0] SIZE = 57'h100_0000,
    parameter logic [51:0] OUT = 52'h4_0000_0000,
    parameter logic [9:0] OWN = 10'd7,
    parameter int TEMPLATES = 16,  // a power of two, 2 to 1024
    // Cycles: LOOKUP + CONVERT and TEMPLATE are 1 to 31.
    parameter int LOOKUP = 3,
    parameter int CONVERT = 8,
    parameter int TEMPLATE = 2
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    // Request of UALink.
    input  logic          req_valid_i,
    output logic          req_ready_o,
    input  logic [127:0]  req_i,
    input  logic [255:0]  enables_i,
    input  logic [2047:0] data_i,
    input  logic [3:0]    poison_i,
    // M2S Req in bits 99:0 of the header, or RwD.
    output logic          m2s_valid_o,
    input  logic          m2s_ready_i,
    output logic          m2s_rwd_o,
    output logic [103:0]  m2s_header_o,
    output logic [511:0]  m2s_data_o,
    output logic [63:0]   m2s_enables_o,
    // S2M NDR, or DRS; there is always room. Meta value, load and LD-ID mean nothing here.
    input  logic          s2m_valid_i,
    input  logic          s2m_drs_i,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [39:0]   s2m_header_i,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [511:0]  s2m_data_i,
    // Response of UALink.
    output logic          rsp_valid_o,
    input  logic          rsp_ready_i,
    output logic [63:0]   rsp_o,
    output logic [2047:0] rsp_data_o,
    output logic [3:0]    rsp_poison_o,
    // The conversion of the request was kept.
    output logic          template_hit_o
);
    localparam logic [5:0] READ = 6'h03, WRITE = 6'h28, WRITE_FULL = 6'h29, ATOMIC_R = 6'h30;
    localparam logic [3:0] MEM_RD = 4'd1, MEM_WR = 4'd1, MEM_WR_PTL = 4'd2;
    localparam logic [1:0] NO_OP = 2'd3, ANY = 2'd2;
    localparam logic [3:0] OKAY = 4'd0, TARGET_ABORT = 4'd2, DECODE_ERROR = 4'd3;
    localparam int INDEX_BITS = $clog2(TEMPLATES);
    localparam int KEY_BITS = 49 + 1 + 4 + 4;

    initial begin
        if (TEMPLATES < 2 || TEMPLATES > 1024 || 2 ** INDEX_BITS != TEMPLATES)
            $error("TEMPLATES: found %0d, expected a power of two, 2 to 1024", TEMPLATES);
        if (LOOKUP < 0 || CONVERT < 0 || LOOKUP + CONVERT < 1 || LOOKUP + CONVERT > 31)
            $error("LOOKUP + CONVERT: found %0d, expected 1 to 31 cycles", LOOKUP + CONVERT);
        if (TEMPLATE < 1 || TEMPLATE > 31) $error("TEMPLATE: found %0d, expected 1 to 31 cycles", TEMPLATE);
    end

    typedef enum logic [2:0] {IDLE, CONVERTS, SENDS, AWAITS, RESPONDS} state_e;
    state_e state_q;

    /* verilator lint_off UNUSEDSIGNAL */
    logic [127:0]  req_q;  // fields of the link, metadata and attributes mean nothing here
    /* verilator lint_on UNUSEDSIGNAL */
    logic [255:0]  enables_q;
    logic [2047:0] data_q;
    logic [3:0]    poison_q;
    logic [4:0]    cycles_q;
    logic [3:0]    open_q;     // lines whose message has not left
    logic [3:0]    awaited_q;  // lines whose answer has not come
    logic [3:0]    status_q;
    logic [45:0]   first_q;    // CXL line of the first line of the block
    logic          hit_q;

    // Fields of the request (ualink §10).
    wire [56:0] address = {req_q[79:25], 2'b00};
    wire [5:0]  len = req_q[93:88], cmd = req_q[123:118];
    wire        is_read = cmd == READ;
    wire        is_write = cmd == WRITE || cmd == WRITE_FULL;

    // Lines and bytes (bridge §3.1, §3.2).
    wire [8:0]  first = {1'b0, address[7:0]};
    wire [9:0]  behind = {1'b0, first} + {2'b00, len, 2'b00} + 10'd4;
    logic [255:0] covered;
    logic [3:0]   touched, written, full;
    wire  [255:0] mask = covered & (cmd == WRITE_FULL ? '1 : enables_q);
    always_comb begin
        for (int i = 0; i < 256; i++) covered[i] = 10'(i) >= {1'b0, first} && 10'(i) < behind;
        for (int n = 0; n < 4; n++) begin
            touched[n] = |covered[64*n +: 64];
            written[n] = |mask[64*n +: 64];
            full[n] = &mask[64*n +: 64];
        end
    end
    wire [3:0] sends = is_read ? touched : written;

    // Window (bridge §2), before the form of the request.
    wire        in_window = address >= BASE && address - BASE < SIZE;
    /* verilator lint_off UNUSEDSIGNAL */
    wire [56:0] out = address - BASE + 57'(OUT);  // the block counts
    /* verilator lint_on UNUSEDSIGNAL */
    wire        is_legal = (is_read || is_write) && behind <= 10'd256;

    // Conversions that are kept: the block, what is done to it, and the lines; direct mapped.
    logic [KEY_BITS-1:0] key_q [0:TEMPLATES-1];
    logic [45:0]         kept_q [0:TEMPLATES-1];
    logic [TEMPLATES-1:0] valid_q;
    wire [KEY_BITS-1:0]   key = {address[56:8], is_read, sends, is_read ? 4'd0 : full};
    wire [INDEX_BITS-1:0] index = address[8 +: INDEX_BITS];
    wire hit = valid_q[index] && key_q[index] == key && is_legal && sends != 0;

    // The next line whose message leaves, and its beat.
    logic [1:0] line;
    always_comb begin
        line = 2'd3;
        for (int n = 3; n >= 0; n--) if (open_q[n]) line = 2'(n);
    end
    wire [1:0]  beat = line - address[7:6];
    wire        part = !full[line];
    wire [45:0] target = first_q + 46'(line);
    wire [15:0] tag = {14'd0, line};
    wire [1:0]  vchan = req_q[117:116];

    assign req_ready_o = state_q == IDLE;
    assign m2s_valid_o = state_q == SENDS;
    assign m2s_rwd_o = !is_read;
    assign m2s_header_o = is_read
        ? {4'd0, vchan, 24'd0, target, tag, 2'd0, NO_OP, 3'd0, MEM_RD, 1'b1}
        : {vchan, 26'd0, part, poison_q[beat], target, tag, ANY, 2'd0, 3'd0, part ? MEM_WR_PTL : MEM_WR, 1'b1};
    assign m2s_data_o = data_q[512*beat +: 512];
    assign m2s_enables_o = mask[64*line +: 64];

    // Answers by tag: the beat of a line that was read takes the place of what a write brought.
    wire [1:0] answered = s2m_header_i[9:8];
    wire       is_absent = s2m_drs_i && s2m_header_i[3:1] == 3'd1;
    wire [1:0] answered_beat = answered - address[7:6];

    // The response (ualink §10): a read has all beats, ones if it failed; other channels have none.
    wire       on_read = cmd[5:4] == 2'b00 || cmd == ATOMIC_R;
    wire [1:0] last = behind > 10'd256 ? 2'd3 : 2'((behind - 10'd1) >> 6);
    wire [1:0] beats = last - address[7:6];
    assign rsp_valid_o = state_q == RESPONDS;
    assign rsp_o = {4'd2, vchan, req_q[113:103], 1'b0, on_read ? beats : 2'd0, 2'd0, status_q, on_read, on_read, OWN,
                    req_q[24:15], 16'd0};
    assign rsp_data_o = status_q != OKAY ? '1 : data_q;
    assign rsp_poison_o = on_read && status_q == OKAY ? poison_q : '0;
    assign template_hit_o = hit_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            state_q <= IDLE;
            valid_q <= '0;
        end else begin
            case (state_q)
                IDLE: if (req_valid_i) begin
                    state_q <= CONVERTS;
                    cycles_q <= 5'd1;
                    {req_q, enables_q, data_q, poison_q} <= {req_i, enables_i, data_i, poison_i};
                end
                CONVERTS: begin
                    cycles_q <= cycles_q + 5'd1;
                    hit_q <= hit;
                    if (cycles_q == 5'(hit ? TEMPLATE : LOOKUP + CONVERT)) begin
                        first_q <= hit ? kept_q[index] : {out[51:8], 2'b00};
                        status_q <= !in_window ? DECODE_ERROR : !is_legal ? TARGET_ABORT : OKAY;
                        if (hit) status_q <= OKAY;
                        open_q <= sends;
                        awaited_q <= sends;
                        state_q <= in_window && is_legal && sends != 0 ? SENDS : RESPONDS;
                        if (in_window && is_legal && sends != 0 && !hit) begin
                            valid_q[index] <= 1'b1;
                            key_q[index] <= key;
                            kept_q[index] <= {out[51:8], 2'b00};
                        end
                    end
                end
                SENDS: if (m2s_ready_i) begin
                    open_q[line] <= 1'b0;
                    if ((open_q & (open_q - 4'd1)) == 0) state_q <= AWAITS;
                end
                AWAITS: if (awaited_q == 0) state_q <= RESPONDS;
                default: if (rsp_ready_i) state_q <= IDLE;
            endcase
            if (s2m_valid_i) begin
                awaited_q[answered] <= 1'b0;
                if (is_absent) status_q <= DECODE_ERROR;
                if (s2m_drs_i) begin
                    data_q[512*answered_beat +: 512] <= s2m_data_i;
                    poison_q[answered_beat] <= s2m_header_i[24];
                end
            end
        end
    end
endmodule
