// Two active ends of a link back to back, one unit in a hundred damaged, and a passive end that watches the lower one. Included in a module
// that imports scalepool_pkg.

virtual class watched_pair;
    `include "dpi_random.svh"
    sp_link_end ends[0:1];
    sp_link_end watch;
    string broken_rules[0:1]; // first rule of a peer that the lower end has told, and of either side the watching one
    int flit_clocks, hits;
    bit is_damaged;

    pure virtual function void on_request(sp_message message);
    pure virtual function void on_answer(sp_message message);

    // `active` are the knobs of the ends, `passive` those of the one that watches.
    function void make(sp_protocol_e protocol, sp_link_config active, sp_link_config passive);
        for (int n = 0; n < 2; n++) begin
            ends[n] = new(protocol, sp_dir_e'(n[0]), 0, active);
            broken_rules[n] = "";
        end
        watch = new(protocol, SP_SENDS_DOWN, 1, passive);
        is_damaged = 1;
    endfunction

    function void destroy();
        for (int n = 0; n < 2; n++) ends[n].destroy();
        watch.destroy();
    endfunction

    function void note(sp_link_end of, int place, bit only_peer);
        sp_event_t e;
        while (of.take_event(e))
            if ((only_peer ? e.by == SP_PEER_BROKE : e.by != SP_LINE_BROKE) && broken_rules[place] == "") broken_rules[place] = e.rule;
    endfunction

    // What an end has sent arrives at the other one.
    function void pass(int from);
        sp_unit_t sent;
        int unsigned bytes;
        bytes = ends[from].sample(sent);
        if (bytes == 0) return;
        if (from == 0) watch.drive(sent, SP_PORT_TX, bytes);
        if (is_damaged && bytes > 1 && draw_up_to(99) == 0) begin
            hits++;
            sent[draw_up_to(8 * int'(bytes) - 1)] ^= 1'b1;
        end
        ends[1 - from].drive(sent, SP_PORT_RX, bytes);
        if (from == 1) watch.drive(sent, SP_PORT_RX, bytes);
    endfunction

    function void flit_clock();
        sp_message message;
        for (int n = 0; n < 2; n++) ends[n].step();
        for (int n = 1; n >= 0; n--) pass(n);
        watch.step();
        note(ends[0], 0, 1);
        note(watch, 1, 0);
        message = ends[1].take();
        while (message != null) begin
            on_request(message);
            message = ends[1].take();
        end
        message = ends[0].take();
        while (message != null) begin
            on_answer(message);
            message = ends[0].take();
        end
        flit_clocks++;
    endfunction

    // Both who see a wrong answer name the same rule, or none.
    function void expect_rule(string name, string rule);
        for (int n = 0; n < 2; n++)
            if (broken_rules[n] != rule)
                $fatal(1, "%s: %s: found rule %s, expected %s", name, n == 0 ? "the end" : "who watches it", broken_rules[n], rule);
    endfunction
endclass
