// The checks of 256-byte flits side by side on one flit, each on the bytes that it covers.
module cxl256_check_top (
    input  logic [2047:0] flit_i,
    output logic [63:0]   crc8_o,
    output logic [47:0]   even_o,
    output logic [47:0]   odd_o,
    output logic [47:0]   fec_standard_o,
    output logic [47:0]   fec_lopt_o,
    output logic [2047:0] fixed_o,  // as a standard flit
    output logic [2:0]    changed_o,
    output logic [2:0]    bad_o
);
    cxl256_crc8b crc8 (.body_i(flit_i[0 +: 8*242]), .crc_o(crc8_o));
    cxl256_crc6b #(.DATA_BYTES(122)) even (.half_i(flit_i[0 +: 8*122]), .crc_o(even_o));
    cxl256_crc6b #(.DATA_BYTES(116)) odd (.half_i(flit_i[8*128 +: 8*116]), .crc_o(odd_o));
    cxl256_fec_encode fec_standard (.body_i(flit_i[0 +: 8*250]), .fec_o(fec_standard_o));
    cxl256_fec_encode fec_lopt (.body_i({flit_i[8*250 +: 48], flit_i[0 +: 8*244]}), .fec_o(fec_lopt_o));
    cxl256_fec_correct correct (
        .body_i (flit_i[0 +: 8*250]),
        .fec_i  (flit_i[8*250 +: 48]),
        .body_o (fixed_o[0 +: 8*250]),
        .fec_o  (fixed_o[8*250 +: 48]),
        .fixed_o(changed_o),
        .bad_o  (bad_o)
    );
endmodule
