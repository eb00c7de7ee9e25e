// One flit through the CRC of the NVLink model profile: 25 bits (nvlink §6.2).
//
// Combinational. The register is 1FFFFFFh at the start of a message; the flits of a packet behind its header go through
// it whole, bit 127 first, then bits 102 to 0 of the next header, and what is left is the CRC of that header.
module nvl_crc25 #(
    parameter logic [24:0] POLYNOMIAL = 25'h1C2_60A7  // x^25 is implied
) (
    input  logic [24:0]  crc_i,
    input  logic [127:0] flit_i,
    input  logic         header_i,  // flit_i is a header: only bits 102 to 0 count
    output logic [24:0]  crc_o
);
    function automatic logic [24:0] run(input logic [24:0] start, input logic [127:0] data, input logic short_run);
        logic [24:0] r;
        r = start;
        for (int i = 127; i >= 0; i--)
            if (i < 103 || !short_run) r = {r[23:0], 1'b0} ^ ((data[i] ^ r[24]) ? POLYNOMIAL : 25'h0);
        run = r;
    endfunction

    assign crc_o = run(crc_i, flit_i, header_i);
endmodule
