// Packets of the program against nvl_packetizer: the same transactions, the same flits. +packets=FILE (what goes in, see
// `packet` below) +data=FILE (data flits, in order) +flits=FILE (all flits in order, bit 128: a header) +count=N packets
// +data_count=N +flit_count=N. The receiver and the source of data wait at random. A packet of op 0 is not asked for: the
// device has to close the payload before it by itself.
module nvl_packetizer_tb;
    localparam int MOST = 1024;
    localparam int MOST_FLITS = 8192;
    logic clk = 0, rst_n = 1;
    logic [319:0] packets [0:MOST-1];
    logic [127:0] data [0:MOST_FLITS-1];
    logic [128:0] flits [0:MOST_FLITS-1];
    logic [319:0] packet;
    logic txn_valid, txn_ready, data_valid, data_ready, flit_valid, flit_ready, header;
    logic [127:0] flit;
    logic sent, taken, was_header;
    int count, data_count, flit_count, n, at_data, at_flit;
    string path;

    // A packet: 127:0 enables, 159:128 route, 165:160 attr, 225:166 address, 231:226 op, 241:232 tag, 250:242 rid,
    // 254:251 size, 255 be, 256 ep, 258:257 atag, 261:259 crvc, 265:262 crh, 270:266 crd, 271 ackv, 283:272 ackid.
    assign packet = packets[n];

    nvl_packetizer dut (
        .clk_i(clk), .rst_ni(rst_n), .txn_valid_i(txn_valid), .txn_ready_o(txn_ready), .op_i(packet[231:226]),
        .tag_i(packet[241:232]), .rid_i(packet[250:242]), .address_i(packet[225:166]), .size_i(packet[254:251]),
        .attr_i(packet[165:160]), .route_i(packet[159:128]), .be_i(packet[255]), .enables_i(packet[127:0]),
        .ep_i(packet[256]), .atag_i(packet[258:257]), .data_valid_i(data_valid), .data_ready_o(data_ready),
        .data_i(data[at_data]), .crvc_i(packet[261:259]), .crh_i(packet[265:262]), .crd_i(packet[270:266]),
        .ackv_i(packet[271]), .ackid_i(packet[283:272]), .flit_valid_o(flit_valid), .flit_ready_i(flit_ready),
        .header_o(header), .flit_o(flit)
    );

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if (!$value$plusargs("data_count=%d", data_count)) $fatal(1, "+data_count is missing");
        if (!$value$plusargs("flit_count=%d", flit_count)) $fatal(1, "+flit_count is missing");
        if ($value$plusargs("packets=%s", path)) $readmemh(path, packets, 0, count - 1);
        if ($value$plusargs("data=%s", path)) $readmemh(path, data, 0, data_count - 1);
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, flit_count - 1);
        {n, at_data, at_flit} = '0;
        {txn_valid, data_valid, flit_ready} = '0;
        #1 rst_n = 0;
        #1 rst_n = 1;
        for (int cycle = 0; at_flit < flit_count && cycle < 20 * flit_count; cycle++) begin
            txn_valid = n < count && packet[231:226] != 0;
            data_valid = ($urandom & 3) != 0;
            flit_ready = ($urandom & 3) != 0;
            #1;
            sent = flit_valid && flit_ready;
            taken = sent && data_valid && data_ready;
            was_header = header;
            if (sent && {header, flit} !== flits[at_flit])
                $fatal(1, "packet %0d, flit %0d: header %b %h, expected %h", n, at_flit, header, flit, flits[at_flit]);
            clk = 1;
            #1;
            // What goes in moves on behind the edge, as a register would.
            at_flit += int'(sent);
            at_data += int'(taken);
            n += int'(sent && was_header);
            clk = 0;
            #1;
        end
        if (at_flit != flit_count) $fatal(1, "%0d flits of %0d", at_flit, flit_count);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
