// Golden NVLink flits through nvl_crc25: the CRC of a header fits where the vectors say so, and nowhere else. +flits=FILE
// (bit 128: a header, bit 129: its CRC is good) +count=N
module nvl_crc_tb;
    localparam int MOST = 4096;
    logic [129:0] flits [0:MOST-1];
    logic [127:0] flit;
    logic [24:0] state, crc;
    logic header, good;
    string path;
    int count;

    nvl_crc25 dut (.crc_i(state), .flit_i(flit), .header_i(header), .crc_o(crc));

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, count - 1);
        state = '1;
        for (int i = 0; i < count; i++) begin
            {good, header, flit} = flits[i];
            #1;
            if (header && (crc === flit[127:103]) !== good)
                $fatal(1, "flit %0d: CRC %h, in the header %h, good %b", i, crc, flit[127:103], good);
            // A header whose CRC does not fit changes nothing: the payload before it is still to be covered.
            if (!header || good) state = header ? '1 : crc;
            #1;
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
