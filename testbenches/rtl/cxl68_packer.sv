// Packer of CXL 68-byte flits, host to device: messages, data lines and byte enables become slots (cxl-68b §5.2, §5.3).
//
// One flit a cycle with `ready_i`; at most one message of each class goes into it. `valid_o` is low when nothing waits and
// nothing is owed. `taken_o` says in the same cycle which messages were taken, with their line. Lines are always 64 bytes.
// Left out: multi-data headers, control flits, the choice of credits, which come in ready made.
//
// A walk through one flit: with more than three chunks owed it is all data. Otherwise slot 0 takes a message (an M2S RwD
// goes nowhere else), slots 1 to 3 take owed chunks first and then messages; one data header at most goes into a flit,
// because Sz and BE are its own. Its chunks queue behind those that are owed.
module cxl68_packer (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         ready_i,
    input  logic [4:0]   valid_i,        // by class: H2D Req, H2D Rsp, H2D Data, M2S Req, M2S RwD from bit 0 on
    input  logic [63:0]  h2d_req_i,
    input  logic [31:0]  h2d_rsp_i,
    input  logic [23:0]  h2d_data_i,
    input  logic [86:0]  m2s_req_i,
    input  logic [86:0]  m2s_rwd_i,
    input  logic [511:0] data_line_i,    // of the H2D Data
    input  logic [511:0] rwd_line_i,     // of the M2S RwD
    input  logic         rwd_partial_i,  // byte enables go with it
    input  logic [63:0]  rwd_enables_i,
    input  logic         ak_i,
    input  logic [11:0]  credits_i,      // Data, Req, Rsp
    output logic [4:0]   taken_o,
    output logic         valid_o,
    output logic [511:0] slots_o
);
    localparam int REQ = 0;
    localparam int RSP = 1;
    localparam int DATA = 2;
    localparam int MEM = 3;
    localparam int MEM_DATA = 4;
    // Three chunks left over, and a line with byte enables.
    localparam int MOST = 8;

    logic [3:0] owed_q, owed;
    logic [128*MOST-1:0] chunks_q, chunks;
    logic [4:0] left;
    logic [2:0] code;
    logic [11:0] codes;
    logic [127:0] slot;
    logic header, header_used, partial;

    always_comb begin
        owed = owed_q;
        chunks = chunks_q;
        left = valid_i;
        header = 1'b0;
        header_used = 1'b0;
        partial = 1'b0;
        code = '0;
        codes = '0;
        slot = '0;
        slots_o = '0;
        if (owed_q > 4'd3) begin
            slots_o = chunks_q[511:0];
            chunks = chunks_q >> 512;
            owed = owed_q - 4'd4;
        end else begin
            for (int s = 0; s < 4; s++) begin
                code = '0;
                slot = '0;
                header = 1'b0;
                if (s == 0) begin
                    if (left[MEM_DATA]) begin
                        code = 3'd4;
                        slot[118:32] = m2s_rwd_i;
                        {header, left[MEM_DATA]} = 2'b10;
                        partial = rwd_partial_i;
                    end else if (left[MEM]) begin
                        code = 3'd5;
                        slot[118:32] = m2s_req_i;
                        left[MEM] = 1'b0;
                    end else if (left[DATA]) begin
                        code = 3'd2;
                        slot[119:96] = h2d_data_i;
                        if (left[REQ]) slot[95:32] = h2d_req_i;
                        {header, left[DATA], left[REQ]} = 3'b100;
                    end else begin
                        if (left[REQ]) slot[95:32] = h2d_req_i;
                        if (left[RSP]) slot[127:96] = h2d_rsp_i;
                        {left[REQ], left[RSP]} = 2'b00;
                    end
                end else if (owed != 0) begin
                    slot = chunks[127:0];
                    chunks = chunks >> 128;
                    owed = owed - 4'd1;
                end else if (left[MEM]) begin
                    code = 3'd4;
                    slot[86:0] = m2s_req_i;
                    if (left[DATA] && !header_used) begin
                        slot[111:88] = h2d_data_i;
                        {header, left[DATA]} = 2'b10;
                    end
                    left[MEM] = 1'b0;
                end else if (left[REQ] || (left[DATA] && !header_used)) begin
                    code = 3'd2;
                    if (left[REQ]) slot[63:0] = h2d_req_i;
                    if (left[DATA] && !header_used) begin
                        slot[87:64] = h2d_data_i;
                        {header, left[DATA]} = 2'b10;
                    end
                    if (left[RSP]) slot[119:88] = h2d_rsp_i;
                    {left[REQ], left[RSP]} = 2'b00;
                end else if (left[RSP]) begin
                    code = 3'd1;
                    slot[31:0] = h2d_rsp_i;
                    left[RSP] = 1'b0;
                end
                if (header) begin
                    header_used = 1'b1;
                    // At most three are owed here, so the line and its byte enables fit behind them.
                    chunks = chunks | (128*MOST)'(valid_i[MEM_DATA] && !left[MEM_DATA]
                        ? {partial ? rwd_enables_i : 64'd0, rwd_line_i} : {64'd0, data_line_i}) << (128 * 10'(owed));
                    owed = owed + (partial ? 4'd5 : 4'd4);
                end
                slots_o[128*s +: 128] = slot;
                codes[3*s +: 3] = code;
            end
            slots_o[16:5] = codes;
            slots_o[2] = ak_i;
            slots_o[3] = partial;
            slots_o[4] = header_used;
            slots_o[31:20] = credits_i;
        end
    end

    assign valid_o = valid_i != 0 || owed_q != 0;
    assign taken_o = ready_i ? valid_i & ~left : 5'd0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            owed_q <= '0;
            chunks_q <= '0;
        end else if (valid_o && ready_i) begin
            owed_q <= owed;
            chunks_q <= chunks;
        end
    end
endmodule
