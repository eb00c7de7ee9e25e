
  // State of a line in a caching device.
  typedef enum bit [1:0] { SP_LINE_I = 2'd0, SP_LINE_S = 2'd1, SP_LINE_E = 2'd2, SP_LINE_M = 2'd3 } sp_line_state_e;

  // A line of a caching device. Between a GO and its data it has the state that was granted, and no bytes.
  class sp_cached_line;
    sp_line_state_e state = SP_LINE_I;
    bit has_bytes = 0;
    bit [511:0] bytes = '0;
    bit is_busy = 0; // a call uses it
    bit [4:0] opcode = 0; // of the request that is open
    bit is_open = 0, has_go = 0, has_early = 0;
    bit [511:0] early = '0; // what a read brings, before the GO says what may be done with it
    bit owes = 0; // the line goes to the host when it is there
    bit [11:0] owed_uqid = 0;
    sp_answer_e answer = SP_ANSWER_OK;
    sp_event_t broken;
  endclass

  // What both ends of CXL.cache have in common. Make the ends with `transactions = SP_TRANSACTIONS_CXL_CACHE`, so that a wrong message is an event.
  virtual class sp_cxl_cache_agent extends sp_cxl_agent;
    function new(sp_link_end link);
      super.new(link);
    endfunction

    protected virtual function bit is_judged(string rule);
      return super.is_judged(rule) || rule.substr(0, 3) == "COH-";
    endfunction

    protected function sp_message data_message(string layout, bit [511:0] line);
      sp_message message;
      message = fresh(layout);
      message.set_line(line);
      return message;
    endfunction
  endclass

  // A caching device of CXL.cache: calls that read a line for sharing or for ownership, store into it, and give it up. Snoops are answered by
  // `on_step`, as the table of the sheet has it. One request is open at a time: callers take turns. A wrong answer ends a call with SP_ANSWER_BROKEN.
  class sp_cxl_cache_device extends sp_cxl_cache_agent;
    localparam bit [11:0] CQID = 0;
    longint unsigned snooped; // snoops that were answered
    sp_cached_line lines[bit [51:0]];
    protected bit is_busy;
    protected bit [51:0] asked; // address of the line whose request is open

    function new(sp_link_end link);
      super.new(link);
      snooped = 0;
      is_busy = 0;
      asked = '0;
    endfunction

    function sp_line_state_e state_of(bit [51:0] address);
      bit [51:0] at;
      at = {address[51:6], 6'd0};
      return lines.exists(at) ? lines[at].state : SP_LINE_I;
    endfunction

    // The line of an address, with a copy in S at least.
    task read_shared(input bit [51:0] address, output bit [511:0] line, output sp_answer_e answer);
      sp_cached_line of;
      take_turn(address, of);
      if (of.state == SP_LINE_I) ask(address, of, 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_SHARED));
      line = of.state == SP_LINE_I ? of.early : of.bytes;
      answer = of.answer;
      is_busy = 0;
    endtask

    // Stores a line: it is M behind it, unless a snoop has taken it since.
    task write(input bit [51:0] address, input bit [511:0] line, output sp_answer_e answer);
      sp_cached_line of;
      take_turn(address, of);
      while (!(of.state inside {SP_LINE_E, SP_LINE_M}) && of.answer == SP_ANSWER_OK && !stopped)
        ask(address, of, of.state == SP_LINE_S ? 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_OWN_NO_DATA)
                                               : 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_OWN));
      if (of.answer == SP_ANSWER_OK) begin
        of.state = SP_LINE_M;
        of.bytes = line;
        of.has_bytes = 1;
      end
      answer = of.answer;
      is_busy = 0;
    endtask

    // Gives the line of an address up, if there is a copy.
    task evict(input bit [51:0] address, output sp_answer_e answer);
      sp_cached_line of;
      take_turn(address, of);
      if (of.state == SP_LINE_M) ask(address, of, 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_DIRTY_EVICT));
      else if (of.state == SP_LINE_E) ask(address, of, 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_CLEAN_EVICT));
      else if (of.state == SP_LINE_S) ask(address, of, 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_CLEAN_EVICT_NO_DATA));
      answer = of.answer;
      is_busy = 0;
    endtask

    // What answers a snoop in a state: the D2H Rsp, the state behind it, and whether the line goes with it. Override it for a device that is wrong
    // on purpose.
    virtual function void answer_snoop(bit [2:0] snoop, sp_line_state_e state, output bit [4:0] answer, output sp_line_state_e behind,
                                       output bit forwards);
      bit takes, asks_value;
      takes = snoop == 3'(scalepool_cxl68_pkg::H2D_REQ_OPCODE_SNP_INV);
      asks_value = snoop == 3'(scalepool_cxl68_pkg::H2D_REQ_OPCODE_SNP_CUR);
      forwards = state == SP_LINE_M;
      behind = asks_value ? state : takes || state == SP_LINE_I ? SP_LINE_I : SP_LINE_S;
      case (state)
        SP_LINE_I: answer = 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_I_HIT_I);
        SP_LINE_M: answer = asks_value ? 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_V_FWD_V)
                          : takes ? 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_I_FWD_M) : 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_S_FWD_M);
        default: answer = asks_value ? 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_V_HIT_V)
                        : takes ? 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_I_HIT_SE) : 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_S_HIT_SE);
      endcase
    endfunction

    protected task take_turn(input bit [51:0] address, output sp_cached_line of);
      bit [51:0] at;
      at = {address[51:6], 6'd0};
      do wait (!is_busy); while (is_busy);
      is_busy = 1;
      if (!lines.exists(at)) begin
        of = new();
        lines[at] = of;
      end else of = lines[at];
      of.answer = stopped ? SP_ANSWER_BROKEN : SP_ANSWER_OK;
    endtask

    protected task ask(input bit [51:0] address, input sp_cached_line of, input bit [4:0] opcode);
      sp_message message;
      if (stopped) return;
      message = fresh("d2h_req");
      message.set("opcode", 64'(opcode));
      message.set("address", {12'd0, address[51:6], 6'd0});
      message.set("cqid", 64'(CQID));
      asked = {address[51:6], 6'd0};
      of.opcode = opcode;
      of.is_open = 1;
      of.has_go = 0;
      of.has_early = 0;
      link.send(message);
      wait (!of.is_open);
    endtask

    protected function void bring(bit [11:0] uqid, bit [511:0] line, bit bogus);
      sp_message message;
      message = data_message("d2h_data", line);
      message.set("uqid", 64'(uqid));
      message.set("bogus", 64'(bogus));
      link.send(message);
    endfunction

    protected function bit is_read(bit [4:0] opcode);
      return opcode inside {5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_SHARED), 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_OWN)};
    endfunction

    // A read that has both its GO and its data ends.
    protected function void fill(sp_cached_line of);
      if (!of.has_go || !of.has_early) return;
      // A snoop may have taken the copy since its GO: the data is used once.
      if (of.state != SP_LINE_I) begin
        of.bytes = of.early;
        of.has_bytes = 1;
      end
      if (of.owes) bring(of.owed_uqid, of.early, 0);
      of.owes = 0;
      of.is_open = 0;
    endfunction

    protected function void snoop(sp_message message);
      sp_message answer;
      sp_cached_line of;
      sp_line_state_e behind;
      bit [51:0] at;
      bit [11:0] uqid;
      bit [4:0] opcode;
      bit forwards;
      at = 52'(message.get("address")) & ~52'h3f;
      uqid = 12'(message.get("uqid"));
      if (lines.exists(at)) of = lines[at];
      else of = new();
      snooped++;
      answer_snoop(3'(message.get("opcode")), of.state, opcode, behind, forwards);
      of.state = behind;
      answer = fresh("d2h_rsp");
      answer.set("opcode", 64'(opcode));
      answer.set("uqid", 64'(uqid));
      link.send(answer);
      if (forwards && is_read(of.opcode) && of.is_open && !of.has_early) begin
        of.owes = 1;
        of.owed_uqid = uqid;
      end else if (forwards) bring(uqid, of.bytes, 0);
    endfunction

    protected function void answered(sp_message message, sp_cached_line of);
      bit [3:0] opcode, granted;
      bit is_bogus;
      opcode = 4'(message.get("opcode"));
      granted = 4'(message.get("rsp_data"));
      if (opcode == 4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO) && is_read(of.opcode)) begin
        of.has_go = 1;
        case (granted)
          4'd1: of.state = SP_LINE_S;
          4'd2: of.state = SP_LINE_E;
          4'd6: of.state = SP_LINE_M;
          default: begin
            of.state = SP_LINE_I;
            of.answer = SP_ANSWER_NO_MEMORY;
          end
        endcase
        fill(of);
        return;
      end
      of.is_open = 0;
      if (of.opcode == 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_OWN_NO_DATA)) begin
        // Whoever asked stores all of the line, so that lost bytes are no loss.
        if (granted == 4'd2) of.state = SP_LINE_E;
        else begin
          of.state = SP_LINE_I;
          of.answer = SP_ANSWER_NO_MEMORY;
        end
        return;
      end
      // An evict: a snoop that has hit it meanwhile makes its bytes worthless.
      is_bogus = of.state != (of.opcode == 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_DIRTY_EVICT) ? SP_LINE_M : SP_LINE_E);
      if (opcode inside {4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO_WRITE_PULL), 4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO_ERR_WRITE_PULL)})
        bring(12'(message.get("rsp_data")), of.bytes, is_bogus);
      of.state = SP_LINE_I;
      of.has_bytes = 0;
    endfunction

    virtual function void on_message(sp_message message);
      sp_cached_line of;
      if (message.is_layout("h2d_req")) begin
        snoop(message);
        return;
      end
      if (!lines.exists(asked) || !lines[asked].is_open) return; // the end has judged it
      of = lines[asked];
      if (message.is_layout("h2d_rsp")) begin
        answered(message, of);
        return;
      end
      of.early = message.data;
      of.has_early = 1;
      if (message.get("poison") != 0) of.answer = SP_ANSWER_POISON;
      fill(of);
    endfunction

    virtual function void on_broken(sp_event_t e);
      if (!lines.exists(asked) || !lines[asked].is_open) return;
      lines[asked].broken = e;
      lines[asked].answer = SP_ANSWER_BROKEN;
      lines[asked].is_open = 0;
    endfunction

    virtual function void on_stop();
      foreach (lines[at]) if (lines[at].is_open) begin
        lines[at].answer = SP_ANSWER_BROKEN;
        lines[at].is_open = 0;
      end
    endfunction

    // Behind a reset nobody holds a copy.
    virtual function void reset();
      super.reset();
      on_stop();
      foreach (lines[at]) begin
        lines[at].state = SP_LINE_I;
        lines[at].has_bytes = 0;
        lines[at].owes = 0;
      end
    endfunction
  endclass

  // The home of the lines that one caching device uses: it grants, pulls and answers in the order of requests, one at a time, and snoops when the
  // bench asks it to. Lines are 0 until they are written.
  class sp_cxl_home extends sp_cxl_cache_agent;
    localparam bit [11:0] PULL = 12'hfff;
    longint unsigned served; // requests
    bit [511:0] lines[bit [51:0]];
    sp_line_state_e held[bit [51:0]]; // what the device was granted
    protected sp_message requests[$];
    protected bit pulls, snoops, has_answer, has_data;
    protected bit [51:0] address; // of the pull or the snoop that is open
    protected bit [4:0] answer;
    protected bit [511:0] forwarded;
    protected bit [11:0] cqid, uqid;

    function new(sp_link_end link);
      super.new(link);
      served = 0;
      pulls = 0;
      snoops = 0;
      uqid = 0;
    endfunction

    // Snoops the device for a line, whatever it holds, when no request is open; gives its answer.
    task snoop(input bit [2:0] opcode, input bit [51:0] at, output bit [4:0] rsp);
      sp_message message;
      do wait (!pulls && !snoops || stopped); while ((pulls || snoops) && !stopped);
      rsp = 0;
      if (stopped) return;
      snoops = 1;
      has_answer = 0;
      has_data = 0;
      address = {at[51:6], 6'd0};
      uqid = uqid == 12'd15 ? 12'd0 : uqid + 12'd1;
      message = fresh("h2d_req");
      message.set("opcode", 64'(opcode));
      message.set("address", 64'(address));
      message.set("uqid", 64'(uqid));
      link.send(message);
      wait (!snoops || stopped);
      rsp = answer;
    endtask

    // The bytes of a line as memory has them.
    function bit [511:0] memory_of(bit [51:0] at);
      bit [51:0] line;
      line = {at[51:6], 6'd0};
      return lines.exists(line) ? lines[line] : '0;
    endfunction

    // The state that a read is granted. Override it for a home that is wrong on purpose.
    virtual function bit [3:0] grant(bit [4:0] opcode);
      return opcode == 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_SHARED) ? 4'd1 : 4'd2;
    endfunction

    protected function void go(bit [3:0] opcode, bit [11:0] rsp_data);
      sp_message message;
      message = fresh("h2d_rsp");
      message.set("opcode", 64'(opcode));
      message.set("rsp_data", 64'(rsp_data));
      message.set("cqid", 64'(cqid));
      link.send(message);
    endfunction

    protected function void serve(sp_message request);
      sp_message data;
      bit [4:0] opcode;
      opcode = 5'(request.get("opcode"));
      cqid = 12'(request.get("cqid"));
      address = 52'(request.get("address")) & ~52'h3f;
      served++;
      case (opcode)
        5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_SHARED), 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_ANY),
        5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_OWN), 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_CURR): begin
          if (opcode != 5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_CURR)) begin
            held[address] = grant(opcode) == 4'd1 ? SP_LINE_S : SP_LINE_E;
            go(4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO), 12'(grant(opcode)));
          end
          data = data_message("h2d_data", memory_of(address));
          data.set("cqid", 64'(cqid));
          link.send(data);
        end
        5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_RD_OWN_NO_DATA): begin
          held[address] = SP_LINE_E;
          go(4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO), 12'd2);
        end
        5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_DIRTY_EVICT): begin
          go(4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO_WRITE_PULL), PULL);
          pulls = 1;
        end
        5'(scalepool_cxl68_pkg::D2H_REQ_OPCODE_CLEAN_EVICT): begin
          held.delete(address);
          go(4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO_WRITE_PULL_DROP), PULL);
        end
        default: begin
          held.delete(address);
          go(4'(scalepool_cxl68_pkg::H2D_RSP_OPCODE_GO), 12'd3);
        end
      endcase
    endfunction

    virtual function void on_message(sp_message message);
      if (message.is_layout("d2h_req")) requests.push_back(message);
      else if (message.is_layout("d2h_rsp")) begin
        has_answer = 1;
        answer = 5'(message.get("opcode"));
      end else if (pulls && 12'(message.get("uqid")) == PULL) begin
        pulls = 0;
        held.delete(address);
        if (message.get("bogus") == 0) lines[address] = message.data;
      end else begin
        has_data = 1;
        forwarded = message.data;
      end
    endfunction

    virtual function void on_step();
      super.on_step();
      if (snoops && has_answer) begin
        bit forwards, keeps_all;
        forwards = answer inside {5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_S_FWD_M), 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_I_FWD_M),
                                  5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_V_FWD_V)};
        keeps_all = answer inside {5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_V_FWD_V), 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_V_HIT_V)};
        if (!forwards || has_data) begin
          if (forwards && !keeps_all) lines[address] = forwarded;
          if (answer inside {5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_S_FWD_M), 5'(scalepool_cxl68_pkg::D2H_RSP_OPCODE_RSP_S_HIT_SE)})
            held[address] = SP_LINE_S;
          else if (!keeps_all) held.delete(address);
          snoops = 0;
        end
      end
      while (requests.size() != 0 && !pulls && !snoops) serve(requests.pop_front());
    endfunction

    virtual function void reset();
      super.reset();
      requests.delete();
      held.delete();
      pulls = 0;
      snoops = 0;
    endfunction
  endclass
