// Messages of one class, random within the rules of their layout, for an end in the role SCALEPOOL_RAW.
class scalepool_random_sequence extends uvm_sequence #(scalepool_item);
  `uvm_object_utils(scalepool_random_sequence)
  string layout = "cxl68.d2h_req";
  bit has_data = 0; // the class carries a line
  int unsigned count = 10;
  bit with_solver = 0; // constraints of the class are solved; otherwise messages are drawn until one is legal

  function new(string name = "scalepool_random_sequence");
    super.new(name);
  endfunction

  virtual task body();
    scalepool_message_item item;
    for (int unsigned n = 0; n < count; n++) begin
      item = scalepool_message_item::type_id::create("item");
      start_item(item);
      item.message = sp_message_factory::create(layout);
      draw(item.message);
      finish_item(item);
    end
  endtask

  // Overrides add constraints.
  virtual function void draw(sp_message message);
    if (!with_solver) message.draw_legal();
    else if (!message.solve_legal()) `uvm_error("RANDOM", {"no legal message of ", layout})
    if (!has_data) return;
    for (int n = 0; n < 16; n++) message.data[32*n +: 32] = $urandom();
    message.set_line(message.data);
  endfunction
endclass

// Messages that are ready, in their order.
class scalepool_message_sequence extends uvm_sequence #(scalepool_item);
  `uvm_object_utils(scalepool_message_sequence)
  sp_message messages[$];

  function new(string name = "scalepool_message_sequence");
    super.new(name);
  endfunction

  virtual task body();
    foreach (messages[n]) begin
      scalepool_message_item item;
      item = scalepool_message_item::type_id::create("item");
      start_item(item);
      item.message = messages[n];
      finish_item(item);
    end
  endtask
endclass

// Reads, writes and invalidations of CXL.mem at random in `lines` lines, and at the end a read of each line that was written.
class scalepool_mem_sequence extends uvm_sequence #(scalepool_item);
  `uvm_object_utils(scalepool_mem_sequence)
  int unsigned count = 100;
  int unsigned lines = 16;
  scalepool_request_item requests[$];

  function new(string name = "scalepool_mem_sequence");
    super.new(name);
  endfunction

  virtual task body();
    bit written[bit [45:0]];
    for (int unsigned n = 0; n < count; n++) begin
      scalepool_request_item item;
      item = scalepool_request_item::type_id::create("item");
      start_item(item);
      draw(item);
      // Requests to a line that is in use wait for its end: their order is not that of the protocol.
      foreach (requests[k]) if (requests[k].line_number == item.line_number) wait (requests[k].is_done);
      if (item.op == SCALEPOOL_WRITE) written[item.line_number] = 1;
      requests.push_back(item);
      finish_item(item);
    end
    foreach (requests[k]) wait (requests[k].is_done);
    foreach (written[line_number]) begin
      scalepool_request_item item;
      item = scalepool_request_item::type_id::create("item");
      start_item(item);
      item.op = SCALEPOOL_READ;
      item.line_number = line_number;
      requests.push_back(item);
      finish_item(item);
    end
    foreach (requests[k]) wait (requests[k].is_done);
  endtask

  virtual function void draw(scalepool_request_item item);
    if (item.randomize() == 0) `uvm_error("RANDOM", "no request")
    item.line_number %= 46'(lines);
  endfunction
endclass

// Damage now and then: `count` times some units of what the driver sends, with `gap` flit clocks between.
class scalepool_damage_sequence extends uvm_sequence #(scalepool_item);
  `uvm_object_utils(scalepool_damage_sequence)
  virtual scalepool_flit_if vif;
  int unsigned count = 4;
  int unsigned gap = 200;

  function new(string name = "scalepool_damage_sequence");
    super.new(name);
  endfunction

  virtual task body();
    for (int unsigned n = 0; n < count; n++) begin
      scalepool_damage_item item;
      repeat (gap) @(posedge vif.clk);
      item = scalepool_damage_item::type_id::create("item");
      start_item(item);
      item.count = $urandom_range(2, 1);
      item.bits = $urandom_range(8, 1);
      finish_item(item);
    end
  endtask
