// The same bench without Python: runs the system `@SYSTEM@` around `@PATH@`, which stands in `@MODULE@.sv`, through the functions
// of the DPI-C package; the model checks everything beside it.
//
// While that module is the stub (STUB is defined), a second system answers in its place: the same one, in which all others are
// external. +clocks=N runs for N clocks of units (@CLOCKS@).
module bench_dpi;
    import scalepool_dpi_pkg::*;

    // The clock of units and the reference clock of the system, in femtoseconds.
    localparam longint unsigned UNIT_FS = @UNIT_FS@;
    localparam longint unsigned CYCLE_FS = @CYCLE_FS@;
    // Whether links damage units, so that some are repaired or asked for again. Otherwise nobody has a reason to.
    localparam bit NOISE = @NOISE_BIT@;

    logic clk = 0, rst_n = 0;
    // The system around the module, and the one that answers in its place.
    longint unsigned around, in_its_place;
    int unsigned units_taken = 0, units_sent = 0;
@WIRES@
    @MODULE@ dut (.*);

    // Ends the run if a function answers with an error.
    task automatic must(input int answer, input string what);
        string text;
        if (answer < 0) begin
            void'(sp_last_error(text));
            $fatal(1, "%s: status %0d: %s", what, answer, text);
        end
    endtask

    task automatic set(input longint unsigned sim, input string setting);
        must(sp_sim_set(sim, setting), setting);
    endtask

    // The system with its settings.
    task automatic make(output longint unsigned sim);
        must(sp_sim_new("scenario = @SOURCE_ESCAPED@", sim), "sp_sim_new");
@SET_ALL@    endtask

    task automatic watch(input longint unsigned sim, input string port);
        must(sp_sim_watch(sim, port, SP_RX, 1), port);
    endtask

    // Runs a system to the end of so many clocks of units.
    task automatic advance(input longint unsigned sim, input longint unsigned clocks);
        longint unsigned from, to;
        from = (clocks - 1) * UNIT_FS / CYCLE_FS;
        to = clocks * UNIT_FS / CYCLE_FS;
        if (to > from) must(sp_sim_step(sim, to - from), "sp_sim_step");
    endtask

    task automatic unit_clock;
        #1 clk = 1;
        #1 clk = 0;
    endtask

    // Where a word stands in a text, from a place on; -1: nowhere.
    function automatic int find(input string text, input string word, input int from);
        for (int i = from; i + word.len() <= text.len(); i++)
            if (text[i] == word[0] && text.substr(i, i + word.len() - 1) == word) return i;
        return -1;
    endfunction

    // Whether a figure of the metrics is above zero anywhere.
    function automatic bit counted(input string metrics, input string name);
        string key;
        int at;
        key = {"\"", name, "\":"};
        at = find(metrics, key, 0);
        while (at >= 0) begin
            at += key.len();
            if (metrics[at] != "0") return 1;
            at = find(metrics, key, at);
        end
        return 0;
    endfunction

    // Ends the run if a rule is broken in a system.
    task automatic judge(input longint unsigned sim, input string place);
        string metrics;
        int at;
        must(sp_sim_metrics(sim, metrics), "sp_sim_metrics");
        // The list; components and links have a number of that name.
        at = find(metrics, "\"violations\":[", 0);
        if (at < 0 || metrics[at + 14] != "]") $fatal(1, "rules broken %s: %s", place, metrics.substr(at, metrics.len() - 1));
    endtask

    task automatic judge_repairs;
        string metrics;
        string names [0:3];
        names = '{"Nak flits", "FEC repairs", "bad flits", "retries"};
        must(sp_sim_metrics(around, metrics), "sp_sim_metrics");
        for (int i = 0; i < 4; i++)
            if (counted(metrics, names[i]))
                $fatal(1, "found %s above 0: @PATH@ lost or damaged units, since no link does", names[i]);
    endtask
@TASKS@
    initial begin
        int unsigned clocks;
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library has another version than the package");
        if (!$value$plusargs("clocks=%d", clocks)) clocks = @CLOCKS@;
        make(around);
        set(around, @OWN_EXTERNAL@);
@WATCH_OWN@`ifdef STUB
        make(in_its_place);
@OTHERS_EXTERNAL@@WATCH_OTHERS@`endif
        repeat (4) unit_clock;
        rst_n = 1;
        for (longint unsigned n = 1; n <= 64'(clocks); n++) begin
            unit_clock;
            advance(around, n);
`ifdef STUB
            advance(in_its_place, n);
`endif
@CALLS@        end
        $display("@PATH@ took %0d units and sent %0d", units_taken, units_sent);
        judge(around, "around @PATH@");
`ifdef STUB
        judge(in_its_place, "in its place");
`endif
        if (!NOISE) judge_repairs;
        if (units_taken == 0 || units_sent == 0) $fatal(1, "found no unit one way, expected some both ways");
        $display("PASS");
        $finish;
    end
endmodule
