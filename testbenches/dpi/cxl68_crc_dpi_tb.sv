// Random flits: cxl68_crc16 against the model. +count=N
module cxl68_crc_dpi_tb;
    import scalepool_dpi_pkg::*;
    import scalepool_flat_pkg::*;
    `include "dpi_random.svh"

    logic [511:0] slots;
    logic [15:0] crc;
    int count;

    cxl68_crc16 dut (.slots_i(slots), .crc_o(crc));

    initial begin
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library is another version than the package");
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        for (int i = 0; i < count; i++) begin
            for (int w = 0; w < 8; w++) slots[64*w +: 64] = draw();
            // Some with few bits, which a wrong tap shows best.
            if (i % 8 == 0) slots &= 512'h1 << draw_up_to(511);
            #1;
            if (crc !== sp_flat_cxl68_crc16(slots))
                $fatal(1, "flit %0d, %h: CRC %h, model %h", i, slots, crc, sp_flat_cxl68_crc16(slots));
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
