// The device of the built-in system `cxlio-enumerate` on a flit interface: a CXL Type 3 device with its configuration space, and memory behind
// its BARs. The test is the root in the place of the system's own.
//
// A walk through one cycle: the unit that has come is driven at the port of the missing root; the system goes on until at most one waits to be
// sent; what the device has sent meanwhile leaves, one unit in a cycle. A reset of the interface is one of the system.
module demo_endpoint (
    scalepool_flit_if flits
);
    import scalepool_dpi_pkg::*;
    localparam string PORT = "host.link";
    localparam int MOST_CYCLES = 1000; // in which a unit of 256 bytes leaves, whatever the rate of the link
    typedef bit [5119:0] unit_t;

    longint unsigned sim;
    bit is_there, has_begun;
    int driven;
    unit_t waiting[$];

    function automatic void must(int status, string what);
        string why;
        if (status >= 0) return;
        void'(sp_last_error(why));
        $fatal(1, "endpoint, %s: status %0d: %s", what, status, why);
    endfunction

    // Whether a unit has passed in a direction of the port.
    function automatic bit passed(int unsigned way, output unit_t value);
        byte unsigned bytes[0:255];
        longint unsigned time_fs, count;
        int status;
        status = sp_sim_sample(sim, PORT, way, time_fs, bytes, count);
        must(status, "sample");
        value = '0;
        for (int n = 0; n < 256; n++) value[8*n +: 8] = bytes[n];
        return status == SP_OK;
    endfunction

    function automatic void drive(unit_t value);
        byte unsigned bytes[0:255];
        for (int n = 0; n < 256; n++) bytes[n] = value[8*n +: 8];
        must(sp_sim_drive(sim, PORT, bytes, 64'd256), "unit");
        driven++;
    endfunction

    function automatic void advance();
        unit_t value;
        has_begun = 1;
        for (int n = 0; n < MOST_CYCLES; n++) begin
            must(sp_sim_step(sim, 64'd1), "step");
            while (passed(SP_RX, value)) waiting.push_back(value);
            while (passed(SP_TX, value)) driven--;
            if (driven < 2) return;
        end
        $fatal(1, "endpoint: found no unit sent in %0d cycles", MOST_CYCLES);
    endfunction

    task automatic begin_anew();
        if (has_begun) must(sp_sim_reset(sim), "reset");
        has_begun = 0;
        driven = 0;
        waiting.delete();
        flits.up_valid <= 0;
    endtask

    initial begin
        is_there = $test$plusargs("device=model") != 0;
        if (is_there) begin
            must(sp_open(SP_ABI_VERSION), "library");
            must(sp_sim_new("scenario = \"cxlio-enumerate\"\nlink.cachemem = \"off\"\nlink.mode = \"cxl-256b\"\ndevice.range1_bytes = \"256 MiB\"\nexternal = \"host.link\"", sim),
                 "system");
            must(sp_sim_watch(sim, PORT, SP_RX, 32'd1), "watch");
            must(sp_sim_watch(sim, PORT, SP_TX, 32'd1), "watch");
        end
    end

    always @(posedge flits.clk) begin
        if (is_there && !flits.rst_n) begin_anew();
        else if (is_there) begin
            if (flits.down_valid) drive(flits.down);
            advance();
            flits.up_valid <= waiting.size() != 0;
            if (waiting.size() != 0) flits.up <= waiting.pop_front();
        end
    end
endmodule
