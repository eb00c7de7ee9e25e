// Host and memory on an interface that cores have, +bus=NAME: units of both directions pass in beats through the loops of
// testbenches/cocotb/interfaces, with pauses and damage, and a reset in mid run; a passive agent watches the memory at the same wires.
class demo_interface_test extends demo_pair_test;
  `uvm_component_utils(demo_interface_test)
  scalepool_agent watcher;
  string bus_name;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void adjust(scalepool_config cfg);
    cfg.bus = bus_name;
  endfunction

  virtual function void build_phase(uvm_phase phase);
    scalepool_config cfg;
    if (!$value$plusargs("bus=%s", bus_name)) `uvm_fatal("BUS", "found no +bus=NAME")
    super.build_phase(phase);
    cfg = scalepool_config::type_id::create("watched");
    if (!uvm_config_db#(virtual scalepool_flit_if)::get(this, "", "pair", cfg.vif)) `uvm_fatal("CONFIG", "found no `pair`")
    cfg.is_active = UVM_PASSIVE;
    cfg.bus = bus_name;
    uvm_config_db#(scalepool_config)::set(this, "watcher", "config", cfg);
    watcher = scalepool_agent::type_id::create("watcher", this);
  endfunction

  virtual function scalepool_agent judged();
    return watcher;
  endfunction

  virtual task run_phase(uvm_phase phase);
    phase.raise_objection(this);
    host.driver.tx.pause_percent = 20;
    host.driver.rx.pause_percent = 20;
    device.driver.tx.pause_percent = 20;
    device.driver.rx.pause_percent = 20;
    for (int part = 0; part < 2; part++) begin
      scalepool_virtual_sequence sequence_of;
      reset();
      sequence_of = scalepool_virtual_sequence::type_id::create("requests");
      sequence_of.count = 100;
      // What is wrong on the wires of the memory would be its own fault to whoever watches them. Slots have no CRC here that shows it.
      sequence_of.device_damage = 0;
      if (bus_name == "slots68") sequence_of.host_damage = 0;
      sequence_of.start(sequencer);
      repeat (200) @(posedge bus.clk);
    end
    phase.drop_objection(this);
  endtask

  virtual function string missing();
    if (scoreboard.reads < 50 || scoreboard.writes < 30)
      return $sformatf("found %0d reads and %0d writes, expected more", scoreboard.reads, scoreboard.writes);
    if (bus_name != "slots68" && host.driver.damaged < 2) return "found no damage, expected some";
    return "";
  endfunction
endclass

// A source of AXI-Stream that says tlast too early, which the agent of the memory reports.
class demo_early_last extends sp_axi_stream_bus;
  function new(sp_bus of);
    super.new(of.beat_bytes, of.has);
  endfunction

  virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
    super.offer(unit, number, count);
    driven.last = number == 1;
  endfunction
endclass

class demo_wrong_interface_test extends demo_interface_test;
  `uvm_component_utils(demo_wrong_interface_test)

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task run_phase(uvm_phase phase);
    demo_early_last early;
    early = new(host.driver.tx.bus);
    host.driver.tx.bus = early;
    host.driver.tx.begin_units(68);
    super.run_phase(phase);
  endtask
endclass
