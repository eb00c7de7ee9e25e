// The places where an environment changes the agent: the factory, callbacks, analysis ports, severities of rules, waivers.

// A scoreboard of the environment's own, by the factory.
class demo_scoreboard extends scalepool_scoreboard;
  `uvm_component_utils(demo_scoreboard)
  int unsigned checked;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void check_transaction(scalepool_request_item t);
    checked += 32'(t.is_done);
  endfunction
endclass

// Requests of the environment's own, by the factory: reads and writes alone.
class demo_mem_sequence extends scalepool_mem_sequence;
  `uvm_object_utils(demo_mem_sequence)

  function new(string name = "demo_mem_sequence");
    super.new(name);
  endfunction

  virtual function void draw(scalepool_request_item item);
    super.draw(item);
    if (item.op == SCALEPOOL_INVALIDATE) item.op = SCALEPOOL_READ;
  endfunction
endclass

// A callback that damages each 40th unit which a driver sends.
class demo_spoiler extends scalepool_driver_callback;
  int unsigned units;
  int unsigned spoilt;

  function new(string name = "demo_spoiler");
    super.new(name);
  endfunction

  virtual function void sending(scalepool_driver driver, ref sp_unit_t value);
    units++;
    if (units % 40 != 0) return;
    value[100] ^= 1'b1;
    spoilt++;
  endfunction
endclass

// What passes on an analysis port.
class demo_counter #(type T = uvm_sequence_item) extends uvm_subscriber #(T);
  int unsigned count;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void write(T t);
    if (t != null) count++;
  endfunction
endclass

// Events of which the link has repaired the cause.
class demo_repairs extends uvm_subscriber #(scalepool_event_item);
  int unsigned count;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void write(scalepool_event_item t);
    count += 32'(t.e.by == SP_LINE_BROKE);
  endfunction
endclass

class demo_hooks_test extends demo_pair_test;
  `uvm_component_utils(demo_hooks_test)
  demo_spoiler spoiler;
  demo_counter #(scalepool_message_item) messages;
  demo_counter #(scalepool_request_item) transactions;
  demo_repairs repairs;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    scalepool_scoreboard::type_id::set_type_override(demo_scoreboard::get_type());
    scalepool_mem_sequence::type_id::set_type_override(demo_mem_sequence::get_type());
    super.build_phase(phase);
    messages = new("messages", this);
    transactions = new("transactions", this);
    repairs = new("repairs", this);
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    host.monitor.messages.connect(messages.analysis_export);
    host.monitor.transactions.connect(transactions.analysis_export);
    host.monitor.events.connect(repairs.analysis_export);
    spoiler = new();
    uvm_callbacks#(scalepool_driver, scalepool_driver_callback)::add(device.driver, spoiler);
  endfunction

  virtual function string missing();
    demo_scoreboard own;
    if (!$cast(own, scoreboard)) return "found the scoreboard of the package, expected that of the factory";
    if (own.checked < 200 || own.checked != transactions.count || own.checked != own.reads + own.writes)
      return $sformatf("found %0d checked transactions, %0d on the port, %0d reads and %0d writes, expected the same number of 200 or more",
                       own.checked, transactions.count, own.reads, own.writes);
    // Each has a request and one or two answers.
    if (messages.count < 2 * transactions.count) return $sformatf("found %0d messages, expected more", messages.count);
    if (spoiler.spoilt == 0 || repairs.count == 0)
      return $sformatf("found %0d spoilt units, %0d repaired errors, expected some", spoiler.spoilt, repairs.count);
    return "";
  endfunction
endclass

// The wrong device once more: its wrong tag is waived, with a reason, and the lost answer is a warning. +expired: the waiver is over before.
// +last_day=YYYY-MM-DD: it has a last day in place of a unit, which +scalepool_today is compared with. +mistyped: there is no such rule.
class demo_waiver_test extends demo_wrong_device_test;
  `uvm_component_utils(demo_waiver_test)

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void end_of_elaboration_phase(uvm_phase phase);
    super.end_of_elaboration_phase(phase);
    waive(env.device.cfg);
    waive(env.watcher.cfg);
    env.device.cfg.set_severity("TXN-END-01", UVM_WARNING);
    env.watcher.cfg.set_severity("TXN-END-01", UVM_WARNING);
  endfunction

  protected function void waive(scalepool_config cfg);
    string last_day;
    if ($value$plusargs("last_day=%s", last_day) != 0) cfg.waive_until_day("TXN-TAG-02", last_day, "a known bug of the device");
    else cfg.waive($test$plusargs("mistyped") != 0 ? "TXN-TAG-2" : "TXN-TAG-02", $test$plusargs("expired") != 0 ? 64'd1 : 64'd1000000,
                   "a known bug of the device");
  endfunction

  virtual function bit catches();
    return 0;
  endfunction

  virtual function string missing();
    uvm_report_server server;
    server = uvm_report_server::get_server();
    // A waiver that has expired, or that matches nothing, is told at both ends.
    if ($test$plusargs("expired") != 0 && server.get_id_count("WAIVER") != 2)
      return $sformatf("WAIVER: found %0d times, expected two warnings", server.get_id_count("WAIVER"));
    if (server.get_id_count("TXN-END-01") != 2 || server.get_severity_count(UVM_WARNING) < 2)
      return $sformatf("TXN-END-01: found %0d times, expected two warnings", server.get_id_count("TXN-END-01"));
    if ($test$plusargs("expired") == 0 && (env.device.monitor.waived != 1 || env.watcher.monitor.waived != 1))
      return $sformatf("found %0d and %0d waived events, expected one each", env.device.monitor.waived, env.watcher.monitor.waived);
    return "";
  endfunction
