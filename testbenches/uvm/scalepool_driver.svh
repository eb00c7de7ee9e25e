typedef class scalepool_driver;
typedef class scalepool_monitor;

// What becomes of a unit or a message at a hook point: it passes, changed or not; it is lost; it comes twice; or it changes places with the
// next one, for which it waits.
typedef enum { SCALEPOOL_KEEP, SCALEPOOL_DROP, SCALEPOOL_DOUBLE, SCALEPOOL_SWAP } scalepool_passage_e;

// Hook points of a driver. A callback changes what passes in place, and says in `passage` what else becomes of it; the next callback sees
// what the one before has left, and its word is the last.
virtual class scalepool_driver_callback extends uvm_callback;
  function new(string name = "scalepool_driver_callback");
    super.new(name);
  endfunction

  // A unit is about to leave; a change of it is damage on the wire.
  virtual function void sending(scalepool_driver driver, ref sp_unit_t value);
  endfunction

  // The same unit, behind `sending`, on its way over the wire.
  virtual function void leaving(scalepool_driver driver, ref sp_unit_t value, ref scalepool_passage_e passage);
  endfunction

  // A unit of the peer is about to arrive at the end.
  virtual function void arriving(scalepool_driver driver, ref sp_unit_t value, ref scalepool_passage_e passage);
  endfunction

  // A message is about to be queued in the end: of a sequence, a host, a memory, a root, a caching device or a home.
  virtual function void queueing(scalepool_driver driver, ref sp_message message, ref scalepool_passage_e passage);
  endfunction

  // A memory answers a request; another answer is an error of the memory, null a lost one.
  virtual function void answering(scalepool_driver driver, sp_message request, ref sp_message answer);
  endfunction
endclass

// A unit on its way.
class scalepool_unit;
  sp_unit_t value;
  sp_unit_t intact; // before its damage
  int unsigned bytes; // 1 for control flits of ualink

  function new(sp_unit_t value_of, sp_unit_t intact_of, int unsigned bytes_of);
    value = value_of;
    intact = intact_of;
    bytes = bytes_of;
  endfunction
endclass

// A hook point, behind its callbacks: what has passed it, in the order in which it goes on.
class scalepool_crossing #(type T = scalepool_unit);
  T passed[$];
  protected T held; // changes places with the next one

  function void pass(T item, scalepool_passage_e passage);
    if (passage == SCALEPOOL_DROP) return;
    if (passage == SCALEPOOL_SWAP && held == null) begin
      held = item;
      return;
    end
    passed.push_back(item);
    if (passage == SCALEPOOL_DOUBLE) passed.push_back(item);
    if (held == null) return;
    passed.push_back(held);
    held = null;
  endfunction

  function void clear();
    passed.delete();
    held = null;
  endfunction
endclass

// A link end whose refusals are fatal reports of UVM. That of a driver has a hook point in front of its queue of messages.
class scalepool_link_end extends sp_link_end;
  string full_name;
  scalepool_driver driver; // null of a monitor
  protected scalepool_crossing #(sp_message) queue;

  function new(string full_name, sp_protocol_e protocol, sp_dir_e dir, bit passive, sp_link_config knobs);
    super.new(protocol, dir, passive, knobs);
    this.full_name = full_name;
    queue = new();
  endfunction

  virtual function void refused(string text);
    uvm_report_fatal(full_name, text);
  endfunction

  virtual function int offer(sp_message message);
    scalepool_passage_e passage;
    if (driver == null) return super.offer(message);
    passage = SCALEPOOL_KEEP;
    driver.queueing(message, passage);
    queue.pass(message, passage);
    offer = scalepool_dpi_pkg::SP_OK;
    while (queue.passed.size() != 0 && offer == scalepool_dpi_pkg::SP_OK) offer = super.offer(queue.passed.pop_front());
  endfunction

  virtual function void reset();
    super.reset();
    queue.clear();
  endfunction
endclass

// The memory of a driver, with its hook point.
class scalepool_memory extends sp_cxl_mem_device;
  scalepool_driver driver;

  function new(scalepool_driver driver, sp_link_end link, int unsigned latency, bit [51:0] size_bytes);
    super.new(link, latency, size_bytes);
    this.driver = driver;
  endfunction

  virtual function sp_message answer_of(sp_message request);
    sp_message answer;
    answer = super.answer_of(request);
    driver.answering(request, answer);
    return answer;
  endfunction
endclass

