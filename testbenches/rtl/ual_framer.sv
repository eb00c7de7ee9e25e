// Framer of a UALink data link: DL message words and TL flits become 640-byte DL flits (ualink §4).
//
// One segment a cycle with `step_i`, five a flit. `header_i` is the flit header and stands still for the five; without its
// payload bit (20) the flit carries nothing and takes nothing, and what is carried over stays. In a segment:
//
// 1. a message word takes the first sector;
// 2. what is left of a TL flit begun earlier follows;
// 3. a TL flit on `tl0_i` starts there; with none, zeros fill the first 16 sectors;
// 4. a TL flit on `tl1_i` starts behind that while a sector is free; what does not fit is carried over.
//
// `taken_o` says in the same cycle which TL flits were taken. The flit stands on `flit_o` in the cycle behind its last
// segment, CRC included, with `valid_o`. Left out: sequence numbers and replay, which make the header.
module ual_framer (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          step_i,
    input  logic [23:0]   header_i,
    input  logic          word_valid_i,
    input  logic [31:0]   word_i,
    output logic          word_taken_o,
    input  logic [1:0]    tl_valid_i,  // bit 0: one is there at once, bit 1: one (more) at the second half
    input  logic [511:0]  tl0_i,
    input  logic [511:0]  tl1_i,
    input  logic [1:0]    message0_i,  // message indicators, bit 0 of the lower half
    input  logic [1:0]    message1_i,
    output logic [1:0]    taken_o,
    output logic          valid_o,
    output logic [5119:0] flit_o
);
    `include "ual_offsets.svh"

    localparam int WINDOW = 48;        // sectors: a segment, and a TL flit that starts at its end

    logic [2:0] segment_q;
    logic [3:0] carried_q;             // sectors of the TL flit begun earlier, 0 to 15
    logic [511:0] carry_q;
    logic [157*32-1:0] sectors_q;
    logic [39:0] headers_q;
    logic [23:0] header_q;

    logic active, word, start0, start1;
    logic [5:0] size, used, begin0, begin1, after;
    logic [7:0] segment_header;
    logic [WINDOW*32-1:0] window;
    logic [1:0] message0;

    assign active = header_i[20];
    assign size = segment_q == 3'd4 ? 6'd30 : segment_q == 3'd3 ? 6'd31 : 6'd32;
    assign word = active && word_valid_i;
    assign used = active ? 6'(word) + 6'(carried_q) : 6'd0;
    // Without a flit at once, one that comes at the second half is still the first where the first half is full.
    assign start0 = active && (tl_valid_i[0] || (tl_valid_i[1] && used == 6'd16));
    assign begin0 = used;
    assign begin1 = tl_valid_i[0] ? used + 6'd16 : 6'd16;
    assign start1 = active && tl_valid_i[1] && begin1 < size && !(start0 && !tl_valid_i[0]);
    assign taken_o = step_i ? {start1 || (start0 && !tl_valid_i[0]), start0 && tl_valid_i[0]} : 2'b00;
    assign word_taken_o = step_i && word;
    assign message0 = tl_valid_i[0] ? message0_i : message1_i;
    assign segment_header = {start1, start1 ? message1_i : 2'b00, start0, start0 ? message0 : 2'b00, 1'b0, word};

    // Each part shifted to its place; they do not overlap, and zeros are between them.
    assign window = (word ? (WINDOW*32)'(word_i) : '0)
        | (active ? (WINDOW*32)'(carry_q) << (32 * 11'(word)) : '0)
        | (start0 ? (WINDOW*32)'(tl_valid_i[0] ? tl0_i : tl1_i) << (32 * 11'(begin0)) : '0)
        | (start1 ? (WINDOW*32)'(tl1_i) << (32 * 11'(begin1)) : '0);
    assign after = start1 ? begin1 + 6'd16 : start0 ? begin0 + 6'd16 : used;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            segment_q <= '0;
            carried_q <= '0;
            carry_q <= '0;
            sectors_q <= '0;
            headers_q <= '0;
            header_q <= '0;
            valid_o <= 1'b0;
        end else begin
            valid_o <= step_i && segment_q == 3'd4;
            if (step_i) begin
                segment_q <= segment_q == 3'd4 ? 3'd0 : segment_q + 3'd1;
                header_q <= header_i;
                headers_q[8*segment_q +: 8] <= segment_header;
                case (segment_q)
                    3'd4: sectors_q[32*127 +: 32*30] <= window[0 +: 32*30];
                    3'd3: sectors_q[32*96 +: 32*31] <= window[0 +: 32*31];
                    default: sectors_q[1024*segment_q[1:0] +: 1024] <= window[0 +: 1024];
                endcase
                if (active) begin
                    carried_q <= after > size ? 4'(after - size) : 4'd0;
                    carry_q <= 512'(window >> (32 * 11'(size)));
                end
            end
        end
    end

    // The sectors and the overhead bytes at their places, and the CRC over them.
    logic [8*636-1:0] placed;
    logic [31:0] crc;

    for (genvar x = 0; x < 157; x++) begin : gen_sector
        for (genvar y = 0; y < 4; y++) begin : gen_byte
            assign placed[8*offset_of(x, y) +: 8] = sectors_q[32*x+8*y +: 8];
        end
    end
    for (genvar g = 0; g < 5; g++) begin : gen_header
        assign placed[8*(128*g+67) +: 8] = headers_q[8*g +: 8];
    end
    assign placed[8*624 +: 24] = header_q;

    ual_crc32 checksum (.body_i(placed), .crc_o(crc));
    assign flit_o = {crc, placed};
endmodule
