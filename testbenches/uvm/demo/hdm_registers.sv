// HDM decoders of a device as registers (fabric section 2.1): capability, global control, and for each decoder base, size, control, skip.
//
// A commit of a decoder with a size succeeds at once, and one without is an error; a committed decoder with `lock_on_commit` takes no more
// writes until reset. Left out: what a commit checks beside, and the decoding.
//
// BUG: 0 none; 1 the base of decoder 1 is not 0 behind a reset; 2 bit 30 of the sizes is stuck at 0; 3 the lock does not hold.
module hdm_registers #(
    parameter int unsigned DECODERS = 2
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [1:0]  bug_i,
    input  logic        write_i,
    input  logic [11:0] address_i,
    input  logic [31:0] data_i,
    input  logic [3:0]  enables_i,
    output logic [31:0] data_o
);
    // Two decoders, interleaving with both groups of address bits, for memory of the device's own.
    localparam logic [31:0] CAPABILITY = 32'h0020_0301;
    localparam int WORDS = 7; // of a decoder
    localparam int CONTROL = 4;
    localparam logic [31:0] TAKES [0:WORDS-1] = '{
        32'hf000_0000, 32'hffff_ffff, 32'hf000_0000, 32'hffff_ffff, 32'h0fff_73ff, 32'hf000_0000, 32'hffff_ffff
    };

    logic [1:0] global_q;
    logic [31:0] decoder_q [0:DECODERS-1][0:WORDS-1];
    logic [31:0] mask;
    int unsigned at; // decoder
    logic [2:0] word;
    logic is_decoder, is_locked;

    assign mask = {{8{enables_i[3]}}, {8{enables_i[2]}}, {8{enables_i[1]}}, {8{enables_i[0]}}};
    assign at = ((32'(address_i) - 32'h10) >> 5) % DECODERS;
    assign word = address_i[4:2] - 3'd4; // the places wrap: 10h is word 0, 28h is word 6
    assign is_decoder = address_i >= 12'h10 && address_i < 12'(32'h10 + 32 * DECODERS) && int'(word) < WORDS;
    assign is_locked = decoder_q[at][CONTROL][10] && decoder_q[at][CONTROL][8] && bug_i != 2'd3;

    always_comb begin
        data_o = '0;
        if (address_i == 12'h0) data_o = CAPABILITY;
        else if (address_i == 12'h4) data_o = 32'(global_q);
        else if (is_decoder) data_o = decoder_q[at][word];
    end

    // What a word becomes by a write: bits 10 and 11 of the control say how its commit has ended.
    function automatic logic [31:0] written(logic [31:0] was, logic [2:0] of, logic has_size);
        logic [31:0] takes;
        takes = TAKES[of] & mask;
        if (bug_i == 2'd2 && of == 3'd2) takes[30] = 1'b0;
        written = (was & ~takes) | (data_i & takes);
        if (of == 3'(CONTROL)) written[11:10] = !written[9] ? 2'b00 : has_size ? 2'b01 : 2'b10;
    endfunction

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            global_q <= '0;
            for (int unsigned d = 0; d < DECODERS; d++)
                for (int w = 0; w < WORDS; w++) decoder_q[d][w] <= bug_i == 2'd1 && d == 1 && w == 1 ? 32'h10 : '0;
        end else if (write_i) begin
            if (address_i == 12'h4 && enables_i[0]) global_q <= data_i[1:0];
            if (is_decoder && !is_locked)
                decoder_q[at][word] <= written(decoder_q[at][word], word,
                    (decoder_q[at][2] | decoder_q[at][3]) != 0);
        end
    end
endmodule
