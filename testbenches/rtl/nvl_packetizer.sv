// Packetizer of the NVLink model profile: a transaction and its data become a header, an address extension and byte
// enables where they are needed, and data flits (nvlink §6.1, §6.2).
//
// One flit a cycle, handshake valid and ready on all sides; data is taken in the cycle its flit leaves. Channel, length
// and the AE flag follow from the transaction; an AE flit is sent when its content differs from that of the last one on
// the channel, which is 0 after reset. The CRC of a header covers the payload before it, so an IDLE header follows a
// payload when no transaction waits. Credits and the acknowledgement go into every header as they stand then. Left out:
// numbers and replay.
//
// A walk through one packet: state HEADER offers the header with the CRC of what the register holds, and the register
// starts again; AE, BE and DATA follow while they are owed, each flit through the register.
module nvl_packetizer (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         txn_valid_i,
    output logic         txn_ready_o,  // with the header
    input  logic [5:0]   op_i,
    input  logic [9:0]   tag_i,
    input  logic [8:0]   rid_i,
    input  logic [63:4]  address_i,
    input  logic [3:0]   size_i,       // units of 16 bytes, minus 1
    input  logic [5:0]   attr_i,
    input  logic [31:0]  route_i,
    input  logic         be_i,         // byte enables follow
    input  logic [127:0] enables_i,
    input  logic         ep_i,
    input  logic [1:0]   atag_i,

    input  logic         data_valid_i,
    output logic         data_ready_o,
    input  logic [127:0] data_i,

    input  logic [2:0]   crvc_i,
    input  logic [3:0]   crh_i,
    input  logic [4:0]   crd_i,
    input  logic         ackv_i,
    input  logic [11:0]  ackid_i,

    output logic         flit_valid_o,
    input  logic         flit_ready_i,
    output logic         header_o,     // flit_o is a header
    output logic [127:0] flit_o
);
    localparam logic [5:0] IDLE = 6'h00;

    typedef enum logic [1:0] {HEADER, AE, BE, DATA} state_e;

    function automatic logic carries_data(input logic [5:0] op);
        case (op)
            6'h02, 6'h03, 6'h04, 6'h05, 6'h07, 6'h10: carries_data = 1'b1;
            default: carries_data = 1'b0;
        endcase
    endfunction

    // CREQ0 for requests with an answer and for what has no channel, CREQ1 for posted ones, RSP0 for responses.
    function automatic logic [2:0] channel(input logic [5:0] op);
        case (op)
            6'h02, 6'h05, 6'h07: channel = 3'd6;
            6'h10, 6'h11, 6'h12: channel = 3'd5;
            default: channel = 3'd0;
        endcase
    endfunction

    state_e state_q;
    logic open_q;                      // a payload whose CRC no header has carried yet
    logic be_q;                        // what the packet under way still owes
    logic [4:0] data_left_q;
    logic [127:0] ae_flit_q, be_flit_q;
    logic [24:0] crc_q, crc_next;
    logic [63:0] last_ae_q [0:7];      // by channel

    logic [5:0] op;
    logic [2:0] vc;
    logic [63:0] ae;
    logic [4:0] data_flits, len;
    logic ae_needed, be_needed, idle, sent;
    logic [102:0] header;
    logic [127:0] payload;

    assign idle = !txn_valid_i;
    assign op = idle ? IDLE : op_i;
    assign vc = channel(op);
    assign ae = {address_i[63:38], attr_i, route_i};
    assign ae_needed = !idle && ae != last_ae_q[vc];
    assign be_needed = !idle && be_i;
    assign data_flits = carries_data(op) ? 5'(size_i) + 5'd1 : 5'd0;
    assign len = data_flits + 5'(ae_needed) + 5'(be_needed);
    assign header = idle
        ? {IDLE, 3'd0, 10'd0, 9'd0, 34'd0, 4'd0, 3'b000, crvc_i, crh_i, crd_i, 2'b00, 5'd0, 2'b00, ackv_i, ackid_i}
        : {op, vc, tag_i, rid_i, address_i[37:4], size_i, ae_needed, be_needed, ep_i, crvc_i, crh_i, crd_i, 2'b00,
           len, atag_i, ackv_i, ackid_i};

    nvl_crc25 crc (
        .crc_i   (crc_q),
        .flit_i  (header_o ? {25'd0, header} : payload),
        .header_i(header_o),
        .crc_o   (crc_next)
    );

    assign header_o = state_q == HEADER;
    assign flit_valid_o = header_o ? (txn_valid_i || open_q) : state_q == DATA ? data_valid_i : 1'b1;
    assign sent = flit_valid_o && flit_ready_i;
    assign txn_ready_o = header_o && flit_ready_i;
    assign data_ready_o = state_q == DATA && flit_ready_i;

    always_comb begin
        case (state_q)
            AE: payload = ae_flit_q;
            BE: payload = be_flit_q;
            default: payload = data_i;
        endcase
    end
    assign flit_o = header_o ? {crc_next, header} : payload;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            state_q <= HEADER;
            open_q <= 1'b0;
            be_q <= 1'b0;
            data_left_q <= '0;
            ae_flit_q <= '0;
            be_flit_q <= '0;
            crc_q <= '1;
            for (int i = 0; i < 8; i++) last_ae_q[i] <= '0;
        end else if (sent) begin
            crc_q <= header_o ? '1 : crc_next;
            case (state_q)
                HEADER: begin
                    open_q <= len != 0;
                    be_q <= be_needed;
                    data_left_q <= data_flits;
                    ae_flit_q <= {ae, 64'd0};
                    be_flit_q <= enables_i;
                    if (ae_needed) last_ae_q[vc] <= ae;
                    if (ae_needed) state_q <= AE;
                    else if (be_needed) state_q <= BE;
                    else if (data_flits != 0) state_q <= DATA;
                end
                AE: state_q <= be_q ? BE : data_left_q != 0 ? DATA : HEADER;
                BE: state_q <= data_left_q != 0 ? DATA : HEADER;
                default: begin
                    data_left_q <= data_left_q - 5'd1;
                    if (data_left_q == 5'd1) state_q <= HEADER;
                end
            endcase
        end
    end
endmodule
