// Golden 256-byte flits against the FEC corrector, the FEC encoder and the CRCs behind it; +lopt for the
// latency-optimised flits. +flits=FILE +fixed=FILE (the flits after correction) +verdict=FILE (bit 0: FEC repairs all,
// bit 1: CRC good, or of the even half; bit 2: CRC of the odd half; bits 5:4: first bad group, bit 6: is there one)
// +count=N
module cxl256_check_tb;
    localparam int MOST = 1024;
    logic [2047:0] flits [0:MOST-1];
    logic [2047:0] fixed [0:MOST-1];
    logic [7:0] verdict [0:MOST-1];
    logic [2047:0] flit, out, kept;
    logic [1999:0] body_in, body_out;
    logic [47:0] fec_in, fec_out, fec_again, crc_even, crc_odd;
    logic [63:0] crc;
    logic [2:0] repaired, bad;
    logic even_ok, odd_ok, lopt;
    string path;
    int count;

    assign body_in = lopt ? {flit[8*250 +: 48], flit[0 +: 8*244]} : flit[0 +: 8*250];
    assign fec_in = lopt ? flit[8*244 +: 48] : flit[8*250 +: 48];
    assign out = lopt ? {body_out[8*244 +: 48], fec_out, body_out[0 +: 8*244]} : {fec_out, body_out};

    cxl256_fec_correct corrector (
        .body_i(body_in), .fec_i(fec_in), .body_o(body_out), .fec_o(fec_out), .fixed_o(repaired), .bad_o(bad)
    );
    cxl256_fec_encode encoder (.body_i(body_out), .fec_o(fec_again));
    cxl256_crc8b whole (.body_i(out[0 +: 8*242]), .crc_o(crc));
    cxl256_crc6b #(.DATA_BYTES(122)) even (.half_i(out[0 +: 8*122]), .crc_o(crc_even));
    cxl256_crc6b #(.DATA_BYTES(116)) odd (.half_i(out[8*128 +: 8*116]), .crc_o(crc_odd));

    assign even_ok = lopt ? crc_even === out[8*122 +: 48] : crc === out[8*242 +: 64];
    assign odd_ok = lopt ? crc_odd === out[8*250 +: 48] : even_ok;

    // The ramp of cxl-256b §10, one byte wrong: what the FEC says and whether it is undone.
    task automatic ramp(input int at, input logic [7:0] difference, input int group);
        logic [2047:0] clean;
        for (int i = 0; i < 242; i++) clean[8*i +: 8] = 8'(i);
        clean[8*242 +: 112] = 112'hA8FF_C73D_A015_5650_BA1B_432C_E5BC;
        flit = clean;
        flit[8*at +: 8] = flit[8*at +: 8] ^ difference;
        #1;
        if (out !== clean || !even_ok || bad !== 0 || repaired !== 3'(1 << group))
            $fatal(1, "ramp, byte %0d: repaired %b, bad %b, CRC %h", at, repaired, bad, crc);
        // Differences of C1 and P1 that name row 83 of group 1, where no byte is.
        flit = clean;
        flit[8*250 +: 8] = flit[8*250 +: 8] ^ 8'h02;
        flit[8*253 +: 8] = flit[8*253 +: 8] ^ 8'h01;
        #1;
        if (bad !== 3'b010) $fatal(1, "a row that is not there: bad %b", bad);
    endtask

    initial begin
        lopt = $test$plusargs("lopt") != 0;
        if (!lopt) begin
            ramp(100, 8'h10, 1);
            ramp(249, 8'h80, 0);
            ramp(2, 8'h01, 2);
            for (int i = 0; i < 256; i += 5) ramp(i, 8'(i | 1), i % 3);
        end
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, count - 1);
        if ($value$plusargs("fixed=%s", path)) $readmemh(path, fixed, 0, count - 1);
        if ($value$plusargs("verdict=%s", path)) $readmemh(path, verdict, 0, count - 1);
        for (int i = 0; i < count; i++) begin
            flit = flits[i];
            #1;
            if ((bad === 0) !== verdict[i][0]) $fatal(1, "flit %0d: bad groups %b, verdict %b", i, bad, verdict[i]);
            if (verdict[i][6] && !bad[verdict[i][5:4]]) $fatal(1, "flit %0d: bad groups %b", i, bad);
            // Where the CRCs of both halves fit, nobody looks at the FEC bytes (cxl-256b §7.3), so they are left out.
            kept = fixed[i];
            if (lopt) kept[8*244 +: 48] = out[8*244 +: 48];
            if (verdict[i][0] && out !== kept) $fatal(1, "flit %0d: corrected to %h, expected %h", i, out, kept);
            if (verdict[i][0] && fec_again !== fec_out) $fatal(1, "flit %0d: FEC %h, expected %h", i, fec_again, fec_out);
            // After a failed repair the CRC says nothing.
            if (verdict[i][0] && {odd_ok, even_ok} !== verdict[i][2:1])
                $fatal(1, "flit %0d: CRC even, odd %b %b, verdict %b", i, even_ok, odd_ok, verdict[i]);
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
