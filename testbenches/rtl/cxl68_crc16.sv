// CRC of a CXL 68-byte flit: 16 bits over the 512 bits of the slots (cxl-68b §1.6).
//
// Combinational. The register starts at 0 and takes bit 511 first; nothing is reflected or inverted. The protocol ID is
// not covered. `crc_o[7:0]` is byte 64 of the flit, `crc_o[15:8]` byte 65.
module cxl68_crc16 (
    input  logic [511:0] slots_i,
    output logic [15:0]  crc_o
);
    localparam logic [15:0] POLYNOMIAL = 16'hF053;  // x^16 is implied

    function automatic logic [15:0] remainder(input logic [511:0] data);
        logic [15:0] r;
        r = '0;
        for (int i = 511; i >= 0; i--) r = {r[14:0], 1'b0} ^ ((data[i] ^ r[15]) ? POLYNOMIAL : 16'h0);
        remainder = r;
    endfunction

    assign crc_o = remainder(slots_i);
endmodule
