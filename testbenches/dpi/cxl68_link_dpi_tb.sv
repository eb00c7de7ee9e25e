// A host of RTL (packer, retry transmitter and receiver, unpacker) on a link with a device of the model, with bit errors
// both ways and trainings in between. Random messages of all classes both ways have to arrive once, in order of their
// class, with their data; a passive end of the model watches the host and may find no broken rule. +count=N messages each
// way, +errors=N: one flit of N comes damaged, 0 none.
//
// A walk through one flit clock: the flit that the device has sent goes into the receiver, and what is accepted into the
// unpacker; the bench offers the transmitter INIT.Param, an LLCRD or a flit of the packer; what leaves goes to the device.
module cxl68_link_dpi_tb;
    import scalepool_pkg::*;
    `include "dpi_random.svh"
    localparam int ENTRIES = 40;
    localparam int RING = 1024;          // messages of a class that may be under way
    // Classes down and up: requests, responses, data, memory without and with data.
    localparam int DATA = 2;
    localparam int MEM_DATA = 4;

    logic clk = 0, rst_n = 1, training = 0;

    // Down.
    logic [4:0] pack_valid, pack_taken;
    logic [86:0] first [0:4];
    logic [511:0] line, rwd_line, slots, packed_slots;
    logic [63:0] enables;
    logic [11:0] codes;
    logic partial, pack_ready, out_valid, ak;
    cxl68_packer packer (
        .clk_i(clk), .rst_ni(rst_n), .ready_i(pack_ready), .valid_i(pack_valid), .h2d_req_i(first[0][63:0]),
        .h2d_rsp_i(first[1][31:0]), .h2d_data_i(first[2][23:0]), .m2s_req_i(first[3]), .m2s_rwd_i(first[4]),
        .data_line_i(line), .rwd_line_i(rwd_line), .rwd_partial_i(partial), .rwd_enables_i(enables), .ak_i(ak),
        .credits_i(codes), .taken_o(pack_taken), .valid_o(out_valid), .slots_o(packed_slots)
    );
    // What the device will make of it: where the packer's runs are.
    logic shadow_all_data, shadow_control, shadow_error;
    logic [3:0] shadow_chunk, shadow_enables;
    logic [59:0] shadow_class;
    logic [1739:0] shadow_message;
    logic [4:0] shadow_owed, owed_behind;
    cxl68_unpacker #(.UP(0)) shadow (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(pack_ready && out_valid), .slots_i(packed_slots),
        .all_data_o(shadow_all_data), .control_o(shadow_control), .chunk_o(shadow_chunk), .enables_o(shadow_enables),
        .class_o(shadow_class), .message_o(shadow_message), .owed_o(shadow_owed), .error_o(shadow_error)
    );
    assign owed_behind = shadow_owed - 5'($countones(shadow_chunk))
        + (shadow_all_data || !packed_slots[4] ? 5'd0 : packed_slots[3] ? 5'd5 : 5'd4);

    logic valid, taken, req, req_sent, ack, ack_begun, sent;
    logic [8:0] acks, num_ack;
    logic [7:0] freed, eseq, ack_eseq, free;
    logic [4:0] num_retry, num_reinit, ack_num_retry;
    logic [527:0] flit;
    cxl68_retry_tx #(.ENTRIES(ENTRIES)) tx (
        .clk_i(clk), .rst_ni(rst_n), .training_i(training), .step_i(1'b1), .valid_i(valid), .slots_i(slots),
        .all_data_i(from_packer && shadow_all_data), .run_i(from_packer ? 3'(owed_behind / 5'd4) : 3'd0),
        .returns_i(acks != 0), .taken_o(taken), .freed_i(freed), .req_i(req), .eseq_i(eseq), .num_retry_i(num_retry),
        .num_reinit_i(num_reinit), .req_sent_o(req_sent), .ack_i(ack), .ack_eseq_i(ack_eseq),
        .ack_num_retry_i(ack_num_retry), .ack_begun_o(ack_begun), .viral_i(1'b0), .viral_ld_i(16'd0), .sent_o(sent),
        .flit_o(flit), .free_o(free)
    );
    logic from_packer;
    assign pack_ready = taken && from_packer;

    // Up.
    logic rx_valid, accept, good, retrain, failed, unexpected, up_all_data, up_control, up_error;
    logic [527:0] rx_flit;
    logic [7:0] wrap;
    logic [3:0] chunk, is_enables;
    logic [59:0] classes;
    logic [1739:0] found;
    logic [4:0] owed;
    cxl68_retry_rx #(.TIMEOUT(200)) rx (
        .clk_i(clk), .rst_ni(rst_n), .training_i(training), .valid_i(rx_valid), .bad_i(1'b0), .flit_i(rx_flit),
        .all_data_i(up_all_data), .wrap_i(wrap), .accept_o(accept), .good_o(good), .freed_o(freed),
        .returned_i(taken ? acks : 9'd0), .num_ack_o(num_ack), .sent_i(sent), .req_o(req), .eseq_o(eseq),
        .num_retry_o(num_retry), .num_reinit_o(num_reinit), .req_sent_i(req_sent), .ack_o(ack), .ack_eseq_o(ack_eseq),
        .ack_num_retry_o(ack_num_retry), .ack_begun_i(ack_begun), .retrain_o(retrain), .failed_o(failed),
        .unexpected_o(unexpected)
    );
    cxl68_unpacker #(.UP(1)) unpacker (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(accept), .slots_i(rx_flit[511:0]), .all_data_o(up_all_data),
        .control_o(up_control), .chunk_o(chunk), .enables_o(is_enables), .class_o(classes), .message_o(found),
        .owed_o(owed), .error_o(up_error)
    );

    // The model.
    sp_link_end device, watcher;
    sp_unit_t whole_unit;
    sp_event_t broken;
    string down_layout [0:4] = '{"cxl68.h2d_req", "cxl68.h2d_rsp", "cxl68.h2d_data", "cxl68.m2s_req", "cxl68.m2s_rwd"};
    string up_layout [0:4] = '{"cxl68.d2h_req", "cxl68.d2h_rsp", "cxl68.d2h_data", "cxl68.s2m_ndr", "cxl68.s2m_drs"};

    // What is under way.
    logic [86:0] down_sent [0:5*RING-1];
    logic [86:0] up_sent [0:5*RING-1];
    logic [511:0] down_lines [0:5*RING-1];
    logic [511:0] up_lines [0:5*RING-1];
    int down_put [0:4];
    int down_got [0:4];
    int up_put [0:4];
    int up_got [0:4];
    logic [127:0] up_chunks [$];
    int credits [0:4];                   // of the device, for us
    int owing [0:4];                     // of ours, to be returned
    int count, errors, sent_down, sent_up, arrived_down, arrived_up, hits, trainings, replies, idle;
    logic clean_seen, init_sent, init_received, mem_turn;
    logic [1:0] first_credits;
    logic waits [0:4];

    function automatic int at(input int class_of, input int number);
        return RING * class_of + number % RING;
    endfunction

    // A random message of a layout that breaks no rule; valid is 1, as bit 0 of all of them.
    function automatic sp_message draw_message(input string layout);
        sp_message message;
        string why;
        message = sp_message_factory::create(layout);
        do begin
            message.bits = {128'd0, draw(), draw()} & ~message.reserved_bits() & ((256'd1 << (8 * message.bits_bytes())) - 1) | 1;
            message.unpack();
            message.pack();
        end while (message.breaks_a_rule(why));
        return message;
    endfunction

    // Code of the largest number of credits that is not more than is owed.
    function automatic logic [2:0] code_of(input int many);
        for (int c = 7; c > 0; c--) if (many >= 1 << (c - 1)) return 3'(c);
        return 3'd0;
    endfunction

    task automatic send_up(input int c);
        sp_message message;
        message = draw_message(up_layout[c]);
        if (c == DATA || c == MEM_DATA) begin
            for (int w = 0; w < 8; w++) message.data[64*w +: 64] = draw();
            message.set_line(message.data);
        end
        // A device does not send all that is legal on the wire; the next one is another one.
        if (!device.try_send(message)) return;
        up_sent[at(c, up_put[c])] = message.bits[86:0];
        up_lines[at(c, up_put[c])] = message.data;
        up_put[c]++;
        sent_up++;
    endtask

    task automatic draw_down(input int c);
        sp_message message;
        message = draw_message(down_layout[c]);
        first[c] = message.bits[86:0];
        if (c == DATA) for (int w = 0; w < 8; w++) line[64*w +: 64] = draw();
        if (c == MEM_DATA) begin
            for (int w = 0; w < 8; w++) rwd_line[64*w +: 64] = draw();
            enables = draw();
            partial = first[c][4:1] == 4'd2;  // MemWrPtl
        end
    endtask

    // Messages that have come to the device.
    task automatic take_down;
        int c;
        sp_message message;
        message = device.take();
        while (message != null) begin
            message.pack();
            c = -1;
            for (int i = 0; i < 5; i++) if (message.layout == down_layout[i]) c = i;
            if (c < 0) $fatal(1, "the device takes %s", message.convert2string());
            if (down_got[c] == down_put[c] || message.bits[86:0] !== down_sent[at(c, down_got[c])])
                $fatal(1, "class %0d down: message %0d of %0d is %s, expected %h", c, down_got[c], down_put[c],
                    message.convert2string(), down_sent[at(c, down_got[c])]);
            if (message.has_data !== (c == DATA || c == MEM_DATA))
                $fatal(1, "message %0d down: %s", arrived_down, message.convert2string());
            if (message.has_data && message.data !== down_lines[at(c, down_got[c])])
                $fatal(1, "data of message %0d down: %h, expected %h", arrived_down, message.data, down_lines[at(c, down_got[c])]);
            down_got[c]++;
            arrived_down++;
            message = device.take();
        end
    endtask

    // Messages and data in the flit that stands at the unpacker.
    task automatic take_up;
        int c;
        logic [511:0] whole;
        for (int s = 0; s < 4; s++) begin
            if (chunk[s]) begin
                if (up_chunks.size() == 0 || rx_flit[128*s +: 128] !== up_chunks[0])
                    $fatal(1, "chunk %h up, expected %h", rx_flit[128*s +: 128], up_chunks.size() ? up_chunks[0] : 0);
                void'(up_chunks.pop_front());
            end
            for (int p = 5 * s; p < 5 * s + 5; p++) if (classes[3*p +: 3] != 0) begin
                c = int'(classes[3*p +: 3]) - 1;
                if (up_got[c] == up_put[c] || found[87*p +: 87] !== up_sent[at(c, up_got[c])])
                    $fatal(1, "class %0d up: message %0d of %0d is %h, expected %h", c, up_got[c], up_put[c],
                        found[87*p +: 87], up_sent[at(c, up_got[c])]);
                if (c == DATA || c == MEM_DATA) begin
                    whole = up_lines[at(c, up_got[c])];
                    for (int w = 0; w < 4; w++) up_chunks.push_back(whole[128*w +: 128]);
                end
                up_got[c]++;
                owing[c]++;
                arrived_up++;
            end
        end
    endtask

    // Credits, and INIT.Param: what the flit that is accepted says to this side.
    task automatic hear;
        logic [3:0] code;
        if (up_control && rx_flit[35:32] == 4'hC) begin
            init_received = 1;
            wrap = rx_flit[95:88];
        end
        if (up_all_data || (up_control && rx_flit[35:32] != 0)) return;
        code = rx_flit[23:20];
        if (code != 0 && !code[3] && code[2:0] != 0) credits[1] += 1 << (code[2:0] - 1);
        code = rx_flit[27:24];
        if (code[2:0] != 0) credits[code[3] ? 3 : 0] += 1 << (code[2:0] - 1);
        code = rx_flit[31:28];
        if (code[2:0] != 0) credits[code[3] ? 4 : 2] += 1 << (code[2:0] - 1);
    endtask

    // What this side would send in this flit clock.
    task automatic offer;
        logic [7:0] full;
        {valid, from_packer, slots, acks, ak} = '0;
        // The credits that are returned: of CXL.cache and CXL.mem in turn.
        codes = mem_turn ? {1'b1, code_of(owing[4]), 4'd0, 1'b1, code_of(owing[3])}
                         : {1'b0, code_of(owing[2]), 1'b0, code_of(owing[0]), 1'b0, code_of(owing[1])};
        if (!clean_seen) return;
        if (!init_sent) begin
            valid = 1;
            slots = 512'h8C_0000_0001 | 512'(ENTRIES - 1) << 88 | 512'd2 << 64;
        end else if (init_received) begin
            #1;
            // A run of data that has begun goes on; credits first of all, acknowledgements before they are too many.
            if (!shadow_all_data && (first_credits != 2 || num_ack >= 9'd16 || idle > 40)) begin
                valid = 1;
                full = num_ack > 9'd255 ? 8'd255 : num_ack[7:0];
                acks = {1'b0, full};
                slots = 512'h10_0000_0001 | 512'(codes) << 20 | 512'(full[3]) << 2 | 512'({full[7:4], 1'b0, full[2:0]}) << 64;
            end else begin
                ak = num_ack >= 9'd8;
                #1;
                valid = out_valid;
                from_packer = 1;
                slots = packed_slots;
                acks = ak && !shadow_all_data ? 9'd8 : 9'd0;
            end
        end
        #1;
    endtask

    task automatic returned;
        if (mem_turn) begin
            if (codes[10:8] != 0) owing[4] -= 1 << (codes[10:8] - 1);
            if (codes[2:0] != 0) owing[3] -= 1 << (codes[2:0] - 1);
        end else begin
            if (codes[10:8] != 0) owing[2] -= 1 << (codes[10:8] - 1);
            if (codes[6:4] != 0) owing[0] -= 1 << (codes[6:4] - 1);
            if (codes[2:0] != 0) owing[1] -= 1 << (codes[2:0] - 1);
        end
        mem_turn = !mem_turn;
        idle = 0;
    endtask

    function automatic logic hit();
        return errors > 0 && draw_up_to(errors - 1) == 0;
    endfunction

    task automatic spoil;
        hits++;
        for (int i = 0; i <= draw_up_to(2); i++) whole_unit[16 + draw_up_to(527)] ^= 1'b1;
    endtask

    initial if ($test$plusargs("cxl68_link")) begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if (!$value$plusargs("errors=%d", errors)) errors = 100;
        begin
            sp_link_config config_of;
            config_of = new;
            config_of.timeout_flits = 200;
            device = new(SP_PROTOCOL_CXL_68B, SP_SENDS_UP, 0, config_of);
            config_of.retry_entries = 40;
            config_of.reaction_flits = 2;
            config_of.max_num_retry = 10;
            config_of.max_num_phy_reinit = 10;
            config_of.flush_flits = 32;
            watcher = new(SP_PROTOCOL_CXL_68B, SP_SENDS_DOWN, 1, config_of);
        end
        {pack_valid, valid, slots, from_packer, acks, ak, codes, rx_valid, rx_flit, line, rwd_line, enables, partial} = '0;
        {clean_seen, init_sent, init_received, mem_turn, first_credits} = '0;
        wrap = 8'd9;
        for (int c = 0; c < 5; c++) begin
            credits[c] = 0;
            // The first credits are what fits into this side: as much as one code says.
            owing[c] = 64;
            draw_down(c);
            waits[c] = 0;
        end
        #1 rst_n = 0;
        #1 rst_n = 1;
        #1;
        for (int cycle = 0; arrived_down < count || arrived_up < count; cycle++) begin
            if (cycle > 60 * count + 10000)
                $fatal(1, "%0d of %0d messages down and %0d up after %0d flit clocks", arrived_down, count, arrived_up, cycle);
            // Flit from the device.
            rx_valid = 0;
            if (!training && device.sample(whole_unit) != 0) begin
                if (hit()) spoil();
                watcher.drive(whole_unit, SP_PORT_RX);
                rx_flit = whole_unit[543:16];
                rx_valid = 1;
            end
            #1;
            if (failed || unexpected) $fatal(1, "flit clock %0d: failed %b, unexpected Ack %b", cycle, failed, unexpected);
            clean_seen |= good;
            if (accept) begin
                if (up_error) $fatal(1, "flit clock %0d: %h cannot be unpacked", cycle, rx_flit);
                take_up();
                hear();
            end
            // Messages, some time of all classes, some time of few.
            for (int c = 0; c < 5; c++) begin
                if (sent_down < count && draw_up_to(cycle % 64 < 32 ? 1 : 15) == 0) waits[c] = 1;
                pack_valid[c] = waits[c] && sent_down < count && credits[c] > 0;
            end
            if (init_received && sent_up < count && draw_up_to(3) == 0) send_up(draw_up_to(4));
            offer();
            // What the clock edge will change is looked at before.
            if (taken) begin
                if (from_packer) begin
                    for (int c = 0; c < 5; c++) if (pack_taken[c]) begin
                        down_sent[at(c, down_put[c])] = first[c];
                        down_lines[at(c, down_put[c])] = c == DATA ? line : rwd_line;
                        down_put[c]++;
                        credits[c]--;
                        waits[c] = 0;
                        sent_down++;
                    end
                    if (shadow_error) $fatal(1, "flit clock %0d: the packer made %h", cycle, packed_slots);
                end else if (!init_sent) init_sent = 1;
                else if (first_credits != 2) first_credits++;
                if (slots[35:32] != 4'hC || from_packer) if (!from_packer || !shadow_all_data) returned();
            end
            idle++;
            if (sent) begin
                whole_unit = sp_unit_t'({flit, 16'h5555});
                watcher.drive(whole_unit, SP_PORT_TX);
                if (hit()) spoil();
                device.drive(whole_unit);
            end
            if (retrain) $fatal(1, "flit clock %0d: the host asks for a training", cycle);
            if (cycle % 4000 == 3999) begin
                trainings++;
                device.train(0);
                watcher.train(0);
            end
            begin
                logic [4:0] went;
                went = taken && from_packer ? pack_taken : 5'd0;
                clk = 1;
                #1;
                // Behind the edge: the flit of this clock still counts.
                if (cycle % 4000 == 3999) training = 1;
                for (int c = 0; c < 5; c++) if (went[c]) draw_down(c);
                clk = 0;
                #1;
            end
            if (training && cycle % 32 == 31 && cycle % 4000 != 3999) begin
                training = 0;
                device.train(1);
                watcher.train(1);
                while (device.sample(whole_unit) != 0) ;
            end
            device.step();
            watcher.step();
            take_down();
            while (watcher.take_event(broken))
                if (broken.at_port == SP_PORT_TX)
                    $fatal(1, "flit clock %0d: the host breaks a rule: %s", cycle, sp_library::event_text(broken));
        end
        $display("%0d flits hit, %0d trainings; the device: %0d CRC errors, %0d replays, %0d flits", hits, trainings,
            device.health("crc_errors"), device.health("replays"), device.health("sent_flits"));
        $display("PASS %0d", count);
        $finish;
    end
endmodule
