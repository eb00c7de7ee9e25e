// The agent as the device of an RTL host (cxl68_host.sv, made of the devices of testbenches/rtl); two agents on a link of their own, as units or
// on the loops of interfaces that cores have; a root with the model's endpoint, or with registers in RTL.
//
// +damage=N: one flit of N that the RTL host sends has a wrong bit, 0 none. +bug=N: the registers have a bug, see hdm_registers.sv.
module demo_top;
    import uvm_pkg::*;
    import demo_pkg::*;
    import scalepool_pkg::*;

    logic clk;
    initial clk = 0;
    always #500ps clk = !clk;

    demo_host_if bus (.clk);
    scalepool_flit_if flits (.clk, .rst_n(bus.rst_n));
    scalepool_flit_if pair (.clk, .rst_n(bus.rst_n));
    scalepool_flit_if endpoint (.clk, .rst_n(bus.rst_n));
    demo_register_if registers (.clk, .rst_n(bus.rst_n));

    demo_endpoint model (.flits(endpoint));
    int bug;
    hdm_registers decoders (
        .clk_i(clk), .rst_ni(bus.rst_n), .bug_i(2'(bug)), .write_i(registers.write), .address_i(registers.address),
        .data_i(registers.data), .enables_i(registers.enables), .data_o(registers.found)
    );

    interface_loop down (.clk, .rst_n(bus.rst_n));
    interface_loop up (.clk, .rst_n(bus.rst_n));

    // The agents of one interface: `to` carries what the host sends, `from` what the memory sends.
    function automatic void offer(string name, sp_flit_source to, sp_flit_sink to_end, sp_flit_monitor to_seen, sp_flit_source from,
                                  sp_flit_sink from_end, sp_flit_monitor from_seen);
        uvm_config_db#(sp_flit_source)::set(null, "uvm_test_top.host*", {name, ".tx"}, to);
        uvm_config_db#(sp_flit_sink)::set(null, "uvm_test_top.host*", {name, ".rx"}, from_end);
        uvm_config_db#(sp_flit_source)::set(null, "uvm_test_top.device*", {name, ".tx"}, from);
        uvm_config_db#(sp_flit_sink)::set(null, "uvm_test_top.device*", {name, ".rx"}, to_end);
        uvm_config_db#(sp_flit_monitor)::set(null, "uvm_test_top.watcher*", {name, ".tx"}, from_seen);
        uvm_config_db#(sp_flit_monitor)::set(null, "uvm_test_top.watcher*", {name, ".rx"}, to_seen);
    endfunction

    logic tx_valid;
    logic [527:0] tx_flit;
    cxl68_host host (
        .clk_i(clk), .rst_ni(bus.rst_n), .valid_i(bus.valid), .credit_o(bus.credit), .taken_o(bus.taken), .h2d_req_i('0),
        .h2d_rsp_i('0), .h2d_data_i('0), .m2s_req_i(bus.m2s_req), .m2s_rwd_i(bus.m2s_rwd), .data_line_i('0),
        .rwd_line_i(bus.rwd_line), .rwd_partial_i(bus.rwd_partial), .rwd_enables_i(bus.rwd_enables), .tx_valid_o(tx_valid),
        .tx_flit_o(tx_flit), .rx_valid_i(flits.up_valid === 1'b1), .rx_flit_i(flits.up[543:16]), .accept_o(bus.accept),
        .chunk_o(bus.chunk), .class_o(bus.class_of), .message_o(bus.message), .failed_o(bus.failed)
    );
    assign bus.slots = flits.up[527:16];

    // The wire down: the protocol ID before the flit, and now and then a wrong bit.
    int damage;
    int passed;
    logic [527:0] wrong;
    assign wrong = damage != 0 && passed % damage == damage - 1 ? 528'd1 << (passed % 512) : '0;
    assign flits.down_valid = tx_valid && bus.rst_n;
    assign flits.down_intact = 5120'({tx_flit, 16'h5555});
    assign flits.down = 5120'({tx_flit ^ wrong, 16'h5555});
    always @(posedge clk) passed <= !bus.rst_n ? 0 : passed + int'(tx_valid);

    initial begin
        if (!$value$plusargs("damage=%d", damage)) damage = 0;
        if (!$value$plusargs("bug=%d", bug)) bug = 0;
        {registers.write, registers.address, registers.data, registers.enables} = '0;
        {bus.valid, bus.m2s_req, bus.m2s_rwd, bus.rwd_line, bus.rwd_partial, bus.rwd_enables} = '0;
        bus.rst_n = 0;
        uvm_config_db#(virtual demo_host_if)::set(null, "*", "bus", bus);
        uvm_config_db#(virtual scalepool_flit_if)::set(null, "*", "flits", flits);
        uvm_config_db#(virtual scalepool_flit_if)::set(null, "*", "pair", pair);
        uvm_config_db#(virtual scalepool_flit_if)::set(null, "*", "endpoint", endpoint);
        uvm_config_db#(virtual demo_register_if)::set(null, "*", "registers", registers);
        offer("axi-stream", down.axi_source.agent, down.axi_sink.agent, down.axi_at_output.agent, up.axi_source.agent, up.axi_sink.agent,
              up.axi_at_input.agent);
        offer("credited", down.cxs_source.agent, down.cxs_sink.agent, down.cxs_at_output.agent, up.cxs_source.agent, up.cxs_sink.agent,
              up.cxs_at_input.agent);
        offer("state", down.fdi_source.agent, down.fdi_sink.agent, down.fdi_at_output.agent, up.fdi_source.agent, up.fdi_sink.agent,
              up.fdi_at_input.agent);
        offer("slots68", down.f68_source.agent, down.f68_sink.agent, down.f68_at_output.agent, up.f68_source.agent, up.f68_sink.agent,
              up.f68_at_input.agent);
        run_test();
    end
endmodule