endclass

// Sequencers of both ends, for virtual sequences; one that is null is left alone.
class scalepool_virtual_sequencer extends uvm_sequencer;
  `uvm_component_utils(scalepool_virtual_sequencer)
  scalepool_sequencer host;
  scalepool_sequencer device;
  virtual scalepool_flit_if vif;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction
endclass

// Requests of the host while the wire damages units of both directions.
class scalepool_virtual_sequence extends uvm_sequence;
  `uvm_object_utils(scalepool_virtual_sequence)
  `uvm_declare_p_sequencer(scalepool_virtual_sequencer)
  int unsigned count = 200;
  int unsigned host_damage = 4; // times that what the host sends is damaged; its driver has to take such items
  int unsigned device_damage = 4;

  function new(string name = "scalepool_virtual_sequence");
    super.new(name);
  endfunction

  virtual task body();
    fork
      requests();
      damage_of(p_sequencer.host, host_damage);
      damage_of(p_sequencer.device, device_damage);
    join
  endtask

  protected virtual task requests();
    scalepool_mem_sequence sequence_of;
    if (p_sequencer.host == null) return;
    sequence_of = scalepool_mem_sequence::type_id::create("requests");
    sequence_of.count = count;
    sequence_of.start(p_sequencer.host, this);
  endtask

  protected task damage_of(scalepool_sequencer sequencer, int unsigned times);
    scalepool_damage_sequence sequence_of;
    if (sequencer == null || times == 0) return;
    sequence_of = scalepool_damage_sequence::type_id::create("damage");
    sequence_of.vif = p_sequencer.vif;
    sequence_of.count = times;
    sequence_of.start(sequencer, this);
  endtask
endclass

// Accesses of a root of CXL.io, each when the one before is done.
class scalepool_access_sequence extends uvm_sequence #(scalepool_item);
  `uvm_object_utils(scalepool_access_sequence)
  scalepool_access_item accesses[$];

  function new(string name = "scalepool_access_sequence");
    super.new(name);
  endfunction

  virtual task body();
    foreach (accesses[n]) begin
      start_item(accesses[n]);
      finish_item(accesses[n]);
    end
  endtask
endclass

// Loads, stores and evicts of a caching device at random in `lines` lines, each when the one before is done.
class scalepool_cache_sequence extends uvm_sequence #(scalepool_item);
  `uvm_object_utils(scalepool_cache_sequence)
  int unsigned count = 100;
  int unsigned lines = 8;
  scalepool_cache_item calls[$];

  function new(string name = "scalepool_cache_sequence");
    super.new(name);
  endfunction

  virtual task body();
    for (int unsigned n = 0; n < count; n++) begin
      scalepool_cache_item item;
      rest();
      item = scalepool_cache_item::type_id::create("item");
      start_item(item);
      draw(item);
      calls.push_back(item);
      finish_item(item);
    end
  endtask

  // Between two calls.
  protected virtual task rest();
  endtask

  virtual function void draw(scalepool_cache_item item);
    if (item.randomize() == 0) `uvm_error("RANDOM", "no call of CXL.cache")
    if (item.op == SCALEPOOL_SNOOP) item.op = SCALEPOOL_LOAD;
    item.line_number %= 46'(lines);
  endfunction
endclass

// Snoops of a home for random lines, with `gap` clocks between.
class scalepool_snoop_sequence extends scalepool_cache_sequence;
  `uvm_object_utils(scalepool_snoop_sequence)
  virtual scalepool_flit_if vif;
  int unsigned gap = 50;

  function new(string name = "scalepool_snoop_sequence");
    super.new(name);
  endfunction

  protected virtual task rest();
    repeat (gap) @(posedge vif.clk);
  endtask

  virtual function void draw(scalepool_cache_item item);
    super.draw(item);
    item.op = SCALEPOOL_SNOOP;
    item.snoop = 3'($urandom_range(3, 1));
  endfunction
endclass
