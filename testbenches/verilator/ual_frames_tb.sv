// Golden UALink DL flits through ual_deframer, and what comes out through ual_framer, which has to make the same flits
// again. +flits=FILE +good=FILE (one bit a flit: CRC good) +tl=FILE (the TL flits in them, bits 513:512 the message
// indicators) +count=N +tl_count=N
module ual_frames_tb;
    localparam int MOST = 2048;
    logic clk = 0, rst_n = 1;
    logic [5119:0] flits [0:MOST-1];
    logic good [0:MOST-1];
    logic [513:0] tl [0:4*MOST-1];
    // What the deframer found, segment by segment: {is there a word, word, start bits}.
    logic [34:0] found [0:5*MOST-1];
    logic valid, ready, dropped, crc_bad, segment_valid, word_valid, error;
    logic [1:0] start, tl_valid, message0, message1;
    logic [31:0] word;
    logic [511:0] tl0, tl1;
    logic [5119:0] flit;

    logic step, in_word_valid, in_word_taken, out_valid;
    logic [1:0] in_tl_valid, in_taken;
    logic [31:0] in_word;
    logic [513:0] in_tl0, in_tl1;
    logic [5119:0] out;
    int count, tl_count, at_tl, segments, started, framed, words;
    string path;

    ual_deframer deframer (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .flit_i(flit), .dropped_o(dropped),
        .crc_bad_o(crc_bad), .segment_valid_o(segment_valid), .start_o(start), .word_valid_o(word_valid), .word_o(word),
        .tl_valid_o(tl_valid), .tl0_o(tl0), .tl1_o(tl1), .message0_o(message0), .message1_o(message1), .error_o(error)
    );

    ual_framer framer (
        .clk_i(clk), .rst_ni(rst_n), .step_i(step), .header_i(flit[8*624 +: 24]), .word_valid_i(in_word_valid),
        .word_i(in_word), .word_taken_o(in_word_taken), .tl_valid_i(in_tl_valid), .tl0_i(in_tl0[511:0]),
        .tl1_i(in_tl1[511:0]), .message0_i(in_tl0[513:512]), .message1_i(in_tl1[513:512]), .taken_o(in_taken),
        .valid_o(out_valid), .flit_o(out)
    );

    task automatic clock;
        #1 clk = 1;
        #1 clk = 0;
        #1;
    endtask

    task automatic expect_tl(input int i, input logic [1:0] message, input logic [511:0] value);
        if (at_tl >= tl_count || {message, value} !== tl[at_tl])
            $fatal(1, "flit %0d: TL flit %0d is %b %h, expected %b %h", i, at_tl, message, value, tl[at_tl][513:512],
                tl[at_tl][511:0]);
        at_tl++;
    endtask

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if (!$value$plusargs("tl_count=%d", tl_count)) $fatal(1, "+tl_count is missing");
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, count - 1);
        if ($value$plusargs("good=%s", path)) $readmemh(path, good, 0, count - 1);
        if ($value$plusargs("tl=%s", path)) $readmemh(path, tl, 0, tl_count - 1);
        {valid, step, in_word_valid, in_tl_valid, in_word, in_tl0, in_tl1, flit} = '0;
        #1 rst_n = 0;
        #1 rst_n = 1;
        {at_tl, segments, started, framed, words} = '0;
        for (int i = 0; i < count; i++) begin
            flit = flits[i];
            valid = 1;
            #1;
            if (crc_bad === good[i] || dropped !== (!good[i] || !flit[8*624+20]))
                $fatal(1, "flit %0d: dropped %b, CRC bad %b, good %b", i, dropped, crc_bad, good[i]);
            clock();
            valid = 0;
            #1;
            for (int g = 0; g < 5; g++) begin
                found[5*i+g] = {word_valid, word, start};
                if (error || segment_valid !== (good[i] && flit[8*624+20])) $fatal(1, "flit %0d, segment %0d: error", i, g);
                if (tl_valid[0]) expect_tl(i, message0, tl0);
                if (tl_valid[1]) expect_tl(i, message1, tl1);
                clock();
            end
            if (!ready) $fatal(1, "flit %0d: the deframer is not ready", i);
        end
        if (at_tl != tl_count) $fatal(1, "%0d TL flits found, %0d expected", at_tl, tl_count);
        for (int i = 0; i < count; i++) if (good[i]) begin
            flit = flits[i];
            for (int g = 0; g < 5; g++) begin
                {in_word_valid, in_word, in_tl_valid} = found[5*i+g];
                in_tl0 = tl[started];
                in_tl1 = in_tl_valid[0] ? tl[started+1] : tl[started];
                step = 1;
                #1;
                if (in_taken !== in_tl_valid || in_word_taken !== in_word_valid)
                    $fatal(1, "flit %0d, segment %0d: taken %b, offered %b", i, g, in_taken, in_tl_valid);
                started += int'(in_tl_valid[0]) + int'(in_tl_valid[1]);
                words += int'(in_word_valid);
                clock();
            end
            step = 0;
            #1;
            if (!out_valid || out !== flit) $fatal(1, "flit %0d is framed as %h, expected %h", i, out, flit);
        end
        $display("%0d TL flits, %0d words", started, words);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
