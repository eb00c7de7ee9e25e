// Corrector for the FEC of a 256-byte flit: repairs one wrong byte in each of the three groups (cxl-256b §8).
//
// Combinational. `body_i` and `fec_i` as for the encoder. In each group the wrong byte times a power of alpha that grows
// towards row 0 is the difference of the check bytes, and the wrong byte itself the difference of the parity bytes, so
// each row compares one constant multiple of one with the other; no logarithm is needed. A difference in one of the two
// alone is a wrong FEC byte, repaired as well. `bad_o` has a bit for each group whose differences name no byte; what
// comes out for such a group is what went in.
module cxl256_fec_correct (
    input  logic [8*250-1:0] body_i,
    input  logic [47:0]      fec_i,
    output logic [8*250-1:0] body_o,
    output logic [47:0]      fec_o,
    output logic [2:0]       fixed_o,
    output logic [2:0]       bad_o
);
    localparam int ROWS = 84;

    function automatic logic [7:0] alpha_times(input logic [7:0] b);
        alpha_times = {b[6:0], 1'b0} ^ (b[7] ? 8'h1D : 8'h00);
    endfunction

    // One bit a row: the row the differences name, if any.
    function automatic logic [ROWS-1:0] named(input logic [7:0] check, input logic [7:0] parity);
        logic [7:0] multiple;
        multiple = parity;
        for (int row = ROWS - 1; row >= 0; row--) begin
            multiple = alpha_times(multiple);
            named[row] = parity != 0 && check != 0 && multiple == check;
        end
    endfunction

    logic [47:0] recomputed;

    cxl256_fec_encode encoder (
        .body_i(body_i),
        .fec_o (recomputed)
    );

    // Places of the bytes of a group among the FEC bytes: C1 C2 C0 P1 P2 P0.
    for (genvar g = 0; g < 3; g++) begin : gen_group
        localparam int AT = (g + 2) % 3;
        localparam int REAL_ROWS = g == 0 ? ROWS : ROWS - 1;

        logic [7:0] check, parity;
        logic [ROWS-1:0] rows;
        logic repair_fec;

        assign check = recomputed[8*AT +: 8] ^ fec_i[8*AT +: 8];
        assign parity = recomputed[8*(AT+3) +: 8] ^ fec_i[8*(AT+3) +: 8];
        assign rows = named(check, parity) & ({ROWS{1'b1}} >> (ROWS - REAL_ROWS));
        assign repair_fec = (check == 0) != (parity == 0);

        assign fixed_o[g] = repair_fec || rows != 0;
        assign bad_o[g] = (check != 0 || parity != 0) && !fixed_o[g];

        assign fec_o[8*AT +: 8] = repair_fec ? recomputed[8*AT +: 8] : fec_i[8*AT +: 8];
        assign fec_o[8*(AT+3) +: 8] = repair_fec ? recomputed[8*(AT+3) +: 8] : fec_i[8*(AT+3) +: 8];
        for (genvar row = 0; row < REAL_ROWS; row++) begin : gen_row
            assign body_o[8*(3*row+g) +: 8] = body_i[8*(3*row+g) +: 8] ^ (rows[row] ? parity : 8'h00);
        end
    end
endmodule
