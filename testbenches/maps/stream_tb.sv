`timescale 1ns/1ps
// A bus that carries units in beats, with a reset and waits on both sides: what an interface of a design looks like to
// `scalepool inspect`. +beats=FILE (one beat a line, highest bit: the first of a unit) +count=N. Dumps itself to wave.vcd or,
// where the simulator was built for it, wave.fst: +dump=FILE.
module stream_tb #(
    parameter int BITS = 544
);
    localparam int MOST = 65536;
    logic clk = 0, rst_n = 0;
    logic [BITS:0] beats [0:MOST-1];
    logic valid, ready, first;
    logic [BITS-1:0] data;
    int count, n;
    string path;

    always #5 clk = ~clk;

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("beats=%s", path)) $readmemh(path, beats, 0, count - 1);
        if ($value$plusargs("dump=%s", path)) $dumpfile(path);
        $dumpvars(0, stream_tb);
        // In reset the bus says what it likes.
        valid <= 1;
        ready <= 1;
        {first, data} <= '1;
        n = 0;
        repeat (4) @(posedge clk);
        rst_n <= 1;
        valid <= 0;
        while (n < count) begin
            @(posedge clk);
            // What was offered and taken at this edge is gone; what was not taken stays.
            if (valid && ready) n++;
            if (!valid || ready) begin
                valid <= n < count && ($urandom & 3) != 0;
                {first, data} <= beats[n < count ? n : 0];
            end
            ready <= ($urandom & 3) != 0;
        end
        repeat (2) @(posedge clk);
        $display("PASS %0d", n);
        $finish;
    end
endmodule
