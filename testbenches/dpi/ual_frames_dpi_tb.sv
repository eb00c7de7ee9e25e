// Random message words and TL flits through ual_framer; the model decodes its flits and finds the same TL flits, and so
// does ual_deframer, into which some flits go damaged first. +count=N flits
module ual_frames_dpi_tb;
    import scalepool_pkg::*;
    `include "dpi_random.svh"
    localparam int RING = 1024;
    localparam logic [7:0] POISONED_DATA = 8'h20; // type of a message half that stands for data
    logic clk = 0, rst_n = 1;

    logic step, word_valid, word_taken, out_valid;
    logic [23:0] header;
    logic [31:0] word;
    logic [1:0] tl_valid, taken, message0, message1;
    logic [511:0] tl0, tl1;
    logic [5119:0] out, flit;
    ual_framer framer (
        .clk_i(clk), .rst_ni(rst_n), .step_i(step), .header_i(header), .word_valid_i(word_valid), .word_i(word),
        .word_taken_o(word_taken), .tl_valid_i(tl_valid), .tl0_i(tl0), .tl1_i(tl1), .message0_i(message0),
        .message1_i(message1), .taken_o(taken), .valid_o(out_valid), .flit_o(out)
    );

    logic valid, ready, dropped, crc_bad, segment_valid, got_word, error;
    logic [1:0] start, got_valid, got_message0, got_message1;
    logic [31:0] got;
    logic [511:0] got0, got1;
    ual_deframer deframer (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .flit_i(flit), .dropped_o(dropped),
        .crc_bad_o(crc_bad), .segment_valid_o(segment_valid), .start_o(start), .word_valid_o(got_word), .word_o(got),
        .tl_valid_o(got_valid), .tl0_o(got0), .tl1_o(got1), .message0_o(got_message0), .message1_o(got_message1),
        .error_o(error)
    );

    sp_flit_decoder decoder;
    logic [513:0] tl [0:RING-1];         // sent, with their indicators
    logic [31:0] words [0:4];
    logic [4:0] has_word;
    int count, put, at_deframer, halves, damaged;

    task automatic clock;
        #1 clk = 1;
        #1 clk = 0;
        #1;
    endtask

    function automatic logic [511:0] random_flit();
        for (int w = 0; w < 8; w++) random_flit[64*w +: 64] = draw();
    endfunction

    task automatic expect_tl(input logic [1:0] message, input logic [511:0] value);
        if (at_deframer >= put || {message, value} !== tl[at_deframer % RING])
            $fatal(1, "TL flit %0d of %0d: %b %h, expected %h", at_deframer, put, message, value, tl[at_deframer % RING]);
        at_deframer++;
    endtask

    // Halves of TL flits that the model has found. A TL flit whose rest is yet to come is in the next answer again, so here it has none.
    task automatic take_answers;
        sp_flit_part parts[$];
        string broken;
        logic marked;
        while (decoder.take(parts, broken))
            foreach (parts[n]) if (parts[n].byte_count == 32 && parts[n].message == null) begin
                // Poison where byte enables are due breaks a rule; the model says that, and calls the half byte enables.
                marked = parts[n].kind == "message" || parts[n].kind == "poison" || parts[n].kind == "byte_enables"
                    && parts[n].bytes[7:0] == POISONED_DATA && tl[(halves / 2) % RING][512 + halves % 2];
                if (halves / 2 >= put || parts[n].bytes[255:0] !== tl[(halves / 2) % RING][256*(halves % 2) +: 256]
                    || marked !== tl[(halves / 2) % RING][512 + halves % 2])
                    $fatal(1, "half %0d: the model finds %s %h, expected %h", halves, parts[n].kind, parts[n].bytes[255:0],
                        tl[(halves / 2) % RING]);
                halves++;
            end
    endtask

    initial if ($test$plusargs("ual_frames")) begin
        decoder = new(SP_PROTOCOL_UALINK, SP_SENDS_DOWN);
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        {step, word_valid, tl_valid, message0, message1, header, word, tl0, tl1, valid, flit} = '0;
        #1 rst_n = 0;
        #1 rst_n = 1;
        #1;
        for (int n = 0; n < count; n++) begin
            // A flit; one in four carries nothing.
            header = {3'd0, draw_up_to(3) != 0, 3'd0, 9'(n % 511 + 1), 8'd0};
            for (int g = 0; g < 5; g++) begin
                step = 1;
                word_valid = draw_up_to(2) == 0;
                word = 32'(draw());
                tl_valid = 2'(draw());
                {message1, message0} = 4'(draw());
                tl0 = random_flit();
                tl1 = random_flit();
                #1;
                has_word[g] = word_taken;
                words[g] = word;
                if (taken[0]) begin
                    tl[put % RING] = {message0, tl0};
                    put++;
                end
                if (taken[1]) begin
                    tl[put % RING] = {message1, tl1};
                    put++;
                end
                if (!header[20] && (taken != 0 || word_taken)) $fatal(1, "flit %0d takes something", n);
                clock();
            end
            step = 0;
            #1;
            if (!out_valid) $fatal(1, "flit %0d is not there", n);

            decoder.decode(out, 640);
            take_answers();

            // Damaged first, now and then.
            for (int again = draw_up_to(3) == 0 ? 1 : 0; again >= 0; again--) begin
                flit = out;
                if (again == 1) begin
                    flit[draw_up_to(5119)] ^= 1'b1;
                    damaged++;
                end
                valid = 1;
                #1;
                if (crc_bad !== (again == 1) || dropped !== (again == 1 || !header[20]))
                    $fatal(1, "flit %0d: CRC bad %b, dropped %b", n, crc_bad, dropped);
                clock();
                valid = 0;
                #1;
                for (int g = 0; g < 5 && again == 0; g++) begin
                    if (error || segment_valid !== header[20]) $fatal(1, "flit %0d, segment %0d: error %b", n, g, error);
                    if (got_word !== has_word[g] || (got_word && got !== words[g]))
                        $fatal(1, "flit %0d, segment %0d: word %b %h, expected %b %h", n, g, got_word, got, has_word[g], words[g]);
                    if (got_valid[0]) expect_tl(got_message0, got0);
                    if (got_valid[1]) expect_tl(got_message1, got1);
                    clock();
                end
            end
        end
        decoder.finish();
        take_answers();
        // One may still be carried over.
        if (at_deframer < put - 1 || halves < 2 * (put - 1))
            $fatal(1, "%0d TL flits, %0d found by the deframer, %0d halves by the model", put, at_deframer, halves);
        $display("%0d TL flits, %0d flits damaged", put, damaged);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
