// The bridge of scalepool_pkg, without a design: the reference model converts random requests of UALink and of NVLink, a memory of the bench
// answers, a scoreboard sees every message, and what reads bring is compared with a data image. Then the same behind a conversion cache, which
// answers without messages what it holds; and bridges that do something else, each named by its rule. +count=N requests.
//
// A walk through one request: it passes the scoreboard and the model; whatever the model makes passes the scoreboard, and the memory answers it,
// until the response is there.
module brg_dpi_tb;
    import scalepool_pkg::*;
    import scalepool_ualink_pkg::req_cmd_e;
    import scalepool_ualink_pkg::REQ_CMD_READ;
    import scalepool_ualink_pkg::REQ_CMD_WRITE;
    import scalepool_ualink_pkg::REQ_CMD_WRITE_FULL;
    localparam int BLOCKS = 8;
    localparam longint unsigned BASE = 64'h1000_0000, OUT = 64'h4_0000_0000;

    // What the bridge does with its messages.
    typedef enum { AS_IT_IS, OTHER_ADDRESS, OTHER_STATUS, LOSES_A_RESPONSE } does_e;

    class bridge_bench;
        `include "dpi_random.svh"
        sp_bridge_model bridge;
        sp_bridge_scoreboard board;
        bit [511:0] memory[bit [51:0]]; // by address
        bit [2047:0] image [0:BLOCKS-1]; // of the requester
        sp_message response; // the last one
        int sent; // messages to memory
        does_e does;

        function void begins(sp_bridge_protocol_e protocol, sp_bridge_cache cache, does_e does_of = AS_IT_IS, string more = "");
            sp_bridge_config setup;
            sp_bridge_window window;
            setup = new();
            window = new(SP_WINDOW_MN, BASE, 64'h20_0000, OUT);
            setup.protocol = protocol;
            setup.own = 7;
            setup.windows.push_back(window);
            setup.cache = cache;
            bridge = new(setup);
            if (more != "") setup.more.push_back(more);
            board = new(setup);
            does = does_of;
            sent = 0;
            memory.delete();
            foreach (image[n]) image[n] = '0;
        endfunction

        function void right(bit is_right);
            sp_bridge_finding_t finding;
            if (is_right || does != AS_IT_IS) return;
            void'(board.take_finding(finding));
            $fatal(1, "found %s", sp_bridge::finding_text(finding));
        endfunction

        // The memory answers a request of the bridge.
        function sp_message answered(sp_message message);
            cxl256_m2s_req read;
            cxl256_m2s_rwd write;
            cxl256_s2m_ndr done;
            cxl256_s2m_drs line;
            bit [511:0] old;
            bit [51:0] address;
            if ($cast(read, message)) begin
                line = new();
                line.fields.meta_field = scalepool_cxl256_pkg::META_FIELD_NO_OP;
                line.fields.tag = read.fields.tag;
                address = 52'(read.get("address"));
                line.set_line(memory.exists(address) ? memory[address] : '0);
                return line;
            end
            if (!$cast(write, message)) $fatal(1, "found %s, expected a request of CXL.mem", message.convert2string());
            address = 52'(write.get("address"));
            old = memory.exists(address) ? memory[address] : '0;
            for (int n = 0; n < 64; n++) if (!write.has_enables || write.enables[n]) old[8*n +: 8] = write.data[8*n +: 8];
            memory[address] = old;
            done = new();
            done.fields.opcode = scalepool_cxl256_pkg::NDR_OPCODE_CMP;
            done.fields.meta_field = scalepool_cxl256_pkg::META_FIELD_NO_OP;
            done.fields.tag = write.fields.tag;
            return done;
        endfunction

        // A request and all that follows.
        function void perform(sp_message request);
            sp_message message, answer;
            sp_bridge_point_e point;
            int unsigned at;
            response = null;
            right(board.passes(SP_AT_REQUEST, request));
            if (!bridge.request(request)) $fatal(1, "found no entry for %s", request.convert2string());
            message = bridge.next(point, at);
            while (message != null) begin
                if (point == SP_AT_RESPONSE) begin
                    response = message;
                    if (does == OTHER_STATUS) message.set("status", 2);
                    if (does != LOSES_A_RESPONSE) right(board.passes(point, message, at));
                end else begin
                    sent++;
                    answer = answered(message);
                    if (does == OTHER_ADDRESS) message.set("address", message.get("address") ^ 64'h400);
                    right(board.passes(point, message, at));
                    right(board.passes(SP_AT_ANSWER, answer, at));
                    bridge.answer(answer, at);
                end
                message = bridge.next(point, at);
            end
            if (response == null) $fatal(1, "found no response to %s", request.convert2string());
        endfunction

        function ualink_tl_req request_of(int block, req_cmd_e command);
            ualink_tl_req request;
            request = new();
            request.fields.cmd = command;
            request.fields.src = 3;
            request.fields.dst = 7;
            request.fields.tag = 11'(block);
            request.set("address", BASE + 64'(256 * block));
            request.fields.len = 63;
            request.fields.attr = command == REQ_CMD_READ ? 8'hff : 8'h0;
            return request;
        endfunction

        function void read_block(int block);
            ualink_tl_rsp found;
            perform(request_of(block, REQ_CMD_READ));
            if (!$cast(found, response) || found.beat_count != 4) $fatal(1, "found %s, expected 4 beats", response.convert2string());
            for (int n = 0; n < 4 && does == AS_IT_IS; n++)
                if (found.beats[n] != image[block][512*n +: 512])
                    $fatal(1, "block %0d, beat %0d: found %h, expected %h", block, n, found.beats[n], image[block][512*n +: 512]);
        endfunction

        function void write_block(int block, bit [2047:0] data, bit [255:0] enables);
            ualink_tl_req request;
            request = request_of(block, &enables ? REQ_CMD_WRITE_FULL : REQ_CMD_WRITE);
            request.fields.numbeats = 3;
            request.beat_count = 4;
            for (int n = 0; n < 4; n++) request.beats[n] = data[512*n +: 512];
            request.has_enables = !(&enables);
            request.block_enables = enables;
            perform(request);
            for (int n = 0; n < 256; n++) if (enables[n]) image[block][8*n +: 8] = data[8*n +: 8];
        endfunction

        function void ends();
            sp_bridge_finding_t finding;
            right(board.finish());
            if (bridge.take_finding(finding)) $fatal(1, "the model: %s", sp_bridge::finding_text(finding));
            bridge.destroy();
            board.destroy();
        endfunction

        // Random requests of UALink; the messages that left.
        function int of_ualink(int count, sp_bridge_cache cache);
            bit [2047:0] data;
            bit [255:0] enables;
            begins(SP_BRIDGE_UALINK, cache);
            for (int done = 0; done < count; done++) begin
                for (int w = 0; w < 32; w++) data[64*w +: 64] = draw();
                for (int w = 0; w < 4; w++) enables[64*w +: 64] = draw();
                case (draw_up_to(2))
                    0: write_block(draw_up_to(BLOCKS - 1), data, '1);
                    1: write_block(draw_up_to(BLOCKS - 1), data, enables);
                    default: read_block(draw_up_to(BLOCKS - 1));
                endcase
            end
            ends();
            return sent;
        endfunction

        // The same of NVLink, in payloads of 64 bytes.
        function void of_nvlink(int count);
            nvlink_message request, found;
            bit [511:0] data;
            int block;
            begins(SP_BRIDGE_NVLINK, null);
            for (int done = 0; done < count; done++) begin
                for (int w = 0; w < 8; w++) data[64*w +: 64] = draw();
                block = draw_up_to(BLOCKS - 1);
                request = new();
                request.header.vc = scalepool_nvlink_pkg::VC_CREQ0;
                request.header.rid = 3;
                request.header.tag = 10'(block);
                request.header.size = 3;
                request.set("address", BASE + 64'(256 * block));
                if (draw_up_to(1) == 0) begin
                    request.header.op = scalepool_nvlink_pkg::OP_WRITE_NONPOSTED;
                    request.payload_bytes = 64;
                    request.payload = 2048'(data);
                    perform(request);
                    image[block][511:0] = data;
                end else begin
                    request.header.op = scalepool_nvlink_pkg::OP_READ;
                    perform(request);
                    if (!$cast(found, response) || found.payload_bytes != 64) $fatal(1, "found %s", response.convert2string());
                    if (found.payload[511:0] != image[block][511:0])
                        $fatal(1, "block %0d: found %h, expected %h", block, found.payload[511:0], image[block][511:0]);
                end
            end
            ends();
        endfunction

        // A bridge that does something else is named by this rule.
        function void named(does_e does_of, string rule);
            sp_bridge_finding_t finding;
            begins(SP_BRIDGE_UALINK, null, does_of);
            read_block(2);
            if (board.finish()) $fatal(1, "%s: found nothing, expected %s", does_of.name(), rule);
            if (!board.take_finding(finding) || finding.rule != rule)
                $fatal(1, "%s: found %s, expected %s", does_of.name(), sp_bridge::finding_text(finding), rule);
            bridge.destroy();
            board.destroy();
        endfunction

        // A message for which there is no credit.
        function void without_credit();
            sp_bridge_finding_t finding;
            begins(SP_BRIDGE_UALINK, null, LOSES_A_RESPONSE, "\"credits\":[{\"point\":\"sent\",\"class\":\"m2s_req\",\"depth\":4}]");
            if (!board.credit(SP_AT_SENT, "m2s_req", 3)) $fatal(1, "found a finding, expected room for 3 of 4 credits");
            read_block(1);
            if (!board.take_finding(finding) || finding.rule != "BRG-CRD-01")
                $fatal(1, "found %s, expected BRG-CRD-01", sp_bridge::finding_text(finding));
            bridge.destroy();
            board.destroy();
        endfunction
    endclass

    initial if ($test$plusargs("brg")) begin
        bridge_bench bench;
        sp_bridge_cache cache;
        int count, plain, cached;
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        bench = new();
        plain = bench.of_ualink(count, null);
        cache = new();
        cache.capacity_bytes = 1024;
        cache.ways = 2;
        cache.stream_blocks = 0;
        cached = bench.of_ualink(count, cache);
        if (cached >= plain) $fatal(1, "found %0d messages with a cache, expected fewer than %0d", cached, plain);
        bench.of_nvlink(count);
        bench.named(OTHER_ADDRESS, "BRG-INT-02");
        bench.named(OTHER_STATUS, "BRG-INT-02");
        bench.named(LOSES_A_RESPONSE, "BRG-INT-03");
        bench.without_credit();
        $display("%0d messages, %0d with a cache", plain, cached);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
