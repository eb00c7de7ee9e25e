
  // TLPs of flit mode for one requester (cxl-io section 3). Addresses below 4 GiB have 32 bits in a TLP, others 64.
  class sp_io_tlps;
    // A request to a double word of configuration space.
    static function cxlio_tlp of_config(bit is_write, bit [15:0] requester, bit [13:0] tag, bit [15:0] target, bit [9:0] register_dw,
                                        bit [3:0] enables, bit [31:0] data);
      cxlio_tlp tlp;
      scalepool_cxlio_pkg::fm_cfg_t head;
      scalepool_cxlio_pkg::ohc_a3_t content;
      tlp = new();
      head = '0;
      head.tlp_type = is_write ? scalepool_cxlio_pkg::FM_TYPE_CFG_WR0 : scalepool_cxlio_pkg::FM_TYPE_CFG_RD0;
      head.ohc = 1;
      head.length = 1;
      head.requester = requester;
      head.tag = tag;
      head.completer = target;
      head.reg_dw = register_dw;
      content = '0;
      content.first_be = enables;
      tlp.add(128'(head), 12);
      tlp.add(128'(content), 4);
      if (is_write) tlp.add_data(512'(data), 4);
      return tlp;
    endfunction

    // A request to `words` double words of memory, with the byte enables of the first and the last one. The data of a write is still to be
    // added.
    static function cxlio_tlp of_memory(bit is_write, bit [15:0] requester, bit [13:0] tag, bit [63:0] address, int unsigned words,
                                        bit [3:0] first_be, bit [3:0] last_be);
      cxlio_tlp tlp;
      scalepool_cxlio_pkg::fm_mem64_t head;
      scalepool_cxlio_pkg::fm_mem32_t short_head;
      scalepool_cxlio_pkg::ohc_a1_t content;
      bit whole;
      tlp = new();
      whole = &first_be && (words == 1 || &last_be);
      head = '0;
      head.tlp_type = is_write ? scalepool_cxlio_pkg::FM_TYPE_M_WR64 : scalepool_cxlio_pkg::FM_TYPE_M_RD64;
      head.ohc = 5'(!whole);
      head.length = 10'(words);
      head.requester = requester;
      head.tag = tag;
      head.address = address[63:2];
      short_head = '0;
      short_head.tlp_type = is_write ? scalepool_cxlio_pkg::FM_TYPE_M_WR32 : scalepool_cxlio_pkg::FM_TYPE_M_RD32;
      short_head.ohc = head.ohc;
      short_head.length = head.length;
      short_head.requester = requester;
      short_head.tag = tag;
      short_head.address = address[31:2];
      if (address + 64'(4 * words) - 64'd1 < 64'h1_0000_0000) tlp.add(128'(short_head), 12);
      else tlp.add(128'(head), 16);
      content = '0;
      content.first_be = first_be;
      content.last_be = words == 1 ? '0 : last_be;
      if (!whole) tlp.add(128'(content), 4);
      return tlp;
    endfunction

    // Whether it is a completion, and what it says.
    static function bit is_completion(sp_message message, output scalepool_cxlio_pkg::fm_cpl_t head, output bit [2:0] status,
                                      output int unsigned data_at);
      cxlio_tlp tlp;
      scalepool_cxlio_pkg::ohc_a5_t content;
      if (!$cast(tlp, message)) return 0;
      head = scalepool_cxlio_pkg::fm_cpl_t'(tlp.number(0, 12));
      content = head.ohc[0] ? scalepool_cxlio_pkg::ohc_a5_t'(tlp.number(12, 4)) : '0;
      status = content.status;
      data_at = head.ohc[0] ? 16 : 12;
      return head.tlp_type inside {scalepool_cxlio_pkg::FM_TYPE_CPL, scalepool_cxlio_pkg::FM_TYPE_CPL_D};
    endfunction
  endclass

  // The memory behind a BAR, where the root has put it.
  typedef struct {
    int unsigned bar;
    bit [63:0] address;
    bit [63:0] size_bytes;
    bit is_64_bit;
    bit is_prefetchable;
  } sp_io_region_t;

  // A designated vendor-specific capability (cxl-io section 4), and where it begins in configuration space.
  typedef struct {
    bit [15:0] vendor;
    bit [15:0] id;
    bit [3:0] revision;
    bit [11:0] offset;
    bit [11:0] size_bytes;
  } sp_io_dvsec_t;

  // A function that enumeration has found.
  class sp_io_function;
    bit [15:0] id; // bus, device and function, as TLPs have it
    bit [15:0] vendor;
    bit [15:0] device;
    bit [23:0] class_code;
    sp_io_region_t regions[$];
    sp_io_dvsec_t dvsecs[$];
  endclass

  // A root complex of CXL.io on an end of SP_PROTOCOL_CXL_IO: configuration space, memory behind BARs, enumeration of the functions of the device
  // below the root port. A completion with UR is SP_ANSWER_NO_MEMORY, one with CRS or CA SP_ANSWER_REFUSED. Left out: messages, which are
  // counted and dropped, I/O space, atomics, bridges.
  class sp_cxl_io_root extends sp_requester;
    bit [15:0] requester; // bus, device and function of the root port
    bit [7:0] bus; // the one below it
    bit [63:0] next_region; // where the next BAR is placed
    longint unsigned messages;
    protected sp_message unsent[$]; // for which the end has had no room

    function new(sp_link_end link_of, int unsigned outstanding = 32, bit [15:0] requester_of = 0, bit [7:0] bus_of = 1,
                 bit [63:0] mmio = 64'h8000_0000);
      super.new(link_of, outstanding);
      requester = requester_of;
      bus = bus_of;
      next_region = mmio;
      messages = 0;
    endfunction

    protected virtual function void put_tag(sp_message message, bit [13:0] tag);
      cxlio_tlp tlp;
      scalepool_cxlio_pkg::fm_cfg_t head;
      if (!$cast(tlp, message)) return;
      // The tag stands in the same place of each request of flit mode.
      head = scalepool_cxlio_pkg::fm_cfg_t'(tlp.number(0, 12));
      head.tag = tag;
      for (int n = 0; n < 12; n++) tlp.tlp[n] = 8'(96'(head) >> (8 * (11 - n)));
    endfunction

    protected virtual function bit tag_of(sp_message message, output bit [13:0] tag);
      scalepool_cxlio_pkg::fm_cpl_t head;
      bit [2:0] status;
      int unsigned data_at;
      if (!sp_io_tlps::is_completion(message, head, status, data_at)) begin
        messages++;
        return 0;
      end
      tag = head.tag;
      return 1;
    endfunction

    // Of a request that has ended here: of memory the completion that brings the last bytes.
    protected virtual function bit is_last(sp_message message);
      scalepool_cxlio_pkg::fm_cpl_t head;
      bit [2:0] status;
      int unsigned data_at;
      void'(sp_io_tlps::is_completion(message, head, status, data_at));
      return head.tlp_type == scalepool_cxlio_pkg::FM_TYPE_CPL || 32'(head.byte_count) <= 4 * 32'(head.length);
    endfunction

    protected virtual function void answered(sp_open_request request, sp_message message);
      cxlio_tlp tlp;
      scalepool_cxlio_pkg::fm_cpl_t head;
      bit [2:0] status;
      int unsigned data_at, count;
      if (!sp_io_tlps::is_completion(message, head, status, data_at) || !$cast(tlp, message)) return;
      request.status = 4'(status);
      request.is_poisoned |= head.ep;
      if (status != 3'(scalepool_cxlio_pkg::CPL_STATUS_SC)) begin
        done(request, status == 3'(scalepool_cxlio_pkg::CPL_STATUS_UR) ? SP_ANSWER_NO_MEMORY : SP_ANSWER_REFUSED);
        return;
      end
      count = head.tlp_type == scalepool_cxlio_pkg::FM_TYPE_CPL_D ? 4 * 32'(head.length) : 0;
      for (int n = 0; n < int'(count); n++) begin
        byte unsigned one;
        one = 8'(tlp.number(data_at + 32'(n), 1));
        request.bytes.push_back(one);
      end
      request.owed = count >= request.owed ? 0 : request.owed - count;
      if (request.owed == 0) done(request, request.is_poisoned ? SP_ANSWER_POISON : SP_ANSWER_OK);
    endfunction

    // TLPs wait for room in their order.
    protected virtual function void queue(sp_message message);
      unsent.push_back(message);
      drain();
    endfunction

    protected function void drain();
      int status;
      while (unsent.size() != 0) begin
        status = link.offer(unsent[0]);
        if (status == SP_ERR_RANGE) return;
        if (status != SP_OK) link.refused({unsent[0].convert2string(), ": ", sp_library::why()});
        void'(unsent.pop_front());
      end
    endfunction

    virtual function void on_step();
      super.on_step();
      drain();
    endfunction

    protected virtual function void lose(bit is_answered);
      super.lose(is_answered);
      unsent.delete();
    endfunction

    // A double word of configuration space; `register_at` is its first byte, 0 to 4092, `enables` has bit n for byte n of it.
    task config_read(input bit [15:0] target, input bit [11:0] register_at, output bit [31:0] data, output sp_answer_e answer,
                     input bit [3:0] enables = '1);
      sp_open_request request;
      request = new();
      read_register(target, register_at, enables, request);
      data = dword_of(request);
      answer = request.answer;
    endtask

    // It returns when the bytes are written.
    task config_write(input bit [15:0] target, input bit [11:0] register_at, input bit [31:0] data, output sp_answer_e answer,
                      input bit [3:0] enables = '1);
      sp_open_request request;
      request = new();
      request.address = 64'(register_at);
      perform(sp_io_tlps::of_config(1, requester, '0, target, register_at[11:2], enables, data), request);
      answer = request.answer;
    endtask

    // Bytes of memory from an address on, at most 512 for each request.
    task read(input bit [63:0] address, ref byte unsigned bytes[], output sp_answer_e answer);
      int at, count, skip, words;
      bit [63:0] first;
      answer = SP_ANSWER_OK;
      at = 0;
      while (at < bytes.size() && answer == SP_ANSWER_OK) begin
        sp_open_request request;
        first = address + 64'(at);
        count = sp_bytes::in_block(first, bytes.size() - at, 512);
        skip = int'(first[1:0]);
        words = (skip + count + 3) / 4;
        request = new();
        request.address = first;
        request.owed = 32'(4 * words);
        perform(sp_io_tlps::of_memory(0, requester, '0, first, 32'(words), first_be(skip, count), last_be(skip, count)), request);
        answer = request.answer;
        for (int n = 0; n < count && skip + n < request.bytes.size(); n++) bytes[at + n] = request.bytes[skip + n];
        at += count;
      end
    endtask

    // The same for writes, at most 128 bytes for each. They are posted: it returns when they have left for the link end.
    task write(input bit [63:0] address, ref byte unsigned bytes[], output sp_answer_e answer);
      int at, count, skip, words;
      bit [63:0] first;
      at = 0;
      while (at < bytes.size() && !stopped) begin
        cxlio_tlp tlp;
        first = address + 64'(at);
        count = sp_bytes::in_block(first, bytes.size() - at, 128);
        skip = int'(first[1:0]);
        words = (skip + count + 3) / 4;
        tlp = sp_io_tlps::of_memory(1, requester, '0, first, 32'(words), first_be(skip, count), last_be(skip, count));
        for (int n = 0; n < 4 * words; n++) begin
          byte unsigned one;
          one = n >= skip && n < skip + count ? bytes[at + n - skip] : 8'd0;
          tlp.tlp.push_back(one);
        end
        queue(tlp);
        at += count;
        wait (unsent.size() == 0 || stopped);
      end
      answer = stopped ? SP_ANSWER_BROKEN : SP_ANSWER_OK;
    endtask

    // Finds the functions of the device below the root port, gives their BARs addresses, reads their capabilities, and lets them use memory.
    // `answer` is that of the first access that did not succeed; a function that is not there is none.
    task enumerate(ref sp_io_function found[$], output sp_answer_e answer);
      bit [31:0] data;
      bit has_others;
      has_others = 1;
      for (int number = 0; number < 8 && has_others; number++) begin
        sp_io_function one;
        bit is_there;
        one = new();
        one.id = {bus, 5'd0, 3'(number)};
        present(one, is_there, answer);
        if (answer != SP_ANSWER_OK || !is_there && number == 0) return;
        if (!is_there) continue;
        // The kind of header comes first: it says what the other registers are.
        config_read(one.id, 12'h0c, data, answer, 4'b0100);
        if (answer != SP_ANSWER_OK) return;
        if (number == 0) has_others = data[23];
        config_read(one.id, 12'h08, data, answer);
        if (answer != SP_ANSWER_OK) return;
        one.class_code = data[31:8];
        place_regions(one, answer);
        if (answer != SP_ANSWER_OK) return;
        read_dvsecs(one, answer);
        if (answer != SP_ANSWER_OK) return;
        // Memory space and bus master.
        config_read(one.id, 12'h04, data, answer, 4'b0011);
        if (answer != SP_ANSWER_OK) return;
        config_write(one.id, 12'h04, data | 32'd6, answer, 4'b0011);
        if (answer != SP_ANSWER_OK) return;
        found.push_back(one);
      end
    endtask

    protected task read_register(input bit [15:0] target, input bit [11:0] register_at, input bit [3:0] enables, input sp_open_request request);
      request.address = 64'(register_at);
      request.owed = 4;
      perform(sp_io_tlps::of_config(0, requester, '0, target, register_at[11:2], enables, '0), request);
    endtask

    protected function bit [31:0] dword_of(sp_open_request request);
      bit [31:0] data;
      data = '1; // as software sees a register that is not there
      foreach (request.bytes[n]) if (n < 4) data[8*n +: 8] = request.bytes[n];
      return data;
    endfunction

    // Vendor and device of a function, which may say for a while that it is not ready (CRS).
    protected task present(input sp_io_function one, output bit is_there, output sp_answer_e answer);
      sp_open_request request;
      bit [31:0] data;
      for (int tries = 0; tries < 1000; tries++) begin
        request = new();
        read_register(one.id, 12'h00, '1, request);
        if (request.answer != SP_ANSWER_REFUSED || request.status != 4'(scalepool_cxlio_pkg::CPL_STATUS_CRS)) break;
      end
      data = dword_of(request);
      one.vendor = data[15:0];
      one.device = data[31:16];
      is_there = request.answer == SP_ANSWER_OK && data[15:0] != '1;
      answer = request.answer == SP_ANSWER_NO_MEMORY ? SP_ANSWER_OK : request.answer;
    endtask

    // Sizes the BARs of a function and gives them addresses.
    protected task place_regions(input sp_io_function one, output sp_answer_e answer);
      int bar;
      bar = 0;
      answer = SP_ANSWER_OK;
      while (bar < 6) begin
        bit [31:0] low, high;
        bit [11:0] register_at;
        sp_io_region_t region;
        register_at = 12'(16 + 4 * bar);
        size_bar(one.id, register_at, low, answer);
        if (answer != SP_ANSWER_OK) return;
        high = '1;
        region.bar = 32'(bar);
        region.is_64_bit = low[2:0] == 3'd4;
        region.is_prefetchable = low[3];
        if (region.is_64_bit) begin
          size_bar(one.id, register_at + 12'd4, high, answer);
          if (answer != SP_ANSWER_OK) return;
        end
        bar += region.is_64_bit ? 2 : 1;
        // Bit 0 says I/O space; a BAR of zeros is none.
        if (low[0] || low[31:4] == 0 && (!region.is_64_bit || high == 0)) continue;
        region.size_bytes = -{high, low[31:4], 4'd0};
        region.address = (next_region + region.size_bytes - 64'd1) & -region.size_bytes;
        next_region = region.address + region.size_bytes;
        if (!region.is_64_bit && next_region > 64'h1_0000_0000)
          link.refused($sformatf("BAR %0d: found no room below 4 GiB for %0d bytes, expected a lower `mmio`", region.bar, region.size_bytes));
        config_write(one.id, register_at, region.address[31:0], answer);
        if (answer == SP_ANSWER_OK && region.is_64_bit) config_write(one.id, register_at + 12'd4, region.address[63:32], answer);
        if (answer != SP_ANSWER_OK) return;
        one.regions.push_back(region);
      end
    endtask

    // What a BAR keeps of ones.
    protected task size_bar(input bit [15:0] target, input bit [11:0] register_at, output bit [31:0] kept, output sp_answer_e answer);
      config_write(target, register_at, '1, answer);
      kept = '0;
      if (answer == SP_ANSWER_OK) config_read(target, register_at, kept, answer);
    endtask

    // Walks the extended capabilities (cxl-io section 4).
    protected task read_dvsecs(input sp_io_function one, output sp_answer_e answer);
      bit [31:0] head, first, second;
      bit seen[bit [11:0]];
      bit [11:0] at;
      at = 12'h100;
      answer = SP_ANSWER_OK;
      while (at >= 12'h100 && !seen.exists(at)) begin
        seen[at] = 1;
        config_read(one.id, at, head, answer);
        if (answer != SP_ANSWER_OK || head == 0 || &head) return;
        if (head[15:0] == 16'h0023) begin
          sp_io_dvsec_t dvsec;
          config_read(one.id, at + 12'd4, first, answer);
          if (answer == SP_ANSWER_OK) config_read(one.id, at + 12'd8, second, answer);
          if (answer != SP_ANSWER_OK) return;
          dvsec.vendor = first[15:0];
          dvsec.id = second[15:0];
          dvsec.revision = first[19:16];
          dvsec.offset = at;
          dvsec.size_bytes = first[31:20];
          one.dvsecs.push_back(dvsec);
        end
        at = head[31:20];
      end
    endtask

    // Byte enables of the first and the last double word of `count` bytes behind `skip`.
    protected function bit [3:0] first_be(int skip, int count);
      bit [3:0] enables;
      enables = 4'hf << skip;
      if (skip + count < 4) enables &= 4'hf >> (4 - skip - count);
      return enables;
    endfunction

    protected function bit [3:0] last_be(int skip, int count);
      return 4'hf >> ((4 - (skip + count) % 4) % 4);
    endfunction
  endclass
