// The modules of scalepool_interfaces for interfaces that cores have, and the link partner and watcher of scalepool_pkg on them: a host and a
// memory on two ends of a CXL.mem link that goes through the loops of interfaces_top, with pauses everywhere. What is read is compared with a
// data image of the bench. Then sources that break the interface itself, which monitors and sinks name. +count=N requests on each interface.
//
// A walk through one clock: at the rising edge all modules sample their wires and drive them; at the falling edge the partners take what has
// come, let a flit clock pass and queue what their ends send.
module interfaces_dpi_tb;
    import scalepool_pkg::*;
    localparam int LINES = 16;

    bit clk, rst_n;
    interface_loop down (.clk, .rst_n);
    interface_loop up (.clk, .rst_n);
    // One flit of a walk on the AXI-Stream: its first beat as the wires have it.
    bit [255:0] first_beat;
    always @(posedge clk) if (down.m_axis_tvalid && down.m_axis_tready && first_beat == 0) first_beat = down.m_axis_tdata;

    // Sources that break the interface, each in one place.
    class early_last extends sp_axi_stream_bus;
        function new(sp_bus of);
            super.new(of.beat_bytes, of.has);
        endfunction
        virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
            super.offer(unit, number, count);
            driven.last = number == 1;
        endfunction
    endclass

    class keeps_all extends sp_axi_stream_bus;
        function new(sp_bus of);
            super.new(of.beat_bytes, of.has);
        endfunction
        virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
            super.offer(unit, number, count);
            driven.keep = '1;
        endfunction
    endclass

    class without_credit extends sp_credited_bus;
        function new(sp_bus of);
            super.new(of.beat_bytes, of.has);
        endfunction
        virtual function bit may_offer();
            return 1;
        endfunction
    endclass

    class before_active extends sp_state_bus;
        function new(sp_bus of);
            super.new(of.beat_bytes, of.has);
        endfunction
        virtual function bit may_offer();
            return 1;
        endfunction
    endclass

    // The five agents of one direction.
    class way;
        sp_flit_source source;
        sp_flit_sink sink;
        sp_flit_monitor at_input, at_output;

        function new(sp_flit_source source_of, sp_flit_monitor at_input_of, sp_flit_sink sink_of, sp_flit_monitor at_output_of);
            source = source_of;
            at_input = at_input_of;
            sink = sink_of;
            at_output = at_output_of;
        endfunction
    endclass

    class bench;
        `include "dpi_random.svh"
        sp_link_end ends[0:1];
        sp_link_end watched;
        sp_link_partner partners[0:1];
        sp_link_watcher watcher;
        sp_cxl_mem_host host;
        sp_cxl_mem_device memory;
        bit [511:0] image [0:LINES-1];
        int count, flit_clocks, seen;

        function new();
            watcher = null;
        endfunction

        // A host that sends `to`, and a memory that answers `from`; a passive end watches the memory.
        function void make(way to, way from);
            for (int n = 0; n < 2; n++) begin
                sp_link_config knobs;
                knobs = new();
                knobs.transactions = SP_TRANSACTIONS_HDM_H;
                knobs.all_writers_seen = 1;
                ends[n] = new(SP_PROTOCOL_CXL_68B, sp_dir_e'(n[0]), 0, knobs);
                knobs.messages = 1;
                if (n == 1) watched = new(SP_PROTOCOL_CXL_68B, SP_SENDS_UP, 1, knobs);
            end
            seen = 0;
            host = new(ends[0], 8);
            memory = new(ends[1], 2);
            for (int n = 0; n < LINES; n++) image[n] = '0;
            partners[0] = new(ends[0], from.sink, to.source);
            partners[1] = new(ends[1], to.sink, from.source);
            partners[0].agents.push_back(host);
            partners[1].agents.push_back(memory);
            watcher = new(watched, to.at_output, from.at_input);
            // Those that no end takes from.
            to.at_input.begin_units(68);
            from.at_output.begin_units(68);
            to.source.pause_percent = 20;
            to.sink.pause_percent = 20;
            from.source.pause_percent = 20;
            from.sink.pause_percent = 20;
        endfunction

        function void clock();
            if (watcher == null) return;
            flit_clocks += int'(partners[0].step()) + int'(partners[1].step());
            void'(watcher.step());
            while (watched.take_seen() != null) seen++;
        endfunction

        task request(input int line);
            bit [51:0] address;
            bit [511:0] data;
            sp_answer_e answer;
            address = 52'h1000 + 52'(64 * line);
            for (int w = 0; w < 8; w++) data[64*w +: 64] = draw();
            if (draw_up_to(1) == 0) begin
                host.write(address, data, answer);
                image[line] = data;
            end else begin
                host.read(address, data, answer);
                if (data !== image[line]) $fatal(1, "line %h: found %h, expected %h", address, data, image[line]);
            end
            if (answer != SP_ANSWER_OK)
                $fatal(1, "line %h: found %s, expected SP_ANSWER_OK: %s", address, answer.name(),
                    host.events.size() != 0 ? sp_library::event_text(host.events[0]) : "the link has stopped");
        endtask

        // In four tasks, each with lines of its own.
        task requests(input int many);
            fork
                for (int n = 0; n < (many + 3) / 4; n++) request(4 * draw_up_to(3));
                for (int n = 0; n < (many + 2) / 4; n++) request(4 * draw_up_to(3) + 1);
                for (int n = 0; n < (many + 1) / 4; n++) request(4 * draw_up_to(3) + 2);
                for (int n = 0; n < many / 4; n++) request(4 * draw_up_to(3) + 3);
            join
        endtask

        task traffic(input string name, input way to, input way from);
            sp_event_t e;
            make(to, from);
            $display("%s", name);
            requests(count / 2);
            #100;
            // A reset in mid run begins the link anew; the memory keeps its bytes.
            again();
            requests(count - count / 2);
            #100;
            foreach (host.events[n]) $fatal(1, "%s: host: %s", name, sp_library::event_text(host.events[n]));
            foreach (memory.events[n]) $fatal(1, "%s: memory: %s", name, sp_library::event_text(memory.events[n]));
            while (watched.take_event(e)) $fatal(1, "%s: watched: %s", name, sp_library::event_text(e));
            if (!watcher.finish() || !ends[0].finish()) $fatal(1, "%s: a request is open", name);
            while (watched.take_seen() != null) seen++;
            // A request and its answer.
            if (seen != 2 * count) $fatal(1, "%s: found %0d watched messages, expected %0d", name, seen, 2 * count);
            fault(name, to);
            fault(name, from);
            if (to.at_input.count() == 0) $fatal(1, "%s: found no unit in front of the loop", name);
            stop(to, from);
        endtask

        // Nothing is wrong with the interface.
        function void fault(string name, way of);
            foreach (of.sink.bus.mistakes[n]) $fatal(1, "%s: %s", name, sp_bus::mistake_text(of.sink.bus.mistakes[n]));
            foreach (of.at_input.bus.mistakes[n]) $fatal(1, "%s: %s", name, sp_bus::mistake_text(of.at_input.bus.mistakes[n]));
            foreach (of.at_output.bus.mistakes[n]) $fatal(1, "%s: %s", name, sp_bus::mistake_text(of.at_output.bus.mistakes[n]));
        endfunction

        task stop(input way to, input way from);
            watcher = null;
            to.at_input.clear();
            from.at_output.clear();
            for (int n = 0; n < 2; n++) ends[n].destroy();
            watched.destroy();
        endtask

        // A watcher makes an event of each mistake.
        function void told(string name, way of, bit is_before);
            sp_link_end end_of;
            sp_link_watcher of_way;
            sp_event_t e;
            int mistakes;
            mistakes = is_before ? of.at_input.bus.mistakes.size() : of.sink.bus.mistakes.size();
            end_of = new(SP_PROTOCOL_CXL_68B, SP_SENDS_UP, 1);
            if (is_before) of_way = new(end_of, of.at_input, of.at_output);
            else of_way = new(end_of, of.sink, of.at_input);
            void'(of_way.step());
            for (int n = 0; n < mistakes; n++)
                if (!end_of.take_event(e) || e.rule != "HANDSHAKE")
                    $fatal(1, "%s: found event %0d of rule \"%s\", expected one of HANDSHAKE for each of %0d mistakes", name, n, e.rule, mistakes);
            end_of.destroy();
        endfunction

        // A source that breaks the interface, and what the first one who sees it says.
        task wrong(input string name, input way of, input sp_bus bus, input bit is_before, input string expected, input int most = 1000);
            sp_bus usual, seen_by;
            sp_unit_t unit;
            usual = of.source.bus;
            seen_by = is_before ? of.at_input.bus : of.sink.bus;
            of.source.bus = bus;
            of.source.begin_units(68);
            of.sink.begin_units(68);
            of.at_input.begin_units(68);
            of.at_output.begin_units(68);
            of.source.pause_percent = 0;
            for (int n = 0; n < 20; n++) begin
                for (int w = 0; w < 9; w++) unit[64*w +: 64] = draw();
                unit[5119:544] = '0;
                of.source.send(unit);
            end
            #200;
            if (seen_by.mistakes.size() == 0) $fatal(1, "%s: found no mistake, expected \"%s\"", name, expected);
            if (sp_bus::mistake_text(seen_by.mistakes[0]) != expected)
                $fatal(1, "%s: found \"%s\", expected \"%s\"", name, sp_bus::mistake_text(seen_by.mistakes[0]), expected);
            if (seen_by.mistakes.size() > most) $fatal(1, "%s: found %0d mistakes, expected %0d at most", name, seen_by.mistakes.size(), most);
            told(name, of, is_before);
            seen_by.mistakes.delete();
            of.at_input.bus.mistakes.delete();
            of.at_output.bus.mistakes.delete();
            of.sink.bus.mistakes.delete();
            of.source.units.delete();
            of.source.bus = usual;
        endtask

        // Lanes: byte n of a beat goes to lane n modulo 4, and the lanes stand in the order 2, 0, 3, 1.
        task lanes(input way of);
            int unsigned order[$], of_lanes[$];
            sp_unit_t unit, found;
            of_lanes = '{2, 0, 3, 1};
            sp_striped(32, of_lanes, order);
            of.source.bus.order = order;
            of.sink.bus.order = order;
            of.source.begin_units(68);
            of.sink.begin_units(68);
            of.source.bus.user = 64'h5a;
            for (int n = 0; n < 640; n++) unit[8*n +: 8] = n < 68 ? 8'(n + 1) : 8'd0;
            of.source.send(unit);
            #100;
            for (int place = 0; place < 32; place++) begin
                int lane;
                case (place / 8)
                    0: lane = 2;
                    1: lane = 0;
                    2: lane = 3;
                    default: lane = 1;
                endcase
                if (first_beat[8*place +: 8] != 8'(lane + 4 * (place % 8) + 1))
                    $fatal(1, "lanes: byte %0d: found %h, expected byte %0d", place, first_beat[8*place +: 8], lane + 4 * (place % 8));
            end
            if (!of.sink.take(found) || found != unit || of.sink.user != 64'h5a)
                $fatal(1, "lanes: found %h with tuser %h", found, of.sink.user);
            fault_of_sink(of);
            of.source.bus.order.delete();
            of.sink.bus.order.delete();
        endtask

        function void fault_of_sink(way of);
            if (of.sink.bus.mistakes.size() != 0) $fatal(1, "lanes: %s", sp_bus::mistake_text(of.sink.bus.mistakes[0]));
        endfunction
    endclass

    bench run;
    always #1 clk = !clk;
    always @(negedge clk) if (run != null) run.clock();

    // Far behind the end of a run that moves: a request takes less than 500 clocks, and the rest of a run less than 100 000.
    initial if ($test$plusargs("interfaces")) begin
        int limit;
        if (!$value$plusargs("count=%d", limit)) limit = 0;
        #(200_000 + 1000 * 64'(limit));
        $fatal(1, "the run does not end: flit clock %0d, %0d requests are open: %s", run.flit_clocks, run.host.outstanding(),
            run.host.open_tags());
    end

    // Everything begins anew.
    task automatic again;
        rst_n = 0;
        #6 rst_n = 1;
    endtask

    initial if ($test$plusargs("interfaces")) begin
        way axi[0:1], cxs[0:1], fdi[0:1], f68[0:1];
        axi[0] = new(down.axi_source.agent, down.axi_at_input.agent, down.axi_sink.agent, down.axi_at_output.agent);
        axi[1] = new(up.axi_source.agent, up.axi_at_input.agent, up.axi_sink.agent, up.axi_at_output.agent);
        cxs[0] = new(down.cxs_source.agent, down.cxs_at_input.agent, down.cxs_sink.agent, down.cxs_at_output.agent);
        cxs[1] = new(up.cxs_source.agent, up.cxs_at_input.agent, up.cxs_sink.agent, up.cxs_at_output.agent);
        fdi[0] = new(down.fdi_source.agent, down.fdi_at_input.agent, down.fdi_sink.agent, down.fdi_at_output.agent);
        fdi[1] = new(up.fdi_source.agent, up.fdi_at_input.agent, up.fdi_sink.agent, up.fdi_at_output.agent);
        f68[0] = new(down.f68_source.agent, down.f68_at_input.agent, down.f68_sink.agent, down.f68_at_output.agent);
        f68[1] = new(up.f68_source.agent, up.f68_at_input.agent, up.f68_sink.agent, up.f68_at_output.agent);
        run = new();
        if (!$value$plusargs("count=%d", run.count)) $fatal(1, "+count is missing");
        again();
        run.lanes(axi[0]);
        again();
        run.traffic("AXI-Stream", axi[0], axi[1]);
        again();
        run.traffic("credits", cxs[0], cxs[1]);
        again();
        run.traffic("states", fdi[0], fdi[1]);
        again();
        run.traffic("slots", f68[0], f68[1]);
        $display("%0d flit clocks", run.flit_clocks);
        begin
            early_last b;
            again();
            b = new(down.axi_source.bus);
            run.wrong("early last", axi[0], b, 0, "unit 0, last: found 1, expected 0 in beat 1 of 3");
        end
        begin
            keeps_all b;
            again();
            b = new(down.axi_source.bus);
            run.wrong("keeps all", axi[0], b, 0, "unit 0, keep: found ffffffff, expected f in beat 2 of 3");
        end
        begin
            without_credit b;
            again();
            b = new(down.cxs_source.bus);
            run.wrong("no credit", cxs[0], b, 1, "unit 0, valid: found a beat without a credit, expected none until crdgnt has been high");
        end
        begin
            before_active b;
            again();
            b = new(down.fdi_source.bus);
            run.wrong("no state", fdi[0], b, 1, "unit 0, state_sts: found data in state 0, expected 1, Active", 1);
        end
        $display("PASS %0d", run.count);
        $finish;
    end
endmodule
