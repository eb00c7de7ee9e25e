// Deframer of a UALink data link: 640-byte DL flits become DL message words and TL flits (ualink §4).
//
// `valid_i` with a flit, when `ready_o`; then one segment a cycle, for five cycles. A flit whose CRC does not fit, or
// without payload, is dropped at once (`dropped_o`, `crc_bad_o`), and what is carried over stays. In the cycle of a segment
// stand its message word, the TL flits whose last sector it holds (at most two, in order), and the two start bits.
// `error_o`: a start where no sector is left. Left out: sequence numbers and replay.
module ual_deframer (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          valid_i,
    output logic          ready_o,
    input  logic [5119:0] flit_i,
    output logic          dropped_o,
    output logic          crc_bad_o,
    output logic          segment_valid_o,
    output logic [1:0]    start_o,
    output logic          word_valid_o,
    output logic [31:0]   word_o,
    output logic [1:0]    tl_valid_o,
    output logic [511:0]  tl0_o,
    output logic [511:0]  tl1_o,
    output logic [1:0]    message0_o,
    output logic [1:0]    message1_o,
    output logic          error_o
);
    `include "ual_offsets.svh"

    // The sectors of the flit, each segment in 1024 bits of its own, unused ones zero.
    logic [5*1024-1:0] gathered;
    for (genvar g = 0; g < 5; g++) begin : gen_segment
        for (genvar s = 0; s < 32; s++) begin : gen_sector
            for (genvar y = 0; y < 4; y++) begin : gen_byte
                if (s < sectors_of(g)) begin : gen_used
                    assign gathered[1024*g+32*s+8*y +: 8] = flit_i[8*offset_of(first_of(g) + s, y) +: 8];
                end else begin : gen_unused
                    assign gathered[1024*g+32*s+8*y +: 8] = 8'h00;
                end
            end
        end
    end

    logic [31:0] crc;
    ual_crc32 checksum (.body_i(flit_i[8*636-1:0]), .crc_o(crc));

    logic busy_q;
    logic [2:0] segment_q;
    logic [5*1024-1:0] sectors_q;
    logic [39:0] headers_q;
    logic [3:0] have_q;                // sectors of the TL flit begun earlier, 0 to 15
    logic [511:0] part_q;
    logic [1:0] part_message_q;

    assign ready_o = !busy_q;
    assign crc_bad_o = crc != flit_i[8*636 +: 32];
    assign dropped_o = valid_i && ready_o && (crc_bad_o || !flit_i[8*624+20]);

    /* verilator lint_off UNUSEDSIGNAL */
    logic [7:0] header;                // bit 1 is reserved and ignored
    /* verilator lint_on UNUSEDSIGNAL */
    logic [1023:0] sectors;
    logic [5:0] size, at, behind, begin1;
    logic [3:0] kept;
    logic carried, whole0, whole1;
    logic [511:0] carried_flit, flit0, flit1;

    assign header = headers_q[7:0];
    assign sectors = sectors_q[1023:0];
    assign size = segment_q == 3'd4 ? 6'd30 : segment_q == 3'd3 ? 6'd31 : 6'd32;
    assign carried = have_q != 0;
    assign at = 6'(header[0]);
    assign behind = carried ? at + 6'd16 - 6'(have_q) : at;
    assign begin1 = header[4] ? behind + 6'd16 : behind > 6'd16 ? behind : 6'd16;
    assign carried_flit = part_q | 512'(sectors >> (32 * 11'(at))) << (32 * 10'(have_q));
    assign flit0 = 512'(sectors >> (32 * 11'(behind)));
    assign flit1 = 512'(sectors >> (32 * 11'(begin1)));
    assign whole0 = header[4] && behind + 6'd16 <= size;
    assign whole1 = header[7] && begin1 + 6'd16 <= size;

    assign segment_valid_o = busy_q;
    assign start_o = busy_q ? {header[7], header[4]} : 2'b00;
    assign word_valid_o = busy_q && header[0];
    assign word_o = sectors[31:0];
    assign error_o = busy_q && header[7] && begin1 >= size;

    // At most two of the three are whole, so the first that is goes to the first place, the next to the second.
    assign tl_valid_o[0] = busy_q && (carried || whole0 || whole1);
    assign tl_valid_o[1] = busy_q && ((carried && (whole0 || whole1)) || (whole0 && whole1));
    assign tl0_o = carried ? carried_flit : whole0 ? flit0 : flit1;
    assign message0_o = carried ? part_message_q : whole0 ? header[3:2] : header[6:5];
    assign tl1_o = carried && whole0 ? flit0 : flit1;
    assign message1_o = carried && whole0 ? header[3:2] : header[6:5];

    // What of the last started flit stands in this segment when it is not whole.
    assign kept = 4'(size - (header[7] ? begin1 : behind));

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
            segment_q <= '0;
            sectors_q <= '0;
            headers_q <= '0;
            have_q <= '0;
            part_q <= '0;
            part_message_q <= '0;
        end else if (!busy_q) begin
            segment_q <= '0;
            sectors_q <= gathered;
            for (int g = 0; g < 5; g++) headers_q[8*g +: 8] <= flit_i[8*(128*g+67) +: 8];
            busy_q <= valid_i && !dropped_o;
        end else begin
            segment_q <= segment_q + 3'd1;
            busy_q <= segment_q != 3'd4;
            sectors_q <= sectors_q >> 1024;
            headers_q <= headers_q >> 8;
            if ((header[7] && !whole1 && !error_o) || (!header[7] && header[4] && !whole0)) begin
                have_q <= kept;
                part_q <= header[7] ? flit1 : flit0;
                part_message_q <= header[7] ? header[6:5] : header[3:2];
            end else begin
                have_q <= '0;
                part_q <= '0;
            end
        end
    end
endmodule
