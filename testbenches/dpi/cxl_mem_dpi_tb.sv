// The classes of scalepool_pkg for transactions, without a design: a host and a memory on both ends of a link, in every flit mode of
// CXL. Reads, writes, writes of some bytes and invalidations of random lines are compared with a data image of the bench; flits are
// damaged; lines without memory and poisoned ones say so; a memory that answers with a wrong tag is found out; a
// link that stops ends its requests. The same over plain flits, which have no link layer. +count=N requests.
//
// A walk through one flit clock: what either end has sent goes to the other one, some of it damaged, both step, and host and memory act on
// what has come.
module cxl_mem_dpi_tb;
    import scalepool_pkg::*;
    localparam int LINES = 16;
    localparam bit [51:0] SIZE_BYTES = 52'h1_0000;

    // A memory that gives one answer another tag, and metadata of 0 with all data if it is told so.
    class wrong_memory extends sp_cxl_mem_device;
        longint unsigned wrong_one;
        bit has_metadata;

        function new(sp_link_end link, longint unsigned wrong_one);
            super.new(link, 2, SIZE_BYTES);
            this.wrong_one = wrong_one;
            has_metadata = 0;
        endfunction

        virtual function sp_message answer_of(sp_message request);
            sp_message answer;
            answer = super.answer_of(request);
            if (served == wrong_one) answer.set("tag", answer.get("tag") ^ 64'h100);
            if (has_metadata && answer.has_data) begin
                answer.extra = 64'(scalepool_dpi_pkg::SP_METADATA);
                answer.set("trp", 1);
            end
            return answer;
        endfunction
    endclass

    // Two ends with host and memory. A class, because Verilator copies the tasks of a module to each place that calls them.
    class mem_pair;
        `include "dpi_random.svh"
        sp_link_end ends [0:1];
        sp_cxl_mem_host host;
        wrong_memory memory;
        bit [511:0] image [0:LINES-1];
        int count, hits, flit_clocks;
        sp_unit_t init_param; // the last one of the device
        bit running;
        bit is_plain = 0; // flits without a link layer, which mends no damage
        bit is_damaged = 1;

        // One flit clock of the link.
        task flit_clock;
            sp_unit_t sent;
            for (int n = 0; n < 2; n++) ends[n].step();
            for (int n = 0; n < 2; n++)
                if (ends[n].sample(sent) != 0) begin
                    // INIT.Param: a control flit of type C (cxl-68b §6.2), as it was sent.
                    if (n == 1 && !is_plain && sent[16] && sent[51:48] == 4'hC) init_param = sent;
                    if (is_damaged && !is_plain && draw_up_to(99) == 0) begin
                        hits++;
                        sent[16 + draw_up_to(8 * int'(ends[n].unit_bytes()) - 17)] ^= 1'b1;
                    end
                    ends[1 - n].drive(sent);
                end
            host.on_step();
            memory.on_step();
            flit_clocks++;
        endtask

        // A random request of one line, and what it has to give.
        task request(input int line);
            bit [51:0] address;
            bit [511:0] data, mask;
            bit [63:0] enables;
            sp_answer_e answer;
            address = 52'h1000 + 52'(64 * line);
            for (int w = 0; w < 8; w++) data[64*w +: 64] = draw();
            case (draw_up_to(3))
                0: begin
                    host.write(address, data, answer);
                    image[line] = data;
                end
                1: begin
                    enables = draw();
                    host.write(address, data, answer, enables);
                    for (int n = 0; n < 64; n++) mask[8*n +: 8] = {8{enables[n]}};
                    image[line] = (image[line] & ~mask) | (data & mask);
                end
                2: host.invalidate(address, answer);
                default: begin
                    host.read(address, data, answer);
                    if (data !== image[line]) $fatal(1, "line %h: found %h, expected %h", address, data, image[line]);
                end
            endcase
            if (answer != SP_ANSWER_OK) $fatal(1, "line %h: found %s, expected SP_ANSWER_OK", address, answer.name());
        endtask

        // Ends of a link with a host and a memory; the memory is wrong once, or never (0).
        task make(input sp_protocol_e protocol, input longint unsigned wrong_one);
            for (int n = 0; n < 2; n++) begin
                sp_link_config knobs;
                knobs = new();
                knobs.transactions = SP_TRANSACTIONS_HDM_H;
                knobs.all_writers_seen = 1;
                knobs.plain_flits = is_plain;
                if (!is_plain) knobs.timeout_flits = 200;
                knobs.answer_flits = 1000;
                ends[n] = new(protocol, sp_dir_e'(n[0]), 0, knobs);
            end
            host = new(ends[0], 4);
            memory = new(ends[1], wrong_one);
            for (int n = 0; n < LINES; n++) image[n] = '0;
            running = 1;
            fork
                while (running) #1 flit_clock();
            join_none
        endtask

        task stop;
            running = 0;
            #2;
            for (int n = 0; n < 2; n++) ends[n].destroy();
        endtask

        // Requests, each line by one process at a time, as many as the host may have outstanding.
        task traffic(input sp_protocol_e protocol);
            bit [511:0] line;
            sp_answer_e answer;
            make(protocol, 0);
            fork
                for (int n = 0; n < count / 4; n++) request(4 * draw_up_to(3));
                for (int n = 0; n < count / 4; n++) request(4 * draw_up_to(3) + 1);
                for (int n = 0; n < count / 4; n++) request(4 * draw_up_to(3) + 2);
                for (int n = 0; n < count / 4; n++) request(4 * draw_up_to(3) + 3);
            join
            host.read(SIZE_BYTES + 52'h40, line, answer);
            if (line !== '1 || answer != (protocol == SP_PROTOCOL_CXL_68B ? SP_ANSWER_POISON : SP_ANSWER_NO_MEMORY))
                $fatal(1, "a line without memory: found %s", answer.name());
            host.write(52'h2000, '1, answer, '1, 1);
            host.read(52'h2000, line, answer);
            if (answer != SP_ANSWER_POISON) $fatal(1, "a poisoned line: found %s", answer.name());
            range_of_bytes();
            foreach (host.events[n])
                if (host.events[n].by == SP_PEER_BROKE) $fatal(1, "%s", sp_library::event_text(host.events[n]));
            if (!ends[0].finish() || host.outstanding() != 0) $fatal(1, "found open tags %s", host.open_tags());
            stop();
        endtask

        // Bytes that begin and end within lines, and what stands beside them.
        task range_of_bytes;
            byte unsigned bytes[], found[];
            sp_answer_e answer;
            bytes = new[200];
            found = new[202];
            foreach (bytes[n]) bytes[n] = 8'(n + 1);
            host.write_bytes(52'h3031, bytes, answer);
            if (answer != SP_ANSWER_OK) $fatal(1, "a write of bytes: found %s", answer.name());
            host.read_bytes(52'h3030, found, answer);
            foreach (found[n])
                if (found[n] != (n inside {[1:200]} ? bytes[n - 1] : 8'd0)) $fatal(1, "byte %0d of a range: found %h", n, found[n]);
        endtask

        // The third answer has a tag that nobody has given; its request gets none and ends behind the limit.
        task wrong_tag;
            sp_answer_e answer;
            bit [511:0] line;
            int broken;
            make(SP_PROTOCOL_CXL_256B, 3);
            for (int n = 0; n < 2; n++) host.read(52'(64 * n), line, answer);
            host.read(52'h80, line, answer);
            broken = 0;
            foreach (host.events[n]) broken += int'(host.events[n].rule == "TXN-TAG-02" && host.events[n].tag >= 0);
            if (answer != SP_ANSWER_BROKEN || broken != 1 || host.outstanding() != 0)
                $fatal(1, "a wrong tag: found %s, %0d events and %0d open requests", answer.name(), broken, host.outstanding());
            // Its tag is not used again; the other three are.
            for (int n = 0; n < 8; n++) host.read(52'(64 * n), line, answer);
            if (answer != SP_ANSWER_OK) $fatal(1, "behind a wrong tag: found %s", answer.name());
            stop();
        endtask

        // Metadata of 0 is no sign of half a line.
        task metadata;
            bit [511:0] line;
            sp_answer_e answer;
            make(SP_PROTOCOL_CXL_256B, 0);
            memory.has_metadata = 1;
            host.write(52'h40, {16{32'h5a17_0042}}, answer);
            host.read(52'h40, line, answer);
            if (answer != SP_ANSWER_OK || line != {16{32'h5a17_0042}}) $fatal(1, "a line with metadata: found %s, %h", answer.name(), line);
            stop();
        endtask

        // One line, by one of many callers.
        task one_read(input int number);
            bit [511:0] line;
            sp_answer_e answer;
            host.read(52'(64 * number), line, answer);
            if (answer != SP_ANSWER_OK) $fatal(1, "caller %0d of nine at four tags: found %s", number, answer.name());
        endtask

        // Who finds no free tag waits, however many are woken by the same one.
        task more_callers_than_tags;
            make(SP_PROTOCOL_CXL_68B, 0);
            fork
                one_read(0);
                one_read(1);
                one_read(2);
                one_read(3);
                one_read(4);
                one_read(5);
                one_read(6);
                one_read(7);
                one_read(8);
            join
            if (memory.served != 9) $fatal(1, "nine callers at four tags: found %0d requests", memory.served);
            stop();
        endtask

        // A second INIT.Param stops the link: requests end at once, until both ends begin anew.
        task stopped_link;
            sp_answer_e answers[3];
            bit [511:0] line;
            // An end that asks for a replay would discard what is driven here.
            is_damaged = 0;
            make(SP_PROTOCOL_CXL_68B, 0);
            host.read(52'h40, line, answers[0]);
            ends[0].drive(init_param);
            fork
                #20 if (!host.stopped) $fatal(1, "a second INIT.Param does not stop the link");
            join_none
            host.read(52'h40, line, answers[1]);
            host.read(52'h80, line, answers[2]);
            if (answers[0] != SP_ANSWER_OK || answers[1] != SP_ANSWER_BROKEN || answers[2] != SP_ANSWER_BROKEN
                || ends[0].state().halted != "CXL68-INI-02")
                $fatal(1, "a link that stops: found %s, %s, %s, %s", answers[0].name(), answers[1].name(), answers[2].name(),
                    ends[0].state().halted);
            host.reset();
            memory.reset();
            host.read(52'h40, line, answers[0]);
            if (answers[0] != SP_ANSWER_OK) $fatal(1, "a link that begins anew: found %s", answers[0].name());
            stop();
        endtask
    endclass

    initial if ($test$plusargs("cxl_mem")) begin
        mem_pair pair;
        pair = new();
        if (!$value$plusargs("count=%d", pair.count)) $fatal(1, "+count is missing");
        pair.traffic(SP_PROTOCOL_CXL_68B);
        pair.traffic(SP_PROTOCOL_CXL_256B);
        pair.traffic(SP_PROTOCOL_CXL_256B_LOPT);
        pair.traffic(SP_PROTOCOL_CXL_256B_PBR);
        pair.is_plain = 1;
        pair.traffic(SP_PROTOCOL_CXL_68B);
        pair.traffic(SP_PROTOCOL_CXL_256B);
        pair.wrong_tag();
        pair.is_plain = 0;
        pair.wrong_tag();
        pair.more_callers_than_tags();
        pair.metadata();
        pair.stopped_link();
        $display("%0d flit clocks, %0d units hit", pair.flit_clocks, pair.hits);
        if (pair.hits == 0) $fatal(1, "no unit was hit");
        $display("PASS %0d", pair.count);
        $finish;
    end
endmodule
