
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