endclass

// The memory loses the fifth answer: the drain at the end does not wait for ever, and the tag that stays open fails the test.
class demo_lost_answer extends scalepool_driver_callback;
  int unsigned answers;

  function new(string name = "demo_lost_answer");
    super.new(name);
  endfunction

  virtual function void answering(scalepool_driver driver, sp_message request, ref sp_message answer);
    answers++;
    if (answers == 5) answer = null;
  endfunction
endclass

class demo_lost_answer_test extends demo_pair_test;
  `uvm_component_utils(demo_lost_answer_test)

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void adjust(scalepool_config cfg);
    cfg.drain_flits = 100;
  endfunction

  virtual task run_phase(uvm_phase phase);
    demo_lost_answer lost;
    scalepool_mem_sequence sequence_of;
    phase.raise_objection(this);
    lost = new();
    uvm_callbacks#(scalepool_driver, scalepool_driver_callback)::add(device.driver, lost);
    reset();
    sequence_of = scalepool_mem_sequence::type_id::create("requests");
    sequence_of.count = 20;
    fork
      sequence_of.start(host.sequencer);
    join_none
    repeat (2000) @(posedge bus.clk);
    phase.drop_objection(this);
  endtask

  virtual function string missing();
    return host.driver.is_quiet() ? "found no open request, expected one" : "";
  endfunction
endclass

// Transactions that a reset has ended.
class demo_broken extends uvm_subscriber #(scalepool_request_item);
  int unsigned count;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void write(scalepool_request_item t);
    count += 32'(t.answer == SP_ANSWER_BROKEN);
  endfunction
endclass

// A reset while requests are open, which end as broken; what follows is judged as before. Then five agents on two links at once.
class demo_reset_test extends demo_pair_test;
  `uvm_component_utils(demo_reset_test)
  demo_rtl_env env;
  demo_broken broken;
  int unsigned ended;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void adjust(scalepool_config cfg);
    cfg.latency = 30;
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    env = demo_rtl_env::type_id::create("env", this);
    broken = new("broken", this);
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    host.monitor.transactions.connect(broken.analysis_export);
  endfunction

  virtual task run_phase(uvm_phase phase);
    scalepool_mem_sequence first;
    scalepool_virtual_sequence here, beside;
    phase.raise_objection(this);
    reset();
    first = scalepool_mem_sequence::type_id::create("first");
    first.count = 120;
    fork
      first.start(host.sequencer);
      begin
        repeat (3) begin
          repeat (200) @(posedge bus.clk);
          while (host.driver.host.outstanding() < 4) @(posedge bus.clk);
          reset();
        end
      end
    join
    foreach (first.requests[n]) ended += 32'(first.requests[n].answer == SP_ANSWER_BROKEN);
    here = scalepool_virtual_sequence::type_id::create("here");
    beside = scalepool_virtual_sequence::type_id::create("beside");
    beside.count = 100;
    beside.host_damage = 0;
    fork
      here.start(sequencer);
      beside.start(env.sequencer);
    join
    repeat (100) @(posedge bus.clk);
    phase.drop_objection(this);
  endtask

  virtual function string missing();
    if (ended < 3 || broken.count < 3)
      return $sformatf("found %0d requests and %0d transactions that a reset has ended, expected some", ended, broken.count);
    if (env.scoreboard.reads < 20 || scoreboard.reads < 50)
      return $sformatf("found %0d and %0d reads, expected more", env.scoreboard.reads, scoreboard.reads);
    return "";
  endfunction
endclass
