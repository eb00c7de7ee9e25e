// Traffic of the protocols that have no requests of their own in the agent: whole messages, written and read back through two agents on one link.

// What a protocol's messages look like: requests to block n, and the memory behind them.
virtual class demo_traffic;
  pure virtual function sp_message write_of(int unsigned n, bit [511:0] data);
  pure virtual function sp_message read_of(int unsigned n);
  // Answers of a request, none for what is posted.
  pure virtual function void answers(sp_message request, ref sp_message of_request[$]);
  // The data of a message, if it `has_data`.
  pure virtual function bit [511:0] data_of(sp_message answer, output bit has_data);
  // Makes an answer one to another request.
  pure virtual function void misname(sp_message answer);
  // The address in bytes of a write with an even number and of the read behind it, which is one more.
  function bit [31:0] place_of(int unsigned n);
    return 32'h1000 + 256 * (n / 2 % 16);
  endfunction

  // Whether writes have no answer.
  virtual function bit posts_writes();
    return 0;
  endfunction
endclass

// Reads and writes of 64 bytes on CXL.io.
class demo_io_traffic extends demo_traffic;
  protected bit [511:0] memory[bit [29:0]];

  protected function scalepool_cxlio_pkg::fm_mem32_t head_of(int unsigned n, scalepool_cxlio_pkg::fm_type_e kind);
    head_of = '0;
    head_of.tlp_type = kind;
    head_of.length = 16;
    head_of.tag = 14'(n % 32);
    head_of.address = 30'(place_of(n) >> 2);
  endfunction

  virtual function bit posts_writes();
    return 1;
  endfunction

  virtual function sp_message write_of(int unsigned n, bit [511:0] data);
    cxlio_tlp tlp;
    scalepool_cxlio_pkg::fm_mem32_t head;
    head = head_of(n, scalepool_cxlio_pkg::FM_TYPE_M_WR32);
    head.tag = 0;
    tlp = new();
    tlp.add(128'(head), 12);
    tlp.add_data(data, 64);
    return tlp;
  endfunction

  virtual function sp_message read_of(int unsigned n);
    cxlio_tlp tlp;
    tlp = new();
    tlp.add(128'(head_of(n, scalepool_cxlio_pkg::FM_TYPE_M_RD32)), 12);
    return tlp;
  endfunction

  virtual function void answers(sp_message request, ref sp_message of_request[$]);
    cxlio_tlp tlp, completion;
    scalepool_cxlio_pkg::fm_mem32_t asked;
    scalepool_cxlio_pkg::fm_cpl_t head;
    if (!$cast(tlp, request)) return;
    asked = scalepool_cxlio_pkg::fm_mem32_t'(tlp.number(0, 12));
    if (asked.tlp_type == scalepool_cxlio_pkg::FM_TYPE_M_WR32) memory[asked.address] = tlp.data_from(12);
    if (asked.tlp_type != scalepool_cxlio_pkg::FM_TYPE_M_RD32) return;
    head = '0;
    head.tlp_type = scalepool_cxlio_pkg::FM_TYPE_CPL_D;
    head.length = 16;
    head.completer = 16'h100;
    head.requester = asked.requester;
    head.tag = asked.tag;
    head.byte_count = 64;
    head.lower_addr_6 = asked.address[4];
    completion = new();
    completion.add(128'(head), 12);
    completion.add_data(memory[asked.address], 64);
    of_request.push_back(completion);
  endfunction

  virtual function bit [511:0] data_of(sp_message answer, output bit has_data);
    cxlio_tlp tlp;
    has_data = $cast(tlp, answer) && tlp.tlp.size() > 12;
    return has_data ? tlp.data_from(12) : '0;
  endfunction

  // The tag is in bytes 6 and 7 of the header.
  virtual function void misname(sp_message answer);
    cxlio_tlp tlp;
    if ($cast(tlp, answer)) tlp.tlp[7] ^= 8'h40;
  endfunction
endclass

// Reads and writes of 64 bytes, as 256-byte blocks have them, on UALink.
class demo_ualink_traffic extends demo_traffic;
  protected bit [511:0] memory[bit [54:0]];

  protected function ualink_tl_req request_of(int unsigned n, scalepool_ualink_pkg::req_cmd_e command);
    ualink_tl_req request;
    request = new();
    request.fields.cmd = command;
    request.fields.src = 1;
    request.fields.dst = 2;
    request.fields.tag = 11'(n % 32);
    request.fields.address = 55'(place_of(n) >> 2);
    request.fields.len = 15;
    request.fields.attr = command == scalepool_ualink_pkg::REQ_CMD_READ ? 8'hff : 8'h00;
    return request;
  endfunction

  virtual function sp_message write_of(int unsigned n, bit [511:0] data);
    ualink_tl_req request;
    request = request_of(n, scalepool_ualink_pkg::REQ_CMD_WRITE_FULL);
    request.beat_count = 1;
    request.beats[0] = data;
    return request;
  endfunction

  virtual function sp_message read_of(int unsigned n);
    return request_of(n, scalepool_ualink_pkg::REQ_CMD_READ);
  endfunction

  virtual function void answers(sp_message request, ref sp_message of_request[$]);
    ualink_tl_req asked;
    ualink_tl_rsp response;
    if (!$cast(asked, request)) return;
    response = new();
    response.fields.tag = asked.fields.tag;
    response.fields.dst = asked.fields.src;
    response.fields.src = asked.fields.dst;
    response.fields.vchan = asked.fields.vchan;
    if (asked.fields.cmd == scalepool_ualink_pkg::REQ_CMD_READ) begin
      response.fields.rdwr = scalepool_ualink_pkg::RD_WR_READ;
      response.fields.len = 0;
      response.fields.last = 1;
      response.beat_count = 1;
      response.beats[0] = memory[asked.fields.address];
    end else begin
      response.fields.rdwr = scalepool_ualink_pkg::RD_WR_WRITE;
      memory[asked.fields.address] = asked.beats[0];
    end
    of_request.push_back(response);
  endfunction

  virtual function bit [511:0] data_of(sp_message answer, output bit has_data);
    ualink_tl_message message;
    has_data = $cast(message, answer) && message.beat_count != 0;
    return has_data ? message.beats[0] : '0;
  endfunction

  virtual function void misname(sp_message answer);
    answer.set("tag", answer.get("tag") ^ 64'h40);
  endfunction
endclass

// Reads and writes of 64 bytes on the NVLink model.
class demo_nvlink_traffic extends demo_traffic;
  protected bit [511:0] memory[bit [33:0]];

  protected function nvlink_message message_of(scalepool_nvlink_pkg::op_e op, scalepool_nvlink_pkg::vc_e vc, bit [9:0] tag);
    nvlink_message message;
    message = new();
    message.header.op = op;
    message.header.vc = vc;
    message.header.tag = tag;
    message.header.rid = 1;
    return message;
  endfunction

  protected function nvlink_message request_of(int unsigned n, scalepool_nvlink_pkg::op_e op);
    nvlink_message message;
    message = message_of(op, scalepool_nvlink_pkg::VC_CREQ0, 10'(n % 32));
    message.header.address = 34'(place_of(n) >> 4);
    message.header.size = 3;
    return message;
  endfunction

  virtual function sp_message write_of(int unsigned n, bit [511:0] data);
    nvlink_message message;
    message = request_of(n, scalepool_nvlink_pkg::OP_WRITE_NONPOSTED);
    message.payload = 2048'(data);
    message.payload_bytes = 64;
    return message;
  endfunction

  virtual function sp_message read_of(int unsigned n);
    return request_of(n, scalepool_nvlink_pkg::OP_READ);
  endfunction

  virtual function void answers(sp_message request, ref sp_message of_request[$]);
    nvlink_message asked, response;
    if (!$cast(asked, request)) return;
    if (asked.header.op == scalepool_nvlink_pkg::OP_READ) begin
      response = message_of(scalepool_nvlink_pkg::OP_RSP_DATA, scalepool_nvlink_pkg::VC_RSP0, asked.header.tag);
      response.header.size = asked.header.size;
      response.payload = 2048'(memory[asked.header.address]);
      response.payload_bytes = 64;
    end else begin
      response = message_of(scalepool_nvlink_pkg::OP_RSP_DONE, scalepool_nvlink_pkg::VC_RSP0, asked.header.tag);
      memory[asked.header.address] = asked.payload[511:0];
    end
    response.header.rid = asked.header.rid;
    of_request.push_back(response);
  endfunction

  virtual function bit [511:0] data_of(sp_message answer, output bit has_data);
    nvlink_message response;
    has_data = $cast(response, answer) && response.payload_bytes != 0;
    return has_data ? response.payload[511:0] : '0;
  endfunction

  virtual function void misname(sp_message answer);
    answer.set("tag", answer.get("tag") ^ 64'h40);
  endfunction
endclass

// Requests and answers as a monitor joins them, and whether what is read is what was written before.
class demo_exchange_checker extends uvm_subscriber #(scalepool_exchange_item);
  demo_traffic traffic;
  int unsigned posted, answered, wrong;
  protected bit [511:0] written;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void write(scalepool_exchange_item t);
    bit has_data;
    bit [511:0] data;
    posted += 32'(t.answers.size() == 0);
    answered += 32'(t.answers.size() == 1);
    data = traffic.data_of(t.request, has_data);
    if (has_data) written = data;
    if (t.answers.size() == 0) return;
    data = traffic.data_of(t.answers[0], has_data);
    if (has_data && data != written) begin
      wrong++;
      `uvm_error("EXCHANGE", {t.convert2string(), $sformatf("; expected %h", written)})
    end
  endfunction
endclass

// Blocks that are written and read back, one at a time, while units of both directions are damaged. +protocol=N: number in sp_protocol_e.
// +wrong: the fifth answer with data names another request. +kind=N: number in sp_transactions_e of the transactions that are asked for, which
// may be those of another protocol.
class demo_protocol_test extends demo_pair_test;
  `uvm_component_utils(demo_protocol_test)
  demo_traffic traffic;
  demo_expected expected;
  demo_exchange_checker exchanges;
  demo_counter #(scalepool_message_item) messages;
  int unsigned blocks;
  int unsigned mismatches;
  protected int unsigned given; // answers with data
  protected int unsigned needed; // broken rules of each name

  function new(string name, uvm_component parent);
    super.new(name, parent);
    expected = new();
  endfunction

  virtual function scalepool_role_e role_of(bit of_host);
    return SCALEPOOL_RAW;
  endfunction

  virtual function void adjust(scalepool_config cfg);
    int kind;
    case (cfg.protocol)
      SP_PROTOCOL_NVLINK: cfg.transactions = SP_TRANSACTIONS_NVLINK;
      SP_PROTOCOL_UALINK: cfg.transactions = SP_TRANSACTIONS_UALINK;
      default: cfg.transactions = SP_TRANSACTIONS_CXL_IO;
    endcase
    if ($value$plusargs("kind=%d", kind)) cfg.transactions = sp_transactions_e'(kind);
    cfg.active_end.transaction_layer = cfg.protocol == SP_PROTOCOL_UALINK;
    if (cfg.protocol != SP_PROTOCOL_CXL_IO) cfg.active_end.timeout_flits = -1;
    cfg.watcher.answer_flits = 2000;
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    case (protocol)
      SP_PROTOCOL_NVLINK: begin demo_nvlink_traffic of; of = new(); traffic = of; end
      SP_PROTOCOL_UALINK: begin demo_ualink_traffic of; of = new(); traffic = of; end
      default: begin demo_io_traffic of; of = new(); traffic = of; end
    endcase
    exchanges = new("exchanges", this);
    exchanges.traffic = traffic;
    messages = new("messages", this);
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    device.monitor.exchanges.connect(exchanges.analysis_export);
    device.monitor.messages.connect(messages.analysis_export);
  endfunction

  // The memory behind the device.
  protected task serve();
    forever begin
      @(posedge bus.clk);
      while (device.driver.arrived.size() != 0) begin
        scalepool_message_sequence sequence_of;
        sequence_of = scalepool_message_sequence::type_id::create("answers");
        traffic.answers(device.driver.arrived.pop_front(), sequence_of.messages);
        foreach (sequence_of.messages[n]) begin
          bit has_data;
          void'(traffic.data_of(sequence_of.messages[n], has_data));
          given += 32'(has_data);
          if (has_data && given == 5 && $test$plusargs("wrong") != 0) traffic.misname(sequence_of.messages[n]);
        end
        sequence_of.start(device.sequencer);
      end
    end
  endtask

  // Sends a request of the host, and waits for its answer, for some time.
  protected task request(sp_message message, bit has_answer, output sp_message answer);
    scalepool_message_sequence sequence_of;
    answer = null;
    sequence_of = scalepool_message_sequence::type_id::create("request");
    sequence_of.messages.push_back(message);
    sequence_of.start(host.sequencer);
    if (!has_answer) return;
    for (int n = 0; n < 3000 && host.driver.arrived.size() == 0; n++) @(posedge bus.clk);
    if (host.driver.arrived.size() != 0) answer = host.driver.arrived.pop_front();
  endtask

  protected task blocks_of(int unsigned count);
    for (int unsigned n = 0; n < count; n++) begin
      bit [511:0] data, found;
      bit has_data;
      sp_message answer;
      for (int w = 0; w < 16; w++) data[32*w +: 32] = $urandom();
      request(traffic.write_of(2 * n, data), !traffic.posts_writes(), answer);
      request(traffic.read_of(2 * n + 1), 1, answer);
      // A wrong device's answer to the fifth read is the watchers' to tell; it ends the test.
      if (n == 4 && $test$plusargs("wrong") != 0) return;
      if (answer == null) begin
        `uvm_error("LOST", $sformatf("block %0d: found no answer, expected one", n))
        return;
      end
      found = traffic.data_of(answer, has_data);
      if (!has_data || found != data) begin
        mismatches++;
        `uvm_error("DATA", $sformatf("block %0d: found %h, expected %h", n, found, data))
      end
      blocks++;
    end
  endtask

  virtual task run_phase(uvm_phase phase);
    phase.raise_objection(this);
    if ($test$plusargs("wrong") != 0) begin
      // Each is seen by the monitors of both ends.
      expected.expect_rule("TXN-TAG-02");
      expected.expect_rule("TXN-END-02");
      uvm_report_cb::add(null, expected);
    end
    reset();
    fork
      serve();
    join_none
    fork
      blocks_of(40);
      damage(host);
      damage(device);
    join
    repeat (3000) @(posedge bus.clk);
    phase.drop_objection(this);
  endtask

  protected task damage(scalepool_agent of);
    scalepool_damage_sequence sequence_of;
    sequence_of = scalepool_damage_sequence::type_id::create("damage");
    sequence_of.vif = of.cfg.vif;
    sequence_of.gap = 300;
    sequence_of.start(of.sequencer);
  endtask

  virtual function string missing();
    int unsigned requests, posted, lost;
    lost = $test$plusargs("wrong") != 0 ? 1 : 0;
    requests = lost != 0 ? 10 : 80;
    posted = traffic.posts_writes() ? requests / 2 : 0;
    if (exchanges.posted != posted || exchanges.answered != requests - posted - lost || device.monitor.open_requests() != lost)
      return $sformatf("found %0d posted, %0d answered and %0d open requests, expected %0d, %0d and %0d", exchanges.posted, exchanges.answered,
                       device.monitor.open_requests(), posted, requests - posted - lost, lost);
    if (messages.count != 2 * requests - posted)
      return $sformatf("found %0d messages, expected %0d", messages.count, 2 * requests - posted);
    foreach (expected.seen[rule])
      if (expected.seen[rule] != 2) return $sformatf("%s: found %0d times, expected twice", rule, expected.seen[rule]);
    if (blocks != ($test$plusargs("wrong") != 0 ? 4 : 40)) return $sformatf("found %0d blocks, expected more", blocks);
    if (host.driver.damaged < 2 || device.driver.damaged < 2)
      return $sformatf("found %0d and %0d damaged units, expected more", host.driver.damaged, device.driver.damaged);
    return "";
  endfunction
endclass
