// The register models of testbenches/export/uvm against devices, over CXL.io: each register holds what it should behind a reset, and what is
// written to it.
//
// +device=model: DVSECs of the model's endpoint (demo_endpoint.sv), found by a walk through the extended capabilities, and memory behind a BAR.
// +device=rtl: HDM decoders in RTL behind the agent as a device (hdm_registers.sv), with +bug=N one of its bugs.
class demo_register_test extends demo_test;
  `uvm_component_utils(demo_register_test)
  localparam bit [15:0] TARGET = 16'h0100;
  localparam int MOST_RETRIES = 100;
  localparam bit [63:0] HDM_AT = 64'h2000_0000;
  localparam bit [31:0] BAR_AT = 32'h4000_0000;
  scalepool_agent root;
  scalepool_agent device; // if the registers are RTL
  virtual demo_register_if registers;
  int unsigned checked; // registers, behind a reset
  int unsigned written;
  int unsigned blocks;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  protected function scalepool_config config_of(sp_dir_e dir, scalepool_role_e role);
    scalepool_config cfg;
    cfg = scalepool_config::type_id::create("config");
    if (!uvm_config_db#(virtual scalepool_flit_if)::get(this, "", "endpoint", cfg.vif)) `uvm_fatal("CONFIG", "found no `endpoint`")
    cfg.protocol = SP_PROTOCOL_CXL_IO;
    cfg.dir = dir;
    cfg.role = role;
    cfg.transactions = SP_TRANSACTIONS_CXL_IO;
    cfg.all_writers_seen = 0; // registers change by themselves
    cfg.active_end.timeout_flits = 200;
    return cfg;
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    uvm_config_db#(scalepool_config)::set(this, "root", "config", config_of(SP_SENDS_DOWN, SCALEPOOL_IO_ROOT));
    root = scalepool_agent::type_id::create("root", this);
    if ($test$plusargs("device=rtl") == 0) return;
    uvm_config_db#(scalepool_config)::set(this, "device", "config", config_of(SP_SENDS_UP, SCALEPOOL_RAW));
    device = scalepool_agent::type_id::create("device", this);
    if (!uvm_config_db#(virtual demo_register_if)::get(this, "", "registers", registers)) `uvm_fatal("CONFIG", "found no `registers`")
  endfunction

  // Joins a block to the root, with the mirror as it is behind a reset.
  protected function void join_block(uvm_reg_block block, bit is_config, bit [63:0] base);
    scalepool_register_adapter adapter;
    adapter = scalepool_register_adapter::type_id::create({block.get_name(), "_adapter"});
    adapter.is_config = is_config;
    adapter.target = TARGET;
    adapter.base = base;
    block.lock_model();
    block.default_map.set_sequencer(root.sequencer, adapter);
    block.default_map.set_auto_predict(1);
    block.reset();
    blocks++;
  endfunction

  protected task compare(uvm_reg one_of);
    uvm_status_e status;
    one_of.mirror(status, UVM_CHECK);
    if (status != UVM_IS_OK) `uvm_error("REGISTER", {one_of.get_full_name(), ": found no value, expected one"})
  endtask

  protected task write(uvm_reg one_of, uvm_reg_data_t value);
    uvm_status_e status;
    one_of.write(status, value);
    if (status != UVM_IS_OK) `uvm_error("REGISTER", {one_of.get_full_name(), ": the write has failed"})
  endtask

  // Whether the tables say what all its fields hold behind a reset, but those that the device may set as it likes.
  protected function bit has_reset(uvm_reg one_of);
    uvm_reg_field fields[$];
    one_of.get_fields(fields);
    foreach (fields[n]) if (!fields[n].has_reset() && !fields[n].is_volatile()) return 0;
    return 1;
  endfunction

  // Each register behind a reset, then two patterns and 0 in each that takes something. `keeps` has bits that are not written as 1: a lock, a
  // commit, what the device cannot do.
  protected task check(uvm_reg registers_of[$], uvm_reg_data_t keeps[string]);
    uvm_reg_data_t patterns[3] = '{64'ha5a5_a5a5, 64'h5a5a_5a5a, 64'h0};
    foreach (registers_of[n]) begin
      if (has_reset(registers_of[n])) begin
        compare(registers_of[n]);
        checked++;
      end
    end
    foreach (registers_of[n]) begin
      uvm_reg_data_t kept;
      if (registers_of[n].get_rights() == "RO") continue;
      kept = keeps.exists(registers_of[n].get_name()) ? keeps[registers_of[n].get_name()] : 0;
      foreach (patterns[k]) begin
        write(registers_of[n], patterns[k] & ~kept);
        compare(registers_of[n]);
      end
      written++;
    end
  endtask

  virtual task run_phase(uvm_phase phase);
    phase.raise_objection(this);
    reset();
    if (device == null) begin
      dvsecs();
      memory();
    end else begin
      fork
        serve();
      join_none
      decoders();
    end
    phase.drop_objection(this);
  endtask

  // A device that is not ready yet is asked again (Request Retry Status), MOST_RETRIES times at most.
  protected task access(bit is_config, bit is_write, bit [63:0] address, inout bit [31:0] data, input bit [3:0] enables = '1);
    scalepool_access_item item;
    for (int n = 0; n <= MOST_RETRIES; n++) begin
      scalepool_access_sequence sequence_of;
      sequence_of = scalepool_access_sequence::type_id::create("access");
      item = scalepool_access_item::type_id::create("access");
      item.is_config = is_config;
      item.is_write = is_write;
      item.target = TARGET;
      item.address = address;
      item.data = data;
      item.enables = enables;
      sequence_of.accesses.push_back(item);
      sequence_of.start(root.sequencer);
      if (!is_config || item.status != 3'(scalepool_cxlio_pkg::CPL_STATUS_CRS)) break;
    end
    if (!item.is_ok()) `uvm_error("ACCESS", {item.convert2string(), ", expected success"})
    data = item.data;
  endtask

  // The extended capabilities from 100h on, each with the place of the next one (cxl-io section 7).
  protected task dvsecs();
    bit [31:0] header, vendor, id;
    bit [11:0] at;
    at = 12'h100;
    while (at != 0) begin
      header = 0;
      access(1, 0, 64'(at), header);
      access(1, 0, 64'(at) + 4, vendor);
      access(1, 0, 64'(at) + 8, id);
      if (header[15:0] == 16'h23 && vendor[15:0] == 16'h1e98) dvsec(id[15:0], 64'(at));
      at = header[31:20];
    end
  endtask

  protected task dvsec(bit [15:0] id, bit [63:0] at);
    uvm_reg_block block;
    uvm_reg registers_of[$];
    uvm_status_e status;
    uvm_reg_data_t can;
    uvm_reg_data_t keeps[string];
    case (id)
      0: begin dvsec_device_block of; of = new("dvsec_device"); of.build(); block = of; end
      2: begin dvsec_function_map_block of; of = new("dvsec_function_map"); of.build(); block = of; end
      5: begin dvsec_gpf_device_block of; of = new("dvsec_gpf_device"); of.build(); block = of; end
      7: begin dvsec_flex_bus_port_block of; of = new("dvsec_flex_bus_port"); of.build(); block = of; end
      8: begin dvsec_register_locator_block of; of = new("dvsec_register_locator"); of.build(); block = of; end
      default: begin
        `uvm_error("DVSEC", $sformatf("found DVSEC %0d, expected one of a Type 3 device", id))
        return;
      end
    endcase
    join_block(block, 1, at);
    block.get_registers(registers_of);
    keeps["lock"] = 1;
    // A Type 3 device has no CXL.cache; and a port enables what it can do.
    if (id == 0) keeps["control"] = 1;
    if (id == 7) begin
      block.get_reg_by_name("capability").read(status, can);
      keeps["control"] = ~can;
    end
    check(registers_of, keeps);
  endtask

  // Memory behind the first BAR, with single bytes too.
  protected task memory();
    bit [31:0] data;
    data = BAR_AT;
    access(1, 1, 64'h10, data);
    data = 0;
    access(1, 1, 64'h14, data);
    data = 32'h2;
    access(1, 1, 64'h4, data, 4'b0001);
    data = 32'h1234_5678;
    access(0, 1, 64'(BAR_AT) + 64'h40, data);
    data = 32'h00ab_0000;
    access(0, 1, 64'(BAR_AT) + 64'h40, data, 4'b0100);
    data = 0;
    access(0, 0, 64'(BAR_AT) + 64'h40, data);
    if (data != 32'h12ab_5678) `uvm_error("MEMORY", $sformatf("found %h, expected 12ab5678", data))
  endtask

  // Two decoders; then a commit with the lock, behind which a base stays.
  protected task decoders();
    hdm_device_decoders_block block;
    uvm_reg registers_of[$], all[$];
    uvm_status_e status;
    uvm_reg_data_t found;
    uvm_reg_data_t keeps[string];
    block = new("hdm_device_decoders");
    block.build();
    join_block(block, 0, HDM_AT);
    block.get_registers(all);
    // The model has as many decoders as a device may have, the device two.
    foreach (all[n]) if (all[n].get_address() < 'h50) registers_of.push_back(all[n]);
    keeps["control"] = 64'h300;
    check(registers_of, keeps);
    write(block.decoder[0].size_low, 64'h4000_0000);
    write(block.decoder[0].base_low, 64'h8000_0000);
    write(block.decoder[0].control, 64'h300);
    block.decoder[0].control.read(status, found);
    if (found[11:8] != 4'h7) `uvm_error("COMMIT", $sformatf("found bits 11 to 8 %h, expected 7, committed and locked", found[11:8]))
    write(block.decoder[0].base_low, 64'h3000_0000);
    void'(block.decoder[0].base_low.predict(64'h8000_0000));
    compare(block.decoder[0].base_low);
  endtask

  // The device: requests to memory become cycles of the registers.
  protected task serve();
    registers.write <= 0;
    forever begin
      @(posedge bus.clk);
      while (device.driver.arrived.size() != 0) one(device.driver.arrived.pop_front());
    end
  endtask

  protected task one(sp_message message);
    scalepool_cxlio_pkg::fm_mem32_t asked;
    scalepool_cxlio_pkg::ohc_a1_t enables;
    scalepool_cxlio_pkg::fm_cpl_t head;
    scalepool_message_sequence sequence_of;
    cxlio_tlp tlp, completion;
    if (!$cast(tlp, message)) return;
    asked = scalepool_cxlio_pkg::fm_mem32_t'(tlp.number(0, 12));
    enables = '1;
    if (asked.ohc[0]) enables = scalepool_cxlio_pkg::ohc_a1_t'(tlp.number(12, 4));
    registers.address <= {asked.address[9:0], 2'd0};
    registers.data <= 32'(tlp.data_from(asked.ohc[0] ? 16 : 12));
    registers.enables <= enables.first_be;
    registers.write <= asked.tlp_type == scalepool_cxlio_pkg::FM_TYPE_M_WR32;
    @(posedge bus.clk);
    registers.write <= 0;
    @(posedge bus.clk);
    if (asked.tlp_type != scalepool_cxlio_pkg::FM_TYPE_M_RD32) return;
    head = '0;
    head.tlp_type = scalepool_cxlio_pkg::FM_TYPE_CPL_D;
    head.length = 1;
    head.completer = TARGET;
    head.requester = asked.requester;
    head.tag = asked.tag;
    head.byte_count = 4;
    head.lower_addr = asked.address[3:0];
    head.lower_addr_6 = asked.address[4];
    completion = new();
    completion.add(128'(head), 12);
    completion.add_data(512'(registers.found), 4);
    sequence_of = scalepool_message_sequence::type_id::create("completion");
    sequence_of.messages.push_back(completion);
    sequence_of.start(device.sequencer);
  endtask

  virtual function string missing();
    if (device == null && blocks == 5 && checked > 30 && written > 5) return "";
    if (device != null && blocks == 1 && checked == 16 && written == 15) return "";
    return $sformatf("found %0d blocks, %0d registers, %0d of them written, expected more", blocks, checked, written);
  endfunction
endclass
