// Random packets of up to 19 flits and the header behind them: nvl_crc25, flit by flit, against the model. +count=N flits
module nvl_crc_dpi_tb;
    import scalepool_dpi_pkg::*;
    import scalepool_flat_pkg::*;
    `include "dpi_random.svh"

    logic [20*128-1:0] flits;
    logic [127:0] flit;
    logic [24:0] state, crc;
    logic header;
    int count, seen, length;

    nvl_crc25 dut (.crc_i(state), .flit_i(flit), .header_i(header), .crc_o(crc));

    initial begin
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library is another version than the package");
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        flits = '0;
        for (seen = 0; seen < count; seen += length) begin
            length = 1 + draw_up_to(19);
            if (length > count - seen) length = count - seen;
            state = '1;
            for (int n = 0; n < length; n++) begin
                flit = {draw(), draw()};
                if ((draw() & 7) == 0) flit &= 128'h1 << draw_up_to(127);
                flits[128*n +: 128] = flit;
                header = n == length - 1;
                #1;
                state = crc;
            end
            if (crc !== 25'(sp_flat_nvl_crc25(flits, length)))
                $fatal(1, "flit %0d, %0d flits, %h: CRC %h, model %h", seen, length, flits, crc,
                    sp_flat_nvl_crc25(flits, length));
        end
        $display("PASS %0d", seen);
        $finish;
    end
endmodule
