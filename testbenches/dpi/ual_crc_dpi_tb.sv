// Random DL flits: ual_crc32 against the model. +count=N
module ual_crc_dpi_tb;
    import scalepool_dpi_pkg::*;
    import scalepool_flat_pkg::*;
    `include "dpi_random.svh"

    logic [5119:0] flit;
    logic [31:0] crc;
    int count;

    ual_crc32 dut (.body_i(flit[8*636-1:0]), .crc_o(crc));

    initial begin
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library is another version than the package");
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        for (int i = 0; i < count; i++) begin
            for (int w = 0; w < 80; w++) flit[64*w +: 64] = draw();
            if (i % 8 == 0) flit &= 5120'h1 << draw_up_to(5119);
            #1;
            if (crc !== sp_flat_ual_crc32(flit))
                $fatal(1, "flit %0d, %h: CRC %h, model %h", i, flit, crc, sp_flat_ual_crc32(flit));
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
