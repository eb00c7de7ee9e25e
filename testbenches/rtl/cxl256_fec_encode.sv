// FEC of a 256-byte flit: a check and a parity byte for each of three interleaved groups (cxl-256b §8).
//
// Combinational. `body_i` is the 250 bytes under the FEC in the order the FEC counts them: bytes 0 to 249 of a standard
// flit, bytes 0 to 243 and 250 to 255 of a latency-optimised one. Byte j of `fec_o` is the j-th FEC byte on the wire:
// C1, C2, C0, P1, P2, P0. Field polynomial 11Dh, another one than that of the CRC.
module cxl256_fec_encode (
    input  logic [8*250-1:0] body_i,
    output logic [47:0]      fec_o
);
    localparam int ROWS = 84;

    function automatic logic [7:0] alpha_times(input logic [7:0] b);
        alpha_times = {b[6:0], 1'b0} ^ (b[7] ? 8'h1D : 8'h00);
    endfunction

    // {check, parity} of a group. Groups 1 and 2 have no byte in the last row; it counts as 00.
    function automatic logic [15:0] sums(input logic [8*252-1:0] data, input int group);
        logic [7:0] check, parity;
        check = '0;
        parity = '0;
        for (int row = 0; row < ROWS; row++) begin
            check = alpha_times(check ^ data[8*(3*row+group) +: 8]);
            parity = parity ^ data[8*(3*row+group) +: 8];
        end
        sums = {check, parity};
    endfunction

    logic [8*252-1:0] data;
    logic [7:0] c0, c1, c2, p0, p1, p2;

    assign data = {16'h0000, body_i};
    assign {c0, p0} = sums(data, 0);
    assign {c1, p1} = sums(data, 1);
    assign {c2, p2} = sums(data, 2);
    assign fec_o = {p0, p2, p1, c0, c2, c1};
endmodule
