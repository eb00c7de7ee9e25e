// Tests of the agent: a device beside an RTL host, with damage and a reset in mid run; a device that answers wrongly; two agents of
// any protocol on one link; random messages of each class; register models against devices; interfaces that cores have.
package demo_pkg;
  import uvm_pkg::*;
  import scalepool_pkg::*;
  import scalepool_uvm_pkg::*;
  import scalepool_registers_pkg::*;
  `include "uvm_macros.svh"

  // Drives the message side of the RTL host: requests down, and the answers that come up.
  class demo_host_driver extends uvm_driver #(scalepool_item);
    `uvm_component_utils(demo_host_driver)
    virtual demo_host_if bus;
    protected scalepool_request_item waiting[$];
    protected scalepool_request_item open[bit [15:0]];
    protected bit [15:0] next_tag;
    protected bit [15:0] owed[$]; // tags whose data comes, a chunk of 16 bytes at a time
    protected int unsigned chunks;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      if (!uvm_config_db#(virtual demo_host_if)::get(this, "", "bus", bus)) `uvm_fatal("CONFIG", "found no `bus`")
    endfunction

    function bit is_quiet();
      return waiting.size() == 0 && open.num() == 0;
    endfunction

    virtual task run_phase(uvm_phase phase);
      fork
        cycles();
        forever begin
          scalepool_request_item request;
          seq_item_port.get_next_item(req);
          if (!$cast(request, req)) `uvm_fatal("ITEM", {"found ", req.get_type_name(), ", expected a request"})
          waiting.push_back(request);
          seq_item_port.item_done();
        end
      join
    endtask

    protected task cycles();
      forever begin
        @(posedge bus.clk);
        if (!bus.rst_n) begin
          bus.valid <= '0;
          owed.delete();
          chunks = 0;
        end else begin
          if (bus.failed) `uvm_error("RTL", "the host gives its link up")
          take();
          offer();
        end
      end
    endtask

    // Messages and data of the flit that the host takes in this cycle; data of a slot belongs to what stood before it.
    protected function void take();
      if (!bus.accept) return;
      for (int s = 0; s < 4; s++) begin
        if (bus.chunk[s] && owed.size() != 0) begin
          open[owed[0]].line[128*chunks +: 128] = bus.slots[128*s +: 128];
          chunks++;
          if (chunks == 4) begin
            chunks = 0;
            done(owed.pop_front());
          end
        end
        for (int p = 5 * s; p < 5 * s + 5; p++) begin
          scalepool_cxl68_pkg::s2m_ndr_t ndr;
          scalepool_cxl68_pkg::s2m_drs_t drs;
          ndr = scalepool_cxl68_pkg::s2m_ndr_t'(bus.message[87*p +: scalepool_cxl68_pkg::S2M_NDR_BITS]);
          drs = scalepool_cxl68_pkg::s2m_drs_t'(bus.message[87*p +: scalepool_cxl68_pkg::S2M_DRS_BITS]);
          if (bus.class_of[3*p +: 3] == 3'd4) done(ndr.tag);
          if (bus.class_of[3*p +: 3] == 3'd5) begin
            if (open.exists(drs.tag)) owed.push_back(drs.tag);
            else `uvm_info("RTL", $sformatf("data of tag 0x%0h, which is not open", drs.tag), UVM_LOW)
          end
        end
      end
    endfunction

    protected function void done(bit [15:0] tag);
      if (!open.exists(tag)) return;
      open[tag].answer = SP_ANSWER_OK;
      open[tag].is_done = 1;
      open.delete(tag);
    endfunction

    // The next request, when the one before it has been taken.
    protected function void offer();
      bit [4:0] valid;
      scalepool_request_item request;
      valid = bus.valid & ~bus.taken;
      if (valid == 0 && waiting.size() != 0) begin
        request = waiting.pop_front();
        request.tag = next_tag;
        next_tag++;
        open[request.tag] = request;
        if (request.op == SCALEPOOL_WRITE) begin
          cxl68_m2s_rwd m;
          m = new();
          m.fields.opcode = request.whole ? scalepool_cxl68_pkg::M2S_RWD_OPCODE_MEM_WR : scalepool_cxl68_pkg::M2S_RWD_OPCODE_MEM_WR_PTL;
          m.fields.meta_value = scalepool_cxl68_pkg::META_VALUE_ANY;
          m.fields.address = 46'(request.line_number);
          m.fields.tag = request.tag;
          bus.m2s_rwd <= m.fields;
          bus.rwd_line <= request.line;
          bus.rwd_partial <= !request.whole;
          bus.rwd_enables <= request.enables;
          valid[4] = 1;
        end else begin
          cxl68_m2s_req m;
          m = new();
          m.fields.opcode = request.op == SCALEPOOL_READ ? scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_RD
                                                         : scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_INV;
          m.fields.meta_field = scalepool_cxl68_pkg::META_FIELD_NO_OP;
          m.set("address", 64'(request.address()));
          m.fields.tag = request.tag;
          bus.m2s_req <= m.fields;
          valid[3] = 1;
        end
      end
      bus.valid <= valid;
    endfunction
  endclass

  // The agent as a device beside the RTL host, and a passive one that watches the host.
  class demo_rtl_env extends uvm_env;
    `uvm_component_utils(demo_rtl_env)
    scalepool_agent device;
    scalepool_agent watcher;
    scalepool_scoreboard scoreboard;
    demo_host_driver host_driver;
    scalepool_sequencer host_sequencer;
    scalepool_virtual_sequencer sequencer;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      scalepool_config cfg, watched;
      super.build_phase(phase);
      cfg = scalepool_config::type_id::create("config");
      if (!uvm_config_db#(virtual scalepool_flit_if)::get(this, "", "flits", cfg.vif)) `uvm_fatal("CONFIG", "found no `flits`")
      cfg.role = SCALEPOOL_MEM_DEVICE;
      cfg.latency = 10;
      cfg.active_end.timeout_flits = 200;
      uvm_config_db#(scalepool_config)::set(this, "device", "config", cfg);
      watched = scalepool_config::type_id::create("watched");
      watched.vif = cfg.vif;
      watched.is_active = UVM_PASSIVE;
      watched.dir = SP_SENDS_DOWN;
      watched.has_intact = 1;
      uvm_config_db#(scalepool_config)::set(this, "watcher", "config", watched);
      watcher = scalepool_agent::type_id::create("watcher", this);
      device = scalepool_agent::type_id::create("device", this);
      scoreboard = scalepool_scoreboard::type_id::create("scoreboard", this);
      host_driver = demo_host_driver::type_id::create("host_driver", this);
      host_sequencer = scalepool_sequencer::type_id::create("host_sequencer", this);
      sequencer = scalepool_virtual_sequencer::type_id::create("sequencer", this);
    endfunction

    virtual function void connect_phase(uvm_phase phase);
      super.connect_phase(phase);
      watcher.monitor.transactions.connect(scoreboard.analysis_export);
      host_driver.seq_item_port.connect(host_sequencer.seq_item_export);
      sequencer.host = host_sequencer;
      sequencer.device = device.sequencer;
      sequencer.vif = device.cfg.vif;
    endfunction
  endclass

  // What tests have in common: reset, and a line at the end that says whether they have passed.
  class demo_test extends uvm_test;
    `uvm_component_utils(demo_test)
    virtual demo_host_if bus;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      void'(scalepool_junit::from_plusargs(get_type_name()));
      if (!uvm_config_db#(virtual demo_host_if)::get(this, "", "bus", bus)) `uvm_fatal("CONFIG", "found no `bus`")
    endfunction

    task reset();
      bus.rst_n <= 0;
      repeat (10) @(posedge bus.clk);
      bus.rst_n <= 1;
    endtask

    // Whether the test has seen what it was made for.
    virtual function string missing();
      return "";
    endfunction

    virtual function void report_phase(uvm_phase phase);
      uvm_report_server server;
      string what;
      server = uvm_report_server::get_server();
      what = missing();
      if (what != "") `uvm_error("MISSING", what)
      if (server.get_severity_count(UVM_ERROR) + server.get_severity_count(UVM_FATAL) == 0) $display("PASS %s", get_type_name());
    endfunction
  endclass

  // The RTL host writes and reads memory through the agent; units of both directions are damaged; in mid run the link begins anew.
  class demo_rtl_test extends demo_test;
    `uvm_component_utils(demo_rtl_test)
    demo_rtl_env env;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      env = demo_rtl_env::type_id::create("env", this);
    endfunction

    virtual task run_phase(uvm_phase phase);
      phase.raise_objection(this);
      for (int part = 0; part < 2; part++) begin
        scalepool_virtual_sequence sequence_of;
        reset();
        sequence_of = scalepool_virtual_sequence::type_id::create("requests");
        sequence_of.count = 100;
        sequence_of.host_damage = 0;
        sequence_of.start(env.sequencer);
        repeat (100) @(posedge bus.clk);
      end
      phase.drop_objection(this);
    endtask

    virtual function string missing();
      if (env.scoreboard.reads < 50 || env.scoreboard.writes < 30)
        return $sformatf("found %0d reads and %0d writes, expected more", env.scoreboard.reads, env.scoreboard.writes);
      if (env.device.driver.damaged < 4) return "found no damage, expected some";
      if (env.device.monitor.open_requests() != 0) return "found requests without an answer, expected none";
      return "";
    endfunction
  endclass

  // The memory answers the fifth request with another tag.
  class demo_wrong_tag extends scalepool_driver_callback;
    int unsigned answers;

    function new(string name = "demo_wrong_tag");
      super.new(name);
    endfunction

    virtual function void answering(scalepool_driver driver, sp_message request, ref sp_message answer);
      answers++;
      if (answers == 5) answer.set("tag", request.get("tag") ^ 64'h80);
    endfunction
  endclass

  // Takes the errors that a test is made for out of the report, and counts them.
  class demo_expected extends uvm_report_catcher;
    int unsigned seen[string];

    function new(string name = "demo_expected");
      super.new(name);
    endfunction

    function void expect_rule(string rule);
      seen[rule] = 0;
    endfunction

    virtual function action_e catch();
      if (get_severity() != UVM_ERROR || !seen.exists(get_id())) return THROW;
      seen[get_id()]++;
      set_severity(UVM_INFO);
      return THROW;
    endfunction
  endclass

  // A wrong tag is reported at the flit that brings it, and the request that has lost its answer at the end. With +unexpected these
  // errors are left to fail the test.
  class demo_wrong_device_test extends demo_rtl_test;
    `uvm_component_utils(demo_wrong_device_test)
    demo_expected expected;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    // Whether the errors are taken out of the report.
    virtual function bit catches();
      return $test$plusargs("unexpected") == 0;
    endfunction

    virtual task run_phase(uvm_phase phase);
      demo_wrong_tag wrong;
      scalepool_mem_sequence sequence_of;
      phase.raise_objection(this);
      wrong = new();
      expected = new();
      // Each is seen twice: by the agent's own monitor, and by the one that watches the host.
      if (catches()) begin
        expected.expect_rule("TXN-TAG-02");
        expected.expect_rule("TXN-END-01");
      end
      uvm_report_cb::add(null, expected);
      uvm_callbacks#(scalepool_driver, scalepool_driver_callback)::add(env.device.driver, wrong);
      reset();
      sequence_of = scalepool_mem_sequence::type_id::create("requests");
      sequence_of.count = 20;
      fork
        sequence_of.start(env.host_sequencer);
      join_none
      repeat (2000) @(posedge bus.clk);
      phase.drop_objection(this);
    endtask

    virtual function string missing();
      foreach (expected.seen[rule])
        if (expected.seen[rule] != 2) return $sformatf("%s: found %0d times, expected twice", rule, expected.seen[rule]);
      return "";
    endfunction
  endclass

  // Two agents on one link. +protocol=N: number of a protocol of CXL in sp_protocol_e.
  class demo_pair_test extends demo_test;
    `uvm_component_utils(demo_pair_test)
    scalepool_agent host;
    scalepool_agent device;
    scalepool_scoreboard scoreboard;
    scalepool_virtual_sequencer sequencer;
    sp_protocol_e protocol;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function scalepool_role_e role_of(bit of_host);
      return of_host ? SCALEPOOL_MEM_HOST : SCALEPOOL_MEM_DEVICE;
    endfunction

    // Knobs of an agent that are not those of host and memory.
    virtual function void adjust(scalepool_config cfg);
    endfunction

    // The agent whose transactions go to the scoreboard.
    virtual function scalepool_agent judged();
      return host;
    endfunction

    virtual function void build_phase(uvm_phase phase);
      int number;
      super.build_phase(phase);
      if (!$value$plusargs("protocol=%d", number)) number = 0;
      protocol = sp_protocol_e'(number);
      for (int n = 0; n < 2; n++) begin
        scalepool_config cfg;
        cfg = scalepool_config::type_id::create("config");
        if (!uvm_config_db#(virtual scalepool_flit_if)::get(this, "", "pair", cfg.vif)) `uvm_fatal("CONFIG", "found no `pair`")
        cfg.protocol = protocol;
        cfg.dir = n == 0 ? SP_SENDS_DOWN : SP_SENDS_UP;
        cfg.role = role_of(n == 0);
        cfg.outstanding = 8;
        cfg.active_end.timeout_flits = 200;
        adjust(cfg);
        uvm_config_db#(scalepool_config)::set(this, n == 0 ? "host" : "device", "config", cfg);
      end
      host = scalepool_agent::type_id::create("host", this);
      device = scalepool_agent::type_id::create("device", this);
      scoreboard = scalepool_scoreboard::type_id::create("scoreboard", this);
      sequencer = scalepool_virtual_sequencer::type_id::create("sequencer", this);
    endfunction

    virtual function void connect_phase(uvm_phase phase);
      super.connect_phase(phase);
      judged().monitor.transactions.connect(scoreboard.analysis_export);
      sequencer.host = host.sequencer;
      sequencer.device = device.sequencer;
      sequencer.vif = host.cfg.vif;
    endfunction

    virtual task run_phase(uvm_phase phase);
      scalepool_virtual_sequence sequence_of;
      phase.raise_objection(this);
      reset();
      sequence_of = scalepool_virtual_sequence::type_id::create("requests");
      sequence_of.start(sequencer);
      phase.drop_objection(this);
    endtask

    virtual function string missing();
      if (scoreboard.reads > 50 && host.driver.damaged > 1 && device.driver.damaged > 1) return "";
      return $sformatf("found %0d reads, %0d and %0d damaged units, expected more", scoreboard.reads, host.driver.damaged,
                       device.driver.damaged);
    endfunction
  endclass

  // Random messages of each class out of a solver for constraints, none of which breaks a rule; and some that a device sends, and their
  // arrival at the host.
  class demo_random_test extends demo_pair_test;
    `uvm_component_utils(demo_random_test)
    int unsigned sent;
    int unsigned solved;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function scalepool_role_e role_of(bit of_host);
      return SCALEPOOL_RAW;
    endfunction

    virtual function void adjust(scalepool_config cfg);
      cfg.transactions = SP_TRANSACTIONS_NONE;
      cfg.all_writers_seen = 0;
    endfunction

    protected function void legal_messages();
      string names[$];
      string why;
      sp_message_factory::names(names);
      foreach (names[n]) for (int k = 0; k < 3; k++) begin
        sp_message message;
        message = sp_message_factory::create(names[n]);
        if (!message.solve_legal()) `uvm_error("RANDOM", {"no legal message of ", names[n]})
        if (message.breaks_a_rule(why)) `uvm_error("RANDOM", {message.convert2string(), ": ", why})
        solved++;
      end
    endfunction

    virtual task run_phase(uvm_phase phase);
      string classes[3] = '{"cxl68.d2h_req", "cxl68.d2h_rsp", "cxl68.s2m_ndr"};
      phase.raise_objection(this);
      reset();
      legal_messages();
      for (int n = 0; n < 6; n++) begin
        scalepool_random_sequence sequence_of;
        sequence_of = scalepool_random_sequence::type_id::create("messages");
        sequence_of.layout = classes[n % 3];
        sequence_of.count = 5;
        sequence_of.with_solver = n < 3;
        sent += sequence_of.count;
        sequence_of.start(device.sequencer);
      end
      repeat (500) @(posedge bus.clk);
      phase.drop_objection(this);
    endtask

    virtual function string missing();
      if (solved < 100) return $sformatf("found %0d messages of the solver, expected more", solved);
      if (host.driver.arrived.size() == int'(sent)) return "";
      return $sformatf("found %0d messages at the host, expected %0d", host.driver.arrived.size(), sent);
    endfunction
  endclass

  `include "demo/demo_hooks.svh"
  `include "demo/demo_passages.svh"
  `include "demo/demo_protocols.svh"
  `include "demo/demo_cache.svh"
  `include "demo/demo_registers.svh"
  `include "demo/demo_interfaces.svh"
endpackage
