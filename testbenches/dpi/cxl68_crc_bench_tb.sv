// Speed of DPI: calls alone (+calls), or random flits through cxl68_crc16 and the model. +count=N
module cxl68_crc_bench_tb;
    import scalepool_dpi_pkg::*;
    import scalepool_flat_pkg::*;
    `include "dpi_random.svh"

    logic [511:0] slots;
    logic [15:0] crc, sum;
    int count;

    cxl68_crc16 dut (.slots_i(slots), .crc_o(crc));

    initial begin
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library is another version than the package");
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        for (int w = 0; w < 8; w++) slots[64*w +: 64] = draw();
        if ($test$plusargs("calls") != 0) begin
            sum = 0;
            for (int i = 0; i < count; i++) begin
                slots[31:0] = i;
                sum ^= sp_flat_cxl68_crc16(slots);
            end
            $display("sum %h", sum);
        end else begin
            for (int i = 0; i < count; i++) begin
                for (int w = 0; w < 8; w++) slots[64*w +: 64] = draw();
                #1;
                if (crc !== sp_flat_cxl68_crc16(slots)) $fatal(1, "flit %0d: CRC %h", i, crc);
            end
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
