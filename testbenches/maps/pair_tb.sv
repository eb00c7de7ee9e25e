`timescale 1ns/1ps
// Both directions of a link beside one end of it, a unit each way and clock at most: what `scalepool inspect` watches an end
// in. +rows=FILE (a row a clock: valid and unit that come to the end, then valid and unit that it sends, highest bits first)
// +count=N. Dumps itself: +dump=FILE.
module pair_tb #(
    parameter int BITS = 544
);
    localparam int MOST = 8192;
    logic clk = 0, rst_n = 0;
    logic [2*BITS+1:0] rows [0:MOST-1];
    logic rx_valid, tx_valid;
    logic [BITS-1:0] rx_data, tx_data;
    int count;
    string path;

    always #5 clk = ~clk;

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("rows=%s", path)) $readmemh(path, rows, 0, count - 1);
        if ($value$plusargs("dump=%s", path)) $dumpfile(path);
        $dumpvars(0, pair_tb);
        {rx_valid, rx_data, tx_valid, tx_data} <= '1;
        repeat (4) @(posedge clk);
        rst_n <= 1;
        for (int n = 0; n < count; n++) begin
            {rx_valid, rx_data, tx_valid, tx_data} <= rows[n];
            @(posedge clk);
        end
        {rx_valid, tx_valid} <= '0;
        repeat (2) @(posedge clk);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
