  import scalepool_dpi_pkg::*;

  // Protocols with a link layer in the model.
  typedef enum {
    SP_PROTOCOL_CXL_68B, SP_PROTOCOL_CXL_256B, SP_PROTOCOL_CXL_256B_LOPT, SP_PROTOCOL_CXL_256B_PBR, SP_PROTOCOL_NVLINK,
    SP_PROTOCOL_UALINK, SP_PROTOCOL_CXL_IO
  } sp_protocol_e;

  // Direction in which an end sends: down for a host or an accelerator, up for a device or a switch.
  typedef enum bit { SP_SENDS_DOWN = 1'b0, SP_SENDS_UP = 1'b1 } sp_dir_e;

  // What arrives at an end, and what it sends.
  typedef enum bit { SP_PORT_RX = 1'b0, SP_PORT_TX = 1'b1 } sp_port_e;

  // Who has broken a rule: the watched end, its peer, or nobody, since the wire has damaged a unit.
  typedef enum bit [1:0] { SP_END_BROKE = 2'd0, SP_PEER_BROKE = 2'd1, SP_LINE_BROKE = 2'd2 } sp_by_e;

  // How bad it is: repaired by the link, against a rule of the protocol, followed by training, the end of the link, viral.
  typedef enum bit [2:0] {
    SP_IS_CORRECTED = 3'd0, SP_IS_PROTOCOL = 3'd1, SP_IS_RETRAIN = 3'd2, SP_IS_UNCORRECTABLE = 3'd3, SP_IS_FATAL = 3'd4
  } sp_severity_e;

  // Transactions that an end judges: of CXL.mem by the kind of the memory that answers, of CXL.cache with coherence, of CXL.io, of UALink,
  // of NVLink.
  typedef enum {
    SP_TRANSACTIONS_NONE, SP_TRANSACTIONS_HDM_H, SP_TRANSACTIONS_HDM_DB, SP_TRANSACTIONS_HDM_D, SP_TRANSACTIONS_CXL_CACHE,
    SP_TRANSACTIONS_CXL_IO, SP_TRANSACTIONS_UALINK, SP_TRANSACTIONS_NVLINK
  } sp_transactions_e;

  // The kind of the memory that answers CXL.mem, for those who judge coherence.
  typedef enum { SP_MEMORY_NONE, SP_MEMORY_HDM_H, SP_MEMORY_HDM_DB, SP_MEMORY_HDM_D } sp_memory_e;

  // A unit of a link: byte 0 is bits 7:0, and what is behind its bytes is 0.
  typedef bit [5119:0] sp_unit_t;

  // A rule that is broken, or an error that the link has repaired.
  typedef struct {
    longint unsigned unit; // number of the unit in its direction, from 0
    sp_port_e at_port;
    sp_by_e by;
    sp_severity_e severity;
    int tag; // of the request that it concerns, or -1
    string rule;
    string place; // where in the unit or in the message
    string found;
    string expected;
    string text;
  } sp_event_t;

  // State and counters of a link end. Those of up, quiet and wants_training are 0 of a passive end.
  typedef struct {
    longint unsigned flit_clocks;
    longint unsigned driven; // units that were driven and have not arrived
    longint unsigned sent; // units that wait to be sampled
    longint unsigned events; // that wait
    longint unsigned events_lost; // that found no room
    longint unsigned seen; // messages that a passive end has seen and that wait
    longint unsigned seen_lost; // that found no room
    longint unsigned compared; // units that were compared
    longint unsigned mismatches;
    bit up;
    bit quiet; // nothing is left to send, to be acknowledged or to be taken
    bit wants_training;
    string halted; // the rule that has stopped the link, or empty
  } sp_state_t;

  // The library: what every class needs of it.
  class sp_library;
    protected static int unsigned numbers[string];

    // The text of the last call that did not succeed.
    static function string why();
      string text;
      void'(sp_last_error(text));
      return text;
    endfunction

    // Ends the simulation if a call did not succeed.
    static function void must(int status, string what);
      if (status != SP_OK) $fatal(1, "%s: status %0d: %s", what, status, why());
    endfunction

    // Compares the versions of package and library; the constructor of a link end does it.
    static function void open();
      must(sp_open(SP_ABI_VERSION), "library");
    endfunction

    // Number of a layout, which is looked up once. `SP_NO_LAYOUT` stands for the empty name.
    static function int unsigned layout_number(string name);
      int unsigned number;
      int status;
      if (name == "") return SP_NO_LAYOUT;
      if (numbers.exists(name)) return numbers[name];
      open();
      status = sp_layout_find(name, number);
      must(status, name);
      numbers[name] = number;
      return number;
    endfunction

    // Whether an event can have this rule. `why` names the nearest ids of one that there is not. HANDSHAKE stands for what is wrong at an
    // interface that cores have.
    static function bit knows_rule(string rule);
      if (rule == "HANDSHAKE") return 1;
      open();
      return sp_rule_known(rule) == SP_OK;
    endfunction

    // An event as one line.
    static function string event_text(sp_event_t e);
      string tag, way;
      tag = "";
      if (e.tag >= 0) tag = $sformatf(", tag 0x%0h", e.tag);
      way = "sent";
      if (e.at_port == SP_PORT_RX) way = "received";
      return $sformatf("%s: %s flit %0d, %s%s: found %s, expected %s. %s", e.rule, way, e.unit, e.place, tag, e.found, e.expected,
                       e.text);
    endfunction
  endclass

  // Codes of RSP_ERROR of NVLink (bridge section 8.1).
  localparam bit [3:0] SP_NVLINK_ABORTED = 4'd2;
  localparam bit [3:0] SP_NVLINK_NO_MEMORY = 4'd3;

  // Ranges of bytes.
  class sp_bytes;
    // How many of `count` bytes from an address on lie in the same block of so many bytes.
    static function int in_block(bit [63:0] address, int count, int block);
      int left;
      left = block - int'(address % 64'(block));
      return count < left ? count : left;
    endfunction
  endclass

  // Bytes of a message as calls take them: of its layout, of its data, of its byte enables. The longest data is a TLP of CXL.io with 4096
  // bytes behind its header.
  typedef byte unsigned sp_bits_t[0:31];
  typedef byte unsigned sp_data_t[0:4351];
  typedef byte unsigned sp_enables_t[0:31];

  // A message of a link end. The typed classes below have its fields as a struct; this one has them by name.
  class sp_message;
    string layout; // `cxl68.m2s_req`; empty for a TL flit of UALink and a TLP of CXL.io
    bit [255:0] bits; // of the layout; of nvlink the header, and the AE from bit 128 on
    bit has_data;
    rand bit [511:0] data; // byte 0 is bits 7:0; nvlink has a class of its own for more
    bit has_enables;
    rand bit [63:0] enables; // bit n for byte n
    longint unsigned extra; // SP_LOWER_HALF, SP_METADATA and the like; see sp_link_send_bits

    // Of a message that a passive end has seen.
    longint unsigned unit;
    sp_port_e at_port;

    function new(string layout_of = "");
      layout = layout_of;
      bits = '0;
      has_data = 0;
      data = '0;
      has_enables = 0;
      enables = '0;
      extra = 0;
      unit = 0;
      at_port = SP_PORT_TX;
    endfunction

    // Whether it has this layout, such as `m2s_req`, in any family.
    function bit is_layout(string short_name);
      int rest;
      rest = layout.len() - short_name.len();
      return rest > 0 && layout.substr(rest - 1, layout.len() - 1) == {".", short_name};
    endfunction

    // Bytes of the layout.
    virtual function int unsigned bits_bytes();
      int unsigned bit_count, bytes, fields;
      int status;
      if (layout == "") return 0;
      status = sp_layout_size(sp_library::layout_number(layout), bit_count, bytes, fields);
      sp_library::must(status, layout);
      return bytes;
    endfunction

    // The bit that says that there is a message, where it has one.
    virtual function bit [255:0] valid_bit();
      return '0;
    endfunction

    // Bits that have to be 0.
    virtual function bit [255:0] reserved_bits();
      return '0;
    endfunction

    // A random message that breaks no rule of its layout, without a solver for constraints: drawn until it is one.
    function void draw_legal();
      string why;
      do begin
        for (int n = 0; n < 8; n++) bits[32*n +: 32] = $urandom();
        bits &= ~reserved_bits() & ((256'd1 << (8 * bits_bytes())) - 256'd1);
        bits |= valid_bit();
        unpack();
        pack();
      end while (breaks_a_rule(why));
    endfunction

    // A random message of the constraints of its class, and of those that a derived class adds. The constraints of the typed classes are of
    // reserved bits and codes; what breaks a rule over several fields is solved anew. Returns 0 if there is none.
    function bit solve_legal();
      string why;
      for (int n = 0; n < 1000; n++) begin
        if (randomize() == 0) return 0;
        if (!breaks_a_rule(why)) return 1;
      end
      return 0;
    endfunction

    // Typed classes: the struct to bits, and back.
    virtual function void pack();
    endfunction

    virtual function void unpack();
    endfunction

    // Position of a field.
    protected function void place(string field, output int unsigned lsb, output int unsigned width, output int unsigned address_lsb);
      int unsigned number, reserved;
      bit [127:0] default_value;
      int status;
      status = sp_field_find(sp_library::layout_number(layout), field, number);
      sp_library::must(status, {layout, ".", field});
      status = sp_field_place(sp_library::layout_number(layout), number, default_value, lsb, width, address_lsb, reserved);
      sp_library::must(status, layout);
    endfunction

    // The value of a field by its name; of an address the whole byte address.
    function bit [63:0] get(string field);
      int unsigned lsb, width, address_lsb;
      pack();
      place(field, lsb, width, address_lsb);
      return 64'((bits >> lsb) & ((256'd1 << width) - 256'd1)) << address_lsb;
    endfunction

    function void set(string field, bit [63:0] value);
      int unsigned lsb, width, address_lsb;
      bit [255:0] mask;
      pack();
      place(field, lsb, width, address_lsb);
      mask = ((256'd1 << width) - 256'd1) << lsb;
      bits = (bits & ~mask) | ((256'(value >> address_lsb) << lsb) & mask);
      unpack();
    endfunction

    // Whether the layout has such a field.
    function bit has(string field);
      int unsigned number;
      return sp_field_find(sp_library::layout_number(layout), field, number) == SP_OK;
    endfunction

    // A line of data, with all its bytes or with those that `enables` has a 1 for.
    function void set_line(bit [511:0] line);
      has_data = 1;
      data = line;
    endfunction

    function void set_enables(bit [63:0] of_bytes);
      has_enables = 1;
      enables = of_bytes;
    endfunction

    // Whether its data is half of a line: 32 bytes, which cxl-68b alone has. The 256B modes have metadata in `extra`.
    function bit is_half();
      return has_data && layout.len() > 5 && layout.substr(0, 4) == "cxl68" && extra inside {64'(SP_LOWER_HALF), 64'(SP_UPPER_HALF)};
    endfunction

    // Whether it says the same.
    virtual function bit same(sp_message other);
      pack();
      other.pack();
      return layout == other.layout && bits == other.bits && has_data == other.has_data && (!has_data || data == other.data)
          && has_enables == other.has_enables && (!has_enables || enables == other.enables) && extra == other.extra;
    endfunction

    // Whether it breaks a rule of its layout; `why` says which one.
    function bit breaks_a_rule(output string why);
      sp_bits_t bytes;
      bit [127:0] values[0:31];
      longint unsigned count;
      int status;
      pack();
      why = "";
      if (layout == "") return 0;
      for (int n = 0; n < 32; n++) bytes[n] = bits[8*n +: 8];
      status = sp_decode(sp_library::layout_number(layout), bytes, 64'(bits_bytes()), 1, values, count);
      if (status != SP_OK) why = sp_library::why();
      return status != SP_OK;
    endfunction

    virtual function string convert2string();
      string text;
      pack();
      text = $sformatf("%s %h", layout, bits);
      if (layout == "") text = "TL flit";
      if (has_data) text = {text, $sformatf(" data %h", data)};
      if (has_enables) text = {text, $sformatf(" enables %h", enables)};
      return text;
    endfunction

    // Data and byte enables as calls take them. A class with more has functions of its own.
    virtual function int unsigned data_bytes();
      return has_data ? 64 : 0;
    endfunction

    virtual function int unsigned enables_bytes();
      return has_enables ? 8 : 0;
    endfunction

    virtual function void get_data(ref sp_data_t bytes);
      for (int n = 0; n < 64; n++) bytes[n] = data[8*n +: 8];
    endfunction

    virtual function void put_data(ref sp_data_t bytes, input int unsigned count);
      has_data = count != 0;
      data = '0;
      for (int n = 0; n < 64; n++) if (n < int'(count)) data[8*n +: 8] = bytes[n];
    endfunction

    virtual function void get_enables(ref sp_enables_t bytes);
      for (int n = 0; n < 8; n++) bytes[n] = enables[8*n +: 8];
    endfunction

    virtual function void put_enables(ref sp_enables_t bytes, input int unsigned count);
      has_enables = count != 0;
      enables = '0;
      for (int n = 0; n < 8; n++) if (n < int'(count)) enables[8*n +: 8] = bytes[n];
    endfunction
  endclass

  // A TL flit of UALink.
  class ualink_tl_flit extends sp_message;
    rand bit [255:0] lower;
    rand bit [255:0] upper;
    rand bit [1:0] indicators; // bit 0 or 1 is set if the lower or the upper half is a message

    function new();
      super.new("");
      lower = '0;
      upper = '0;
      indicators = '0;
    endfunction

    virtual function void pack();
      has_data = 1;
      data = {upper, lower};
      extra = 64'(indicators);
    endfunction

    virtual function void unpack();
      {upper, lower} = data;
      indicators = extra[1:0];
    endfunction
  endclass

  // A request or a response of the transaction layer of UALink, with up to four beats of data. The link has `transaction_layer`.
  class ualink_tl_message extends sp_message;
    bit [511:0] beats[0:3];
    int unsigned beat_count;
    bit [255:0] block_enables; // if has_enables; bit n for byte n of the 256 bytes that the address lies in

    function new(string layout_of);
      super.new(layout_of);
      foreach (beats[n]) beats[n] = '0;
      beat_count = 0;
      block_enables = '0;
    endfunction

    virtual function bit same(sp_message other);
      ualink_tl_message of;
      if (!$cast(of, other) || layout != of.layout || beat_count != of.beat_count || extra != of.extra) return 0;
      pack();
      of.pack();
      foreach (beats[n]) if (n < int'(beat_count) && beats[n] != of.beats[n]) return 0;
      return bits == of.bits && has_enables == of.has_enables && (!has_enables || block_enables == of.block_enables);
    endfunction

    virtual function int unsigned data_bytes();
      return 64 * beat_count;
    endfunction

    virtual function int unsigned enables_bytes();
      return has_enables ? 32 : 0;
    endfunction

    virtual function void get_data(ref sp_data_t bytes);
      for (int n = 0; n < 256; n++) bytes[n] = beats[n / 64][8*(n % 64) +: 8];
    endfunction

    virtual function void put_data(ref sp_data_t bytes, input int unsigned count);
      beat_count = count / 64;
      for (int n = 0; n < 256; n++) beats[n / 64][8*(n % 64) +: 8] = n < int'(count) ? bytes[n] : 8'd0;
    endfunction

    virtual function void get_enables(ref sp_enables_t bytes);
      for (int n = 0; n < 32; n++) bytes[n] = block_enables[8*n +: 8];
    endfunction

    virtual function void put_enables(ref sp_enables_t bytes, input int unsigned count);
      has_enables = count != 0;
      block_enables = '0;
      for (int n = 0; n < 32; n++) if (n < int'(count)) block_enables[8*n +: 8] = bytes[n];
    endfunction
  endclass

  // A TLP of flit mode of CXL.io, in wire order. The structs of scalepool_cxlio_pkg have its headers, with byte 0 in their highest bits.
  class cxlio_tlp extends sp_message;
    byte unsigned tlp[$];

    function new();
      super.new("");
    endfunction

    // Adds the `count` lowest bytes of a number, the highest one first: a header or one of the words behind it.
    function void add(bit [127:0] value, int unsigned count);
      for (int n = int'(count) - 1; n >= 0; n--) tlp.push_back(value[8*n +: 8]);
    endfunction

    // Adds double words of data, byte 0 of `value` first.
    function void add_data(bit [511:0] value, int unsigned count);
      for (int n = 0; n < int'(count); n++) tlp.push_back(value[8*n +: 8]);
    endfunction

    // `count` bytes from byte `first` on as a number, the first one highest; what is not there is 0.
    function bit [127:0] number(int unsigned first, int unsigned count);
      bit [127:0] value;
      value = '0;
      for (int n = int'(first); n < int'(first + count); n++) begin
        value <<= 8;
        if (n < tlp.size()) value[7:0] = tlp[n];
      end
      return value;
    endfunction

    // Bytes of data from byte `first` on, byte 0 lowest.
    function bit [511:0] data_from(int unsigned first);
      bit [511:0] value;
      value = '0;
      for (int n = 63; n >= 0; n--) begin
        int place;
        place = n + int'(first);
        value <<= 8;
        if (place < tlp.size()) value[7:0] = tlp[place];
      end
      return value;
    endfunction

    virtual function bit same(sp_message other);
      cxlio_tlp of;
      return $cast(of, other) && tlp == of.tlp;
    endfunction

    virtual function string convert2string();
      string text;
      text = "TLP ";
      foreach (tlp[n]) text = {text, $sformatf("%02x", tlp[n])};
      return text;
    endfunction

    virtual function int unsigned data_bytes();
      return 32'(tlp.size());
    endfunction

    virtual function void get_data(ref sp_data_t bytes);
      for (int n = 0; n < tlp.size() && n < 4352; n++) bytes[n] = tlp[n];
    endfunction

    virtual function void put_data(ref sp_data_t bytes, input int unsigned count);
      tlp.delete();
      for (int n = 0; n < int'(count); n++) tlp.push_back(bytes[n]);
    endfunction
  endclass

  // A message of NVLink. The link fills in the fields of the header that concern flits and credits.
  class nvlink_message extends sp_message;
    rand scalepool_nvlink_pkg::header_t header;
    rand scalepool_nvlink_pkg::ae_t ae;
    bit [2047:0] payload; // byte 0 is bits 7:0
    int unsigned payload_bytes; // a multiple of 16, up to 256
    bit [127:0] payload_enables; // if has_enables; bit n for byte n

    function new();
      super.new("nvlink.header");
      header = '0;
      ae = '0;
      payload = '0;
      payload_bytes = 0;
      payload_enables = '0;
    endfunction

    virtual function int unsigned bits_bytes();
      return 32;
    endfunction

    virtual function void pack();
      bits = {ae, header};
    endfunction

    virtual function void unpack();
      {ae, header} = bits;
    endfunction

    virtual function bit same(sp_message other);
      nvlink_message of;
      if (!$cast(of, other)) return 0;
      return header == of.header && ae == of.ae && payload_bytes == of.payload_bytes && payload == of.payload
          && has_enables == of.has_enables && (!has_enables || payload_enables == of.payload_enables);
    endfunction

    virtual function int unsigned data_bytes();
      return payload_bytes;
    endfunction

    virtual function int unsigned enables_bytes();
      return has_enables ? 16 : 0;
    endfunction

    virtual function void get_data(ref sp_data_t bytes);
      for (int n = 0; n < 256; n++) bytes[n] = payload[8*n +: 8];
    endfunction

    virtual function void put_data(ref sp_data_t bytes, input int unsigned count);
      payload_bytes = count;
      payload = '0;
      for (int n = 0; n < 256; n++) if (n < int'(count)) payload[8*n +: 8] = bytes[n];
    endfunction

    virtual function void get_enables(ref sp_enables_t bytes);
      for (int n = 0; n < 16; n++) bytes[n] = payload_enables[8*n +: 8];
    endfunction

    virtual function void put_enables(ref sp_enables_t bytes, input int unsigned count);
      has_enables = count != 0;
      payload_enables = '0;
      for (int n = 0; n < 16; n++) if (n < int'(count)) payload_enables[8*n +: 8] = bytes[n];
    endfunction
  endclass
