// Random transactions through nvl_packetizer; the model encodes the same packets, and the flits are the same. The receiver
// and the source of data wait at random. +count=N packets
//
// An AE goes with a packet when it differs from the last one of its channel; an IDLE follows some of the payloads, for which
// no transaction is offered.
module nvl_packetizer_dpi_tb;
    import scalepool_pkg::*;
    `include "dpi_random.svh"
    localparam int RING = 256;
    logic clk = 0, rst_n = 1;
    logic [319:0] packet;
    logic txn_valid, txn_ready, data_valid, data_ready, flit_valid, flit_ready, header, sent, taken;
    logic [127:0] flit, data_in;

    // A packet: 127:0 enables, 159:128 route, 165:160 attr, 225:166 address, 231:226 op, 241:232 tag, 250:242 rid,
    // 254:251 size, 255 be, 256 ep, 258:257 atag, 261:259 crvc, 265:262 crh, 270:266 crd, 271 ackv, 283:272 ackid.
    nvl_packetizer dut (
        .clk_i(clk), .rst_ni(rst_n), .txn_valid_i(txn_valid), .txn_ready_o(txn_ready), .op_i(packet[231:226]),
        .tag_i(packet[241:232]), .rid_i(packet[250:242]), .address_i(packet[225:166]), .size_i(packet[254:251]),
        .attr_i(packet[165:160]), .route_i(packet[159:128]), .be_i(packet[255]), .enables_i(packet[127:0]),
        .ep_i(packet[256]), .atag_i(packet[258:257]), .data_valid_i(data_valid), .data_ready_o(data_ready),
        .data_i(data_in), .crvc_i(packet[261:259]), .crh_i(packet[265:262]), .crd_i(packet[270:266]),
        .ackv_i(packet[271]), .ackid_i(packet[283:272]), .flit_valid_o(flit_valid), .flit_ready_i(flit_ready),
        .header_o(header), .flit_o(flit)
    );

    sp_nvlink_encoder encoder;
    nvlink_message message;
    logic with_ae;
    bit [127:0] encoded [$];
    logic [127:0] data [0:RING-1];
    logic [128:0] flits [0:RING-1];      // of the model, bit 128: a header
    logic [63:0] last_ae [0:7];
    logic after_payload, idle;
    int count, put_data, at_data, put_flits, at_flits, cycles;

    function automatic logic [5:0] random_op();
        case (draw_up_to(10))
            0: return 6'h02;
            1: return 6'h03;
            2: return 6'h04;
            3: return 6'h05;
            4: return 6'h07;
            5: return 6'h10;
            6: return 6'h01;
            7: return 6'h06;
            8: return 6'h08;
            9: return 6'h11;
            default: return 6'h12;
        endcase
    endfunction

    // Channel of an operation (nvlink 6.1).
    function automatic int channel(input logic [5:0] op);
        if (op == 6'h02 || op == 6'h05 || op == 6'h07) return 6;
        return op == 6'h10 || op == 6'h11 || op == 6'h12 ? 5 : 0;
    endfunction

    function automatic logic carries_data(input logic [5:0] op);
        return op == 6'h02 || op == 6'h03 || op == 6'h04 || op == 6'h05 || op == 6'h07 || op == 6'h10;
    endfunction

    // The next packet, and the same for the model.
    task automatic next_packet;
        logic [5:0] op;
        logic [63:0] ae;
        int vc;
        for (int w = 0; w < 5; w++) packet[64*w +: 64] = draw();
        message = new();
        message.header.crvc = packet[261:259];
        message.header.crh = packet[265:262];
        message.header.crd = packet[270:266];
        message.header.ackv = packet[271];
        message.header.ackid = packet[283:272];
        with_ae = 0;
        idle = after_payload && draw_up_to(3) == 0;
        if (idle) begin
            packet[231:226] = 6'h00;
            after_payload = 0;
            return;
        end
        op = random_op();
        vc = channel(op);
        packet[231:226] = op;
        // Few regions, so that some addresses need no AE; the all-zero one is the state after reset.
        packet[225:204] = 22'(draw_up_to(2));
        packet[203:200] = '0;
        if (draw_up_to(1) == 0) packet[165:128] = '0;
        packet[255] = carries_data(op) && packet[254:251] < 8 && draw_up_to(2) == 0;
        ae = {packet[225:200], packet[165:128]};
        message.header.op = op;
        message.header.vc = 3'(vc);
        message.header.tag = packet[241:232];
        message.header.rid = packet[250:242];
        message.header.address = packet[199:166];
        message.header.size = packet[254:251];
        message.header.ep = packet[256];
        message.header.atag = packet[258:257];
        after_payload = carries_data(op) || ae != last_ae[vc] || packet[255];
        with_ae = ae != last_ae[vc];
        message.ae.address = packet[225:200];
        message.ae.attr = packet[165:160];
        message.ae.route = packet[159:128];
        last_ae[vc] = ae;
        message.has_enables = packet[255];
        message.payload_enables = packet[127:0];
        for (int i = 0; carries_data(op) && i <= int'(packet[254:251]); i++) begin
            data[put_data % RING] = {draw(), draw()};
            message.payload[128*i +: 128] = data[put_data % RING];
            message.payload_bytes += 16;
            put_data++;
        end
    endtask

    initial if ($test$plusargs("nvl_packetizer")) begin
        encoder = new(SP_SENDS_DOWN);
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        {packet, txn_valid, data_valid, flit_ready, after_payload} = '0;
        for (int i = 0; i < 8; i++) last_ae[i] = '0;
        #1 rst_n = 0;
        #1 rst_n = 1;
        for (int n = 0; n < count; n++) begin
            next_packet();
            if (encoder.encode(message, with_ae, encoded) == 0) $fatal(1, "packet %0d: the model gives no flits for %p", n, message.header);
            foreach (encoded[i]) begin
                flits[put_flits % RING] = {i == 0, encoded[i]};
                put_flits++;
            end
            for (cycles = 0; at_flits < put_flits && cycles < 1000; cycles++) begin
                // The header is the first flit of the packet; what follows needs no transaction any more.
                txn_valid = !idle && at_flits == put_flits - encoded.size();
                data_in = data[at_data % RING];
                data_valid = at_data < put_data && draw_up_to(3) != 0;
                flit_ready = draw_up_to(3) != 0;
                #1;
                sent = flit_valid && flit_ready;
                taken = sent && data_valid && data_ready;
                if (sent && {header, flit} !== flits[at_flits % RING])
                    $fatal(1, "packet %0d, flit %0d: header %b %h, expected %h", n, at_flits, header, flit, flits[at_flits % RING]);
                clk = 1;
                #1;
                at_flits += int'(sent);
                at_data += int'(taken);
                clk = 0;
                #1;
            end
            if (at_flits != put_flits) $fatal(1, "packet %0d does not end: %p", n, message.header);
        end
        $display("%0d flits", put_flits);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
