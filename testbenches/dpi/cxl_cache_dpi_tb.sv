// The classes of scalepool_pkg for CXL.cache, without a design: a caching device and a home on both ends of a link, in a mode with 68B flits and one
// with 256B flits. Loads, stores, evicts and snoops of random lines are compared with a data image of the bench; flits are damaged; a home that grants too
// much and a device that keeps what it should give up are found out. +count=N operations.
//
// A walk through one flit clock: what either end has sent goes to the other one, some of it damaged, both step, and device and home act on
// what has come.
module cxl_cache_dpi_tb;
    import scalepool_pkg::*;
    localparam int LINES = 6;

    // A home that grants E to whoever asks for S, if it is told so.
    class wrong_home extends sp_cxl_home;
        bit grants_too_much;

        function new(sp_link_end link);
            super.new(link);
            grants_too_much = 0;
        endfunction

        virtual function bit [3:0] grant(bit [4:0] opcode);
            return grants_too_much ? 4'd2 : super.grant(opcode);
        endfunction
    endclass

    // A device that keeps S where it should keep nothing, if it is told so.
    class wrong_device extends sp_cxl_cache_device;
        bit keeps_too_much;

        function new(sp_link_end link);
            super.new(link);
            keeps_too_much = 0;
        endfunction

        virtual function void answer_snoop(bit [2:0] snoop, sp_line_state_e state, output bit [4:0] answer, output sp_line_state_e behind,
                                           output bit forwards);
            super.answer_snoop(snoop, state, answer, behind, forwards);
            if (keeps_too_much && answer == 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_I_HIT_SE)) begin
                answer = 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_S_HIT_SE);
                behind = SP_LINE_S;
            end
        endfunction
    endclass

    // Two ends with home and device. A class, because Verilator copies the tasks of a module to each place that calls them.
    class cache_pair;
        `include "dpi_random.svh"
        sp_link_end ends [0:1];
        wrong_home home;
        wrong_device device;
        bit [511:0] image [0:LINES-1];
        int count, hits, flit_clocks;
        bit running;

        // One flit clock of the link.
        task flit_clock;
            sp_unit_t sent;
            for (int n = 0; n < 2; n++) ends[n].step();
            for (int n = 0; n < 2; n++)
                if (ends[n].sample(sent) != 0) begin
                    if (draw_up_to(99) == 0) begin
                        hits++;
                        sent[16 + draw_up_to(8 * int'(ends[n].unit_bytes()) - 17)] ^= 1'b1;
                    end
                    ends[1 - n].drive(sent);
                end
            home.on_step();
            device.on_step();
            flit_clocks++;
        endtask

        task make(input sp_protocol_e protocol);
            for (int n = 0; n < 2; n++) begin
                sp_link_config knobs;
                knobs = new();
                knobs.transactions = SP_TRANSACTIONS_CXL_CACHE;
                knobs.all_writers_seen = 1;
                knobs.timeout_flits = 200;
                knobs.answer_flits = 2000;
                ends[n] = new(protocol, sp_dir_e'(n[0]), 0, knobs);
            end
            home = new(ends[0]);
            device = new(ends[1]);
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

        // What a core does with a line, and what it has to find.
        task operation(input int line);
            bit [51:0] address;
            bit [511:0] data;
            sp_answer_e answer;
            address = 52'h1000 + 52'(64 * line);
            for (int w = 0; w < 8; w++) data[64*w +: 64] = draw();
            case (draw_up_to(3))
                0: begin
                    device.write(address, data, answer);
                    image[line] = data;
                end
                1: device.evict(address, answer);
                default: begin
                    device.read_shared(address, data, answer);
                    if (data !== image[line]) $fatal(1, "line %h: found %h, expected %h", address, data, image[line]);
                end
            endcase
            if (answer != SP_ANSWER_OK) $fatal(1, "line %h: found %s, expected SP_ANSWER_OK", address, answer.name());
        endtask

        // Operations of a core, and snoops of random lines meanwhile.
        task traffic(input sp_protocol_e protocol);
            bit [4:0] rsp;
            sp_answer_e answer;
            make(protocol);
            fork
                for (int n = 0; n < count; n++) operation(draw_up_to(LINES - 1));
                for (int n = 0; n < count / 3; n++) begin
                    home.snoop(3'(1 + draw_up_to(2)), 52'h1000 + 52'(64 * draw_up_to(LINES - 1)), rsp);
                    #3;
                end
            join
            for (int n = 0; n < LINES; n++) begin
                device.evict(52'h1000 + 52'(64 * n), answer);
                #30;
                if (home.memory_of(52'h1000 + 52'(64 * n)) !== image[n]) $fatal(1, "line %0d is not in memory behind its evict", n);
            end
            #50;
            foreach (home.events[n])
                if (home.events[n].by != SP_LINE_BROKE) $fatal(1, "%s", sp_library::event_text(home.events[n]));
            foreach (device.events[n])
                if (device.events[n].by != SP_LINE_BROKE) $fatal(1, "%s", sp_library::event_text(device.events[n]));
            if (!ends[0].finish() || !ends[1].finish() || device.snooped == 0 || home.served == 0) $fatal(1, "something is left open");
            stop();
        endtask

        // GO-E to RdShared is heard where it comes, and ends the call.
        task wrong_grant;
            bit [511:0] line;
            sp_answer_e answer;
            make(SP_PROTOCOL_CXL_256B);
            home.grants_too_much = 1;
            device.read_shared(52'h40, line, answer);
            if (answer != SP_ANSWER_BROKEN || device.lines[52'h40].broken.rule != "TXN-ANS-03")
                $fatal(1, "a wrong grant: found %s, %s", answer.name(), device.lines[52'h40].broken.rule);
            stop();
        endtask

        // RspSHitSE to SnpInv is heard by the home.
        task wrong_answer;
            bit [511:0] line;
            bit [4:0] rsp;
            bit found;
            sp_answer_e answer;
            make(SP_PROTOCOL_CXL_68B);
            device.read_shared(52'h40, line, answer);
            device.keeps_too_much = 1;
            fork
                home.snoop(3'd2, 52'h40, rsp);
            join_none
            #100;
            found = 0;
            foreach (home.events[n]) found |= home.events[n].rule == "TXN-ANS-06" && home.events[n].by == SP_PEER_BROKE;
            if (!found) $fatal(1, "a wrong answer to a snoop is not heard");
            stop();
        endtask
    endclass

    initial if ($test$plusargs("cxl_cache")) begin
        cache_pair pair;
        pair = new();
        if (!$value$plusargs("count=%d", pair.count)) $fatal(1, "+count is missing");
        pair.traffic(SP_PROTOCOL_CXL_68B);
        pair.traffic(SP_PROTOCOL_CXL_256B);
        pair.wrong_grant();
        pair.wrong_answer();
        $display("%0d flit clocks, %0d units hit", pair.flit_clocks, pair.hits);
        if (pair.hits == 0) $fatal(1, "no unit was hit");
        $display("PASS %0d", pair.count);
        $finish;
    end
endmodule
