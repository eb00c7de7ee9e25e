// Requests and responses of UALink over the link ends of scalepool_pkg that have a transaction layer, without a design: reads, whole writes and
// writes of some bytes of 256-byte blocks, with damaged flits, against a data image of the bench; then responses that are wrong, each named by the
// end that takes them and by one that watches. +count=N requests.
module ualink_tl_dpi_tb;
    import scalepool_pkg::*;
    import scalepool_ualink_pkg::*;
    `include "dpi_pair.svh"
    localparam int BLOCKS = 8;
    localparam bit [9:0] REQUESTER = 1, COMPLETER = 2;

    // What a completer does to its responses.
    typedef enum { RIGHT, OTHER_TAG, TWICE, OTHER_KIND, OTHER_DATA, LOST } wrong_e;

    class tl_pair extends watched_pair;
        bit [2047:0] image [0:BLOCKS-1]; // of the requester
        bit [2047:0] memory [0:BLOCKS-1]; // of the completer
        wrong_e wrong;
        bit is_open;
        int block_asked;

        // Block n is at address 0x4000 + 256 * n.
        function ualink_tl_req request_of(int block, req_cmd_e command);
            ualink_tl_req request;
            request = new();
            request.fields.cmd = command;
            request.fields.src = REQUESTER;
            request.fields.dst = COMPLETER;
            request.fields.tag = 11'(block);
            request.fields.address = 55'((32'h4000 + 256 * block) >> 2);
            request.fields.len = 63;
            request.fields.attr = 0;
            is_open = 1;
            block_asked = block;
            return request;
        endfunction

        function void read_block(int block);
            ualink_tl_req request;
            request = request_of(block, REQ_CMD_READ);
            request.fields.attr = 8'hff;
            ends[0].send(request);
        endfunction

        function void write_block(int block, bit [2047:0] data, bit [255:0] enables);
            ualink_tl_req request;
            bit [2047:0] mask;
            request = request_of(block, &enables ? REQ_CMD_WRITE_FULL : REQ_CMD_WRITE);
            request.fields.numbeats = 3;
            request.beat_count = 4;
            for (int n = 0; n < 4; n++) request.beats[n] = data[512*n +: 512];
            request.has_enables = !(&enables);
            request.block_enables = enables;
            ends[0].send(request);
            for (int n = 0; n < 256; n++) mask[8*n +: 8] = {8{enables[n]}};
            image[block] = (image[block] & ~mask) | (data & mask);
        endfunction

        virtual function void on_request(sp_message message);
            ualink_tl_req request;
            ualink_tl_rsp response;
            bit [2047:0] data;
            int block;
            if (!$cast(request, message)) $fatal(1, "found %s, expected a request", message.convert2string());
            block = (int'(request.fields.address) * 4 - 32'h4000) / 256;
            if (request.fields.cmd != REQ_CMD_READ)
                for (int n = 0; n < 256; n++)
                    if (!request.has_enables || request.block_enables[n]) memory[block][8*n +: 8] = request.beats[n / 64][8*(n % 64) +: 8];
            response = new();
            response.fields.tag = wrong == OTHER_TAG ? 11'h777 : request.fields.tag;
            response.fields.dst = request.fields.src;
            response.fields.src = request.fields.dst;
            response.fields.vchan = request.fields.vchan;
            response.fields.rdwr = request.fields.cmd == REQ_CMD_READ ? RD_WR_READ : RD_WR_WRITE;
            if (request.fields.cmd == REQ_CMD_READ) begin
                if (wrong == LOST) return;
                if (wrong == OTHER_KIND) response.fields.rdwr = RD_WR_WRITE;
                else begin
                    response.fields.len = 3;
                    response.fields.last = 1;
                    response.beat_count = 4;
                    data = wrong == OTHER_DATA ? ~memory[block] : memory[block];
                    for (int n = 0; n < 4; n++) response.beats[n] = data[512*n +: 512];
                end
            end else if (wrong != RIGHT) response.fields.tag = request.fields.tag;
            ends[1].send(response);
            if (wrong == TWICE && request.fields.cmd == REQ_CMD_READ) ends[1].send(response);
        endfunction

        virtual function void on_answer(sp_message message);
            ualink_tl_rsp response;
            if (!$cast(response, message)) $fatal(1, "found %s, expected a response", message.convert2string());
            if (wrong == RIGHT && int'(response.fields.tag) != block_asked) $fatal(1, "found tag %h", response.fields.tag);
            if (wrong == RIGHT && response.fields.rdwr == RD_WR_READ)
                for (int n = 0; n < 4; n++)
                    if (response.beats[n] != image[block_asked][512*n +: 512])
                        $fatal(1, "block %0d, beat %0d: found %h, expected %h", block_asked, n, response.beats[n], image[block_asked][512*n +: 512]);
            is_open = 0;
        endfunction

        function void begins(wrong_e wrong_of);
            sp_link_config active, passive;
            active = new();
            passive = new();
            active.transaction_layer = 1;
            active.transactions = SP_TRANSACTIONS_UALINK;
            active.all_writers_seen = 1;
            active.answer_flits = 400;
            passive.transactions = SP_TRANSACTIONS_UALINK;
            passive.all_writers_seen = 1;
            passive.answer_flits = 400;
            make(SP_PROTOCOL_UALINK, active, passive);
            wrong = wrong_of;
            is_open = 0;
            for (int n = 0; n < BLOCKS; n++) begin
                image[n] = '0;
                memory[n] = '0;
            end
        endfunction

        function void settle(string name);
            for (int n = 0; n < 3000 && is_open; n++) flit_clock();
            if (is_open) $fatal(1, "%s: found no response", name);
        endfunction

        function void traffic(int count);
            bit [2047:0] data;
            bit [255:0] enables;
            begins(RIGHT);
            for (int n = 0; n < BLOCKS; n++) begin
                write_block(n, '0, '1);
                settle("a first write");
            end
            for (int done = 0; done < count; done++) begin
                for (int w = 0; w < 32; w++) data[64*w +: 64] = draw();
                for (int w = 0; w < 4; w++) enables[64*w +: 64] = draw();
                case (draw_up_to(2))
                    0: write_block(draw_up_to(BLOCKS - 1), data, '1);
                    1: write_block(draw_up_to(BLOCKS - 1), data, enables);
                    default: read_block(draw_up_to(BLOCKS - 1));
                endcase
                settle("a request");
            end
            for (int n = 0; n < 50; n++) flit_clock();
            expect_rule("a right completer", "");
            if (!ends[0].finish() || !watch.finish()) $fatal(1, "a request is open");
            destroy();
        endfunction

        function void named(wrong_e wrong_of, string rule);
            begins(wrong_of);
            is_damaged = 0;
            write_block(3, {64{32'h5a17_0042}}, '1);
            settle("a write");
            read_block(3);
            for (int n = 0; n < 600; n++) flit_clock();
            expect_rule(wrong_of.name(), rule);
            destroy();
        endfunction
    endclass

    initial if ($test$plusargs("ualink_tl")) begin
        tl_pair pair;
        int count;
        pair = new();
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        pair.traffic(count);
        pair.named(OTHER_TAG, "TXN-TAG-02");
        pair.named(TWICE, "TXN-TAG-03");
        pair.named(OTHER_KIND, "TXN-ANS-02");
        pair.named(OTHER_DATA, "TXN-DAT-01");
        pair.named(LOST, "TXN-END-02");
        $display("%0d flit clocks, %0d units hit", pair.flit_clocks, pair.hits);
        if (pair.hits == 0) $fatal(1, "no unit was hit");
        $display("PASS %0d", count);
        $finish;
    end
endmodule
