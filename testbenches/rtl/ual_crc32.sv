// CRC of a UALink DL flit: 32 bits over 640 bytes (ualink §5).
//
// Combinational. IEEE 802.3 polynomial, register all ones at the start, complemented at the end; byte 0 first, bit 0 of a
// byte first. The last four bytes, where the CRC goes, count as 00. `crc_o[7:0]` holds x^0 to x^7 and is byte 636.
module ual_crc32 (
    input  logic [8*636-1:0] body_i,
    output logic [31:0]      crc_o
);
    localparam logic [31:0] POLYNOMIAL = 32'h04C1_1DB7;  // x^32 is implied

    function automatic logic [31:0] remainder(input logic [8*640-1:0] data);
        logic [31:0] r;
        r = '1;
        for (int i = 0; i < 8 * 640; i++) r = {r[30:0], 1'b0} ^ ((data[i] ^ r[31]) ? POLYNOMIAL : 32'h0);
        remainder = ~r;
    endfunction

    assign crc_o = remainder({32'h0, body_i});
endmodule
