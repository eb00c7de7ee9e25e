// Golden 68-byte flits against cxl68_crc16: the CRC fits in the flits the vectors call good, in no other; and the known
// answers of cxl-68b §1.6. +flits=FILE +good=FILE (one bit a flit) +count=N
module cxl68_crc_tb;
    localparam int MOST = 4096;
    logic [543:0] flits [0:MOST-1];
    logic good [0:MOST-1];
    logic [511:0] slots;
    logic [15:0] crc;
    string path;
    int count;

    cxl68_crc16 dut (.slots_i(slots), .crc_o(crc));

    task automatic answer(input logic [511:0] payload, input logic [15:0] expected);
        slots = payload;
        #1;
        if (crc !== expected) $fatal(1, "payload %h: CRC %h, expected %h", payload, crc, expected);
    endtask

    initial begin
        answer('0, 16'h0000);
        answer(512'h1, 16'hF053);
        answer(512'h2, 16'h10F5);
        answer(512'h100, 16'h3954);
        answer(512'h1 << 127, 16'h16B2);
        answer(512'h1 << 128, 16'h2D64);
        answer(512'h1 << 511, 16'hC47D);
        answer('1, 16'h7856);
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, count - 1);
        if ($value$plusargs("good=%s", path)) $readmemh(path, good, 0, count - 1);
        for (int i = 0; i < count; i++) begin
            slots = flits[i][527:16];
            #1;
            if ((crc === flits[i][543:528]) !== good[i])
                $fatal(1, "flit %0d: CRC %h, in the flit %h, good %b", i, crc, flits[i][543:528], good[i]);
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
