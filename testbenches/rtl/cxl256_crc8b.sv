// CRC of a standard 256-byte flit: 8 bytes over bytes 0 to 241 (cxl-256b §7.1).
//
// Combinational. `crc_o[7:0]` is the constant coefficient and goes to byte 242, `crc_o[63:56]` to byte 249.
module cxl256_crc8b (
    input  logic [8*242-1:0] body_i,
    output logic [63:0]      crc_o
);
    gf_remainder #(
        .DATA_BYTES (242),
        .CHECK_BYTES(8),
        .GENERATOR  (64'hD568_FED5_3341_4D69)
    ) divider (
        .data_i     (body_i),
        .remainder_o(crc_o)
    );
endmodule