// One end of the link.
class scalepool_driver extends uvm_driver #(scalepool_item);
  `uvm_component_utils(scalepool_driver)
  `uvm_register_cb(scalepool_driver, scalepool_driver_callback)
  scalepool_config cfg;
  scalepool_link_end link;
  sp_cxl_mem_host host; // if the role is that of a host
  scalepool_memory memory; // if it is that of a memory
  scalepool_io_root root; // if it is that of a root of CXL.io
  sp_cxl_cache_device cache; // if it is that of a caching device; replace it before the run by one that is wrong on purpose
  sp_cxl_home home; // if it is that of a home of CXL.cache; likewise
  scalepool_monitor monitor; // of the same agent; it is told what passes
  sp_flit_source tx; // of an interface that cores have, see `bus` of the config
  sp_flit_sink rx;
  sp_message arrived[$]; // messages that nobody here acts on, in the role SCALEPOOL_RAW
  longint unsigned units; // that were sent
  longint unsigned damaged;
  protected int unsigned cache_calls; // of CXL.cache that are under way
  protected int unsigned damage_left;
  protected int unsigned damage_bits;
  protected scalepool_crossing #(scalepool_unit) wire_out;
  protected scalepool_crossing #(scalepool_unit) wire_in;

  function new(string name, uvm_component parent);
    super.new(name, parent);
    wire_out = new();
    wire_in = new();
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    if (cfg == null && !uvm_config_db#(scalepool_config)::get(this, "", "config", cfg))
      `uvm_fatal("CONFIG", "found no `config` in config_db, expected a scalepool_config")
    link = new(get_full_name(), cfg.protocol, cfg.dir, 0, cfg.config_of(0));
    link.driver = this;
    if (cfg.role == SCALEPOOL_MEM_HOST) host = new(link, cfg.outstanding);
    if (cfg.role == SCALEPOOL_MEM_DEVICE) memory = new(this, link, cfg.latency, cfg.size_bytes);
    if (cfg.role == SCALEPOOL_CACHE_DEVICE) cache = new(link);
    if (cfg.role == SCALEPOOL_CACHE_HOME) home = new(link);
    if (cfg.role == SCALEPOOL_IO_ROOT) begin
      if (cfg.protocol != SP_PROTOCOL_CXL_IO)
        `uvm_fatal("CONFIG", {"found SCALEPOOL_IO_ROOT on ", cfg.protocol.name(), ", expected SP_PROTOCOL_CXL_IO"})
      root = new(link);
      root.requester = cfg.io_requester;
    end
    if (!cfg.has_bus()) return;
    if (!uvm_config_db#(sp_flit_source)::get(this, "", {cfg.bus, ".tx"}, tx))
      `uvm_fatal("CONFIG", {"found no `", cfg.bus, ".tx` in config_db, expected an sp_flit_source"})
    if (!uvm_config_db#(sp_flit_sink)::get(this, "", {cfg.bus, ".rx"}, rx))
      `uvm_fatal("CONFIG", {"found no `", cfg.bus, ".rx` in config_db, expected an sp_flit_sink"})
    tx.begin_units(link.unit_bytes());
    rx.begin_units(link.unit_bytes());
  endfunction

  virtual function void answering(sp_message request, ref sp_message answer);
    `uvm_do_callbacks(scalepool_driver, scalepool_driver_callback, answering(this, request, answer))
  endfunction

  virtual function void sending(ref sp_unit_t value);
    `uvm_do_callbacks(scalepool_driver, scalepool_driver_callback, sending(this, value))
  endfunction

  virtual function void leaving(ref sp_unit_t value, ref scalepool_passage_e passage);
    `uvm_do_callbacks(scalepool_driver, scalepool_driver_callback, leaving(this, value, passage))
  endfunction

  virtual function void arriving(ref sp_unit_t value, ref scalepool_passage_e passage);
    `uvm_do_callbacks(scalepool_driver, scalepool_driver_callback, arriving(this, value, passage))
  endfunction

  virtual function void queueing(ref sp_message message, ref scalepool_passage_e passage);
    `uvm_do_callbacks(scalepool_driver, scalepool_driver_callback, queueing(this, message, passage))
  endfunction

  virtual task run_phase(uvm_phase phase);
    if (monitor != null) monitor.is_told = 1;
    fork
      if (cfg.has_bus()) bus_clocks();
      else flits();
      items();
    join
  endtask

  // The unit that this end sends, or none: as it leaves, and as it arrives.
  protected function void put(bit is_valid, sp_unit_t intact, sp_unit_t value, bit is_control = 0);
    if (cfg.dir == SP_SENDS_DOWN) begin
      cfg.vif.down_control <= is_control;
      cfg.vif.down_valid <= is_valid;
      cfg.vif.down_intact <= intact;
      cfg.vif.down <= value;
    end else begin
      cfg.vif.up_control <= is_control;
      cfg.vif.up_valid <= is_valid;
      cfg.vif.up_intact <= intact;
      cfg.vif.up <= value;
    end
  endfunction

  // Flit clocks: reset begins the link anew.
  protected virtual task flits();
    bit was_reset;
    was_reset = 1;
    put(0, '0, '0);
    forever begin
      @(posedge cfg.vif.clk);
      if (!cfg.vif.rst_n) begin
        if (!was_reset) restart();
        was_reset = 1;
        put(0, '0, '0);
      end else begin
        was_reset = 0;
        flit_clock();
      end
    end
  endtask

  // Clocks of an interface that cores have, away from the edges of its signals. A flit clock of the end passes when the unit before has been
  // taken.
  protected virtual task bus_clocks();
    bit was_reset;
    was_reset = 1;
    forever begin
      @(negedge cfg.vif.clk);
      sp_note_mistakes(monitor.watcher, rx, SP_PORT_RX, SP_PEER_BROKE);
      if (rx.in_reset || tx.in_reset) begin
        if (!was_reset) begin
          restart();
          rx.clear();
          tx.units.delete();
        end
        was_reset = 1;
      end else begin
        was_reset = 0;
        if (tx.units.size() == 0) bus_flit_clock();
      end
    end
  endtask

  protected virtual function void bus_flit_clock();
    sp_unit_t came;
    if (rx.take(came)) arrive(came, link.unit_bytes());
    advance();
    while (wire_out.passed.size() != 0) begin
      scalepool_unit leaves;
      leaves = wire_out.passed.pop_front();
      // Control flits of ualink have no place on such an interface.
      if (leaves.bytes == link.unit_bytes()) tx.send(leaves.value);
    end
  endfunction

  // The link begins anew.
  virtual function void restart();
    arrived.delete();
    wire_out.clear();
    wire_in.clear();
    if (root != null) root.reset();
    if (acting() != null) acting().reset();
    else link.reset();
  endfunction

  // Who takes the messages that arrive and acts on them; null: nobody but sequences, or a root.
  protected virtual function sp_cxl_agent acting();
    if (host != null) return host;
    if (memory != null) return memory;
    if (cache != null) return cache;
    return home;
  endfunction

  protected virtual function void flit_clock();
    scalepool_unit leaves;
    if (cfg.dir == SP_SENDS_DOWN ? cfg.vif.up_valid : cfg.vif.down_valid)
      arrive(cfg.dir == SP_SENDS_DOWN ? cfg.vif.up : cfg.vif.down,
             (cfg.dir == SP_SENDS_DOWN ? cfg.vif.up_control : cfg.vif.down_control) === 1'b1 ? 1 : link.unit_bytes());
    advance();
    if (wire_out.passed.size() == 0) begin
      put(0, '0, '0);
      return;
    end
    leaves = wire_out.passed.pop_front();
    put(1, leaves.intact, leaves.value, leaves.bytes == 1);
  endfunction

  // A unit of the peer, through callbacks, at the end and at its monitor, which sees what the end sees.
  protected function void arrive(sp_unit_t value, int unsigned bytes);
    sp_unit_t intact;
    scalepool_unit came;
    scalepool_passage_e passage;
    intact = value;
    passage = SCALEPOOL_KEEP;
    arriving(value, passage);
    came = new(value, intact, bytes);
    wire_in.pass(came, passage);
    while (wire_in.passed.size() != 0) begin
      came = wire_in.passed.pop_front();
      link.drive(came.value, SP_PORT_RX, came.bytes == 1 ? 1 : 0);
      if (monitor != null) monitor.came(came.value, came.bytes);
    end
  endfunction

  // A flit clock of the end: what is in it acts on what has arrived, and what it sends goes on its way. The monitor sees it as it leaves
  // the end.
  protected function void advance();
    sp_message message;
    sp_cxl_agent agent;
    sp_unit_t intact, value;
    int unsigned bytes;
    scalepool_unit leaves;
    scalepool_passage_e passage;
    link.step();
    // Events are the monitor's to tell.
    agent = acting();
    if (agent != null) begin
      agent.on_step();
      agent.events.delete();
    end else begin
      message = link.take();
      while (message != null) begin
        if (root == null || !root.take(message)) arrived.push_back(message);
        message = link.take();
      end
    end
    bytes = link.sample(intact);
    if (bytes != 0) begin
      value = intact;
      units++;
      if (damage_left != 0 && bytes > 1) begin
        damage_left--;
        damaged++;
        for (int unsigned n = 0; n < damage_bits; n++) value[$urandom_range(8 * link.unit_bytes() - 1, 16)] ^= 1'b1;
      end
      sending(value);
      passage = SCALEPOOL_KEEP;
      leaving(value, passage);
      leaves = new(value, intact, bytes);
      wire_out.pass(leaves, passage);
      if (monitor != null && (!cfg.has_bus() || bytes != 1)) monitor.left(intact, bytes);
    end
    if (monitor != null) monitor.flit_clock();
  endfunction

  // Items: a message or damage is done at once, a request when it is under way.
  protected virtual task items();
    forever begin
      scalepool_message_item message;
      scalepool_request_item request;
      scalepool_damage_item damage;
      scalepool_access_item access;
      scalepool_cache_item call;
      seq_item_port.get_next_item(req);
      if ($cast(message, req)) begin
        if (!link.try_send(message.message)) `uvm_error("SEND", {message.convert2string(), ": ", sp_library::why()})
      end else if ($cast(damage, req)) begin
        damage_left = damage.count;
        damage_bits = damage.bits;
      end else if ($cast(request, req)) begin
        if (host == null) `uvm_fatal("ROLE", {"found a request, expected one at a driver of a host: ", request.convert2string()})
        // The next one may be under way when this one is not done.
        while (host.outstanding() >= cfg.outstanding) @(posedge cfg.vif.clk);
        start(request);
      end else if ($cast(access, req)) begin
        if (root == null) `uvm_fatal("ROLE", {"found an access, expected one at a driver of a root of CXL.io: ", access.convert2string()})
        perform_access(access);
      end else if ($cast(call, req)) begin
        if (call.op == SCALEPOOL_SNOOP ? home == null : cache == null)
          `uvm_fatal("ROLE", {"found a call of CXL.cache, expected a snoop at a home, and all else at a caching device: ", call.convert2string()})
        cache_calls++;
        case (call.op)
          SCALEPOOL_LOAD: cache.read_shared(call.address(), call.line, call.answer);
          SCALEPOOL_STORE: cache.write(call.address(), call.line, call.answer);
          SCALEPOOL_EVICT: cache.evict(call.address(), call.answer);
          default: begin
            home.snoop(call.snoop, call.address(), call.rsp);
            call.answer = home.stopped ? SP_ANSWER_BROKEN : SP_ANSWER_OK;
          end
        endcase
        cache_calls--;
        call.is_done = 1;
      end else `uvm_fatal("ITEM", {"found ", req.get_type_name(), ", expected a message, a request, an access, a call of CXL.cache or damage"})
      seq_item_port.item_done();
    end
  endtask

  protected task perform_access(scalepool_access_item access);
    if (!root.start(access)) begin
      `uvm_error("SEND", {access.convert2string(), ": ", sp_library::why()})
      access.is_lost = 1;
      access.is_done = 1;
    end
    for (int unsigned n = 0; n < cfg.access_clocks && !access.is_done; n++) @(posedge cfg.vif.clk);
    if (access.is_done) return;
    `uvm_error("ACCESS", $sformatf("%s: found no completion in %0d clocks, expected one", access.convert2string(), cfg.access_clocks))
    access.is_lost = 1;
    access.is_done = 1;
  endtask

  // Begins a request.
  protected function void start(scalepool_request_item request);
    fork
      perform(request);
    join_none
  endfunction

  protected task perform(scalepool_request_item request);
    case (request.op)
      SCALEPOOL_READ: host.read(request.address(), request.line, request.answer);
      SCALEPOOL_WRITE: host.write(request.address(), request.line, request.answer, request.whole ? '1 : request.enables);
      default: host.invalidate(request.address(), request.answer);
    endcase
    request.is_done = 1;
  endtask

  // Whether nothing is under way.
  virtual function bit is_quiet();
    sp_state_t s;
    s = link.state();
    return s.quiet && (host == null || host.outstanding() == 0) && (root == null || root.outstanding() == 0) && cache_calls == 0
        && wire_out.passed.size() == 0;
  endfunction

  // The end of the test waits until all has come to rest, for some time.
  virtual function void phase_ready_to_end(uvm_phase phase);
    if (!phase.is(uvm_run_phase::get()) || is_quiet()) return;
    phase.raise_objection(this, "messages are under way");
    drain(phase);
  endfunction

  protected function void drain(uvm_phase phase);
    fork
      begin
        for (int unsigned n = 0; n < cfg.drain_flits && !is_quiet(); n++) @(posedge cfg.vif.clk);
        phase.drop_objection(this, "all is at rest");
      end
    join_none
  endfunction

  virtual function void check_phase(uvm_phase phase);
    super.check_phase(phase);
    if (host != null && host.outstanding() != 0)
      `uvm_error("OPEN", $sformatf("found open tags %s at the end, expected none", host.open_tags()))
    if (cache_calls != 0) `uvm_error("OPEN", $sformatf("found %0d calls of CXL.cache without an end, expected none", cache_calls))
    if (root != null && root.outstanding() != 0)
      `uvm_error("OPEN", $sformatf("found %0d accesses without a completion at the end, expected none", root.outstanding()))
  endfunction

  virtual function void report_phase(uvm_phase phase);
    `uvm_info("LINK", $sformatf("%0d units sent, %0d of them damaged; %0d CRC errors, %0d replays", units, damaged,
                                link.health("crc_errors"), link.health("replays")), UVM_LOW)
  endfunction
endclass
