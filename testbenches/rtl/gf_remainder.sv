// Remainder of a message over GF(2^8), field polynomial 12Bh, as the CRCs of the 256-byte flits need it (cxl-256b §7).
//
// Combinational. Byte 0 of the message has the highest degree; PAD_BYTES zero bytes follow the message; the register
// starts at 0. Byte j of `remainder_o` is the coefficient of x^j. GENERATOR holds the coefficients without the leading 1,
// x^0 in the low byte.
module gf_remainder #(
    parameter int DATA_BYTES = 242,
    parameter int PAD_BYTES = 0,
    parameter int CHECK_BYTES = 8,
    parameter logic [8*CHECK_BYTES-1:0] GENERATOR = '0
) (
    input  logic [8*DATA_BYTES-1:0]  data_i,
    output logic [8*CHECK_BYTES-1:0] remainder_o
);
    localparam int W = 8 * CHECK_BYTES;

    // alpha times a byte of the field.
    function automatic logic [7:0] alpha_times(input logic [7:0] b);
        alpha_times = {b[6:0], 1'b0} ^ (b[7] ? 8'h2B : 8'h00);
    endfunction

    // GENERATOR times alpha^k, for k = 0 to 7: what bit k of the byte that leaves the register adds to it. Constant.
    logic [8*W-1:0] columns;
    assign columns[0 +: W] = GENERATOR;
    for (genvar k = 1; k < 8; k++) begin : gen_column
        for (genvar j = 0; j < CHECK_BYTES; j++) begin : gen_byte
            assign columns[W*k+8*j +: 8] = alpha_times(columns[W*(k-1)+8*j +: 8]);
        end
    end

    function automatic logic [W-1:0] step(input logic [8*W-1:0] added, input logic [W-1:0] r, input logic [7:0] b);
        logic [7:0] f;
        f = b ^ r[W-1 -: 8];
        step = {r[W-9:0], 8'h00};
        for (int k = 0; k < 8; k++) if (f[k]) step = step ^ added[W*k +: W];
    endfunction

    function automatic logic [W-1:0] divide(input logic [8*W-1:0] added, input logic [8*DATA_BYTES-1:0] data);
        logic [W-1:0] r;
        r = '0;
        for (int i = 0; i < DATA_BYTES; i++) r = step(added, r, data[8*i +: 8]);
        for (int i = 0; i < PAD_BYTES; i++) r = step(added, r, 8'h00);
        divide = r;
    endfunction

    assign remainder_o = divide(columns, data_i);
endmodule
