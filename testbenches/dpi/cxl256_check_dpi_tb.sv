// Random 256-byte flits, standard and latency-optimised in turn: CRCs and FEC against the model; then up to four wrong
// bytes, and the corrector has to do what the model does. +count=N
module cxl256_check_dpi_tb;
    import scalepool_dpi_pkg::*;
    import scalepool_flat_pkg::*;
    `include "dpi_random.svh"

    logic [2047:0] flit, sent, got, out, model;
    logic [1999:0] body_in, body_out, body_sent;
    logic [47:0] fec_in, fec_out, fec_made, crc_even, crc_odd;
    logic [63:0] crc;
    logic [2:0] repaired, bad;
    logic lopt;
    int count, wrong, said, kind, repairs, hopeless;

    // What the encoder and the CRCs see.
    assign body_sent = lopt ? {flit[8*250 +: 48], flit[0 +: 8*244]} : flit[0 +: 8*250];
    cxl256_fec_encode encoder (.body_i(body_sent), .fec_o(fec_made));
    cxl256_crc8b whole (.body_i(flit[0 +: 8*242]), .crc_o(crc));
    cxl256_crc6b #(.DATA_BYTES(122)) even (.half_i(flit[0 +: 8*122]), .crc_o(crc_even));
    cxl256_crc6b #(.DATA_BYTES(116)) odd (.half_i(flit[8*128 +: 8*116]), .crc_o(crc_odd));
    assign sent = lopt ? {flit[8*250 +: 48], fec_made, flit[0 +: 8*244]} : {fec_made, flit[0 +: 8*250]};

    // What the corrector sees and makes of it.
    assign body_in = lopt ? {got[8*250 +: 48], got[0 +: 8*244]} : got[0 +: 8*250];
    assign fec_in = lopt ? got[8*244 +: 48] : got[8*250 +: 48];
    cxl256_fec_correct corrector (
        .body_i(body_in), .fec_i(fec_in), .body_o(body_out), .fec_o(fec_out), .fixed_o(repaired), .bad_o(bad)
    );
    assign out = lopt ? {body_out[8*244 +: 48], fec_out, body_out[0 +: 8*244]} : {fec_out, body_out};

    initial begin
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library is another version than the package");
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        {repairs, hopeless} = '0;
        for (int i = 0; i < count; i++) begin
            lopt = i[0];
            kind = lopt ? SP_FEC_LOPT : SP_FEC_STANDARD;
            for (int w = 0; w < 32; w++) flit[64*w +: 64] = draw();
            if (i % 8 < 2) flit &= 2048'h1 << draw_up_to(2047);
            #1;
            if (crc !== sp_flat_cxl256_crc8b(flit[0 +: 8*242]) || crc_even !== 48'(sp_flat_cxl256_crc6b_even(flit[0 +: 8*122]))
                || crc_odd !== 48'(sp_flat_cxl256_crc6b_odd(flit[8*128 +: 8*116])))
                $fatal(1, "flit %0d, %h: CRC %h, even %h, odd %h", i, flit, crc, crc_even, crc_odd);
            sp_flat_fec_encode(kind, flit, model);
            if (sent !== model) $fatal(1, "flit %0d: encoded %h, model %h", i, sent, model);
            got = sent;
            wrong = draw_up_to(4);
            for (int e = 0; e < wrong; e++) got[8*draw_up_to(255) +: 8] = 8'(draw());
            #1;
            said = sp_flat_fec_correct(kind, got, model);
            if ((said < 0) !== (bad !== 0)) $fatal(1, "flit %0d, %h: bad groups %b, model says %0d", i, got, bad, said);
            if (said >= 0 && (out !== model || said != $countones(repaired)))
                $fatal(1, "flit %0d, %h: corrected %h (%b), model %h (%0d)", i, got, out, repaired, model, said);
            if (said < 0) hopeless++;
            else repairs += said;
        end
        // In a million flits there are some hundred thousand of each.
        if (count > 100 && (repairs == 0 || hopeless == 0)) $fatal(1, "%0d repairs, %0d hopeless", repairs, hopeless);
        $display("%0d bytes repaired, %0d flits hopeless", repairs, hopeless);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
