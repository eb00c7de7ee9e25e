
  // What an end is made with. A number that is -1 is left at the value of the specification or of the model.
  class sp_link_config;
    int buffers = -1; // messages for each channel that fit; packets of nvlink
    int data_flits = -1; // of nvlink
    bit mem_alone = 0; // CXL.mem without CXL.cache
    int retry_entries = -1; // flits
    int timeout_flits = -1;
    int max_num_retry = -1; // of cxl-68b, and the next two
    int max_num_phy_reinit = -1;
    int flush_flits = -1;
    bit selective_nak = 0; // of the 256B modes
    int reaction_flits = -1; // of a passive end of cxl-68b or ualink: depth of the pipeline that it watches
    int interleave = -1; // of ualink
    int liveness_flits = -1; // 0: no limit
    bit plain_flits = 0; // of CXL: protocol flits without a link layer, so no credits, acknowledgements or replays
    bit transaction_layer = 0; // of an active end of ualink: its messages are requests and responses, not TL flits
    sp_transactions_e transactions = SP_TRANSACTIONS_NONE; // judges them; of ualink a passive end, or one with a transaction layer
    bit strict = 0; // of ualink: the link keeps strict order
    bit unique_tags = 0;
    int answer_flits = -1; // longest time from a request to its last answer
    sp_memory_e coherence = SP_MEMORY_NONE; // of a passive end of CXL
    bit all_writers_seen = 0; // every read is compared with the last write
    bit messages = 0; // a passive end of CXL keeps the messages that it sees
    bit coverage = 0; // counts the codes that pass, for write_coverage

    protected string said;

    protected function void say(string key, string value);
      if (said != "") said = {said, ","};
      said = {said, "\"", key, "\":", value};
    endfunction

    protected function void say_number(string key, int value);
      if (value >= 0) say(key, $sformatf("%0d", value));
    endfunction

    protected function void say_flag(string key, bit value);
      if (value) say(key, "true");
    endfunction

    protected function void say_memory(string key, sp_memory_e value);
      case (value)
        SP_MEMORY_HDM_H: say(key, "\"hdm-h\"");
        SP_MEMORY_HDM_DB: say(key, "\"hdm-db\"");
        SP_MEMORY_HDM_D: say(key, "\"hdm-d\"");
        default: ;
      endcase
    endfunction

    // As sp_link_new reads it.
    function string text();
      said = "";
      say_number("buffers", buffers);
      say_number("data_flits", data_flits);
      if (mem_alone) say("classes", "\"mem\"");
      say_number("retry_entries", retry_entries);
      say_number("timeout_flits", timeout_flits);
      say_number("max_num_retry", max_num_retry);
      say_number("max_num_phy_reinit", max_num_phy_reinit);
      say_number("flush_flits", flush_flits);
      say_flag("selective_nak", selective_nak);
      say_number("reaction_flits", reaction_flits);
      say_number("interleave", interleave);
      say_number("liveness_flits", liveness_flits);
      say_flag("plain_flits", plain_flits);
      if (transaction_layer) say("layer", "\"tl\"");
      case (transactions)
        SP_TRANSACTIONS_HDM_H: say("transactions", "\"hdm-h\"");
        SP_TRANSACTIONS_HDM_DB: say("transactions", "\"hdm-db\"");
        SP_TRANSACTIONS_HDM_D: say("transactions", "\"hdm-d\"");
        SP_TRANSACTIONS_CXL_CACHE: say("transactions", "\"cxl-cache\"");
        SP_TRANSACTIONS_CXL_IO: say("transactions", "\"cxl-io\"");
        SP_TRANSACTIONS_UALINK: say("transactions", "\"ualink\"");
        SP_TRANSACTIONS_NVLINK: say("transactions", "\"nvlink\"");
        default: ;
      endcase
      say_flag("strict", strict);
      say_flag("unique_tags", unique_tags);
      say_number("answer_flits", answer_flits);
      say_memory("coherence", coherence);
      say_flag("all_writers_seen", all_writers_seen);
      say_flag("messages", messages);
      say_flag("coverage", coverage);
      return {"{", said, "}"};
    endfunction
  endclass

  // One end of a link, active or passive. An active end is the peer of a design: drive what the design sends, step, sample what
  // the end sends. A passive end watches one: drive what the design sends at SP_PORT_TX and what comes to it at SP_PORT_RX.
  class sp_link_end;
    sp_protocol_e protocol;
    sp_dir_e dir;
    bit passive;
    protected longint unsigned handle;
    protected sp_event_t noted[$];

    function new(sp_protocol_e protocol_of, sp_dir_e dir_of, bit passive_of = 0, sp_link_config config_of = null);
      string text;
      int status;
      text = "";
      sp_library::open();
      protocol = protocol_of;
      dir = dir_of;
      passive = passive_of;
      if (config_of != null) text = config_of.text();
      status = sp_link_new(name_of(protocol), 32'(dir), text, passive ? SP_PASSIVE : SP_ACTIVE, handle);
      check(status, "link end");
    endfunction

    static function string name_of(sp_protocol_e number);
      case (number)
        SP_PROTOCOL_CXL_68B: return "cxl-68b";
        SP_PROTOCOL_CXL_256B: return "cxl-256b";
        SP_PROTOCOL_CXL_256B_LOPT: return "cxl-256b-lopt";
        SP_PROTOCOL_CXL_256B_PBR: return "cxl-256b-pbr";
        SP_PROTOCOL_NVLINK: return "nvlink";
        SP_PROTOCOL_CXL_IO: return "cxl-io";
        default: return "ualink";
      endcase
    endfunction

    // Family of the layouts of CXL.
    function string family();
      case (protocol)
        SP_PROTOCOL_CXL_68B: return "cxl68";
        SP_PROTOCOL_CXL_256B, SP_PROTOCOL_CXL_256B_LOPT: return "cxl256";
        SP_PROTOCOL_CXL_256B_PBR: return "cxlpbr";
        SP_PROTOCOL_NVLINK: return "nvlink";
        SP_PROTOCOL_CXL_IO: return "cxlio";
        default: return "ualink";
      endcase
    endfunction

    // Bytes of a unit: what travels in one flit clock.
    function int unsigned unit_bytes();
      case (protocol)
        SP_PROTOCOL_CXL_68B: return 68;
        SP_PROTOCOL_NVLINK: return 16;
        SP_PROTOCOL_UALINK: return 640;
        default: return 256;
      endcase
    endfunction

    // What happens when a call is refused, which is a mistake of the bench; override it for another report.
    virtual function void refused(string text);
      $fatal(1, "%s", text);
    endfunction

    protected function void check(int status, string what);
      if (status < 0) refused($sformatf("%s of %s: status %0d: %s", what, name_of(protocol), status, sp_library::why()));
    endfunction

    // Queues a message. Returns 0 if the end does not send such a message; sp_library::why says why.
    function bit try_send(sp_message message);
      return offer(message) == SP_OK;
    endfunction

    // The same with the status of the call: SP_ERR_RANGE if there is no room now.
    virtual function int offer(sp_message message);
      sp_bits_t bits;
      sp_data_t data;
      sp_enables_t enables;
      message.pack();
      for (int n = 0; n < 32; n++) bits[n] = message.bits[8*n +: 8];
      message.get_data(data);
      message.get_enables(enables);
      return sp_link_send_bits(handle, sp_library::layout_number(message.layout), bits, 64'(message.bits_bytes()), data,
                               64'(message.data_bytes()), enables, 64'(message.enables_bytes()), message.extra);
    endfunction

    // Queues a message.
    function void send(sp_message message);
      if (!try_send(message)) refused($sformatf("message %s: %s", message.convert2string(), sp_library::why()));
    endfunction

    // A message of a typed class out of its parts.
    protected function sp_message made(int unsigned layout, ref sp_bits_t bits, ref sp_data_t data,
                                       input longint unsigned data_length, ref sp_enables_t enables,
                                       input longint unsigned enables_length, input longint unsigned extra);
      string name;
      sp_message message;
      int status;
      if (layout == SP_NO_LAYOUT && protocol == SP_PROTOCOL_CXL_IO) message = sp_message_factory::create("tlp");
      else if (layout == SP_NO_LAYOUT) message = sp_message_factory::create("");
      else begin
        status = sp_layout_name(layout, name);
        check(status, "layout");
        message = sp_message_factory::create(name);
      end
      for (int n = 0; n < 32; n++) message.bits[8*n +: 8] = bits[n];
      message.put_data(data, 32'(data_length));
      message.put_enables(enables, 32'(enables_length));
      message.extra = extra;
      message.unpack();
      return message;
    endfunction

    // Takes the oldest message that has arrived, and returns its credit to the peer; null if none waits.
    function sp_message take();
      sp_bits_t bits;
      sp_data_t data;
      sp_enables_t enables;
      longint unsigned bits_length, data_length, enables_length, extra;
      int unsigned layout;
      int status;
      for (int n = 0; n < 32; n++) bits[n] = 0;
      status = sp_link_take_bits(handle, layout, bits, bits_length, data, data_length, enables, enables_length, extra);
      check(status, "message");
      return status == SP_OK ? made(layout, bits, data, data_length, enables, enables_length, extra) : null;
    endfunction

    // Takes the oldest message that a passive end has seen, if it was made with `messages`; null if none waits.
    function sp_message take_seen();
      sp_bits_t bits;
      sp_data_t data;
      sp_enables_t enables;
      longint unsigned bits_length, data_length, enables_length, extra, number;
      int unsigned layout, at;
      int status;
      sp_message message;
      for (int n = 0; n < 32; n++) bits[n] = 0;
      status = sp_link_seen_bits(handle, at, number, layout, bits, bits_length, data, data_length, enables, enables_length, extra);
      check(status, "message");
      if (status != SP_OK) return null;
      message = made(layout, bits, data, data_length, enables, enables_length, extra);
      message.at_port = sp_port_e'(at[0]);
      message.unit = number;
      return message;
    endfunction

    // Queues a unit that arrives. `bytes` is 0 for a whole one, 1 for a control flit of ualink.
    function void drive(sp_unit_t value, sp_port_e at = SP_PORT_RX, int unsigned bytes = 0);
      byte unsigned buffer[0:639];
      int unsigned count;
      count = bytes == 0 ? unit_bytes() : bytes;
      for (int n = 0; n < int'(count); n++) buffer[n] = value[8*n +: 8];
      check(sp_link_drive(handle, 32'(at), buffer, 64'(count)), "unit");
    endfunction

    // Lets flit clocks pass. In each of them one driven unit of each direction arrives, and an active end sends at most one.
    function void step(int unsigned flit_clocks = 1);
      check(sp_link_step(handle, 64'(flit_clocks)), "step");
    endfunction

    // Takes the oldest unit that the end has sent. Returns its bytes, 0 if none waits.
    function int unsigned sample(output sp_unit_t value);
      byte unsigned buffer[0:639];
      longint unsigned count;
      int status;
      status = sp_link_sample(handle, buffer, count);
      check(status, "unit");
      value = '0;
      if (status != SP_OK) return 0;
      for (int n = 0; n < int'(count); n++) value[8*n +: 8] = buffer[n];
      return 32'(count);
    endfunction

    // Takes the oldest unit that the end has sent and compares one of a design with it. Returns 1 if they are the same; sp_library::why says
    // which byte differs, or that none waits.
    function bit agrees(sp_unit_t value, sp_unit_t mask = '1);
      byte unsigned buffer[0:639];
      byte unsigned mask_bytes[0:639];
      int status;
      for (int n = 0; n < 640; n++) begin
        buffer[n] = value[8*n +: 8];
        mask_bytes[n] = mask[8*n +: 8];
      end
      status = sp_link_expect(handle, buffer, mask_bytes, 64'(unit_bytes()));
      check(status, "unit");
      return status == SP_OK;
    endfunction

    // An event of whoever joins the end to a design; `take_event` has it before those of the end.
    function void note(sp_event_t e);
      noted.push_back(e);
    endfunction

    // Takes the oldest event. Returns 0 if none waits.
    function bit take_event(output sp_event_t e);
      int unsigned at, by, severity;
      int status;
      if (noted.size() != 0) begin
        e = noted.pop_front();
        return 1;
      end
      status = sp_link_event_fields(handle, e.unit, at, by, severity, e.tag, e.rule, e.place, e.found, e.expected, e.text);
      check(status, "event");
      e.at_port = sp_port_e'(at[0]);
      e.by = sp_by_e'(by[1:0]);
      e.severity = sp_severity_e'(severity[2:0]);
      return status == SP_OK;
    endfunction

    function sp_state_t state();
      sp_state_t s;
      int unsigned up, quiet, wants_training, halted;
      int status;
      status = sp_link_state_fields(handle, s.flit_clocks, s.driven, s.sent, s.events, s.events_lost, s.seen, s.seen_lost,
                                    s.compared, s.mismatches, up, quiet, wants_training, halted, s.halted);
      check(status, "state");
      s.up = up[0];
      s.quiet = quiet[0];
      s.wants_training = wants_training[0];
      return s;
    endfunction

    // A figure of health by its name, as `scalepool list health` prints them, and the name of a channel or state where it has one
    // number for each. 0 where the end does not have it.
    function longint unsigned health(string figure, string part = "");
      longint unsigned value;
      string name;
      int status;
      status = sp_link_health(handle, figure, part, value, name);
      check(status, figure);
      return status == SP_OK ? value : 0;
    endfunction

    // The same of a figure that is a name, such as `link_state`.
    function string health_name(string figure);
      longint unsigned value;
      string name;
      int status;
      status = sp_link_health(handle, figure, "", value, name);
      check(status, figure);
      return status == SP_OK ? name : "";
    endfunction

    // Writes what has passed at an end with `coverage` to a file that `scalepool coverage` reads and merges. Returns 0 if it cannot.
    function bit write_coverage(string path);
      string text;
      int file;
      int status;
      status = sp_link_state(handle, text);
      check(status, "coverage");
      file = $fopen(path, "w");
      if (file == 0) return 0;
      $fwrite(file, "%s\n", text);
      $fclose(file);
      return status == SP_OK;
    endfunction

    // The physical layer begins to train (0) or is up again (1).
    function void train(bit up);
      check(sp_link_train(handle, 32'(up)), "training");
    endfunction

    // The run is over. Returns 0 if a request is still owed an answer; each is an event.
    function bit finish();
      int status;
      status = sp_link_finish(handle);
      check(status, "end of the run");
      return status == SP_OK;
    endfunction

    // As it was made; everything that was queued is gone.
    virtual function void reset();
      check(sp_link_reset(handle), "reset");
    endfunction

    // Attaches a fault, such as `drop:3` or `flip:2:17`, to a hook point, such as `wire`. Returns its number.
    function longint unsigned fault(string point, sp_port_e at, string what);
      longint unsigned hook;
      int status;
      status = sp_hook_fault(handle, point, 32'(at), what, hook);
      check(status, what);
      return hook;
    endfunction

    // The end is gone; no other function may be called from then on.
    function void destroy();
      check(sp_link_destroy(handle), "destruction");
    endfunction
  endclass
