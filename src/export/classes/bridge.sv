
  // What accelerators speak to a bridge.
  typedef enum { SP_BRIDGE_UALINK, SP_BRIDGE_NVLINK } sp_bridge_protocol_e;

  // Classes of windows (bridge section 2): to CXL.mem with and without coherence, to hosts by CXL.cache, to devices of CXL.io; from CXL
  // with a home in the bridge, without coherence, behind a BAR; from accelerators to such memory of their own.
  typedef enum {
    SP_WINDOW_MC, SP_WINDOW_MN, SP_WINDOW_CC, SP_WINDOW_IO, SP_WINDOW_DB, SP_WINDOW_NH, SP_WINDOW_BR, SP_WINDOW_HP
  } sp_window_class_e;

  // Where a message passes, seen from a transaction: the request comes, what it was converted to leaves on the other side, the answer to
  // that comes, the response to the request leaves. Snoops and their answers pass at the points that sp_bridge_pass names.
  typedef enum { SP_AT_REQUEST, SP_AT_SENT, SP_AT_ANSWER, SP_AT_RESPONSE } sp_bridge_point_e;

  // A window of a bridge; a number that is 0 or empty where that means nothing is left at the value of the sheet.
  class sp_bridge_window;
    sp_window_class_e kind;
    longint unsigned base; // where its addresses begin, in bytes
    longint unsigned size; // bytes
    longint unsigned out_base; // where they begin on the other side
    int unsigned targets[$]; // CXL ports, or accelerators, among which it is dealt; empty: 0
    longint unsigned granule; // bytes of a turn
    string rights[int unsigned]; // by group of sources, letters out of `rwa`; a group that is not named may do everything

    function new(sp_window_class_e kind_of, longint unsigned base_of, longint unsigned size_of, longint unsigned out_base_of);
      kind = kind_of;
      base = base_of;
      size = size_of;
      out_base = out_base_of;
      granule = 0;
    endfunction

    // As sp_bridge_new reads it.
    function string text();
      string all, name;
      name = kind.name();
      all = $sformatf("{\"class\":\"%s\",\"base\":\"0x%0h\",\"size\":\"0x%0h\",\"out_base\":\"0x%0h\"",
                      name.substr(10, name.len() - 1), base, size, out_base);
      if (targets.size() != 0) begin
        all = {all, ",\"targets\":["};
        foreach (targets[n]) all = {all, n == 0 ? "" : ",", $sformatf("%0d", targets[n])};
        all = {all, "]"};
      end
      if (granule != 0) all = {all, $sformatf(",\"granule\":%0d", granule)};
      if (rights.num() != 0) begin
        string lead;
        lead = ",\"rights\":{";
        foreach (rights[group]) begin
          all = {all, lead, $sformatf("\"%0d\":\"%s\"", group, rights[group])};
          lead = ",";
        end
        all = {all, "}"};
      end
      return {all, "}"};
    endfunction
  endclass

  // The conversion cache of a bridge, or the cache in front of memory of accelerators; what is -1 or empty is left at the value of the sheet.
  class sp_bridge_cache;
    longint capacity_bytes = -1;
    int ways = -1;
    int block_bytes = -1; // 64, 128 or 256
    string policy; // `lru`, `srrip` or `lfu`
    bit writes_through = 0; // of a conversion cache alone, and the next one
    int stream_blocks = -1; // blocks of a row behind which a stream passes it by; 0: never

    // As sp_bridge_new reads it.
    function string text();
      string all;
      all = "";
      if (capacity_bytes >= 0) all = {all, $sformatf(",\"capacity_bytes\":%0d", capacity_bytes)};
      if (ways >= 0) all = {all, $sformatf(",\"ways\":%0d", ways)};
      if (block_bytes >= 0) all = {all, $sformatf(",\"block_bytes\":%0d", block_bytes)};
      if (policy != "") all = {all, $sformatf(",\"policy\":\"%s\"", policy)};
      if (writes_through) all = {all, ",\"stores\":\"through\""};
      if (stream_blocks >= 0) all = {all, $sformatf(",\"stream_blocks\":%0d", stream_blocks)};
      return {"{", all == "" ? "" : all.substr(1, all.len() - 1), "}"};
    endfunction
  endclass

  // What one half of a bridge is made with. What is 0, -1, null or empty is left at the value of the sheet.
  class sp_bridge_config;
    sp_bridge_protocol_e protocol = SP_BRIDGE_UALINK;
    bit inbound = 0; // from CXL to accelerators; else from accelerators to CXL
    int unsigned own = 0; // number of the bridge among the accelerators
    sp_bridge_window windows[$];
    int unsigned groups[int unsigned]; // by source; others are in group 0
    int entries = -1;
    int write_buffers = -1; // outbound, of 64 bytes
    bit strict = 0; // outbound: order over all requests of a source
    bit io_sent = 0; // outbound: writes of class IO are acknowledged when they have left
    bit single_beat = 0; // outbound, UALink: a read is answered line by line
    int ports = -1; // inbound: ports by which accelerators are asked
    sp_bridge_cache cache;
    string more[$]; // further keys of sp_bridge_new, each as `"credits":[...]`

    // Windows and groups, as sp_bridge_commit reads them too.
    function string tables();
      string all, lead;
      all = "\"windows\":[";
      foreach (windows[n]) all = {all, n == 0 ? "" : ",", windows[n].text()};
      all = {all, "]"};
      if (groups.num() == 0) return all;
      lead = ",\"groups\":{";
      foreach (groups[source]) begin
        all = {all, lead, $sformatf("\"%0d\":%0d", source, groups[source])};
        lead = ",";
      end
      return {all, "}"};
    endfunction

    // As sp_bridge_new reads it.
    function string text();
      string all;
      all = $sformatf("\"protocol\":\"%s\",\"direction\":\"%s\",\"own\":%0d,",
                      protocol == SP_BRIDGE_UALINK ? "ualink" : "nvlink", inbound ? "inbound" : "outbound", own);
      all = {all, tables()};
      if (entries >= 0) all = {all, $sformatf(",\"entries\":%0d", entries)};
      if (write_buffers >= 0) all = {all, $sformatf(",\"write_buffers\":%0d", write_buffers)};
      if (strict) all = {all, ",\"order\":\"sources\""};
      if (io_sent) all = {all, ",\"io_ack\":\"sent\""};
      if (single_beat) all = {all, ",\"single_beat\":true"};
      if (ports >= 0) all = {all, $sformatf(",\"ports\":%0d", ports)};
      if (cache != null) all = {all, ",\"cache\":", cache.text()};
      foreach (more[n]) all = {all, ",", more[n]};
      return {"{", all, "}"};
    endfunction
  endclass

  // A rule that a bridge has broken, or the messages at its ports.
  typedef struct {
    longint unsigned message; // its number among those that have passed, from 0; behind the last one: at the end
    string rule;
    string found;
    string expected;
  } sp_bridge_finding_t;

  // What the reference model and the scoreboard have in common. Messages are those of the classes ualink_tl_req and ualink_tl_rsp,
  // nvlink_message, cxl256_* and cxlio_tlp.
  virtual class sp_bridge;
    protected longint unsigned handle;

    protected function new(sp_bridge_config config_of, int unsigned watches);
      int status;
      sp_library::open();
      status = sp_bridge_new(config_of.text(), watches, handle);
      if (status != SP_OK) refused($sformatf("bridge %s: %s", config_of.text(), sp_library::why()));
    endfunction

    // What happens when a call is refused, which is a mistake of the bench; override it for another report.
    virtual function void refused(string text);
      $fatal(1, "%s", text);
    endfunction

    protected function int give(sp_bridge_point_e point, int unsigned at_port, sp_message message);
      sp_bits_t bits;
      sp_data_t data;
      sp_enables_t enables;
      int status;
      message.pack();
      for (int n = 0; n < 32; n++) bits[n] = message.bits[8*n +: 8];
      message.get_data(data);
      message.get_enables(enables);
      status = sp_bridge_pass_bits(handle, 32'(point), at_port, sp_library::layout_number(message.layout), bits,
                                   64'(message.bits_bytes()), data, 64'(message.data_bytes()), enables,
                                   64'(message.enables_bytes()), message.extra);
      if (status < 0)
        refused($sformatf("%s at %s of port %0d: %s", message.convert2string(), point.name(), at_port, sp_library::why()));
      return status;
    endfunction

    // Takes the oldest finding. Returns 0 if there is none.
    function bit take_finding(output sp_bridge_finding_t finding);
      int status;
      status = sp_bridge_finding_fields(handle, finding.message, finding.rule, finding.found, finding.expected);
      if (status < 0) refused($sformatf("finding: %s", sp_library::why()));
      return status == SP_OK;
    endfunction

    // A finding as one line.
    static function string finding_text(sp_bridge_finding_t finding);
      return $sformatf("%s: message %0d: found %s, expected %s", finding.rule, finding.message, finding.found, finding.expected);
    endfunction

    // Commits the windows and groups of a configuration to a half from accelerators to CXL. Returns 1 if they are valid now, 0 if requests
    // under the old ones have still to be answered.
    function bit commit(sp_bridge_config config_of);
      int status;
      status = sp_bridge_commit(handle, {"{", config_of.tables(), "}"});
      if (status != SP_OK && status != SP_FULL) refused($sformatf("commit: %s", sp_library::why()));
      return status == SP_OK;
    endfunction

    // It is gone; no other function may be called from then on.
    function void destroy();
      int status;
      status = sp_bridge_destroy(handle);
      if (status != SP_OK) refused($sformatf("destruction: %s", sp_library::why()));
    endfunction
  endclass

  // The reference model of one half of a bridge: it converts, and does not know of time.
  class sp_bridge_model extends sp_bridge;
    function new(sp_bridge_config config_of);
      super.new(config_of, 0);
    endfunction

    // A request comes. Returns 0 if there is no entry for it, and it was not taken.
    function bit request(sp_message message, int unsigned at_port = 0);
      return give(SP_AT_REQUEST, at_port, message) != SP_FULL;
    endfunction

    // An answer to what it has sent comes, or a snoop.
    function void answer(sp_message message, int unsigned at_port = 0);
      void'(give(SP_AT_ANSWER, at_port, message));
    endfunction

    // Takes the next message that it has made, with its point, SP_AT_SENT or SP_AT_RESPONSE, and its port; null if there is none.
    function sp_message next(output sp_bridge_point_e point, output int unsigned at_port);
      sp_bits_t bits;
      sp_data_t data;
      sp_enables_t enables;
      longint unsigned bits_length, data_length, enables_length, extra;
      int unsigned number, layout;
      string name;
      sp_message message;
      int status;
      for (int n = 0; n < 32; n++) bits[n] = 0;
      status = sp_bridge_next_bits(handle, number, at_port, layout, bits, bits_length, data, data_length, enables, enables_length,
                                   extra);
      point = SP_AT_SENT;
      if (status == SP_EMPTY) return null;
      if (status != SP_OK) refused($sformatf("message: %s", sp_library::why()));
      if (number == 32'(SP_AT_RESPONSE)) point = SP_AT_RESPONSE;
      name = "tlp";
      if (layout != SP_NO_LAYOUT) begin
        status = sp_layout_name(layout, name);
        if (status != SP_OK) refused($sformatf("layout: %s", sp_library::why()));
      end
      message = sp_message_factory::create(name);
      for (int n = 0; n < 32; n++) message.bits[8*n +: 8] = bits[n];
      message.put_data(data, 32'(data_length));
      message.put_enables(enables, 32'(enables_length));
      message.extra = extra;
      message.unpack();
      return message;
    endfunction
  endclass

  // A scoreboard of one half of a bridge: it is given all messages at the ports of a design, in the order in which they pass, and compares
  // them with those of the model, under other tags and in other orders where the sheet allows these.
  class sp_bridge_scoreboard extends sp_bridge;
    function new(sp_bridge_config config_of);
      super.new(config_of, 1);
    endfunction

    // A message passes. Returns 0 if there is a finding to be taken.
    function bit passes(sp_bridge_point_e point, sp_message message, int unsigned at_port = 0);
      return give(point, at_port, message) == SP_OK;
    endfunction

    // Credits are given to the sender of the messages at a point, of a pool that `more` of the configuration names by `credits`. `vchan` is
    // -1 for a pool without a virtual channel. Returns 0 if there is a finding to be taken.
    function bit credit(sp_bridge_point_e point, string name, int unsigned count = 1, int vchan = -1, int unsigned at_port = 0);
      string text, at;
      int status;
      at = point.name();
      at = at.substr(6, at.len() - 1);
      text = $sformatf("{\"point\":\"%s\",\"port\":%0d,\"class\":\"%s\",\"count\":%0d", at.tolower(), at_port, name, count);
      if (vchan >= 0) text = {text, $sformatf(",\"vchan\":%0d", vchan)};
      status = sp_bridge_credit(handle, {text, "}"});
      if (status < 0) refused($sformatf("credit %s: %s", text, sp_library::why()));
      return status == SP_OK;
    endfunction

    // The run is over: what has not left and what is open are findings. Returns 0 if there is one to be taken.
    function bit finish();
      int status;
      status = sp_bridge_finish(handle);
      if (status < 0) refused($sformatf("end: %s", sp_library::why()));
      return status == SP_OK;
    endfunction
  endclass
