// Watches one end of the link. What passes is judged by a passive end: link rules, transactions, and each message once, however often
// its flit was sent. It sees the units of its end as they leave it, where the interface has them so: damage on the wire is no fault of the
// end.
class scalepool_monitor extends uvm_monitor;
  `uvm_component_utils(scalepool_monitor)
  scalepool_config cfg;
  scalepool_link_end watcher;
  uvm_analysis_port #(scalepool_message_item) messages;
  uvm_analysis_port #(scalepool_request_item) transactions; // requests of CXL.mem with their answers
  uvm_analysis_port #(scalepool_exchange_item) exchanges; // those of CXL.cache, snoops among them, CXL.io, UALink and NVLink
  uvm_analysis_port #(scalepool_event_item) events;
  int unsigned waived; // events
  int unsigned errors_of_line; // that the link has repaired
  bit is_told; // the driver of the same agent tells what passes; otherwise the monitor looks at the interface itself
  protected sp_link_watcher on_bus; // of a passive agent on an interface that cores have
  protected scalepool_request_item open[bit [15:0]];
  protected scalepool_exchanges others; // than those of CXL.mem
  protected bit has_half[bit [15:0]]; // of the line that answers this tag

  function new(string name, uvm_component parent);
    super.new(name, parent);
    messages = new("messages", this);
    transactions = new("transactions", this);
    exchanges = new("exchanges", this);
    others = new();
    events = new("events", this);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    sp_flit_monitor rx, tx;
    super.build_phase(phase);
    if (cfg == null && !uvm_config_db#(scalepool_config)::get(this, "", "config", cfg))
      `uvm_fatal("CONFIG", "found no `config` in config_db, expected a scalepool_config")
    watcher = new(get_full_name(), cfg.protocol, cfg.dir, 1, cfg.config_of(1));
    if (!cfg.has_bus() || cfg.is_active == UVM_ACTIVE) return;
    if (!uvm_config_db#(sp_flit_monitor)::get(this, "", {cfg.bus, ".tx"}, tx))
      `uvm_fatal("CONFIG", {"found no `", cfg.bus, ".tx` in config_db, expected an sp_flit_monitor"})
    if (!uvm_config_db#(sp_flit_monitor)::get(this, "", {cfg.bus, ".rx"}, rx))
      `uvm_fatal("CONFIG", {"found no `", cfg.bus, ".rx` in config_db, expected an sp_flit_monitor"})
    on_bus = new(watcher, rx, tx);
  endfunction

  virtual task run_phase(uvm_phase phase);
    bit was_reset;
    was_reset = 1;
    forever begin
      // An interface that cores have is looked at away from its edges.
      if (cfg.has_bus()) @(negedge cfg.vif.clk);
      else @(posedge cfg.vif.clk);
      if (!cfg.vif.rst_n) begin
        if (!was_reset) restart();
        was_reset = 1;
      end else begin
        was_reset = 0;
        if (on_bus != null) begin
          void'(on_bus.step());
          take();
        end else if (!cfg.has_bus() && !is_told) watch();
      end
    end
  endtask

  // The link begins anew; requests that were open will have no answer, and leave as broken.
  virtual function void restart();
    watcher.reset();
    foreach (open[tag]) begin
      open[tag].answer = SP_ANSWER_BROKEN;
      open[tag].is_done = 1;
      transactions.write(open[tag]);
    end
    open.delete();
    others.reset();
  endfunction

  // A clock of the interface.
  protected virtual function void watch();
    bit is_intact;
    is_intact = cfg.is_active == UVM_ACTIVE || cfg.has_intact;
    if (cfg.dir == SP_SENDS_DOWN) begin
      if (cfg.vif.down_valid) show(is_intact ? cfg.vif.down_intact : cfg.vif.down, SP_PORT_TX, cfg.vif.down_control);
      if (cfg.vif.up_valid) show(cfg.vif.up, SP_PORT_RX, cfg.vif.up_control);
    end else begin
      if (cfg.vif.up_valid) show(is_intact ? cfg.vif.up_intact : cfg.vif.up, SP_PORT_TX, cfg.vif.up_control);
      if (cfg.vif.down_valid) show(cfg.vif.down, SP_PORT_RX, cfg.vif.down_control);
    end
    flit_clock();
  endfunction

  protected function void show(sp_unit_t value, sp_port_e at, logic is_control);
    watcher.drive(value, at, 32'(is_control === 1'b1));
  endfunction

  // The driver of the same agent tells what has left its end, before damage and callbacks, and what has come to it.
  virtual function void left(sp_unit_t value, int unsigned bytes);
    watcher.drive(value, SP_PORT_TX, bytes == 1 ? 1 : 0);
  endfunction

  virtual function void came(sp_unit_t value, int unsigned bytes);
    watcher.drive(value, SP_PORT_RX, bytes == 1 ? 1 : 0);
  endfunction

  // A flit clock of the watched end.
  virtual function void flit_clock();
    watcher.step();
    take();
  endfunction

  // Events and messages of the watcher.
  protected function void take();
    sp_event_t e;
    sp_message message;
    while (watcher.take_event(e)) tell(e);
    message = watcher.take_seen();
    while (message != null) begin
      see(message);
      message = watcher.take_seen();
    end
  endfunction

  protected virtual function void tell(sp_event_t e);
    scalepool_event_item item;
    string reason;
    item = scalepool_event_item::type_id::create("event");
    item.e = e;
    events.write(item);
    reason = cfg.waiver_of(e);
    if (reason != "") begin
      waived++;
      `uvm_info(e.rule, {sp_library::event_text(e), " Waived: ", reason}, UVM_MEDIUM)
      return;
    end
    case (cfg.severity_of(e))
      UVM_INFO: begin
        errors_of_line++;
        `uvm_info(e.rule, sp_library::event_text(e), UVM_HIGH)
      end
      UVM_WARNING: `uvm_warning(e.rule, sp_library::event_text(e))
      UVM_ERROR: `uvm_error(e.rule, sp_library::event_text(e))
      default: `uvm_fatal(e.rule, sp_library::event_text(e))
    endcase
  endfunction

  protected virtual function void see(sp_message message);
    scalepool_message_item item;
    scalepool_exchange_item exchange;
    item = scalepool_message_item::type_id::create("message");
    item.message = message;
    messages.write(item);
    exchange = others.see(message);
    if (exchange != null) exchanges.write(exchange);
    if (message.is_layout("m2s_req") || message.is_layout("m2s_rwd")) begin
      open_request(message);
    end else if (message.is_layout("s2m_ndr") || message.is_layout("s2m_drs")) begin
      close_request(message);
    end
  endfunction

  protected function void open_request(sp_message message);
    scalepool_request_item request;
    bit [63:0] opcode;
    request = scalepool_request_item::type_id::create("request");
    opcode = message.get("opcode");
    // A speculative read has no answer.
    if (!message.has_data && opcode == 64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_SPEC_RD)) return;
    if (message.has_data) request.op = SCALEPOOL_WRITE;
    else if (opcode inside {64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_RD), 64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_RD_DATA)})
      request.op = SCALEPOOL_READ;
    else request.op = SCALEPOOL_INVALIDATE;
    request.line_number = 46'(message.get("address") >> 6);
    request.tag = 16'(message.get("tag"));
    request.line = message.data;
    request.whole = !message.has_enables;
    request.enables = message.has_enables ? message.enables : '1;
    request.request_unit = message.unit;
    request.answer = SP_ANSWER_OK;
    open[request.tag] = request;
    has_half[request.tag] = 0;
  endfunction

  protected function void close_request(sp_message message);
    scalepool_request_item request;
    bit [15:0] tag;
    tag = 16'(message.get("tag"));
    if (!open.exists(tag)) return; // the watcher has told it
    request = open[tag];
    // Of an answer in two messages, the data ends the request.
    if (request.op == SCALEPOOL_READ && !message.has_data) return;
    if (message.has_data) begin
      if (message.get("poison") != 0) request.answer = SP_ANSWER_POISON;
      if (message.get("opcode") == 64'(scalepool_cxl68_pkg::DRS_OPCODE_MEM_DATA_NXM)) request.answer = SP_ANSWER_NO_MEMORY;
      // A line may come as two halves of 32 bytes.
      if (message.is_half()) begin
        if (message.extra == 64'(scalepool_dpi_pkg::SP_LOWER_HALF)) request.line[255:0] = message.data[255:0];
        else request.line[511:256] = message.data[511:256];
        has_half[tag] = !has_half[tag];
        if (has_half[tag]) return;
      end else request.line = message.data;
    end
    open.delete(tag);
    request.answer_unit = message.unit;
    request.is_done = 1;
    transactions.write(request);
  endfunction

  // Requests without an answer.
  function int unsigned open_requests();
    return 32'(open.num()) + others.count();
  endfunction

  virtual function void check_phase(uvm_phase phase);
    sp_event_t e;
    string lines[$];
    super.check_phase(phase);
    if (!(on_bus != null ? on_bus.finish() : watcher.finish())) while (watcher.take_event(e)) tell(e);
    cfg.waivers.remarks(lines);
    foreach (lines[n]) `uvm_warning("WAIVER", lines[n])
  endfunction
endclass
