// The calls of scalepool_pkg for UALink, NVLink and CXL.io, without a design: requesters and completers on both ends of a link, some units
// damaged, with reads and writes of random bytes against a data image of the bench; completers that are wrong, each named by its rule;
// poison, addresses without memory, and a reset. A root finds the device of the built-in system `cxlio-enumerate` and uses its registers and memory.
// +count=N calls of each protocol.
//
// A walk through one flit clock: what either end has sent goes to the other one, some of it damaged, both step, and the agents act on what has
// come.
module requests_dpi_tb;
    import scalepool_pkg::*;
    localparam int SPACE = 2048;
    localparam bit [9:0] LEFT = 1, RIGHT = 2;

    // What a completer does to its answers.
    typedef enum { IS_RIGHT, OTHER_TAG, OTHER_DATA, LOST } wrong_e;

    class wrong_ualink extends sp_ualink_completer;
        wrong_e wrong;

        function new(sp_link_end link, bit [9:0] accelerator, int unsigned latency, bit [63:0] size_bytes);
            super.new(link, accelerator, latency, size_bytes);
            wrong = IS_RIGHT;
        endfunction

        virtual function void answers_of(sp_message request, ref sp_message found[$]);
            ualink_tl_rsp response;
            super.answers_of(request, found);
            if (wrong == LOST) found.delete();
            foreach (found[n]) begin
                if (!$cast(response, found[n])) continue;
                if (wrong == OTHER_TAG) response.fields.tag = 11'h700;
                if (wrong == OTHER_DATA && response.beat_count != 0) response.beats[0] ^= 512'd1;
            end
        endfunction
    endclass

    class wrong_nvlink extends sp_nvlink_completer;
        wrong_e wrong;

        function new(sp_link_end link, int unsigned latency, bit [63:0] size_bytes);
            super.new(link, latency, size_bytes);
            wrong = IS_RIGHT;
        endfunction

        virtual function void answers_of(sp_message request, ref sp_message found[$]);
            nvlink_message response;
            super.answers_of(request, found);
            if (wrong == LOST) found.delete();
            foreach (found[n]) begin
                if (!$cast(response, found[n])) continue;
                if (wrong == OTHER_TAG) response.header.tag = 10'h300;
                if (wrong == OTHER_DATA && response.payload_bytes != 0) response.payload ^= 2048'd1;
            end
        endfunction
    endclass

    // Two ends; what acts on them stands in derived classes. A class, because Verilator copies the tasks of a module to each place that calls
    // them.
    virtual class call_pair;
        `include "dpi_random.svh"
        sp_link_end ends [0:1];
        byte unsigned image [0:SPACE-1];
        int hits, flit_clocks;
        bit running, is_damaged;

        pure virtual function void act();

        function void flit_clock();
            sp_unit_t sent;
            int unsigned bytes;
            for (int n = 0; n < 2; n++) ends[n].step();
            for (int n = 0; n < 2; n++) begin
                bytes = ends[n].sample(sent);
                if (bytes == 0) continue;
                if (is_damaged && bytes > 1 && draw_up_to(199) == 0) begin
                    hits++;
                    sent[draw_up_to(8 * int'(bytes) - 1)] ^= 1'b1;
                end
                ends[1 - n].drive(sent, SP_PORT_RX, bytes);
            end
            act();
            flit_clocks++;
        endfunction

        task make(input sp_protocol_e protocol, input sp_transactions_e transactions);
            for (int n = 0; n < 2; n++) begin
                sp_link_config knobs;
                knobs = new();
                knobs.transaction_layer = protocol == SP_PROTOCOL_UALINK;
                knobs.transactions = transactions;
                knobs.all_writers_seen = 1;
                knobs.answer_flits = 4000;
                ends[n] = new(protocol, sp_dir_e'(n[0]), 0, knobs);
            end
            for (int n = 0; n < SPACE; n++) image[n] = 0;
            is_damaged = 1;
        endtask

        task start;
            running = 1;
            fork
                while (running) #1 flit_clock();
            join_none
        endtask

        task stop(input string name, input bit is_whole);
            #50;
            running = 0;
            #2;
            for (int n = 0; n < 2; n++) begin
                if (is_whole && !ends[n].finish()) $fatal(1, "%s: a request is open", name);
                ends[n].destroy();
            end
        endtask

        // Nobody but the line has broken anything.
        function void quiet(string name, sp_cxl_agent agent);
            foreach (agent.events[n])
                if (agent.events[n].by != SP_LINE_BROKE) $fatal(1, "%s: %s", name, sp_library::event_text(agent.events[n]));
        endfunction

        function void heard(string name, sp_cxl_agent agent, string rule);
            foreach (agent.events[n]) if (agent.events[n].rule == rule && agent.events[n].by == SP_PEER_BROKE) return;
            $fatal(1, "%s: %s is not heard", name, rule);
        endfunction

        function void is_answer(string name, sp_answer_e found, sp_answer_e expected);
            if (found != expected) $fatal(1, "%s: found %s, expected %s", name, found.name(), expected.name());
        endfunction

        // Random bytes, and where they go.
        function void draw_bytes(ref byte unsigned bytes[], output int at);
            int count;
            count = 1 + draw_up_to(draw_up_to(3) == 0 ? 599 : 40);
            at = draw_up_to(SPACE - count);
            bytes = new[count];
            foreach (bytes[n]) bytes[n] = 8'(draw());
        endfunction

        function void compare(string name, int at, ref byte unsigned bytes[]);
            foreach (bytes[n])
                if (bytes[n] != image[at + n]) $fatal(1, "%s: byte 0x%0h: found %h, expected %h", name, at + n, bytes[n], image[at + n]);
        endfunction
    endclass

    // An accelerator that reads and writes, and answers, at each end.
    class ualink_pair extends call_pair;
        sp_ualink_requester left, right;
        wrong_ualink memory, other;

        virtual function void act();
            left.on_step();
            right.on_step();
        endfunction

        task begins;
            make(SP_PROTOCOL_UALINK, SP_TRANSACTIONS_UALINK);
            left = new(ends[0], LEFT, 16);
            other = new(ends[0], LEFT, 0, '0);
            left.beside = other;
            right = new(ends[1], RIGHT, 2);
            memory = new(ends[1], RIGHT, 3, 64'h10_0000);
            right.beside = memory;
            start();
        endtask

        // Calls of the left one, while the right one reads what nobody has written.
        task traffic(input int count);
            byte unsigned bytes[], zeros[];
            sp_answer_e answer, of_zeros;
            int at;
            begins();
            fork
                for (int n = 0; n < count; n++) begin
                    draw_bytes(bytes, at);
                    memory.single_beats = 1'(draw());
                    if (draw_up_to(1) == 0) begin
                        left.write(RIGHT, 57'h4000 + 57'(at), bytes, answer);
                        foreach (bytes[k]) image[at + k] = bytes[k];
                    end else begin
                        left.read(RIGHT, 57'h4000 + 57'(at), bytes, answer);
                        compare("UALink", at, bytes);
                    end
                    is_answer("UALink", answer, SP_ANSWER_OK);
                end
                for (int n = 0; n < count / 4; n++) begin
                    zeros = new[70];
                    right.read(LEFT, 57'h8000, zeros, of_zeros);
                    is_answer("the way back", of_zeros, SP_ANSWER_OK);
                end
            join
            // Neither memory nor an accelerator is there.
            bytes = new[4];
            left.read(RIGHT, 57'h10_0000, bytes, answer);
            is_answer("no memory", answer, SP_ANSWER_NO_MEMORY);
            left.write(10'd9, 57'h4000, bytes, answer);
            is_answer("no accelerator", answer, SP_ANSWER_NO_MEMORY);
            left.write(RIGHT, 57'h6000, bytes, answer, 1);
            left.read(RIGHT, 57'h6002, bytes, answer);
            is_answer("poison", answer, SP_ANSWER_POISON);
            if (memory.served == 0 || other.served == 0) $fatal(1, "a completer has served nothing");
            quiet("left", left);
            quiet("right", right);
            stop("UALink", 1);
        endtask

        task named(input wrong_e wrong, input string rule);
            byte unsigned bytes[];
            sp_answer_e answer;
            begins();
            is_damaged = 0;
            bytes = new[64];
            left.write(RIGHT, 57'h4000, bytes, answer);
            memory.wrong = wrong;
            left.read(RIGHT, 57'h4000, bytes, answer);
            is_answer(wrong.name(), answer, SP_ANSWER_BROKEN);
            heard(wrong.name(), left, rule);
            stop(wrong.name(), 0);
        endtask
    endclass

    class nvlink_pair extends call_pair;
        sp_nvlink_requester requester;
        wrong_nvlink memory;
        bit is_posting;
        longint unsigned most_waiting;

        virtual function void act();
            longint unsigned waiting;
            requester.on_step();
            memory.on_step();
            if (!is_posting) return;
            waiting = ends[0].health("messages_waiting", "creq1");
            if (waiting > most_waiting) most_waiting = waiting;
        endfunction

        task begins;
            make(SP_PROTOCOL_NVLINK, SP_TRANSACTIONS_NVLINK);
            requester = new(ends[0], 9'd1, 16);
            memory = new(ends[1], 3, 64'h40_0010_0000);
            start();
        endtask

        // The addresses have bits that a header does not hold.
        task traffic(input int count);
            byte unsigned bytes[];
            sp_answer_e answer;
            int at;
            begins();
            for (int n = 0; n < count; n++) begin
                draw_bytes(bytes, at);
                if (draw_up_to(1) == 0) begin
                    bit posted;
                    posted = draw_up_to(2) == 0;
                    requester.write(64'h40_0000_4000 + 64'(at), bytes, answer, posted);
                    if (posted) requester.flush(answer);
                    foreach (bytes[k]) image[at + k] = bytes[k];
                end else begin
                    requester.read(64'h40_0000_4000 + 64'(at), bytes, answer);
                    compare("NVLink", at, bytes);
                end
                is_answer("NVLink", answer, SP_ANSWER_OK);
            end
            bytes = new[4];
            requester.read(64'h40_0010_0000, bytes, answer);
            is_answer("no memory", answer, SP_ANSWER_NO_MEMORY);
            requester.write(64'h6000, bytes, answer, 0, 1);
            requester.read(64'h6002, bytes, answer);
            is_answer("poison", answer, SP_ANSWER_POISON);
            // More posted writes than may wait.
            bytes = new[1024];
            is_posting = 1;
            for (int n = 0; n < 40; n++) requester.write(64'h40_0000_4000, bytes, answer, 1);
            requester.flush(answer);
            is_answer("posted", answer, SP_ANSWER_OK);
            is_posting = 0;
            if (most_waiting == 0 || most_waiting > 16) $fatal(1, "found %0d posted writes that wait, expected 1 to 16", most_waiting);
            quiet("requester", requester);
            quiet("memory", memory);
            stop("NVLink", 1);
        endtask

        task named(input wrong_e wrong, input string rule);
            byte unsigned bytes[];
            sp_answer_e answer;
            begins();
            is_damaged = 0;
            bytes = new[64];
            requester.write(64'h4000, bytes, answer);
            memory.wrong = wrong;
            requester.read(64'h4000, bytes, answer);
            is_answer(wrong.name(), answer, SP_ANSWER_BROKEN);
            heard(wrong.name(), requester, rule);
            stop(wrong.name(), 0);
        endtask

        // A reset ends what is open, and what comes behind it is a link of its own.
        task reset_ends;
            byte unsigned bytes[], others[];
            sp_answer_e answer;
            begins();
            is_damaged = 0;
            bytes = new[16];
            others = new[16];
            memory.latency = 500;
            fork
                requester.read(64'h4000, bytes, answer);
                begin
                    #100;
                    if (requester.outstanding() != 1) $fatal(1, "found open tags %s, expected one", requester.open_tags());
                    requester.reset();
                    memory.reset();
                end
            join
            is_answer("reset", answer, SP_ANSWER_BROKEN);
            memory.latency = 0;
            requester.read(64'h4000, others, answer);
            is_answer("behind a reset", answer, SP_ANSWER_OK);
            stop("reset", 1);
        endtask
    endclass

    // A root in the place of that of a system.
    class io_root;
        `include "dpi_random.svh"
        localparam string PORT = "host.link";
        sp_link_end link;
        sp_cxl_io_root root;
        longint unsigned sim;
        int driven;
        bit running;
        sp_unit_t waiting[$];

        function void must(int status, string what);
            if (status < 0) $fatal(1, "%s: status %0d: %s", what, status, sp_library::why());
        endfunction

        // Whether a unit has passed in a direction of the port.
        function bit passed(int unsigned way, output sp_unit_t value);
            byte unsigned bytes[0:255];
            longint unsigned time_fs, count;
            int status;
            status = scalepool_dpi_pkg::sp_sim_sample(sim, PORT, way, time_fs, bytes, count);
            must(status, "sample");
            value = '0;
            for (int n = 0; n < 256; n++) value[8*n +: 8] = bytes[n];
            return status == scalepool_dpi_pkg::SP_OK;
        endfunction

        // The system goes on until at most one unit waits to be sent.
        function void advance();
            sp_unit_t value;
            do begin
                must(scalepool_dpi_pkg::sp_sim_step(sim, 64'd1), "step");
                while (passed(scalepool_dpi_pkg::SP_RX, value)) waiting.push_back(value);
                while (passed(scalepool_dpi_pkg::SP_TX, value)) driven--;
            end while (driven >= 2);
        endfunction

        function void flit_clock();
            sp_unit_t sent;
            byte unsigned bytes[0:255];
            link.step();
            root.on_step();
            if (link.sample(sent) != 0) begin
                for (int n = 0; n < 256; n++) bytes[n] = sent[8*n +: 8];
                must(scalepool_dpi_pkg::sp_sim_drive(sim, PORT, bytes, 64'd256), "unit");
                driven++;
            end
            advance();
            if (waiting.size() != 0) link.drive(waiting.pop_front());
        endfunction

        task make;
            sp_link_config knobs;
            must(scalepool_dpi_pkg::sp_open(scalepool_dpi_pkg::SP_ABI_VERSION), "library");
            must(scalepool_dpi_pkg::sp_sim_new(
                "scenario = \"cxlio-enumerate\"\nlink.cachemem = \"off\"\nlink.mode = \"cxl-256b\"\nexternal = \"host.link\"", sim), "system");
            must(scalepool_dpi_pkg::sp_sim_watch(sim, PORT, scalepool_dpi_pkg::SP_RX, 32'd1), "watch");
            must(scalepool_dpi_pkg::sp_sim_watch(sim, PORT, scalepool_dpi_pkg::SP_TX, 32'd1), "watch");
            knobs = new();
            knobs.transactions = SP_TRANSACTIONS_CXL_IO;
            knobs.all_writers_seen = 1;
            link = new(SP_PROTOCOL_CXL_IO, SP_SENDS_DOWN, 0, knobs);
            root = new(link, 8);
            running = 1;
            fork
                while (running) #1 flit_clock();
            join_none
        endtask

        task uses(input int count);
            sp_io_function found[$];
            sp_io_region_t region;
            sp_answer_e answer;
            bit [31:0] data;
            bit has_device;
            byte unsigned image[], bytes[];
            make();
            root.enumerate(found, answer);
            if (answer != SP_ANSWER_OK || found.size() == 0) $fatal(1, "found %s and %0d functions", answer.name(), found.size());
            if (found[0].regions.size() == 0) $fatal(1, "found no BAR");
            has_device = 0;
            foreach (found[0].dvsecs[n]) has_device |= found[0].dvsecs[n].vendor == 16'h1e98 && found[0].dvsecs[n].id == 0;
            if (!has_device) $fatal(1, "found no DVSEC of CXL for devices");
            root.config_read(found[0].id, 12'h000, data, answer);
            if (answer != SP_ANSWER_OK || data != {found[0].device, found[0].vendor}) $fatal(1, "found %h", data);
            // No function is there.
            root.config_read(16'h01f8 | 16'd7, 12'h000, data, answer);
            if (answer == SP_ANSWER_OK && data[15:0] != '1 || answer == SP_ANSWER_BROKEN) $fatal(1, "no function: found %s, %h", answer.name(), data);
            region = found[0].regions[0];
            image = new[512];
            root.write(region.address, image, answer);
            for (int n = 0; n < count; n++) begin
                int at, many;
                many = 1 + draw_up_to(99);
                at = draw_up_to(511 - many);
                bytes = new[many];
                if (draw_up_to(1) == 0) begin
                    foreach (bytes[k]) bytes[k] = 8'(draw());
                    root.write(region.address + 64'(at), bytes, answer);
                    foreach (bytes[k]) image[at + k] = bytes[k];
                end else begin
                    root.read(region.address + 64'(at), bytes, answer);
                    foreach (bytes[k])
                        if (bytes[k] != image[at + k]) $fatal(1, "byte 0x%0h: found %h, expected %h", at + k, bytes[k], image[at + k]);
                end
                if (answer != SP_ANSWER_OK) $fatal(1, "access %0d: found %s", n, answer.name());
            end
            foreach (root.events[n])
                if (root.events[n].by != SP_LINE_BROKE) $fatal(1, "%s", sp_library::event_text(root.events[n]));
            running = 0;
            #2;
            if (!link.finish()) $fatal(1, "a request is open");
            link.destroy();
            must(scalepool_dpi_pkg::sp_sim_destroy(sim), "system");
        endtask
    endclass

    initial if ($test$plusargs("requests")) begin
        ualink_pair ualink;
        nvlink_pair nvlink;
        io_root io;
        int count;
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        ualink = new();
        ualink.traffic(count);
        ualink.named(OTHER_TAG, "TXN-TAG-02");
        ualink.named(OTHER_DATA, "TXN-DAT-01");
        ualink.named(LOST, "TXN-END-02");
        nvlink = new();
        nvlink.traffic(count);
        nvlink.named(OTHER_TAG, "TXN-TAG-02");
        nvlink.named(OTHER_DATA, "TXN-DAT-01");
        nvlink.named(LOST, "TXN-END-02");
        nvlink.reset_ends();
        io = new();
        io.uses(count);
        $display("%0d flit clocks, %0d units hit", ualink.flit_clocks + nvlink.flit_clocks, ualink.hits + nvlink.hits);
        if (ualink.hits == 0 || nvlink.hits == 0) $fatal(1, "no unit was hit");
        $display("PASS %0d", count);
        $finish;
    end
endmodule
