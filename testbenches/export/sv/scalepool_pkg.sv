// Made by `scalepool export sv` from the layout tables; do not edit.
//
// Link ends, messages, events and transactions of the model as classes. Compile scalepool_dpi_pkg (with its C file and the shared
// library) and the packages of the families first.
package scalepool_pkg;
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

  // Flit cxl68.unit (cxl-68b section 1.1), byte 0 in bits 7:0.
  typedef struct packed {
    bit [15:0] tail; // CRC of CXL.cachemem; zero in ALMP and NULL; reserved in CXL.io.
    bit [127:0] slot3; // Slot 3.
    bit [127:0] slot2; // Slot 2.
    bit [127:0] slot1; // Slot 1.
    bit [127:0] slot0; // Slot 0; in a protocol flit its bits 31:0 are the flit header.
    bit [15:0] pid; // Protocol ID, added by the physical layer.
  } cxl68_unit_t;

  // Flit cxl256.standard (cxl-256b section 1.1), byte 0 in bits 7:0.
  typedef struct packed {
    bit [47:0] fec; // FEC.
    bit [63:0] crc; // CRC.
    bit [15:0] crd; // Credit return.
    bit [1791:0] slots; // Slots 1 to 14, 16 bytes each.
    bit [111:0] slot0; // Slot 0, an H slot.
    bit [15:0] header; // Flit header.
  } cxl256_standard_t;

  // Flit cxl256.lopt (cxl-256b section 1.5), byte 0 in bits 7:0.
  typedef struct packed {
    bit [47:0] crc_odd; // CRC of the odd half.
    bit [47:0] fec; // FEC.
    bit [15:0] slot8_high; // Slot 8, bytes 10 and 11.
    bit [15:0] crd; // Credit return.
    bit [767:0] slots_odd; // Slots 9 to 14, 16 bytes each.
    bit [47:0] slot7_high; // Slot 7, bytes 10 to 15.
    bit [79:0] slot8_low; // Slot 8, an HS slot, bytes 0 to 9.
    bit [47:0] crc_even; // CRC of the even half.
    bit [79:0] slot7_low; // Slot 7, bytes 0 to 9.
    bit [767:0] slots_even; // Slots 1 to 6, 16 bytes each.
    bit [111:0] slot0; // Slot 0, an H slot.
    bit [15:0] header; // Flit header.
  } cxl256_lopt_t;

  // Flit ualink.dl_flit (ualink section 2), byte 0 in bits 7:0.
  typedef struct packed {
    bit [31:0] crc; // CRC-32.
    bit [71:0] data6; // Payload.
    bit [23:0] fh; // Flit header, low byte first.
    bit [351:0] data5; // Payload.
    bit [7:0] sh4; // Segment header 4.
    bit [1015:0] data4; // Payload.
    bit [7:0] sh3; // Segment header 3.
    bit [1015:0] data3; // Payload.
    bit [7:0] sh2; // Segment header 2.
    bit [1015:0] data2; // Payload.
    bit [7:0] sh1; // Segment header 1.
    bit [1015:0] data1; // Payload.
    bit [7:0] sh0; // Segment header 0.
    bit [535:0] data0; // Payload before the first segment header.
  } ualink_dl_flit_t;

  // cxl256.h2d_req: CXL.cache snoop, host to device.
  class cxl256_h2d_req extends sp_message;
    rand scalepool_cxl256_pkg::h2d_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h1, 3'h2, 3'h3};
      fields.rsvd == 6'h0;
    }

    function new();
      super.new("cxl256.h2d_req");
      fields = scalepool_cxl256_pkg::h2d_req_t'(72'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 9;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hfc0000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::h2d_req_t'(bits[71:0]);
    endfunction
  endclass

  // cxl256.h2d_rsp: CXL.cache answer, host to device.
  class cxl256_h2d_rsp extends sp_message;
    rand scalepool_cxl256_pkg::h2d_rsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h1, 4'h4, 4'h5, 4'h6, 4'h8, 4'hd, 4'hf};
      fields.rsp_pre inside {2'h0, 2'h1, 2'h2};
      fields.rsvd == 5'h0;
    }

    function new();
      super.new("cxl256.h2d_rsp");
      fields = scalepool_cxl256_pkg::h2d_rsp_t'(40'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hf800000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::h2d_rsp_t'(bits[39:0]);
    endfunction
  endclass

  // cxl256.h2d_data: Header of CXL.cache data, host to device.
  class cxl256_h2d_data extends sp_message;
    rand scalepool_cxl256_pkg::h2d_data_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxl256.h2d_data");
      fields = scalepool_cxl256_pkg::h2d_data_t'(28'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 4;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff80000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::h2d_data_t'(bits[27:0]);
    endfunction
  endclass

  // cxl256.d2h_req: CXL.cache request, device to host.
  class cxl256_d2h_req extends sp_message;
    rand scalepool_cxl256_pkg::d2h_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {5'h1, 5'h2, 5'h3, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'he, 5'h10};
      fields.rsvd == 3'h0;
      fields.rsvd1 == 4'h0;
    }

    function new();
      super.new("cxl256.d2h_req");
      fields = scalepool_cxl256_pkg::d2h_req_t'(76'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 10;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hf000000000003800000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::d2h_req_t'(bits[75:0]);
    endfunction
  endclass

  // cxl256.d2h_rsp: CXL.cache snoop answer, device to host.
  class cxl256_d2h_rsp extends sp_message;
    rand scalepool_cxl256_pkg::d2h_rsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'hf, 5'h16};
      fields.rsvd == 6'h0;
    }

    function new();
      super.new("cxl256.d2h_rsp");
      fields = scalepool_cxl256_pkg::d2h_rsp_t'(24'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 3;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hfc0000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::d2h_rsp_t'(bits[23:0]);
    endfunction
  endclass

  // cxl256.d2h_data: Header of CXL.cache data, device to host.
  class cxl256_d2h_data extends sp_message;
    rand scalepool_cxl256_pkg::d2h_data_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.rsvd == 8'h0;
    }

    function new();
      super.new("cxl256.d2h_data");
      fields = scalepool_cxl256_pkg::d2h_data_t'(24'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 3;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff0000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::d2h_data_t'(bits[23:0]);
    endfunction
  endclass

  // cxl256.m2s_req: CXL.mem request without data, host to device.
  class cxl256_m2s_req extends sp_message;
    rand scalepool_cxl256_pkg::m2s_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.snp_type inside {3'h0, 3'h1, 3'h2, 3'h3};
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 7'h0;
    }

    function new();
      super.new("cxl256.m2s_req");
      fields = scalepool_cxl256_pkg::m2s_req_t'(100'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 13;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h3f80000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::m2s_req_t'(bits[99:0]);
    endfunction
  endclass

  // cxl256.m2s_rwd: Header of a CXL.mem request with data, host to device.
  class cxl256_m2s_rwd extends sp_message;
    rand scalepool_cxl256_pkg::m2s_rwd_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h1, 4'h2, 4'h4, 4'h5, 4'h9, 4'ha, 4'hd};
      fields.snp_type inside {3'h0, 3'h1, 3'h2, 3'h3};
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxl256.m2s_rwd");
      fields = scalepool_cxl256_pkg::m2s_rwd_t'(104'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 13;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h3fe00000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::m2s_rwd_t'(bits[103:0]);
    endfunction
  endclass

  // cxl256.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
  class cxl256_m2s_birsp extends sp_message;
    rand scalepool_cxl256_pkg::m2s_birsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxl256.m2s_birsp");
      fields = scalepool_cxl256_pkg::m2s_birsp_t'(40'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff80000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::m2s_birsp_t'(bits[39:0]);
    endfunction
  endclass

  // cxl256.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
  class cxl256_s2m_bisnp extends sp_message;
    rand scalepool_cxl256_pkg::s2m_bisnp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6, 4'h8, 4'h9, 4'ha, 4'hc, 4'hd, 4'he};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxl256.s2m_bisnp");
      fields = scalepool_cxl256_pkg::s2m_bisnp_t'(84'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 11;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff8000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::s2m_bisnp_t'(bits[83:0]);
    endfunction
  endclass

  // cxl256.s2m_ndr: CXL.mem answer without data, device to host.
  class cxl256_s2m_ndr extends sp_message;
    rand scalepool_cxl256_pkg::s2m_ndr_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 10'h0;
    }

    function new();
      super.new("cxl256.s2m_ndr");
      fields = scalepool_cxl256_pkg::s2m_ndr_t'(40'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hffc0000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::s2m_ndr_t'(bits[39:0]);
    endfunction
  endclass

  // cxl256.s2m_drs: Header of a CXL.mem answer with data, device to host.
  class cxl256_s2m_drs extends sp_message;
    rand scalepool_cxl256_pkg::s2m_drs_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h0, 3'h1, 3'h2};
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 8'h0;
    }

    function new();
      super.new("cxl256.s2m_drs");
      fields = scalepool_cxl256_pkg::s2m_drs_t'(40'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff00000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl256_pkg::s2m_drs_t'(bits[39:0]);
    endfunction
  endclass

  // cxl68.m2s_req: CXL.mem request without data, host to device.
  class cxl68_m2s_req extends sp_message;
    rand scalepool_cxl68_pkg::m2s_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h8, 4'h9};
      fields.snp_type inside {3'h0, 3'h1, 3'h2, 3'h3};
      fields.meta_field inside {2'h0, 2'h3};
      fields.meta_value inside {2'h0, 2'h2, 2'h3};
      fields.rsvd == 6'h0;
    }

    function new();
      super.new("cxl68.m2s_req");
      fields = scalepool_cxl68_pkg::m2s_req_t'(87'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 11;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h7e00000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::m2s_req_t'(bits[86:0]);
    endfunction
  endclass

  // cxl68.m2s_rwd: Header of a CXL.mem request with data, host to device.
  class cxl68_m2s_rwd extends sp_message;
    rand scalepool_cxl68_pkg::m2s_rwd_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h1, 4'h2};
      fields.snp_type inside {3'h0, 3'h1, 3'h2, 3'h3};
      fields.meta_field inside {2'h0, 2'h3};
      fields.meta_value inside {2'h0, 2'h2, 2'h3};
      fields.rsvd == 6'h0;
    }

    function new();
      super.new("cxl68.m2s_rwd");
      fields = scalepool_cxl68_pkg::m2s_rwd_t'(87'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 11;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h7e00000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::m2s_rwd_t'(bits[86:0]);
    endfunction
  endclass

  // cxl68.s2m_ndr: CXL.mem answer without data, device to host. 28 bits in 1.1; DevLoad is split off in some slots (section 3.3).
  class cxl68_s2m_ndr extends sp_message;
    rand scalepool_cxl68_pkg::s2m_ndr_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h0, 3'h1, 3'h2};
      fields.meta_field inside {2'h0, 2'h3};
      fields.meta_value inside {2'h0, 2'h2, 2'h3};
    }

    function new();
      super.new("cxl68.s2m_ndr");
      fields = scalepool_cxl68_pkg::s2m_ndr_t'(30'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 4;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h0;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::s2m_ndr_t'(bits[29:0]);
    endfunction
  endclass

  // cxl68.s2m_drs: Header of a CXL.mem answer with data, device to host.
  class cxl68_s2m_drs extends sp_message;
    rand scalepool_cxl68_pkg::s2m_drs_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h0, 3'h1};
      fields.meta_field inside {2'h0, 2'h3};
      fields.meta_value inside {2'h0, 2'h2, 2'h3};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxl68.s2m_drs");
      fields = scalepool_cxl68_pkg::s2m_drs_t'(40'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff80000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::s2m_drs_t'(bits[39:0]);
    endfunction
  endclass

  // cxl68.d2h_req: CXL.cache request, device to host.
  class cxl68_d2h_req extends sp_message;
    rand scalepool_cxl68_pkg::d2h_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {5'h1, 5'h2, 5'h3, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'he, 5'h10};
      fields.rsvd == 7'h0;
      fields.rsvd1 == 7'h0;
    }

    function new();
      super.new("cxl68.d2h_req");
      fields = scalepool_cxl68_pkg::d2h_req_t'(79'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 10;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h7f000000000003f80000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::d2h_req_t'(bits[78:0]);
    endfunction
  endclass

  // cxl68.d2h_rsp: CXL.cache snoop answer, device to host.
  class cxl68_d2h_rsp extends sp_message;
    rand scalepool_cxl68_pkg::d2h_rsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'hf, 5'h16};
      fields.rsvd == 2'h0;
    }

    function new();
      super.new("cxl68.d2h_rsp");
      fields = scalepool_cxl68_pkg::d2h_rsp_t'(20'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 3;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hc0000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::d2h_rsp_t'(bits[19:0]);
    endfunction
  endclass

  // cxl68.d2h_data: Header of CXL.cache data, device to host.
  class cxl68_d2h_data extends sp_message;
    rand scalepool_cxl68_pkg::d2h_data_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.rsvd == 1'h0;
    }

    function new();
      super.new("cxl68.d2h_data");
      fields = scalepool_cxl68_pkg::d2h_data_t'(17'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 3;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h10000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::d2h_data_t'(bits[16:0]);
    endfunction
  endclass

  // cxl68.h2d_req: CXL.cache snoop, host to device.
  class cxl68_h2d_req extends sp_message;
    rand scalepool_cxl68_pkg::h2d_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h1, 3'h2, 3'h3};
      fields.rsvd == 2'h0;
    }

    function new();
      super.new("cxl68.h2d_req");
      fields = scalepool_cxl68_pkg::h2d_req_t'(64'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 8;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hc000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::h2d_req_t'(bits[63:0]);
    endfunction
  endclass

  // cxl68.h2d_rsp: CXL.cache answer, host to device.
  class cxl68_h2d_rsp extends sp_message;
    rand scalepool_cxl68_pkg::h2d_rsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h1, 4'h4, 4'h5, 4'h6, 4'h8, 4'hc, 4'hd, 4'hf};
      fields.rsp_pre inside {2'h0, 2'h1, 2'h2};
      fields.rsvd == 1'h0;
    }

    function new();
      super.new("cxl68.h2d_rsp");
      fields = scalepool_cxl68_pkg::h2d_rsp_t'(32'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 4;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h80000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::h2d_rsp_t'(bits[31:0]);
    endfunction
  endclass

  // cxl68.h2d_data: Header of CXL.cache data, host to device.
  class cxl68_h2d_data extends sp_message;
    rand scalepool_cxl68_pkg::h2d_data_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.rsvd == 8'h0;
    }

    function new();
      super.new("cxl68.h2d_data");
      fields = scalepool_cxl68_pkg::h2d_data_t'(24'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 3;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff0000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxl68_pkg::h2d_data_t'(bits[23:0]);
    endfunction
  endclass

  // cxlpbr.h2d_req: CXL.cache snoop, host to device.
  class cxlpbr_h2d_req extends sp_message;
    rand scalepool_cxlpbr_pkg::h2d_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h1, 3'h2, 3'h3};
      fields.rsvd == 6'h0;
    }

    function new();
      super.new("cxlpbr.h2d_req");
      fields = scalepool_cxlpbr_pkg::h2d_req_t'(92'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 12;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hfc000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::h2d_req_t'(bits[91:0]);
    endfunction
  endclass

  // cxlpbr.h2d_rsp: CXL.cache answer, host to device.
  class cxlpbr_h2d_rsp extends sp_message;
    rand scalepool_cxlpbr_pkg::h2d_rsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h1, 4'h4, 4'h5, 4'h6, 4'h8, 4'hd, 4'hf};
      fields.rsp_pre inside {2'h0, 2'h1, 2'h2};
      fields.rsvd == 5'h0;
    }

    function new();
      super.new("cxlpbr.h2d_rsp");
      fields = scalepool_cxlpbr_pkg::h2d_rsp_t'(48'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 6;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hf80000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::h2d_rsp_t'(bits[47:0]);
    endfunction
  endclass

  // cxlpbr.h2d_data: Header of CXL.cache data, host to device.
  class cxlpbr_h2d_data extends sp_message;
    rand scalepool_cxlpbr_pkg::h2d_data_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxlpbr.h2d_data");
      fields = scalepool_cxlpbr_pkg::h2d_data_t'(36'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff8000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::h2d_data_t'(bits[35:0]);
    endfunction
  endclass

  // cxlpbr.d2h_req: CXL.cache request, device to host.
  class cxlpbr_d2h_req extends sp_message;
    rand scalepool_cxlpbr_pkg::d2h_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {5'h1, 5'h2, 5'h3, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'he, 5'h10};
      fields.rsvd == 7'h0;
    }

    function new();
      super.new("cxlpbr.d2h_req");
      fields = scalepool_cxlpbr_pkg::d2h_req_t'(96'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 12;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hfe0000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::d2h_req_t'(bits[95:0]);
    endfunction
  endclass

  // cxlpbr.d2h_rsp: CXL.cache snoop answer, device to host.
  class cxlpbr_d2h_rsp extends sp_message;
    rand scalepool_cxlpbr_pkg::d2h_rsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'hf, 5'h16};
      fields.rsvd == 6'h0;
    }

    function new();
      super.new("cxlpbr.d2h_rsp");
      fields = scalepool_cxlpbr_pkg::d2h_rsp_t'(36'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hfc0000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::d2h_rsp_t'(bits[35:0]);
    endfunction
  endclass

  // cxlpbr.d2h_data: Header of CXL.cache data, device to host.
  class cxlpbr_d2h_data extends sp_message;
    rand scalepool_cxlpbr_pkg::d2h_data_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.rsvd == 8'h0;
    }

    function new();
      super.new("cxlpbr.d2h_data");
      fields = scalepool_cxlpbr_pkg::d2h_data_t'(36'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 5;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff0000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::d2h_data_t'(bits[35:0]);
    endfunction
  endclass

  // cxlpbr.m2s_req: CXL.mem request without data, host to device.
  class cxlpbr_m2s_req extends sp_message;
    rand scalepool_cxlpbr_pkg::m2s_req_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.snp_type inside {3'h0, 3'h1, 3'h2, 3'h3};
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 7'h0;
    }

    function new();
      super.new("cxlpbr.m2s_req");
      fields = scalepool_cxlpbr_pkg::m2s_req_t'(120'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 15;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h3f8000000000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::m2s_req_t'(bits[119:0]);
    endfunction
  endclass

  // cxlpbr.m2s_rwd: Header of a CXL.mem request with data, host to device.
  class cxlpbr_m2s_rwd extends sp_message;
    rand scalepool_cxlpbr_pkg::m2s_rwd_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h1, 4'h2, 4'h4, 4'h5, 4'h9, 4'ha, 4'hd};
      fields.snp_type inside {3'h0, 3'h1, 3'h2, 3'h3};
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxlpbr.m2s_rwd");
      fields = scalepool_cxlpbr_pkg::m2s_rwd_t'(124'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 16;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h3fe0000000000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::m2s_rwd_t'(bits[123:0]);
    endfunction
  endclass

  // cxlpbr.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
  class cxlpbr_m2s_birsp extends sp_message;
    rand scalepool_cxlpbr_pkg::m2s_birsp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxlpbr.m2s_birsp");
      fields = scalepool_cxlpbr_pkg::m2s_birsp_t'(52'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 7;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff80000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::m2s_birsp_t'(bits[51:0]);
    endfunction
  endclass

  // cxlpbr.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
  class cxlpbr_s2m_bisnp extends sp_message;
    rand scalepool_cxlpbr_pkg::s2m_bisnp_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6, 4'h8, 4'h9, 4'ha, 4'hc, 4'hd, 4'he};
      fields.rsvd == 9'h0;
    }

    function new();
      super.new("cxlpbr.s2m_bisnp");
      fields = scalepool_cxlpbr_pkg::s2m_bisnp_t'(96'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 12;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff8000000000000000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::s2m_bisnp_t'(bits[95:0]);
    endfunction
  endclass

  // cxlpbr.s2m_ndr: CXL.mem answer without data, device to host.
  class cxlpbr_s2m_ndr extends sp_message;
    rand scalepool_cxlpbr_pkg::s2m_ndr_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 10'h0;
    }

    function new();
      super.new("cxlpbr.s2m_ndr");
      fields = scalepool_cxlpbr_pkg::s2m_ndr_t'(48'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 6;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hffc000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::s2m_ndr_t'(bits[47:0]);
    endfunction
  endclass

  // cxlpbr.s2m_drs: Header of a CXL.mem answer with data, device to host.
  class cxlpbr_s2m_drs extends sp_message;
    rand scalepool_cxlpbr_pkg::s2m_drs_t fields;

    constraint legal {
      fields.valid == 1'h1;
      fields.opcode inside {3'h0, 3'h1, 3'h2};
      fields.meta_field inside {2'h0, 2'h1, 2'h3};
      fields.rsvd == 8'h0;
    }

    function new();
      super.new("cxlpbr.s2m_drs");
      fields = scalepool_cxlpbr_pkg::s2m_drs_t'(48'h1);
    endfunction

    virtual function int unsigned bits_bytes();
      return 6;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hff0000000000;
    endfunction

    virtual function bit [255:0] valid_bit();
      return 256'h1;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_cxlpbr_pkg::s2m_drs_t'(bits[47:0]);
    endfunction
  endclass

  // ualink.tl_req: Uncompressed request.
  class ualink_tl_req extends ualink_tl_message;
    rand scalepool_ualink_pkg::tl_req_t fields;

    constraint legal {
      fields.cmd inside {6'h3, 6'h8, 6'h9, 6'ha, 6'hb, 6'hc, 6'hd, 6'he, 6'hf, 6'h28, 6'h29, 6'h2a, 6'h2c, 6'h2d, 6'h2e, 6'h2f, 6'h30, 6'h32, 6'h3c, 6'h3d, 6'h3e, 6'h3f};
      fields.ftype inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5};
    }

    function new();
      super.new("ualink.tl_req");
      fields = scalepool_ualink_pkg::tl_req_t'(128'h10000000000000000000000000000000);
    endfunction

    virtual function int unsigned bits_bytes();
      return 16;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'h0;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_ualink_pkg::tl_req_t'(bits[127:0]);
    endfunction
  endclass

  // ualink.tl_rsp: Uncompressed response.
  class ualink_tl_rsp extends ualink_tl_message;
    rand scalepool_ualink_pkg::tl_rsp_t fields;

    constraint legal {
      fields.spare == 16'h0;
      fields.status inside {4'h0, 4'h2, 4'h3, 4'h6, 4'h8, 4'hf};
      fields.ftype inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5};
    }

    function new();
      super.new("ualink.tl_rsp");
      fields = scalepool_ualink_pkg::tl_rsp_t'(64'h2000000000000000);
    endfunction

    virtual function int unsigned bits_bytes();
      return 8;
    endfunction

    virtual function bit [255:0] reserved_bits();
      return 256'hffff;
    endfunction

    virtual function void pack();
      bits = 256'(fields);
    endfunction

    virtual function void unpack();
      fields = scalepool_ualink_pkg::tl_rsp_t'(bits[63:0]);
    endfunction
  endclass

  // Makes messages by the names of their layouts.
  class sp_message_factory;
    // A message of the class of a layout; of sp_message if it has none of its own.
    static function sp_message create(string layout);
      case (layout)
        "cxl256.h2d_req": begin cxl256_h2d_req m; m = new(); return m; end
        "cxl256.h2d_rsp": begin cxl256_h2d_rsp m; m = new(); return m; end
        "cxl256.h2d_data": begin cxl256_h2d_data m; m = new(); return m; end
        "cxl256.d2h_req": begin cxl256_d2h_req m; m = new(); return m; end
        "cxl256.d2h_rsp": begin cxl256_d2h_rsp m; m = new(); return m; end
        "cxl256.d2h_data": begin cxl256_d2h_data m; m = new(); return m; end
        "cxl256.m2s_req": begin cxl256_m2s_req m; m = new(); return m; end
        "cxl256.m2s_rwd": begin cxl256_m2s_rwd m; m = new(); return m; end
        "cxl256.m2s_birsp": begin cxl256_m2s_birsp m; m = new(); return m; end
        "cxl256.s2m_bisnp": begin cxl256_s2m_bisnp m; m = new(); return m; end
        "cxl256.s2m_ndr": begin cxl256_s2m_ndr m; m = new(); return m; end
        "cxl256.s2m_drs": begin cxl256_s2m_drs m; m = new(); return m; end
        "cxl68.m2s_req": begin cxl68_m2s_req m; m = new(); return m; end
        "cxl68.m2s_rwd": begin cxl68_m2s_rwd m; m = new(); return m; end
        "cxl68.s2m_ndr": begin cxl68_s2m_ndr m; m = new(); return m; end
        "cxl68.s2m_drs": begin cxl68_s2m_drs m; m = new(); return m; end
        "cxl68.d2h_req": begin cxl68_d2h_req m; m = new(); return m; end
        "cxl68.d2h_rsp": begin cxl68_d2h_rsp m; m = new(); return m; end
        "cxl68.d2h_data": begin cxl68_d2h_data m; m = new(); return m; end
        "cxl68.h2d_req": begin cxl68_h2d_req m; m = new(); return m; end
        "cxl68.h2d_rsp": begin cxl68_h2d_rsp m; m = new(); return m; end
        "cxl68.h2d_data": begin cxl68_h2d_data m; m = new(); return m; end
        "cxlpbr.h2d_req": begin cxlpbr_h2d_req m; m = new(); return m; end
        "cxlpbr.h2d_rsp": begin cxlpbr_h2d_rsp m; m = new(); return m; end
        "cxlpbr.h2d_data": begin cxlpbr_h2d_data m; m = new(); return m; end
        "cxlpbr.d2h_req": begin cxlpbr_d2h_req m; m = new(); return m; end
        "cxlpbr.d2h_rsp": begin cxlpbr_d2h_rsp m; m = new(); return m; end
        "cxlpbr.d2h_data": begin cxlpbr_d2h_data m; m = new(); return m; end
        "cxlpbr.m2s_req": begin cxlpbr_m2s_req m; m = new(); return m; end
        "cxlpbr.m2s_rwd": begin cxlpbr_m2s_rwd m; m = new(); return m; end
        "cxlpbr.m2s_birsp": begin cxlpbr_m2s_birsp m; m = new(); return m; end
        "cxlpbr.s2m_bisnp": begin cxlpbr_s2m_bisnp m; m = new(); return m; end
        "cxlpbr.s2m_ndr": begin cxlpbr_s2m_ndr m; m = new(); return m; end
        "cxlpbr.s2m_drs": begin cxlpbr_s2m_drs m; m = new(); return m; end
        "ualink.tl_req": begin ualink_tl_req m; m = new(); return m; end
        "ualink.tl_rsp": begin ualink_tl_rsp m; m = new(); return m; end
        "nvlink.header": begin nvlink_message m; m = new(); return m; end
        "tlp": begin cxlio_tlp m; m = new(); return m; end
        "": begin ualink_tl_flit m; m = new(); return m; end
        default: begin sp_message m; m = new(layout); return m; end
      endcase
    endfunction

    // Names of the layouts of all messages of CXL.
    static function void names(ref string all[$]);
      all = '{
        "cxl256.h2d_req", "cxl256.h2d_rsp", "cxl256.h2d_data", "cxl256.d2h_req", "cxl256.d2h_rsp",
        "cxl256.d2h_data", "cxl256.m2s_req", "cxl256.m2s_rwd", "cxl256.m2s_birsp", "cxl256.s2m_bisnp",
        "cxl256.s2m_ndr", "cxl256.s2m_drs", "cxl68.m2s_req", "cxl68.m2s_rwd", "cxl68.s2m_ndr",
        "cxl68.s2m_drs", "cxl68.d2h_req", "cxl68.d2h_rsp", "cxl68.d2h_data", "cxl68.h2d_req",
        "cxl68.h2d_rsp", "cxl68.h2d_data", "cxlpbr.h2d_req", "cxlpbr.h2d_rsp", "cxlpbr.h2d_data",
        "cxlpbr.d2h_req", "cxlpbr.d2h_rsp", "cxlpbr.d2h_data", "cxlpbr.m2s_req", "cxlpbr.m2s_rwd",
        "cxlpbr.m2s_birsp", "cxlpbr.s2m_bisnp", "cxlpbr.s2m_ndr", "cxlpbr.s2m_drs"
      };
    endfunction
  endclass

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

  // Broken rules that a team knows of, each with a reason and, if it has one, an end: a number of units, a last day, or both. What day it is,
  // nobody but the bench says, so that a run is the same on every day: `today`, which the plusarg +scalepool_today=YYYY-MM-DD sets if the
  // bench does not. A waiver whose last day lies before `today` is not taken, and `remarks` says so.
  class sp_waivers;
    string today; // YYYY-MM-DD; set it before the first waiver with a last day
    protected string rules[$];
    protected string reasons[$];
    protected longint unsigned until_units[$];
    protected bit used[$];
    protected string over[$];

    function new();
      if ($value$plusargs("scalepool_today=%s", today) == 0) today = "";
    endfunction

    // What happens when a waiver is refused, which is a mistake of the bench; override it for another report.
    virtual function void refused(string text);
      $fatal(1, "%s", text);
    endfunction

    // Whether there is such a rule.
    protected function bit known(string what, string rule);
      known = sp_library::knows_rule(rule);
      if (!known) refused({what, ": ", sp_library::why()});
    endfunction

    // Waives the events of a rule: those before the unit `until_unit` of their direction, up to the day `last_day`, that day included.
    function void waive(string rule, string reason, longint unsigned until_unit = '1, string last_day = "");
      int unsigned holds;
      if (!known("waiver", rule)) return;
      if (reason == "") begin
        refused({"waiver of ", rule, ": found no reason, expected why the rule may be broken"});
        return;
      end
      holds = 1;
      if (last_day != "" && today == "") begin
        refused({"waiver of ", rule, ": found the last day ", last_day, " and no `today` to compare it with, expected +scalepool_today=YYYY-MM-DD"});
        return;
      end
      if (last_day != "" && sp_waiver_holds(last_day, today, holds) != SP_OK) begin
        refused({"waiver of ", rule, ": ", sp_library::why()});
        return;
      end
      if (holds == 0) begin
        over.push_back({"the waiver of ", rule, " has expired on ", last_day, ": ", reason});
        return;
      end
      rules.push_back(rule);
      reasons.push_back(reason);
      until_units.push_back(until_unit);
      used.push_back(0);
    endfunction

    // Why an event is waived; empty if it is not.
    function string reason_of(sp_event_t e);
      foreach (rules[n]) if (rules[n] == e.rule && e.unit < until_units[n]) begin
        used[n] = 1;
        return reasons[n];
      end
      return "";
    endfunction

    // What is to be said of the waivers themselves: those that have expired, and those that no event has matched so far.
    function void remarks(ref string lines[$]);
      foreach (over[n]) lines.push_back(over[n]);
      foreach (rules[n]) if (!used[n]) lines.push_back({"the waiver of ", rules[n], " matches nothing: ", reasons[n]});
    endfunction
  endclass

  // A part of a flit: a message, or a piece of data.
  class sp_flit_part;
    string kind; // `message`, `data`, `byte_enables` and the like; see sp_stream_part
    int unsigned place; // slot of CXL; lower (0) or upper (1) half of a TL flit
    bit [2047:0] bytes; // byte 0 is bits 7:0
    int unsigned byte_count;
    sp_message message; // if the part has a layout, else null
  endclass

  // Reads the flits of one direction of a link, without a link end: no retry, no credits.
  class sp_flit_decoder;
    protected longint unsigned handle;
    protected sp_protocol_e protocol;

    function new(sp_protocol_e protocol_of, sp_dir_e dir);
      int status;
      sp_library::open();
      protocol = protocol_of;
      status = sp_decoder_new(sp_link_end::name_of(protocol), 32'(dir), handle);
      sp_library::must(status, "decoder");
    endfunction

    // A flit, or a packet of nvlink. `bytes` is its length.
    function void decode(sp_unit_t value, int unsigned bytes);
      byte unsigned buffer[0:639];
      int status;
      for (int n = 0; n < 640; n++) buffer[n] = value[8*n +: 8];
      status = sp_stream_decode(handle, buffer, 64'(bytes), 1);
      sp_library::must(status, "flit");
    endfunction

    // No more flits follow.
    function void finish();
      int status;
      status = sp_stream_finish(handle);
      sp_library::must(status, "end of the stream");
    endfunction

    // Takes the oldest flit that has been read: its parts, and the first rule that it breaks, or an empty text. Returns 0 if none waits: a
    // flit of ualink may wait for the next one.
    function bit take(ref sp_flit_part parts[$], output string broken);
      byte unsigned flit[0:639];
      byte unsigned bytes[0:255];
      longint unsigned flit_length, count, length;
      int unsigned layout, place;
      string kind, name;
      int status;
      parts.delete();
      status = sp_stream_take_parts(handle, flit, flit_length, count);
      if (status < 0) $fatal(1, "flit: status %0d: %s", status, sp_library::why());
      broken = "";
      if (status != SP_OK && status != SP_EMPTY) broken = sp_library::why();
      if (status == SP_EMPTY) return 0;
      for (longint unsigned n = 0; n < count; n++) begin
        sp_flit_part part;
        status = sp_stream_part(handle, layout, place, kind, bytes, length);
        sp_library::must(status, "part of a flit");
        part = new();
        part.kind = kind;
        part.place = place;
        part.byte_count = 32'(length);
        for (int b = 0; b < 256; b++) if (b < int'(length)) part.bytes[8*b +: 8] = bytes[b];
        if (layout != SP_NO_LAYOUT) begin
          status = sp_layout_name(layout, name);
          sp_library::must(status, "layout");
          part.message = sp_message_factory::create(name);
          part.message.bits = part.bytes[255:0];
          part.message.unpack();
        end
        parts.push_back(part);
      end
      return 1;
    endfunction

    function void destroy();
      void'(sp_stream_destroy(handle));
    endfunction
  endclass

  // Makes the flits of packets of NVLink, without a link end: the fields of the link are those of the message's header.
  class sp_nvlink_encoder;
    protected longint unsigned handle;

    function new(sp_dir_e dir);
      int status;
      sp_library::open();
      status = sp_encoder_new("nvlink", 32'(dir), handle);
      sp_library::must(status, "encoder");
    endfunction

    protected function string hex_of(bit [2047:0] value, int unsigned bytes);
      string text;
      text = "";
      for (int n = 0; n < int'(bytes); n++) text = {text, $sformatf("%02x", value[8*n +: 8])};
      return text;
    endfunction

    // The flits of a packet, header first; with its AE if `with_ae`. Returns how many there are.
    function int unsigned encode(nvlink_message message, bit with_ae, ref bit [127:0] flits[$]);
      byte unsigned bytes[0:639];
      longint unsigned length, parts;
      string text;
      int status;
      text = $sformatf("{\"packet\":{\"header\":{\"op\":%0d,\"vc\":%0d,\"tag\":%0d,\"rid\":%0d,\"address\":%0d,\"size\":%0d,\"ep\":%0d,",
                       message.header.op, message.header.vc, message.header.tag, message.header.rid, {message.header.address, 4'd0},
                       message.header.size, message.header.ep);
      text = {text, $sformatf("\"atag\":%0d,\"crvc\":%0d,\"crh\":%0d,\"crd\":%0d,\"ackv\":%0d,\"ackid\":%0d}", message.header.atag,
                              message.header.crvc, message.header.crh, message.header.crd, message.header.ackv, message.header.ackid)};
      if (with_ae) text = {text, $sformatf(",\"ae\":{\"address\":%0d,\"attr\":%0d,\"route\":%0d}", {message.ae.address, 38'd0},
                                           message.ae.attr, message.ae.route)};
      if (message.has_enables) text = {text, ",\"be\":\"", hex_of(2048'(message.payload_enables), 16), "\""};
      if (message.payload_bytes != 0) text = {text, ",\"data\":\"", hex_of(message.payload, message.payload_bytes), "\""};
      status = sp_stream_encode(handle, {text, "}}"});
      sp_library::must(status, "packet");
      status = sp_stream_take_parts(handle, bytes, length, parts);
      if (status < 0 || status > SP_FINDING) $fatal(1, "packet: status %0d: %s", status, sp_library::why());
      flits.delete();
      for (int f = 0; f < int'(length) / 16; f++) begin
        bit [127:0] flit;
        for (int b = 0; b < 16; b++) flit[8*b +: 8] = bytes[16*f + b];
        flits.push_back(flit);
      end
      return 32'(flits.size());
    endfunction

    function void destroy();
      void'(sp_stream_destroy(handle));
    endfunction
  endclass

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

  // The signals of interfaces that cores have, of all of them together; each uses those that it has.
  typedef struct {
    bit valid;
    bit offer;
    bit ready;
    bit [5119:0] data;
    bit [639:0] keep;
    bit last;
    bit [63:0] user;
    bit grant;
    bit [3:0] state_request;
    bit [3:0] state;
    bit [15:0] pid;
    bit [15:0] crc;
  } sp_pins_t;

  // Which of them a design has.
  typedef struct packed {
    bit valid;
    bit offer;
    bit ready;
    bit data;
    bit keep;
    bit last;
    bit user;
    bit grant;
    bit state_request;
    bit state;
    bit pid;
    bit crc;
  } sp_has_t;

  localparam bit [3:0] SP_STATE_ACTIVE = 4'd1;

  // What breaks an interface itself, and the unit that passes meanwhile, from 0 behind a reset.
  typedef struct {
    longint unsigned unit;
    string place; // a signal
    string found;
    string expected;
  } sp_mistake_t;

  // How the signals of an interface move. This class has valid, ready and data; those of single interfaces override what differs. `seen`
  // has the signals as they are at an edge, `driven` what is driven behind it. The modules of scalepool_interfaces.sv join both to wires.
  class sp_bus;
    sp_has_t has;
    int unsigned beat_bytes;
    sp_pins_t seen;
    sp_pins_t driven;
    int unsigned order[$]; // byte n of the interface is byte order[n] of the beat; empty: the same one
    bit [63:0] user; // goes beside the beats that are sent, where the interface has a signal for it
    sp_mistake_t mistakes[$]; // of whoever is on the other side, oldest first; a link partner and a watcher make events of them
    longint unsigned at_unit; // that passes
    protected int unsigned unit_bytes;

    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      beat_bytes = beat_bytes_of;
      has = has_of;
      user = 0;
      at_unit = 0;
      unit_bytes = 0;
    endfunction

    protected function void wrong(string place, string found, string expected);
      sp_mistake_t m;
      m.unit = at_unit;
      m.place = place;
      m.found = found;
      m.expected = expected;
      mistakes.push_back(m);
    endfunction

    // A mistake as one line.
    static function string mistake_text(sp_mistake_t m);
      return $sformatf("unit %0d, %s: found %s, expected %s", m.unit, m.place, m.found, m.expected);
    endfunction

    // Units have so many bytes from now on. Returns the beats of one; 0 if they do not fit, and `why` says why.
    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      unit_bytes = unit_bytes_of;
      if (beat_bytes == 0 || unit_bytes % beat_bytes != 0) begin
        why = $sformatf("found %0d bytes of data, expected %0d or a divisor of it", beat_bytes, unit_bytes);
        return 0;
      end
      return places(why) ? unit_bytes / beat_bytes : 0;
    endfunction

    // Whether `order` has each place of a beat once.
    protected function bit places(output string why);
      bit [639:0] found;
      why = "";
      if (order.size() == 0) return 1;
      found = '0;
      foreach (order[n]) if (order[n] < beat_bytes) found[order[n]] = 1;
      if (order.size() == int'(beat_bytes) && $countones(found) == int'(beat_bytes)) return 1;
      why = $sformatf("order: found %0d places, expected each of 0 to %0d once", order.size(), beat_bytes - 1);
      return 0;
    endfunction

    // The bytes of a beat in the places of the interface.
    protected function sp_unit_t placed(sp_unit_t beat);
      sp_unit_t word;
      word = beat;
      foreach (order[n]) word[8*n +: 8] = beat[8*order[n] +: 8];
      return word;
    endfunction

    // The same for a bit of each byte.
    protected function bit [639:0] placed_bits(bit [639:0] bits);
      bit [639:0] word;
      word = bits;
      foreach (order[n]) word[n] = bits[order[n]];
      return word;
    endfunction

    // The bytes of the beat that is seen.
    virtual function sp_unit_t beat();
      sp_unit_t found;
      found = seen.data;
      foreach (order[n]) found[8*order[n] +: 8] = seen.data[8*n +: 8];
      return found;
    endfunction

    // A source is in reset, or begins.
    virtual function void source_in_reset();
      driven.valid = 0;
    endfunction

    // An edge passes outside of reset, before anything else of a source.
    virtual function void clock_source();
    endfunction

    // Whether a source may drive a new beat behind this edge.
    virtual function bit may_offer();
      return 1;
    endfunction

    // Drives a beat of a unit of `count` beats.
    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      sp_unit_t word;
      word = unit >> (8 * beat_bytes * number);
      for (int unsigned n = beat_bytes; n < 640; n++) word[8*n +: 8] = 0;
      driven.data = placed(word);
    endfunction

    // A beat is offered, or none.
    virtual function void drive_valid(bit valid);
      driven.valid = valid;
    endfunction

    // Whether the beat that is offered is transferred at this edge.
    virtual function bit is_accepted();
      return !has.ready || seen.ready;
    endfunction

    // A sink is in reset, or begins.
    virtual function void sink_in_reset();
      driven.ready = 0;
    endfunction

    // Whether a beat is transferred at this edge. What is wrong with it goes to `mistakes`.
    virtual function bit arrives();
      return seen.valid && (!has.ready || seen.ready);
    endfunction

    // Whoever watches, and drives nothing, is in reset.
    virtual function void monitor_in_reset();
    endfunction

    // A sink has room, or pauses.
    virtual function void drive_ready(bit ready);
      driven.ready = ready;
    endfunction

    // Compares what goes beside the data of a beat that has arrived.
    virtual function void judge(int unsigned number, int unsigned count);
    endfunction

    protected function void judge_last(int unsigned number, int unsigned count);
      if (has.last && seen.last != (number == count - 1))
        wrong("last", $sformatf("%0d", seen.last), $sformatf("%0d in beat %0d of %0d", number == count - 1, number, count));
    endfunction
  endclass

  // AXI-Stream, a packet is a unit. With tkeep its width need not divide a unit: the last beat keeps what is left.
  class sp_axi_stream_bus extends sp_bus;
    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      if (!has.keep || beat_bytes == 0) return super.begin_units(unit_bytes_of, why);
      unit_bytes = unit_bytes_of;
      return places(why) ? (unit_bytes + beat_bytes - 1) / beat_bytes : 0;
    endfunction

    // tkeep of a beat.
    protected function bit [639:0] kept(int unsigned number, int unsigned count);
      int unsigned bytes;
      bytes = number == count - 1 ? unit_bytes - beat_bytes * (count - 1) : beat_bytes;
      return placed_bits((640'd1 << bytes) - 640'd1);
    endfunction

    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      super.offer(unit, number, count);
      driven.keep = kept(number, count);
      driven.last = number == count - 1;
      driven.user = user;
    endfunction

    virtual function void judge(int unsigned number, int unsigned count);
      judge_last(number, count);
      if (has.keep && seen.keep != kept(number, count))
        wrong("keep", $sformatf("%0h", seen.keep), $sformatf("%0h in beat %0d of %0d", kept(number, count), number, count));
    endfunction
  endclass

  // An interface like CXS: a beat that is valid is transferred at every edge, and costs a credit. The receiver grants one in each clock in
  // which crdgnt is high; a beat needs one of an edge before.
  class sp_credited_bus extends sp_bus;
    int unsigned credits = 8; // a sink grants at most so many more than have come back as beats
    protected longint unsigned balance; // credits that were granted and not spent

    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
      balance = 0;
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      if (credits != 0) return super.begin_units(unit_bytes_of, why);
      why = "credits: found 0, expected 1 or more";
      return 0;
    endfunction

    virtual function void source_in_reset();
      super.source_in_reset();
      balance = 0;
    endfunction

    virtual function void clock_source();
      if (seen.grant) balance++;
    endfunction

    virtual function bit may_offer();
      return balance != 0;
    endfunction

    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      super.offer(unit, number, count);
      driven.last = number == count - 1;
      balance--;
    endfunction

    virtual function bit is_accepted();
      return 1;
    endfunction

    virtual function void sink_in_reset();
      driven.grant = 0;
      balance = 0;
    endfunction

    virtual function void monitor_in_reset();
      balance = 0;
    endfunction

    virtual function bit arrives();
      bit comes;
      comes = seen.valid;
      if (comes && balance == 0) wrong("valid", "a beat without a credit", "none until crdgnt has been high");
      else if (comes) balance--;
      if (seen.grant) balance++;
      return comes;
    endfunction

    virtual function void drive_ready(bit ready);
      driven.grant = ready && balance < 64'(credits);
    endfunction

    virtual function void judge(int unsigned number, int unsigned count);
      judge_last(number, count);
    endfunction
  endclass

  // An interface like LPIF and FDI: whoever sends asks for the state Active, and may offer data once the other side says it. A sink follows
  // the request behind `bring_up` clocks.
  class sp_state_bus extends sp_bus;
    int unsigned bring_up = 4;
    protected int unsigned clocks;
    protected bit was_outside; // data stand outside of Active, which is told once

    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
      clocks = 0;
      was_outside = 0;
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      if (bring_up != 0) return super.begin_units(unit_bytes_of, why);
      why = "bring_up: found 0, expected 1 clock or more";
      return 0;
    endfunction

    virtual function void monitor_in_reset();
      was_outside = 0;
    endfunction

    virtual function void source_in_reset();
      super.source_in_reset();
      driven.offer = 0;
      driven.state_request = 0;
    endfunction

    virtual function void clock_source();
      driven.state_request = SP_STATE_ACTIVE;
    endfunction

    virtual function bit may_offer();
      return seen.state == SP_STATE_ACTIVE;
    endfunction

    virtual function void drive_valid(bit valid);
      super.drive_valid(valid);
      driven.offer = valid;
    endfunction

    virtual function void sink_in_reset();
      super.sink_in_reset();
      driven.state = 0;
      clocks = 0;
      was_outside = 0;
    endfunction

    virtual function bit arrives();
      bit outside;
      outside = seen.valid && seen.offer && seen.state != SP_STATE_ACTIVE;
      if (outside && !was_outside)
        wrong("state_sts", $sformatf("data in state %0d", seen.state), $sformatf("%0d, Active", SP_STATE_ACTIVE));
      was_outside = outside;
      return seen.valid && seen.offer && seen.ready;
    endfunction

    virtual function void drive_ready(bit ready);
      bit active;
      if (seen.state_request != SP_STATE_ACTIVE) clocks = 0;
      else if (clocks < bring_up) clocks++;
      active = clocks == bring_up;
      driven.state = active ? SP_STATE_ACTIVE : '0;
      super.drive_ready(ready && active);
    endfunction
  endclass

  // 68B flits as the 512 bits of their slots. Where protocol ID or CRC have no signal, they are what a good flit of CXL.cachemem has.
  class sp_slots68_bus extends sp_bus;
    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      unit_bytes = unit_bytes_of;
      if (unit_bytes == 68 && order.size() == 0) return 1;
      why = $sformatf("found units of %0d bytes and %0d places, expected 68 and the usual order", unit_bytes, order.size());
      return 0;
    endfunction

    virtual function sp_unit_t beat();
      byte unsigned slots[0:63];
      longint unsigned crcs[0:0];
      sp_unit_t found;
      found = '0;
      found[15:0] = has.pid ? seen.pid : 16'h5555;
      found[527:16] = seen.data[511:0];
      if (has.crc) found[543:528] = seen.crc;
      else begin
        for (int n = 0; n < 64; n++) slots[n] = seen.data[8*n +: 8];
        sp_library::open();
        sp_library::must(sp_crc(SP_CRC_CXL68, slots, 64'd64, 64'd1, crcs), "CRC");
        found[543:528] = crcs[0][15:0];
      end
      return found;
    endfunction

    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      driven.data = '0;
      driven.data[511:0] = unit[527:16];
      driven.pid = unit[15:0];
      driven.crc = unit[543:528];
    endfunction
  endclass

  // What those on an interface have in common. Whoever has the clock calls `on_edge` at each edge, behind `bus.seen`.
  virtual class sp_flit_agent;
    sp_bus bus;
    bit in_reset;
    bit pause; // no beat passes
    int unsigned pause_percent = 0; // of the clocks, at random, in which none passes
    protected int unsigned unit_bytes, beats, at_beat;

    function new(sp_bus bus_of);
      bus = bus_of;
      in_reset = 1;
      pause = 0;
      unit_bytes = 0;
      beats = 0;
      at_beat = 0;
    endfunction

    // What happens when an interface cannot carry units of this size, which is a mistake of the bench.
    virtual function void refused(string text);
      $fatal(1, "%s", text);
    endfunction

    // Units have so many bytes from now on. Nothing passes before.
    function void begin_units(int unsigned unit_bytes_of);
      string why;
      unit_bytes = unit_bytes_of;
      beats = bus.begin_units(unit_bytes, why);
      if (beats == 0) refused(why);
    endfunction

    // Beats of a unit.
    function int unsigned beats_of_unit();
      return beats;
    endfunction

    protected function bit paused();
      return pause || (pause_percent != 0 && $urandom_range(99) < pause_percent);
    endfunction

    pure virtual function void on_edge(bit reset);
  endclass

  // Sends units. A pause keeps valid low between two beats; a beat that is offered stays until it is accepted. In reset a unit that has
  // been sent in part is lost.
  class sp_flit_source extends sp_flit_agent;
    sp_unit_t units[$];
    longint unsigned sent;
    protected sp_unit_t unit;
    protected bit is_sending, offered;

    function new(sp_bus bus_of);
      super.new(bus_of);
      sent = 0;
      is_sending = 0;
      offered = 0;
      bus.source_in_reset();
    endfunction

    function void send(sp_unit_t value);
      if (beats == 0) refused("found a unit, expected `begin_units` before it");
      else units.push_back(value);
    endfunction

    // Whether all units have been accepted.
    function bit is_idle();
      return units.size() == 0 && !is_sending;
    endfunction

    virtual function void on_edge(bit reset);
      bit may;
      in_reset = reset;
      if (reset || beats == 0) begin
        is_sending = 0;
        offered = 0;
        bus.source_in_reset();
        return;
      end
      bus.clock_source();
      if (offered) begin
        if (!bus.is_accepted()) return;
        at_beat++;
        if (at_beat == beats) begin
          is_sending = 0;
          sent++;
        end
      end
      may = !paused() && bus.may_offer();
      if (!is_sending && units.size() != 0 && may) begin
        unit = units.pop_front();
        is_sending = 1;
        at_beat = 0;
      end
      offered = is_sending && may;
      if (offered) bus.offer(unit, at_beat, beats);
      bus.drive_valid(offered);
    endfunction
  endclass

  // Watches units and drives nothing: `take` has them, `bus.mistakes` what breaks the interface itself.
  class sp_flit_monitor extends sp_flit_agent;
    bit [63:0] user; // beside the first beat of the unit that was taken last
    protected sp_unit_t units[$];
    protected bit [63:0] users[$];
    protected sp_unit_t unit;
    protected bit [63:0] user_of_unit;

    function new(sp_bus bus_of);
      super.new(bus_of);
      unit = '0;
      user = 0;
    endfunction

    // Takes the oldest unit. Returns 0 if there is none.
    function bit take(output sp_unit_t value);
      value = '0;
      if (units.size() == 0) return 0;
      value = units.pop_front();
      user = users.pop_front();
      return 1;
    endfunction

    // Units that wait.
    function int unsigned count();
      return 32'(units.size());
    endfunction

    // Forgets the units that wait.
    function void clear();
      units.delete();
      users.delete();
    endfunction

    protected virtual function void hold_reset();
      bus.monitor_in_reset();
    endfunction

    virtual function void on_edge(bit reset);
      in_reset = reset;
      if (reset || beats == 0) begin
        at_beat = 0;
        unit = '0;
        bus.at_unit = 0;
        hold_reset();
        return;
      end
      if (!bus.arrives()) return;
      bus.judge(at_beat, beats);
      if (at_beat == 0) user_of_unit = bus.seen.user;
      unit |= bus.beat() << (8 * bus.beat_bytes * at_beat);
      at_beat++;
      if (at_beat == beats) begin
        // What a last beat does not keep is no part of the unit.
        units.push_back(unit & ((5120'd1 << (8 * unit_bytes)) - 5120'd1));
        users.push_back(user_of_unit);
        bus.at_unit++;
        at_beat = 0;
        unit = '0;
      end
    endfunction
  endclass

  // Accepts units: a monitor that drives ready, credits or the state.
  class sp_flit_sink extends sp_flit_monitor;
    function new(sp_bus bus_of);
      super.new(bus_of);
      bus.sink_in_reset();
    endfunction

    protected virtual function void hold_reset();
      bus.sink_in_reset();
    endfunction

    virtual function void on_edge(bit reset);
      super.on_edge(reset);
      if (!reset && beats != 0) bus.drive_ready(!paused());
    endfunction
  endclass

  // The place of each byte of a beat of `bytes` bytes on lanes that stand one behind the other, each with every so many bytes as there are
  // lanes: byte n goes to lane n modulo their number. `lanes` has the lane of each place.
  function automatic void sp_striped(int unsigned bytes, int unsigned lanes[$], ref int unsigned order[$]);
    order.delete();
    foreach (lanes[n])
      for (int unsigned row = 0; row < bytes / 32'(lanes.size()); row++) order.push_back(lanes[n] + 32'(lanes.size()) * row);
  endfunction

  // What breaks the interface of an agent becomes events of a link end.
  function automatic void sp_note_mistakes(sp_link_end link, sp_flit_agent of, sp_port_e at, sp_by_e by);
    sp_event_t e;
    sp_mistake_t m;
    while (of.bus.mistakes.size() != 0) begin
      m = of.bus.mistakes.pop_front();
      e.unit = m.unit;
      e.at_port = at;
      e.by = by;
      e.severity = SP_IS_PROTOCOL;
      e.tag = -1;
      e.rule = "HANDSHAKE";
      e.place = m.place;
      e.found = m.found;
      e.expected = m.expected;
      e.text = "The handshake of the interface is violated";
      link.note(e);
    end
  endfunction

  // An active end of a link on two interfaces of a design: what comes at `rx` arrives, and what the end sends goes to `tx`. Call `step` once in
  // each clock, away from the edge. A reset of an interface begins the link anew.
  class sp_link_partner;
    sp_link_end link;
    sp_flit_monitor rx;
    sp_flit_source tx;
    sp_cxl_agent agents[$]; // hosts, devices and the like on this end; they act behind each flit clock
    protected bit in_reset;

    function new(sp_link_end link_of, sp_flit_sink rx_of, sp_flit_source tx_of);
      link = link_of;
      rx = rx_of;
      tx = tx_of;
      in_reset = 0;
      rx.begin_units(link.unit_bytes());
      tx.begin_units(link.unit_bytes());
    endfunction

    // One clock. Returns whether a flit clock of the end has passed: it waits while the design does not take what it has sent.
    function bit step();
      sp_unit_t unit;
      sp_note_mistakes(link, rx, SP_PORT_RX, SP_PEER_BROKE);
      if (rx.in_reset || tx.in_reset) begin
        // An end that has not begun has nothing to lose.
        if (!in_reset && link.state().flit_clocks != 0) begin
          link.reset();
          foreach (agents[n]) agents[n].reset();
          rx.clear();
          tx.units.delete();
        end
        in_reset = 1;
        return 0;
      end
      in_reset = 0;
      if (tx.units.size() != 0) return 0;
      if (rx.take(unit)) link.drive(unit);
      link.step();
      foreach (agents[n]) agents[n].on_step();
      if (link.sample(unit) == link.unit_bytes()) tx.send(unit);
      return 1;
    endfunction
  endclass

  // A passive end of a link on two interfaces: the design sends at `tx` and receives at `rx`. Call `step` once in each clock, away from the
  // edge. A reset of an interface begins the link anew.
  class sp_link_watcher;
    sp_link_end link;
    sp_flit_monitor rx, tx;
    protected bit in_reset;
    protected longint unsigned clock;
    protected int unsigned flit_clocks; // of the interface with fewer beats
    protected sp_unit_t units[$];
    protected sp_port_e ports[$];
    protected longint unsigned clocks[$];

    function new(sp_link_end link_of, sp_flit_monitor rx_of, sp_flit_monitor tx_of);
      link = link_of;
      rx = rx_of;
      tx = tx_of;
      in_reset = 0;
      clock = 0;
      rx.begin_units(link.unit_bytes());
      tx.begin_units(link.unit_bytes());
      flit_clocks = rx.beats_of_unit() < tx.beats_of_unit() ? rx.beats_of_unit() : tx.beats_of_unit();
    endfunction

    protected function void note(sp_port_e at, sp_unit_t unit);
      units.push_back(unit);
      ports.push_back(at);
      clocks.push_back(clock);
    endfunction

    // The oldest unit of each direction arrives. What is sent and what ends behind it do not change places.
    protected function void show();
      sp_port_e first;
      longint unsigned began;
      if (units.size() != 0) begin
        first = ports.pop_front();
        began = clocks.pop_front();
        link.drive(units.pop_front(), first);
        if (units.size() != 0 && ports[0] != first && (first == SP_PORT_RX || clocks[0] == began)) begin
          link.drive(units.pop_front(), ports.pop_front());
          void'(clocks.pop_front());
        end
      end
      link.step();
    endfunction

    // One clock. Returns whether a flit clock of the end has passed.
    function bit step();
      sp_unit_t unit;
      sp_note_mistakes(link, rx, SP_PORT_RX, SP_PEER_BROKE);
      sp_note_mistakes(link, tx, SP_PORT_TX, SP_END_BROKE);
      if (rx.in_reset || tx.in_reset) begin
        if (!in_reset && link.state().flit_clocks != 0) begin
          link.reset();
          rx.clear();
          tx.clear();
          units.delete();
          ports.delete();
          clocks.delete();
          clock = 0;
        end
        in_reset = 1;
        return 0;
      end
      in_reset = 0;
      if (rx.take(unit)) note(SP_PORT_RX, unit);
      if (tx.take(unit)) note(SP_PORT_TX, unit);
      clock++;
      if (clock % 64'(flit_clocks) != 0) return 0;
      show();
      while (units.size() != 0 && clocks[0] + 64'(2 * flit_clocks) <= clock) show();
      return 1;
    endfunction

    // The run is over. Returns 0 if a request is still owed an answer; each is an event.
    function bit finish();
      while (units.size() != 0) show();
      return link.finish();
    endfunction
  endclass

endpackage : scalepool_pkg
