
  // A request of UALink, NVLink or CXL.io.
  class sp_open_request;
    bit [13:0] tag;
    bit [63:0] address; // the first byte that is meant
    bit is_done;
    sp_answer_e answer;
    sp_event_t broken; // if the answer is SP_ANSWER_BROKEN and a rule says why
    bit is_poisoned;
    bit [3:0] status; // of CXL.io, a cpl_status_e
    bit [2047:0] data; // of UALink by beats from the first one on, of NVLink by bytes
    byte unsigned bytes[$]; // of CXL.io, in the order in which they came
    int unsigned owed; // bytes of CXL.io that are still to come
  endclass

  // What the memories behind ends of UALink and NVLink have in common. Requests are answered in their order, `latency` flit clocks behind each.
  // Lines of 64 bytes are 0 until they are written; there is memory below `size_bytes`, everywhere if that is 0. For a completer that is wrong
  // on purpose, override `answers_of`.
  virtual class sp_completer extends sp_cxl_agent;
    bit [63:0] size_bytes;
    int unsigned latency;
    longint unsigned served; // requests
    bit [511:0] lines[bit [57:0]]; // by their numbers
    bit poisoned[bit [57:0]];
    protected sp_message answers[$];
    protected longint unsigned due[$];

    function new(sp_link_end link_of, int unsigned latency_of, bit [63:0] size_bytes_of);
      super.new(link_of);
      latency = latency_of;
      size_bytes = size_bytes_of;
      served = 0;
    endfunction

    // Carries out a request and adds the messages that answer it.
    pure virtual function void answers_of(sp_message request, ref sp_message found[$]);

    // Whether there is memory from one byte up to another one, the last one included.
    protected function bit exists(bit [63:0] first, bit [63:0] last);
      return size_bytes == 0 || (first < size_bytes && last < size_bytes);
    endfunction

    protected function bit [511:0] line_of(bit [57:0] number);
      return lines.exists(number) ? lines[number] : '0;
    endfunction

    protected function void put_line(bit [57:0] number, bit [511:0] data, bit [63:0] enables, bit poison);
      bit [511:0] mask;
      if (enables == 0) return;
      for (int n = 0; n < 64; n++) mask[8*n +: 8] = {8{enables[n]}};
      lines[number] = (data & mask) | (line_of(number) & ~mask);
      if (poison) poisoned[number] = 1;
      else if (&enables) poisoned.delete(number);
    endfunction

    // Memory keeps its bytes; answers that wait are lost.
    virtual function void forget();
      answers.delete();
      due.delete();
    endfunction

    virtual function void reset();
      super.reset();
      forget();
    endfunction

    virtual function void on_message(sp_message message);
      sp_message found[$];
      served++;
      answers_of(message, found);
      foreach (found[n]) begin
        answers.push_back(found[n]);
        due.push_back(clock + 64'(latency));
      end
    endfunction

    // Sends the answers whose time has come.
    function void serve();
      while (due.size() != 0 && due[0] <= clock) begin
        void'(due.pop_front());
        link.send(answers.pop_front());
      end
    endfunction

    virtual function void on_step();
      super.on_step();
      serve();
    endfunction
  endclass

  // What requesters of UALink, NVLink and CXL.io have in common: tags, and calls that wait. Whoever steps the link end calls `on_step` behind
  // each step. Make the end with the transactions of its protocol, so that a wrong answer ends its request with SP_ANSWER_BROKEN, and with
  // `answer_flits`, so that one that does not come does.
  virtual class sp_requester extends sp_cxl_agent;
    sp_completer beside; // of the same end: takes what is no answer
    protected bit [13:0] free_tags[$];
    protected bit lost_tags[bit [13:0]]; // of requests that have ended here and may still be answered
    protected sp_open_request open[bit [13:0]];
    protected bit was_up;

    // `outstanding` is the highest number of requests that are open at a time; each has its own tag.
    function new(sp_link_end link_of, int unsigned outstanding);
      super.new(link_of);
      was_up = 0;
      for (int unsigned n = 0; n < outstanding; n++) free_tags.push_back(14'(n));
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
        text = {text, $sformatf("0x%0h (0x%0h)", tag, open[tag].address)};
      end
      return text;
    endfunction

    pure virtual protected function void put_tag(sp_message message, bit [13:0] tag);

    // An answer that is one of this requester: its tag. Returns 0 for a message that is none.
    pure virtual protected function bit tag_of(sp_message message, output bit [13:0] tag);

    // Takes an answer to an open request, and ends it with `done` if it is the last one.
    pure virtual protected function void answered(sp_open_request request, sp_message message);

    // Whether no other answer to the request of this one follows.
    protected virtual function bit is_last(sp_message message);
      return 1;
    endfunction

    // Queues a message. A class whose end may have no room for it waits.
    protected virtual function void queue(sp_message message);
      link.send(message);
    endfunction

    // Sends a request when a tag is free, and waits for its end. It ends at once where no tag can become free, and where the link has stopped.
    protected task perform(input sp_message message, input sp_open_request request);
      // One tag that becomes free may wake several who wait for it.
      do wait (free_tags.size() != 0 || open.num() == 0 || stopped); while (free_tags.size() == 0 && open.num() != 0 && !stopped);
      if (free_tags.size() == 0 || stopped) begin
        request.answer = SP_ANSWER_BROKEN;
        request.is_done = 1;
        return;
      end
      request.tag = free_tags.pop_front();
      put_tag(message, request.tag);
      open[request.tag] = request;
      queue(message);
      wait (request.is_done);
    endtask

    protected function void done(sp_open_request request, sp_answer_e answer, bit is_answered = 1);
      open.delete(request.tag);
      if (is_answered) free_tags.push_back(request.tag);
      else lost_tags[request.tag] = 1;
      request.answer = answer;
      request.is_done = 1;
    endfunction

    // Everything that is open ends with SP_ANSWER_BROKEN.
    protected virtual function void lose(bit is_answered);
      sp_open_request lost[$];
      foreach (open[tag]) lost.push_back(open[tag]);
      foreach (lost[n]) done(lost[n], SP_ANSWER_BROKEN, is_answered);
    endfunction

    protected function void free_lost();
      foreach (lost_tags[tag]) free_tags.push_back(tag);
      lost_tags.delete();
    endfunction

    virtual function void reset();
      super.reset();
      lose(1);
      free_lost();
      if (beside != null) beside.forget();
    endfunction

    virtual function void on_stop();
      lose(0);
    endfunction

    virtual function void on_step();
      super.on_step();
      // A link of UALink that goes down loses what was under way (ualink section 8).
      if (link.protocol == SP_PROTOCOL_UALINK) begin
        sp_state_t s;
        s = link.state();
        if (was_up && !s.up) begin
          lose(1);
          free_lost();
          if (beside != null) beside.forget();
        end
        was_up = s.up;
      end
      if (beside != null) begin
        beside.clock = clock;
        beside.serve();
      end
    endfunction

    virtual function void on_message(sp_message message);
      bit [13:0] tag;
      if (!tag_of(message, tag)) begin
        if (beside != null) beside.on_message(message);
        return;
      end
      if (lost_tags.exists(tag)) begin
        if (is_last(message)) begin
          lost_tags.delete(tag);
          free_tags.push_back(tag);
        end
        return;
      end
      if (open.exists(tag)) answered(open[tag], message); // else the end has judged it
    endfunction

    virtual function void on_broken(sp_event_t e);
      bit [13:0] tag;
      tag = 14'(e.tag);
      if (e.tag < 0 || !open.exists(tag)) return;
      open[tag].broken = e;
      // An answer of the wrong kind or with other data ends the request all the same; one that did not come may still come.
      done(open[tag], SP_ANSWER_BROKEN, e.rule.substr(0, 6) inside {"TXN-ANS", "TXN-DAT", "TXN-ORD"});
    endfunction
  endclass

  // An accelerator that reads and writes memory of others over an end of UALink with `transaction_layer`, a request for each block of 256
  // bytes that a range touches (ualink sections 10 and 12), one behind the other; several calls may be under way at a time. A status that is not
  // OKAY is SP_ANSWER_NO_MEMORY for a decode error, else SP_ANSWER_REFUSED. Left out: atomics, messages, commands of vendors.
  class sp_ualink_requester extends sp_requester;
    bit [9:0] accelerator; // its own number
    bit [1:0] vchan;

    function new(sp_link_end link_of, bit [9:0] accelerator_of, int unsigned outstanding = 64, bit [1:0] vchan_of = 0);
      super.new(link_of, outstanding);
      accelerator = accelerator_of;
      vchan = vchan_of;
    endfunction

    protected virtual function void put_tag(sp_message message, bit [13:0] tag);
      message.set("tag", 64'(tag));
    endfunction

    protected virtual function bit tag_of(sp_message message, output bit [13:0] tag);
      ualink_tl_rsp response;
      if (!$cast(response, message)) return 0;
      tag = 14'(response.fields.tag);
      return 1;
    endfunction

    protected virtual function bit is_last(sp_message message);
      ualink_tl_rsp response;
      return $cast(response, message) && (response.fields.rdwr == scalepool_ualink_pkg::RD_WR_WRITE || response.fields.last);
    endfunction

    protected virtual function void answered(sp_open_request request, sp_message message);
      ualink_tl_rsp response;
      if (!$cast(response, message)) return;
      request.is_poisoned |= response.extra != 0;
      for (int n = 0; n < int'(response.beat_count); n++) begin
        int beat;
        beat = response.fields.len == 0 ? int'(response.fields.offset) : n;
        request.data[512*beat +: 512] = response.beats[n];
      end
      if (!is_last(message)) return;
      case (response.fields.status)
        scalepool_ualink_pkg::STATUS_OKAY: done(request, request.is_poisoned ? SP_ANSWER_POISON : SP_ANSWER_OK);
        scalepool_ualink_pkg::STATUS_DECODE_ERROR: done(request, SP_ANSWER_NO_MEMORY);
        default: done(request, SP_ANSWER_REFUSED);
      endcase
    endfunction

    // A request for `count` bytes of a block, of whole double words.
    protected function ualink_tl_req fresh_request(scalepool_ualink_pkg::req_cmd_e command, bit [9:0] destination, bit [56:0] address,
                                                   int unsigned count);
      ualink_tl_req request;
      bit [56:0] behind;
      request = new();
      behind = (address + 57'(count) + 57'd3) >> 2;
      request.fields.cmd = command;
      request.fields.src = accelerator;
      request.fields.dst = destination;
      request.fields.vchan = vchan;
      request.fields.address = address[56:2];
      request.fields.len = 6'(behind - 57'(address[56:2]) - 57'd1);
      return request;
    endfunction

    // Bytes that lie in one block, from byte 0 of `data` on.
    task read_part(input bit [9:0] destination, input bit [56:0] address, input int unsigned count, output bit [2047:0] data,
                   output sp_answer_e answer);
      ualink_tl_req message;
      sp_open_request request;
      bit [3:0] head, tail;
      bit [1:0] last;
      message = fresh_request(scalepool_ualink_pkg::REQ_CMD_READ, destination, address, count);
      // Bytes of the first and of the last double word that are wanted.
      last = 2'(address + 57'(count) - 57'd1);
      head = 4'hf << address[1:0];
      tail = 4'hf >> (2'd3 - last);
      message.fields.attr = message.fields.len != 0 ? {tail, head} : {4'hf, head & tail};
      request = new();
      request.address = 64'(address);
      perform(message, request);
      data = request.data >> (8 * address[5:0]);
      answer = request.answer;
    endtask

    // The same for a write: of byte n `enables` has bit n.
    task write_part(input bit [9:0] destination, input bit [56:0] address, input int unsigned count, input bit [2047:0] data,
                    input bit [255:0] enables, output sp_answer_e answer, input bit poison = 0);
      ualink_tl_req message;
      sp_open_request request;
      bit [255:0] chosen, all;
      bit [2047:0] shifted;
      bit whole;
      int unsigned beats;
      all = '1 >> (256 - count);
      chosen = enables & all;
      answer = SP_ANSWER_OK;
      if (chosen == 0) return;
      whole = chosen == all && address[1:0] == 0 && count % 4 == 0;
      message = fresh_request(whole ? scalepool_ualink_pkg::REQ_CMD_WRITE_FULL : scalepool_ualink_pkg::REQ_CMD_WRITE, destination, address, count);
      beats = (32'(address[5:0]) + count + 63) / 64;
      message.fields.numbeats = 2'(beats - 1);
      message.beat_count = beats;
      shifted = data << (8 * address[5:0]);
      for (int n = 0; n < int'(beats); n++) message.beats[n] = shifted[512*n +: 512];
      message.has_enables = !whole;
      message.block_enables = chosen << address[7:0];
      if (poison) message.extra = (64'd1 << beats) - 64'd1;
      request = new();
      request.address = 64'(address);
      perform(message, request);
      answer = request.answer;
    endtask

    // Bytes from an address on. `answer` is that of the first block that did not succeed.
    task read(input bit [9:0] destination, input bit [56:0] address, ref byte unsigned bytes[], output sp_answer_e answer);
      int at, count;
      bit [2047:0] part;
      answer = SP_ANSWER_OK;
      at = 0;
      while (at < bytes.size() && answer == SP_ANSWER_OK) begin
        count = sp_bytes::in_block(64'(address) + 64'(at), bytes.size() - at, 256);
        read_part(destination, address + 57'(at), 32'(count), part, answer);
        for (int n = 0; n < count; n++) bytes[at + n] = part[8*n +: 8];
        at += count;
      end
    endtask

    // It returns when the bytes are visible.
    task write(input bit [9:0] destination, input bit [56:0] address, ref byte unsigned bytes[], output sp_answer_e answer,
               input bit poison = 0);
      int at, count;
      bit [2047:0] part;
      answer = SP_ANSWER_OK;
      at = 0;
      while (at < bytes.size() && answer == SP_ANSWER_OK) begin
        count = sp_bytes::in_block(64'(address) + 64'(at), bytes.size() - at, 256);
        part = '0;
        for (int n = 0; n < count; n++) part[8*n +: 8] = bytes[at + n];
        write_part(destination, address + 57'(at), 32'(count), part, '1, answer, poison);
        at += count;
      end
    endtask
  endclass

  // The memory of an accelerator on an end of UALink with `transaction_layer`. Requests to other accelerators, and those where no memory is, get
  // a decode error; atomics, messages and commands of vendors a target abort.
  class sp_ualink_completer extends sp_completer;
    bit [9:0] accelerator; // its own number
    bit single_beats; // each beat of a read comes in a response of its own

    function new(sp_link_end link_of, bit [9:0] accelerator_of, int unsigned latency_of = 0, bit [63:0] size_bytes_of = 0);
      super.new(link_of, latency_of, size_bytes_of);
      accelerator = accelerator_of;
      single_beats = 0;
    endfunction

    protected function ualink_tl_rsp fresh_response(ualink_tl_req request, scalepool_ualink_pkg::rd_wr_e kind, bit [3:0] status);
      ualink_tl_rsp response;
      response = new();
      response.fields.tag = request.fields.tag;
      response.fields.dst = request.fields.src;
      response.fields.src = request.fields.dst;
      response.fields.vchan = request.fields.vchan;
      response.fields.rdwr = kind;
      response.fields.status = status;
      return response;
    endfunction

    // The responses of a read of `beats` beats from a line on.
    protected function void add_beats(ualink_tl_req request, bit [57:0] line, int unsigned beats, bit [3:0] status, bit is_there,
                                      ref sp_message found[$]);
      ualink_tl_rsp response;
      for (int n = 0; n < int'(beats); n++) begin
        bit [511:0] data;
        bit poison;
        data = is_there ? line_of(line + 58'(n)) : '0;
        poison = is_there && poisoned.exists(line + 58'(n));
        if (single_beats || n == 0) begin
          response = fresh_response(request, scalepool_ualink_pkg::RD_WR_READ, status);
          response.fields.len = single_beats ? '0 : 2'(beats - 1);
          response.fields.offset = single_beats ? 2'(n) : '0;
          response.fields.last = !single_beats || n == int'(beats) - 1;
          response.beat_count = single_beats ? 1 : beats;
          found.push_back(response);
        end
        response.beats[single_beats ? 0 : n] = data;
        response.extra[single_beats ? 0 : n] = poison;
      end
    endfunction

    virtual function void answers_of(sp_message request, ref sp_message found[$]);
      ualink_tl_req asked;
      bit [63:0] first, last;
      bit [57:0] line;
      bit [255:0] inside_block, enables;
      int unsigned beats;
      bit is_there;
      bit [3:0] status;
      if (!$cast(asked, request)) return;
      first = {7'd0, asked.fields.address, 2'd0};
      last = first + 64'({asked.fields.len, 2'd3});
      line = first[63:6];
      beats = 32'(last[63:6] - line) + 1;
      is_there = asked.fields.dst == accelerator && exists(first, last);
      status = 4'(is_there ? scalepool_ualink_pkg::STATUS_OKAY : scalepool_ualink_pkg::STATUS_DECODE_ERROR);
      case (asked.fields.cmd)
        scalepool_ualink_pkg::REQ_CMD_READ: add_beats(asked, line, beats, status, is_there, found);
        scalepool_ualink_pkg::REQ_CMD_WRITE, scalepool_ualink_pkg::REQ_CMD_WRITE_FULL: begin
          inside_block = ('1 >> (255 - (last - first))) << first[7:0];
          enables = asked.has_enables ? inside_block & asked.block_enables : inside_block;
          if (is_there)
            for (int n = 0; n < int'(asked.beat_count); n++)
              put_line(line + 58'(n), asked.beats[n], enables[64*((int'(first[7:6]) + n) % 4) +: 64], asked.extra[n]);
          found.push_back(fresh_response(asked, scalepool_ualink_pkg::RD_WR_WRITE, status));
        end
        scalepool_ualink_pkg::REQ_CMD_ATOMIC_R:
          add_beats(asked, line, 1, 4'(scalepool_ualink_pkg::STATUS_TARGET_ABORT), 0, found);
        default:
          found.push_back(fresh_response(asked, scalepool_ualink_pkg::RD_WR_WRITE, 4'(scalepool_ualink_pkg::STATUS_TARGET_ABORT)));
      endcase
    endfunction
  endclass

  // A requester of NVLink: a request for each 256 bytes that a range touches, rounded outwards to 16, or for each 128 where bytes are left
  // out (nvlink sections 1 and 6.1), one behind the other. RSP_ERROR is SP_ANSWER_NO_MEMORY where no memory is, else SP_ANSWER_REFUSED. Left out:
  // atomics, reductions and multicast.
  class sp_nvlink_requester extends sp_requester;
    bit [8:0] requester; // its own number, 0 to 510
    int unsigned most_posted; // posted writes that may wait for the link
    // Posted writes by target, address bits 63:36: all, and those that the last FLUSH covers. Their tags count them, and FLUSH states in address
    // bits 35:4 how many there were, so that it waits for those behind it in another channel (bridge section 6).
    protected bit [31:0] posted_to[bit [27:0]];
    protected bit [31:0] flushed_to[bit [27:0]];

    function new(sp_link_end link_of, bit [8:0] requester_of, int unsigned outstanding = 64);
      super.new(link_of, outstanding);
      requester = requester_of;
      most_posted = outstanding;
    endfunction

    protected virtual function void put_tag(sp_message message, bit [13:0] tag);
      message.set("tag", 64'(tag));
    endfunction

    protected virtual function bit tag_of(sp_message message, output bit [13:0] tag);
      nvlink_message response;
      if (!$cast(response, message)) return 0;
      tag = 14'(response.header.tag);
      return response.header.op inside {scalepool_nvlink_pkg::OP_RSP_DATA, scalepool_nvlink_pkg::OP_RSP_DONE,
                                        scalepool_nvlink_pkg::OP_RSP_ERROR};
    endfunction

    protected virtual function void answered(sp_open_request request, sp_message message);
      nvlink_message response;
      if (!$cast(response, message)) return;
      request.data = response.payload;
      if (response.header.op == scalepool_nvlink_pkg::OP_RSP_ERROR)
        done(request, response.header.size == SP_NVLINK_NO_MEMORY ? SP_ANSWER_NO_MEMORY : SP_ANSWER_REFUSED);
      else done(request, response.header.ep ? SP_ANSWER_POISON : SP_ANSWER_OK);
    endfunction

    // A request from a unit of 16 bytes on.
    protected function nvlink_message fresh_request(scalepool_nvlink_pkg::op_e op, bit [63:0] address, int unsigned units);
      nvlink_message message;
      message = new();
      message.header.op = op;
      message.header.vc = op == scalepool_nvlink_pkg::OP_WRITE_POSTED ? scalepool_nvlink_pkg::VC_CREQ1 : scalepool_nvlink_pkg::VC_CREQ0;
      message.header.rid = requester;
      message.header.address = address[37:4];
      message.ae.address = address[63:38];
      message.header.size = 4'(units - 1);
      return message;
    endfunction

    // Bytes from an address on. `answer` is that of the first request that did not succeed.
    task read(input bit [63:0] address, ref byte unsigned bytes[], output sp_answer_e answer);
      int at, count, skip;
      answer = SP_ANSWER_OK;
      at = 0;
      while (at < bytes.size() && answer == SP_ANSWER_OK) begin
        sp_open_request request;
        bit [63:0] first;
        first = address + 64'(at);
        count = sp_bytes::in_block(first, bytes.size() - at, 256);
        skip = int'(first[3:0]);
        request = new();
        request.address = first;
        perform(fresh_request(scalepool_nvlink_pkg::OP_READ, first, 32'((skip + count + 15) / 16)), request);
        answer = request.answer;
        for (int n = 0; n < count; n++) bytes[at + n] = request.data[8*(skip + n) +: 8];
        at += count;
      end
    endtask

    // It returns when the bytes are visible, or of a posted write when it is queued; `flush` waits for those.
    task write(input bit [63:0] address, ref byte unsigned bytes[], output sp_answer_e answer, input bit posted = 0, input bit poison = 0);
      int at, count;
      answer = SP_ANSWER_OK;
      at = 0;
      while (at < bytes.size() && answer == SP_ANSWER_OK) begin
        bit [63:0] first;
        bit is_whole;
        first = address + 64'(at);
        count = sp_bytes::in_block(first, bytes.size() - at, 256);
        is_whole = first[3:0] == 0 && count % 16 == 0;
        if (!is_whole) count = sp_bytes::in_block(first, bytes.size() - at, 128);
        write_part(bytes, at, count, first, posted, poison, answer);
        at += count;
      end
    endtask

    // Waits until the posted writes of this requester are visible.
    task flush(output sp_answer_e answer);
      bit [27:0] targets[$];
      answer = SP_ANSWER_OK;
      foreach (posted_to[target]) if (!flushed_to.exists(target) || flushed_to[target] != posted_to[target]) targets.push_back(target);
      foreach (targets[n]) begin
        sp_open_request request;
        request = new();
        flushed_to[targets[n]] = posted_to[targets[n]];
        perform(fresh_request(scalepool_nvlink_pkg::OP_FLUSH, {targets[n], posted_to[targets[n]], 4'd0}, 1), request);
        if (answer == SP_ANSWER_OK) answer = request.answer;
      end
    endtask

    // What was posted counts for the other end until both begin anew.
    virtual function void reset();
      super.reset();
      posted_to.delete();
      flushed_to.delete();
    endfunction

    // Waits until at most so many posted writes wait for the link.
    protected task until_posted(input int unsigned most);
      while (!stopped && link.health("messages_waiting", "creq1") > 64'(most)) begin
        longint unsigned asked_at;
        asked_at = clock;
        wait (clock != asked_at || stopped);
      end
    endtask

    // `count` bytes from number `at` on.
    protected task write_part(ref byte unsigned bytes[], input int at, input int count, input bit [63:0] first, input bit posted,
                              input bit poison, output sp_answer_e answer);
      nvlink_message message;
      int skip, units;
      skip = int'(first[3:0]);
      units = (skip + count + 15) / 16;
      message = fresh_request(posted ? scalepool_nvlink_pkg::OP_WRITE_POSTED : scalepool_nvlink_pkg::OP_WRITE_NONPOSTED, first, 32'(units));
      message.header.ep = poison;
      message.payload_bytes = 32'(16 * units);
      for (int n = 0; n < count; n++) message.payload[8*(skip + n) +: 8] = bytes[at + n];
      message.has_enables = skip + count != 16 * units || skip != 0;
      if (message.has_enables) for (int n = 0; n < count; n++) message.payload_enables[skip + n] = 1;
      answer = SP_ANSWER_OK;
      if (posted) begin
        until_posted(most_posted - 1);
        if (stopped) answer = SP_ANSWER_BROKEN;
        else begin
          message.header.tag = 10'(posted_to[first[63:36]]);
          posted_to[first[63:36]] = posted_to[first[63:36]] + 1;
          link.send(message);
        end
      end else begin
        sp_open_request request;
        request = new();
        request.address = first;
        perform(message, request);
        answer = request.answer;
      end
    endtask
  endclass

  // The memory of a GPU on an end of NVLink. Atomics and reductions that have an answer get an error. FLUSH is answered when as many posted
  // requests of its requester have come as it states.
  class sp_nvlink_completer extends sp_completer;
    protected bit [31:0] came_from[bit [8:0]]; // posted requests
    protected nvlink_message flushes[$]; // that wait for some

    function new(sp_link_end link_of, int unsigned latency_of = 0, bit [63:0] size_bytes_of = 0);
      super.new(link_of, latency_of, size_bytes_of);
    endfunction

    protected function nvlink_message fresh_response(nvlink_message request, scalepool_nvlink_pkg::op_e op, bit [3:0] size = 0);
      nvlink_message response;
      response = new();
      response.header.op = op;
      response.header.vc = scalepool_nvlink_pkg::VC_RSP0;
      response.header.tag = request.header.tag;
      response.header.rid = request.header.rid;
      response.header.size = size;
      return response;
    endfunction

    virtual function void answers_of(sp_message request, ref sp_message found[$]);
      nvlink_message asked, response;
      bit [63:0] first, at;
      int unsigned count;
      bit is_there;
      if (!$cast(asked, request)) return;
      first = {asked.ae.address, asked.header.address, 4'd0};
      // The link says of data how much there is.
      count = asked.payload_bytes != 0 ? asked.payload_bytes : 16 * (32'(asked.header.size) + 1);
      is_there = exists(first, first + 64'(count) - 64'd1);
      case (asked.header.op)
        scalepool_nvlink_pkg::OP_READ: begin
          if (!is_there) begin
            found.push_back(fresh_response(asked, scalepool_nvlink_pkg::OP_RSP_ERROR, SP_NVLINK_NO_MEMORY));
            return;
          end
          response = fresh_response(asked, scalepool_nvlink_pkg::OP_RSP_DATA, asked.header.size);
          response.payload_bytes = count;
          for (int n = 0; n < int'(count); n++) begin
            at = first + 64'(n);
            response.payload[8*n +: 8] = 8'(line_of(at[63:6]) >> (8 * at[5:0]));
            response.header.ep |= poisoned.exists(at[63:6]);
          end
          found.push_back(response);
        end
        scalepool_nvlink_pkg::OP_WRITE_POSTED, scalepool_nvlink_pkg::OP_WRITE_NONPOSTED: begin
          if (is_there) put_bytes(asked, first, count);
          if (asked.header.op == scalepool_nvlink_pkg::OP_WRITE_POSTED) begin
            has_come(asked.header.rid, found);
            return;
          end
          if (is_there) found.push_back(fresh_response(asked, scalepool_nvlink_pkg::OP_RSP_DONE));
          else found.push_back(fresh_response(asked, scalepool_nvlink_pkg::OP_RSP_ERROR, SP_NVLINK_NO_MEMORY));
        end
        scalepool_nvlink_pkg::OP_FLUSH: begin
          flushes.push_back(asked);
          answer_flushes(found);
        end
        scalepool_nvlink_pkg::OP_ATOMIC_POSTED: has_come(asked.header.rid, found);
        scalepool_nvlink_pkg::OP_ATOMIC_RETURN, scalepool_nvlink_pkg::OP_REDUCE_READ:
          found.push_back(fresh_response(asked, scalepool_nvlink_pkg::OP_RSP_ERROR, SP_NVLINK_ABORTED));
        default: ;
      endcase
    endfunction

    // A posted request of a requester, for which a FLUSH may wait.
    protected function void has_come(bit [8:0] rid, ref sp_message found[$]);
      came_from[rid] = came_from[rid] + 1;
      answer_flushes(found);
    endfunction

    protected function void answer_flushes(ref sp_message found[$]);
      nvlink_message waiting[$];
      foreach (flushes[n]) begin
        if (came_from[flushes[n].header.rid] < flushes[n].header.address[31:0]) waiting.push_back(flushes[n]);
        else found.push_back(fresh_response(flushes[n], scalepool_nvlink_pkg::OP_RSP_DONE));
      end
      flushes = waiting;
    endfunction

    virtual function void forget();
      super.forget();
      flushes.delete();
      came_from.delete();
    endfunction

    // Line by line.
    protected function void put_bytes(nvlink_message asked, bit [63:0] first, int unsigned count);
      int n;
      n = 0;
      while (n < int'(count)) begin
        bit [511:0] data;
        bit [63:0] enables, at;
        bit [57:0] line;
        at = first + 64'(n);
        line = at[63:6];
        data = '0;
        enables = '0;
        while (n < int'(count) && at[63:6] == line) begin
          data[8*at[5:0] +: 8] = asked.payload[8*n +: 8];
          enables[at[5:0]] = !asked.has_enables || asked.payload_enables[n % 128];
          n++;
          at = first + 64'(n);
        end
        put_line(line, data, enables, asked.header.ep);
      end
    endfunction
  endclass
