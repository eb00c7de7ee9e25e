// A scoreboard of CXL.mem: a data image that every read is compared with. `check_transaction` is the place for checks of yours.
class scalepool_scoreboard extends uvm_subscriber #(scalepool_request_item);
  `uvm_component_utils(scalepool_scoreboard)
  int unsigned reads;
  int unsigned writes;
  int unsigned mismatches;
  protected bit [511:0] image[bit [45:0]];

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void write(scalepool_request_item t);
    bit [511:0] mask;
    check_transaction(t);
    if (t.answer != SP_ANSWER_OK) return;
    case (t.op)
      SCALEPOOL_READ: begin
        reads++;
        // What was there before the first write is taken from the first read.
        if (!image.exists(t.line_number)) image[t.line_number] = t.line;
        else if (image[t.line_number] != t.line) begin
          mismatches++;
          `uvm_error("DATA", $sformatf("line 0x%0h, tag 0x%0h: found %h, expected %h", t.address(), t.tag, t.line,
                                       image[t.line_number]))
        end
      end
      SCALEPOOL_WRITE: begin
        writes++;
        for (int n = 0; n < 64; n++) mask[8*n +: 8] = {8{t.enables[n]}};
        if (image.exists(t.line_number) || t.enables == '1)
          image[t.line_number] = (t.line & mask) | (image.exists(t.line_number) ? image[t.line_number] & ~mask : '0);
      end
      default: ;
    endcase
  endfunction

  // The hook: each transaction that has ended.
  virtual function void check_transaction(scalepool_request_item t);
  endfunction

  virtual function void report_phase(uvm_phase phase);
    `uvm_info("SCOREBOARD", $sformatf("%0d reads, %0d writes, %0d mismatches", reads, writes, mismatches), UVM_LOW)
  endfunction
endclass

// Which messages have passed, by layout and opcode, and which way.
class scalepool_coverage extends uvm_subscriber #(scalepool_message_item);
  `uvm_component_utils(scalepool_coverage)
  int unsigned hits[string];
  protected sp_port_e at_port;
  protected bit [4:0] opcode;
  protected bit has_data;

  covergroup passed;
    option.per_instance = 1;
    direction: coverpoint at_port;
    code: coverpoint opcode;
    data: coverpoint has_data;
    each: cross direction, code, data;
  endgroup

  function new(string name, uvm_component parent);
    super.new(name, parent);
    passed = new();
  endfunction

  virtual function void write(scalepool_message_item t);
    string key;
    at_port = t.message.at_port;
    has_data = t.message.has_data;
    opcode = t.message.has("opcode") ? 5'(t.message.get("opcode")) : '0;
    passed.sample();
    key = $sformatf("%s opcode %0d", t.message.layout, opcode);
    if (!hits.exists(key)) hits[key] = 0;
    hits[key]++;
  endfunction

  virtual function void report_phase(uvm_phase phase);
    string text;
    text = "";
    foreach (hits[key]) text = {text, $sformatf("\n  %-32s %0d", key, hits[key])};
    `uvm_info("COVERAGE", {"messages that have passed:", text}, UVM_LOW)
  endfunction
endclass
