// CXL.cache through two agents: a caching device and a home, with snoops and damage.

// Requests and snoops as a monitor joins them.
class demo_cache_checker extends uvm_subscriber #(scalepool_exchange_item);
  int unsigned requests, snoops, wrong;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void write(scalepool_exchange_item t);
    int unsigned lines;
    bit is_read;
    lines = 0;
    foreach (t.answers[n]) if (t.answers[n].is_layout("h2d_data")) lines++;
    is_read = t.request.is_layout("d2h_req")
              && 5'(t.request.get("opcode")) inside {5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_RD_SHARED),
                                                     5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_RD_OWN)};
    requests += 32'(t.request.is_layout("d2h_req"));
    snoops += 32'(t.request.is_layout("h2d_req"));
    // A read has data, and nothing else has; everything has an answer.
    wrong += 32'(is_read != (lines != 0) || t.answers.size() == 0);
  endfunction
endclass

// +protocol=N: number of a protocol of CXL in sp_protocol_e.
class demo_cache_test extends demo_pair_test;
  `uvm_component_utils(demo_cache_test)
  demo_cache_checker exchanges;
  int unsigned loads, mismatches;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function scalepool_role_e role_of(bit of_host);
    return of_host ? SCALEPOOL_CACHE_HOME : SCALEPOOL_CACHE_DEVICE;
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    exchanges = new("exchanges", this);
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    device.monitor.exchanges.connect(exchanges.analysis_export);
  endfunction

  // What was stored last is what a load brings.
  protected function void compare(scalepool_cache_sequence of);
    bit [511:0] image[bit [45:0]];
    foreach (of.calls[n]) begin
      if (of.calls[n].op == SCALEPOOL_STORE) image[of.calls[n].line_number] = of.calls[n].line;
      if (of.calls[n].op != SCALEPOOL_LOAD) continue;
      loads++;
      if (of.calls[n].line != (image.exists(of.calls[n].line_number) ? image[of.calls[n].line_number] : '0)) mismatches++;
    end
  endfunction

  protected task damage(scalepool_agent of);
    scalepool_damage_sequence sequence_of;
    sequence_of = scalepool_damage_sequence::type_id::create("damage");
    sequence_of.vif = of.cfg.vif;
    sequence_of.start(of.sequencer);
  endtask

  virtual task run_phase(uvm_phase phase);
    scalepool_cache_sequence calls;
    scalepool_snoop_sequence snoops;
    phase.raise_objection(this);
    reset();
    calls = scalepool_cache_sequence::type_id::create("calls");
    calls.count = 150;
    snoops = scalepool_snoop_sequence::type_id::create("snoops");
    snoops.vif = host.cfg.vif;
    snoops.count = 30;
    fork
      calls.start(device.sequencer);
      snoops.start(host.sequencer);
      damage(host);
      damage(device);
    join
    compare(calls);
    phase.drop_objection(this);
  endtask

  virtual function string missing();
    if (loads < 20 || mismatches != 0) return $sformatf("found %0d loads and %0d mismatches, expected 20 and 0", loads, mismatches);
    if (exchanges.requests < 50 || exchanges.snoops != 30 || exchanges.wrong != 0 || device.monitor.open_requests() != 0)
      return $sformatf("found %0d requests, %0d snoops, %0d of them wrong, %0d open, expected 50, 30, 0 and 0", exchanges.requests,
                       exchanges.snoops, exchanges.wrong, device.monitor.open_requests());
    if (host.driver.damaged < 2 || device.driver.damaged < 2) return "found no damage, expected some at both ends";
    return "";
  endfunction
endclass
