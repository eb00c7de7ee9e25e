// What sequences give to the driver, and what the monitor gives to its subscribers.

// Anything that the driver takes.
class scalepool_item extends uvm_sequence_item;
  `uvm_object_utils(scalepool_item)

  function new(string name = "scalepool_item");
    super.new(name);
  endfunction
endclass

// A message: queued in the link end, which sends it when it has the credits. From the monitor: one that has passed.
class scalepool_message_item extends scalepool_item;
  `uvm_object_utils(scalepool_message_item)
  sp_message message;

  function new(string name = "scalepool_message_item");
    super.new(name);
  endfunction

  virtual function string convert2string();
    if (message == null) return "no message";
    return message.convert2string();
  endfunction
endclass

typedef enum { SCALEPOOL_READ, SCALEPOOL_WRITE, SCALEPOOL_INVALIDATE } scalepool_op_e;

// A request of CXL.mem to one line, with its answer. Drivers of hosts take it; it is under way when the sequence goes on, and
// `is_done` when it has its answer. From the monitor: one that has passed, with its answer.
class scalepool_request_item extends scalepool_item;
  `uvm_object_utils(scalepool_request_item)
  rand scalepool_op_e op;
  rand bit [45:0] line_number; // the address in bytes is 64 times as much
  rand bit [511:0] line; // of a write; of a read what came
  rand bit [63:0] enables; // of a write, bit n for byte n
  rand bit whole; // a write of the whole line, whatever `enables` has
  bit [15:0] tag;
  sp_answer_e answer;
  bit is_done;
  // Units of their directions that end request and answer; of the monitor.
  longint unsigned request_unit;
  longint unsigned answer_unit;

  function new(string name = "scalepool_request_item");
    super.new(name);
  endfunction

  function bit [51:0] address();
    return {line_number, 6'd0};
  endfunction

  virtual function string convert2string();
    string state;
    state = "open";
    if (is_done) state = answer.name();
    return $sformatf("%s line 0x%0h, tag 0x%0h, %s, %h", op.name(), address(), tag, state, line);
  endfunction
endclass

// Damage on the wire of what the driver sends: `count` units from now on have `bits` random bits flipped.
class scalepool_damage_item extends scalepool_item;
  `uvm_object_utils(scalepool_damage_item)
  rand int unsigned count;
  rand int unsigned bits;

  constraint few { count inside {[1:4]}; bits inside {[1:8]}; }

  function new(string name = "scalepool_damage_item");
    super.new(name);
    count = 1;
    bits = 1;
  endfunction

  virtual function string convert2string();
    return $sformatf("%0d units with %0d wrong bits", count, bits);
  endfunction
endclass

// A request of another protocol than CXL.mem, or a snoop, with its answers in the order in which they passed; `answers` is empty of what is
// posted.
class scalepool_exchange_item extends scalepool_item;
  `uvm_object_utils(scalepool_exchange_item)
  sp_message request;
  sp_message answers[$];

  function new(string name = "scalepool_exchange_item");
    super.new(name);
  endfunction

  virtual function string convert2string();
    convert2string = request == null ? "no request" : request.convert2string();
    foreach (answers[n]) convert2string = {convert2string, "; ", answers[n].convert2string()};
  endfunction
endclass

// An event of the monitor.
class scalepool_event_item extends scalepool_item;
  `uvm_object_utils(scalepool_event_item)
  sp_event_t e;

  function new(string name = "scalepool_event_item");
    super.new(name);
  endfunction

  virtual function string convert2string();
    return sp_library::event_text(e);
  endfunction
endclass
