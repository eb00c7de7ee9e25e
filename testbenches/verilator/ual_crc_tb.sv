// Golden UALink DL flits against ual_crc32, and the public anchor of ualink §5. +flits=FILE +good=FILE +count=N
module ual_crc_tb;
    localparam int MOST = 2048;
    logic [5119:0] flits [0:MOST-1];
    logic good [0:MOST-1];
    logic [8*636-1:0] data;
    logic [31:0] crc;
    string path;
    int count;

    ual_crc32 dut (.body_i(data), .crc_o(crc));

    initial begin
        data = '0;
        data[8*624 +: 24] = 24'h4FFF00;
        #1;
        if (crc !== 32'hEA3D_9002) $fatal(1, "idle Ack: CRC %h", crc);
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, count - 1);
        if ($value$plusargs("good=%s", path)) $readmemh(path, good, 0, count - 1);
        for (int i = 0; i < count; i++) begin
            data = flits[i][0 +: 8*636];
            #1;
            if ((crc === flits[i][8*636 +: 32]) !== good[i])
                $fatal(1, "flit %0d: CRC %h, in the flit %h, good %b", i, crc, flits[i][8*636 +: 32], good[i]);
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
