// CRC of a CXL 68-byte flit: 16 bits over the 512 bits of the slots (cxl-68b §1.6).
//
// Combinational. The register starts at 0 and takes bit 511 first; nothing is reflected or inverted. The protocol ID is
// not covered. `crc_o[7:0]` is byte 64 of the flit, `crc_o[15:8]` byte 65. Every bit of the CRC is the parity of some bits
// of the slots, and is built as that: a constant mask and one wide XOR.
module cxl68_crc16 (
    input  logic [511:0] slots_i,
    output logic [15:0]  crc_o
);
    localparam logic [15:0] POLYNOMIAL = 16'hF053;  // x^16 is implied

    // The bits of the slots whose remainder has a bit in common with `chosen`, which is one-hot. Constant.
    function automatic logic [511:0] mask(input logic [15:0] chosen);
        logic [15:0] r;  // of bit i alone: x^(i+16)
        r = POLYNOMIAL;
        for (int i = 0; i < 512; i++) begin
            mask[i] = (r & chosen) != 0;
            r = {r[14:0], 1'b0} ^ (r[15] ? POLYNOMIAL : 16'h0);
        end
    endfunction

    for (genvar n = 0; n < 16; n++) begin : gen_bit
        localparam logic [511:0] MASK = mask(16'h1 << n);
        assign crc_o[n] = ^(slots_i & MASK);
    end
endmodule
