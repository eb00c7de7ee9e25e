// CRC of one half of a latency-optimised 256-byte flit: 6 bytes (cxl-256b §7.2).
//
// Combinational. The even half is bytes 0 to 121, the odd half bytes 128 to 243; zero bytes fill both up to 130. The
// constant coefficient is `crc_o[7:0]` and goes to byte 122 or 250.
module cxl256_crc6b #(
    parameter int DATA_BYTES = 122  // 122 for the even half, 116 for the odd one
) (
    input  logic [8*DATA_BYTES-1:0] half_i,
    output logic [47:0]             crc_o
);
    gf_remainder #(
        .DATA_BYTES (DATA_BYTES),
        .PAD_BYTES  (130 - DATA_BYTES),
        .CHECK_BYTES(6),
        .GENERATOR  (48'h7E47_AB1A_A832)
    ) divider (
        .data_i     (half_i),
        .remainder_o(crc_o)
    );
endmodule
