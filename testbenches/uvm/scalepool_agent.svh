typedef uvm_sequencer #(scalepool_item) scalepool_sequencer;

// The agent: a monitor with its coverage, and, if it is active, a driver with its sequencer.
class scalepool_agent extends uvm_agent;
  `uvm_component_utils(scalepool_agent)
  scalepool_config cfg;
  scalepool_sequencer sequencer;
  scalepool_driver driver;
  scalepool_monitor monitor;
  scalepool_coverage coverage;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    if (cfg == null && !uvm_config_db#(scalepool_config)::get(this, "", "config", cfg))
      `uvm_fatal("CONFIG", "found no `config` in config_db, expected a scalepool_config")
    is_active = cfg.is_active;
    monitor = scalepool_monitor::type_id::create("monitor", this);
    monitor.cfg = cfg;
    if (cfg.has_coverage) coverage = scalepool_coverage::type_id::create("coverage", this);
    if (is_active == UVM_PASSIVE) return;
    sequencer = scalepool_sequencer::type_id::create("sequencer", this);
    driver = scalepool_driver::type_id::create("driver", this);
    driver.cfg = cfg;
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    if (coverage != null) monitor.messages.connect(coverage.analysis_export);
    if (driver == null) return;
    driver.monitor = monitor;
    driver.seq_item_port.connect(sequencer.seq_item_export);
  endfunction
endclass
