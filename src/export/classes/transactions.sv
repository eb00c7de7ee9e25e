
  // How a request has ended. SP_ANSWER_REFUSED is an answer of UALink, NVLink or CXL.io that says that it was not carried out.
  typedef enum { SP_ANSWER_OK, SP_ANSWER_POISON, SP_ANSWER_NO_MEMORY, SP_ANSWER_BROKEN, SP_ANSWER_REFUSED } sp_answer_e;

  // A request of CXL.mem of one line.
  class sp_cxl_mem_request;
    bit [51:0] address; // of the line, in bytes
    bit [15:0] tag;
    bit is_done;
    bit [511:0] line; // of a read
    sp_answer_e answer;
    sp_event_t broken; // if the answer is SP_ANSWER_BROKEN
    bit has_half;
  endclass

  // What agents on an end have in common: `on_step` goes behind each step of the link end.
  virtual class sp_cxl_agent;
    sp_link_end link;
    longint unsigned clock;
    bit stopped; // a rule has stopped the link; `reset` begins it anew
    sp_event_t events[$]; // what the other end, the line and this end have broken, oldest first; take them out as you read them

    function new(sp_link_end link_of);
      link = link_of;
      clock = 0;
      stopped = 0;
    endfunction

    protected function sp_message fresh(string layout);
      return sp_message_factory::create({link.family(), ".", layout});
    endfunction

    // Behind a flit clock: events first, then messages, each with the events that it brings.
    virtual function void on_step();
      sp_message message;
      clock++;
      void'(take_events());
      message = link.take();
      while (message != null) begin
        if (!take_events()) on_message(message);
        message = link.take();
      end
    endfunction

    // Whether a broken rule is one of those that are about messages.
    protected virtual function bit is_judged(string rule);
      return rule.substr(0, 3) == "TXN-";
    endfunction

    // Whether the peer has broken a rule of transactions since the last call.
    protected function bit take_events();
      sp_event_t e;
      bit found;
      found = 0;
      while (link.take_event(e)) begin
        events.push_back(e);
        if (e.severity == SP_IS_UNCORRECTABLE && !stopped) begin
          stopped = 1;
          on_stop();
        end
        if (e.by == SP_PEER_BROKE && e.rule.len() > 4 && is_judged(e.rule)) begin
          found = 1;
          on_broken(e);
        end
      end
      return found;
    endfunction

    // The link begins anew, as `link.reset` has it; what was under way is lost.
    virtual function void reset();
      link.reset();
      stopped = 0;
    endfunction

    // The link has stopped.
    virtual function void on_stop();
    endfunction

    pure virtual function void on_message(sp_message message);

    virtual function void on_broken(sp_event_t e);
    endfunction
  endclass

  // A host of CXL.mem: calls that read, write and invalidate lines of memory of the kind HDM-H. Whoever steps the link end calls
  // `on_step` behind each step; the calls wait meanwhile, as many as may be outstanding. Make the end with
  // `transactions = SP_TRANSACTIONS_HDM_H`, so that a wrong answer ends its request with SP_ANSWER_BROKEN.
  class sp_cxl_mem_host extends sp_cxl_agent;
    bit [3:0] ld_id;
    protected bit [15:0] free_tags[$];
    protected bit lost_tags[bit [15:0]]; // of requests that have ended here and may still be answered
    protected sp_cxl_mem_request open[bit [15:0]];

    // `outstanding` is the highest number of requests that are open at a time, 1 to 65536; each has its own tag.
    function new(sp_link_end link_of, int unsigned outstanding = 64, bit [3:0] ld_id_of = 0);
      super.new(link_of);
      ld_id = ld_id_of;
      for (int unsigned n = 0; n < outstanding; n++) free_tags.push_back(16'(n));
    endfunction

    // Requests that are open.
    function int unsigned outstanding();
      return 32'(open.num());
    endfunction

    // The tags that are open, as text; empty if none is.
    function string open_tags();
      string text;
      text = "";
      foreach (open[tag]) begin
        if (text != "") text = {text, ", "};
        text = {text, $sformatf("0x%0h (line 0x%0h)", tag, open[tag].address)};
      end
      return text;
    endfunction

    task read(input bit [51:0] address, output bit [511:0] line, output sp_answer_e answer);
      sp_message message;
      sp_cxl_mem_request request;
      message = fresh("m2s_req");
      message.set("opcode", 64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_RD));
      message.set("meta_field", 64'(scalepool_cxl68_pkg::META_FIELD_NO_OP));
      perform(message, address, request);
      line = request.line;
      answer = request.answer;
    endtask

    // `enables` has bit n for byte n of the line; the others keep what memory has. It returns when the write is visible.
    task write(input bit [51:0] address, input bit [511:0] line, output sp_answer_e answer, input bit [63:0] enables = '1,
               input bit poison = 0);
      sp_message message;
      sp_cxl_mem_request request;
      message = fresh("m2s_rwd");
      message.set("opcode", 64'(&enables ? scalepool_cxl68_pkg::M2S_RWD_OPCODE_MEM_WR : scalepool_cxl68_pkg::M2S_RWD_OPCODE_MEM_WR_PTL));
      message.set("meta_value", 64'(scalepool_cxl68_pkg::META_VALUE_ANY));
      message.set("poison", 64'(poison));
      message.set_line(line);
      if (!(&enables)) begin
        message.set_enables(enables);
        // A trailer with the byte enables follows the data.
        if (message.has("trp")) message.set("trp", 1);
      end
      perform(message, address, request);
      answer = request.answer;
    endtask

    // Asks the device for a line without its data.
    task invalidate(input bit [51:0] address, output sp_answer_e answer);
      sp_message message;
      sp_cxl_mem_request request;
      message = fresh("m2s_req");
      message.set("opcode", 64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_INV));
      message.set("meta_field", 64'(scalepool_cxl68_pkg::META_FIELD_NO_OP));
      perform(message, address, request);
      answer = request.answer;
    endtask

    // Bytes from an address on, line after line. `answer` is that of the first line that did not succeed.
    task read_bytes(input bit [51:0] address, ref byte unsigned bytes[], output sp_answer_e answer);
      bit [511:0] line;
      answer = SP_ANSWER_OK;
      for (int n = 0; n < bytes.size(); n++) begin
        bit [51:0] at;
        at = address + 52'(n);
        if (n == 0 || at[5:0] == 0) read(at, line, answer);
        if (answer != SP_ANSWER_OK) return;
        bytes[n] = line[8*at[5:0] +: 8];
      end
    endtask

    // The same for writes: of the first and the last line only the bytes that are meant.
    task write_bytes(input bit [51:0] address, ref byte unsigned bytes[], output sp_answer_e answer);
      bit [511:0] line;
      bit [63:0] enables;
      answer = SP_ANSWER_OK;
      enables = '0;
      for (int n = 0; n < bytes.size(); n++) begin
        bit [51:0] at;
        at = address + 52'(n);
        line[8*at[5:0] +: 8] = bytes[n];
        enables[at[5:0]] = 1;
        if (&at[5:0] || n == bytes.size() - 1) begin
          write(at, line, answer, enables);
          if (answer != SP_ANSWER_OK) return;
          enables = '0;
        end
      end
    endtask

    // Sends a request when a tag is free, and waits for its end. It ends at once where no tag can become free, and where the link has stopped.
    task perform(input sp_message message, input bit [51:0] address, output sp_cxl_mem_request request);
      bit [15:0] tag;
      request = new();
      request.address = {address[51:6], 6'd0};
      // One tag that becomes free may wake several who wait for it.
      do wait (free_tags.size() != 0 || open.num() == 0 || stopped); while (free_tags.size() == 0 && open.num() != 0 && !stopped);
      if (free_tags.size() == 0 || stopped) begin
        request.answer = SP_ANSWER_BROKEN;
        request.is_done = 1;
        return;
      end
      tag = free_tags.pop_front();
      request.tag = tag;
      message.set("address", 64'(request.address));
      message.set("tag", 64'(tag));
      if (message.has("ld_id")) message.set("ld_id", 64'(ld_id));
      open[tag] = request;
      link.send(message);
      wait (request.is_done);
    endtask

    protected function void done(sp_cxl_mem_request request, sp_answer_e answer, bit is_answered = 1);
      open.delete(request.tag);
      if (is_answered) free_tags.push_back(request.tag);
      else lost_tags[request.tag] = 1;
      request.answer = answer;
      request.is_done = 1;
    endfunction

    // Requests that are open end with SP_ANSWER_BROKEN.
    virtual function void reset();
      sp_cxl_mem_request lost[$];
      super.reset();
      foreach (open[tag]) lost.push_back(open[tag]);
      foreach (lost[n]) done(lost[n], SP_ANSWER_BROKEN);
      foreach (lost_tags[tag]) free_tags.push_back(tag);
      lost_tags.delete();
    endfunction

    virtual function void on_stop();
      sp_cxl_mem_request lost[$];
      foreach (open[tag]) lost.push_back(open[tag]);
      foreach (lost[n]) done(lost[n], SP_ANSWER_BROKEN, 0);
    endfunction

    virtual function void on_message(sp_message message);
      sp_cxl_mem_request request;
      bit [15:0] tag;
      tag = 16'(message.get("tag"));
      if (lost_tags.exists(tag)) begin
        lost_tags.delete(tag);
        free_tags.push_back(tag);
      end
      if (!open.exists(tag)) return; // the end has judged it
      request = open[tag];
      if (message.has_data) begin
        // A line may come as two halves of 32 bytes.
        if (message.is_half()) begin
          if (message.extra == 64'(SP_LOWER_HALF)) request.line[255:0] = message.data[255:0];
          else request.line[511:256] = message.data[511:256];
          request.has_half = !request.has_half;
          if (request.has_half) return;
        end else request.line = message.data;
        if (message.get("opcode") == 64'(scalepool_cxl68_pkg::DRS_OPCODE_MEM_DATA_NXM)) begin
          done(request, SP_ANSWER_NO_MEMORY);
          return;
        end
        if (message.get("poison") != 0) begin
          done(request, SP_ANSWER_POISON);
          return;
        end
      end
      done(request, SP_ANSWER_OK);
    endfunction

    virtual function void on_broken(sp_event_t e);
      bit [15:0] tag;
      tag = 16'(e.tag);
      if (e.tag < 0 || !open.exists(tag)) return;
      open[tag].broken = e;
      // Other data than was written, or an answer of the wrong kind, ends the request all the same.
      done(open[tag], SP_ANSWER_BROKEN, e.rule inside {"TXN-DAT-01", "TXN-DAT-02", "TXN-ANS-03"});
    endfunction
  endclass

  // A memory of CXL.mem of the kind HDM-H. It answers requests in their order, `latency` flit clocks behind each. Lines are 0 until
  // they are written; there is memory below `size_bytes`, everywhere if that is 0. For a device that is wrong on purpose, override
  // `answer_of`.
  class sp_cxl_mem_device extends sp_cxl_agent;
    bit [51:0] size_bytes;
    int unsigned latency;
    longint unsigned served; // requests
    bit [511:0] lines[bit [51:0]];
    bit poisoned[bit [51:0]];
    protected sp_message answers[$];
    protected longint unsigned due[$];

    function new(sp_link_end link_of, int unsigned latency_of = 0, bit [51:0] size_bytes_of = 0);
      super.new(link_of);
      latency = latency_of;
      size_bytes = size_bytes_of;
      served = 0;
    endfunction

    // Carries out a request and gives the message that answers it; null: none.
    virtual function sp_message answer_of(sp_message request);
      sp_message answer;
      bit [51:0] address;
      bit [511:0] mask;
      bit exists, is_read, has_code;
      address = {46'(request.get("address") >> 6), 6'd0};
      exists = size_bytes == 0 || address < size_bytes;
      is_read = !request.has_data && request.get("opcode") inside {
        64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_RD), 64'(scalepool_cxl68_pkg::M2S_REQ_OPCODE_MEM_RD_DATA)};
      if (is_read) answer = fresh("s2m_drs");
      else answer = fresh("s2m_ndr");
      answer.set("tag", request.get("tag"));
      answer.set("meta_field", 64'(scalepool_cxl68_pkg::META_FIELD_NO_OP));
      if (answer.has("ld_id")) answer.set("ld_id", request.get("ld_id"));
      if (answer.has("dpid")) answer.set("dpid", request.get("spid"));
      if (is_read) begin
        answer.set_line(!exists ? '1 : lines.exists(address) ? lines[address] : '0);
        // A host of 68B flits need not know MemDataNXM; there the bytes are poisoned where no memory is.
        has_code = link.family() != "cxl68";
        answer.set("opcode", 64'(!exists && has_code ? scalepool_cxl68_pkg::DRS_OPCODE_MEM_DATA_NXM
                                                     : scalepool_cxl68_pkg::DRS_OPCODE_MEM_DATA));
        answer.set("poison", 64'(exists ? poisoned.exists(address) : !has_code));
        return answer;
      end
      if (request.has_data && exists) begin
        for (int n = 0; n < 64; n++) mask[8*n +: 8] = {8{!request.has_enables || request.enables[n]}};
        lines[address] = (request.data & mask) | (lines.exists(address) ? lines[address] & ~mask : '0);
        if (request.get("poison") != 0) poisoned[address] = 1;
        else if (&mask) poisoned.delete(address);
      end
      answer.set("opcode", 64'(scalepool_cxl68_pkg::NDR_OPCODE_CMP));
      return answer;
    endfunction

    // Memory keeps its bytes; answers that wait are lost.
    virtual function void reset();
      super.reset();
      answers.delete();
      due.delete();
    endfunction

    virtual function void on_message(sp_message message);
      sp_message answer;
      served++;
      answer = answer_of(message);
      if (answer == null) return;
      answers.push_back(answer);
      due.push_back(clock + 64'(latency));
    endfunction

    virtual function void on_step();
      super.on_step();
      while (due.size() != 0 && due[0] <= clock) begin
        void'(due.pop_front());
        link.send(answers.pop_front());
      end
    endfunction
  endclass
