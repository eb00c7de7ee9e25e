// The C ABI of scalepool for SystemVerilog. Written from testbenches/c/scalepool.h by testbenches/tests/ffi/dpi.rs.
//
// Compile testbenches/dpi/scalepool_dpi.c into what the simulator loads, and link the library of scalepool. First call:
// sp_open(SP_ABI_VERSION). The comments are those of the header, with these differences:
//
// * A text is a `string`, with no length or capacity beside it.
// * An array is an open array; index 0 is the first item. Its size is the capacity, and too small an array answers
//   SP_ERR_SHORT. Declare it [0:N-1]; the simulator has to lay it out as C does, or SP_ERR_ALIGN is the answer.
// * The members of a structure are arguments of their own.
// * `config` is a word of the language: config_json.
// * Where null means something, a dynamic array of no items does. Verilator passes arrays of a fixed size alone.
package scalepool_dpi_pkg;
    localparam int SP_ABI_MAJOR = 1;
    localparam int SP_ABI_MINOR = 9;
    localparam int SP_ABI_PATCH = 0;
    localparam int SP_ABI_VERSION = (((SP_ABI_MAJOR << 16) | (SP_ABI_MINOR << 8)) | SP_ABI_PATCH);
    localparam int SP_OK = 0;
    localparam int SP_FINDING = 1;
    localparam int SP_EMPTY = 2;
    localparam int SP_UNREADABLE = 3;
    localparam int SP_FULL = 4;
    localparam int SP_ERR_NULL = -1;
    localparam int SP_ERR_SHORT = -2;
    localparam int SP_ERR_HANDLE = -3;
    localparam int SP_ERR_INPUT = -4;
    localparam int SP_ERR_RANGE = -5;
    localparam int SP_ERR_ALIGN = -6;
    localparam int SP_ERR_BUSY = -7;
    localparam int SP_ERR_VERSION = -8;
    localparam int SP_ERR_KIND = -9;
    localparam int SP_ERR_INTERNAL = -10;
    localparam int SP_CRC_CXL68 = 1;
    localparam int SP_CRC_CXL256 = 2;
    localparam int SP_CRC_LOPT_EVEN = 3;
    localparam int SP_CRC_LOPT_ODD = 4;
    localparam int SP_CRC_UALINK = 5;
    localparam int SP_CRC_NVLINK = 6;
    localparam int SP_CRC_DLLP = 7;
    localparam int SP_CRC_LCRC = 8;
    localparam int SP_CRC_ECRC = 9;
    localparam int SP_FEC_STANDARD = 1;
    localparam int SP_FEC_LOPT = 2;
    localparam int SP_DOWN = 0;
    localparam int SP_UP = 1;
    localparam int SP_MAX_CYCLES = 10000000;
    localparam int SP_TIER_HBM = 0;
    localparam int SP_TIER_PEER_HBM = 1;
    localparam int SP_TIER_2 = 2;
    localparam int SP_TIER_NONE = 3;
    localparam int unsigned SP_NO_PAGE = 32'd4294967295;
    localparam int SP_ACTIVE = 0;
    localparam int SP_PASSIVE = 1;
    localparam int SP_RX = 0;
    localparam int SP_TX = 1;
    localparam int SP_MAX_STEPS = (1 << 16);
    localparam int SP_HOOK_KEEP = 0;
    localparam int SP_HOOK_DROP = 1;
    localparam int SP_HOOK_REPLACE = 2;
    localparam int SP_HOOK_HOLD = 3;
    localparam int SP_NO_LAYOUT = 65535;
    localparam int SP_WHOLE_LINE = 0;
    localparam int SP_LOWER_HALF = 1;
    localparam int SP_UPPER_HALF = 2;
    localparam int SP_METADATA = 4;
    localparam int SP_BY_END = 0;
    localparam int SP_BY_PEER = 1;
    localparam int SP_BY_LINE = 2;
    localparam int SP_CORRECTED = 0;
    localparam int SP_PROTOCOL = 1;
    localparam int SP_RETRAIN = 2;
    localparam int SP_UNCORRECTABLE = 3;
    localparam int SP_FATAL = 4;
    localparam int SP_ARBITER_ROUND_ROBIN = 1;
    localparam int SP_ARBITER_MATRIX = 2;
    localparam int SP_ARBITER_WEIGHTED = 3;
    localparam int SP_BRIDGE_REQUEST = 0;
    localparam int SP_BRIDGE_SENT = 1;
    localparam int SP_BRIDGE_ANSWER = 2;
    localparam int SP_BRIDGE_RESPONSE = 3;

    // Returns the version of the library, coded as SP_ABI_VERSION. It may be called before sp_open.
    import "DPI-C" function int unsigned sp_version();

    // Tells the library which header the caller was compiled with; this has to be the first call. Returns SP_ERR_VERSION
    // if the library has another major version than the header, or an older minor one.
    import "DPI-C" function int sp_open(
        input int unsigned header_version
    );

    // Sets the text that sp_last_error gives in this thread, for a binding of another language that refuses a call itself. It may be called before
    // sp_open.
    import "DPI-C" sp_dpi_set_last_error = function int sp_set_last_error(
        input string text
    );

    // Gives the text of the last call of this thread that did not return SP_OK: where, what was found and what was
    // expected. It may be called before sp_open.
    import "DPI-C" sp_dpi_last_error = function int sp_last_error(
        output string text
    );

    // Gives the number of layouts. Layouts are numbered from 0. The numbers are valid for one version of the library only,
    // so look them up by name.
    import "DPI-C" function int sp_layout_count(
        output int unsigned count
    );

    // Gives the number of the layout with a name such as `cxl68.m2s_req`.
    import "DPI-C" sp_dpi_layout_find = function int sp_layout_find(
        input string name,
        output int unsigned layout
    );

    // Gives the size of a layout.
    import "DPI-C" sp_dpi_layout_size = function int sp_layout_size(
        input int unsigned layout,
        output int unsigned bits,
        output int unsigned bytes,
        output int unsigned fields
    );

    // Gives the name of a layout.
    import "DPI-C" sp_dpi_layout_name = function int sp_layout_name(
        input int unsigned layout,
        output string name
    );

    // Gives the field table of a layout with codes, source and basis, as `scalepool describe LAYOUT --json` prints it.
    import "DPI-C" sp_dpi_layout_describe = function int sp_layout_describe(
        input int unsigned layout,
        output string json
    );

    // Gives the number of the field with this name. Fields are numbered from 0 in the order of the layout.
    import "DPI-C" sp_dpi_field_find = function int sp_field_find(
        input int unsigned layout,
        input string name,
        output int unsigned field
    );

    // Gives the name of a field.
    import "DPI-C" sp_dpi_field_name = function int sp_field_name(
        input int unsigned layout,
        input int unsigned field,
        output string name
    );

    // Gives the position of a field.
    import "DPI-C" sp_dpi_field_place = function int sp_field_place(
        input int unsigned layout,
        input int unsigned field,
        output bit [127:0] default_value,
        output int unsigned lsb,
        output int unsigned width,
        output int unsigned address_lsb,
        output int unsigned reserved
    );

    // Encodes `count` messages of a layout. `values` has one number for each field in the order of the layout, message
    // after message; `values_length` is the total. `bytes` receives the messages one after the other. The call is refused
    // at the first value that does not fit; sp_last_error names the message and the field.
    import "DPI-C" sp_dpi_encode = function int sp_encode(
        input int unsigned layout,
        input bit [127:0] values[],
        input longint unsigned values_length,
        input longint unsigned count,
        inout byte unsigned bytes[],
        output longint unsigned bytes_length
    );

    // Decodes `count` messages of a layout from `bytes`, where they stand one after the other. `values` receives one
    // number for each field in the order of the layout, message after message. Returns SP_FINDING if a message breaks a
    // rule: the values are written all the same, and sp_last_error names the first rule.
    import "DPI-C" sp_dpi_decode = function int sp_decode(
        input int unsigned layout,
        input byte unsigned bytes[],
        input longint unsigned bytes_length,
        input longint unsigned count,
        inout bit [127:0] values[],
        output longint unsigned values_length
    );

    // Encodes a message from its JSON form, `{"layout":..,"fields":{..}}`, as `scalepool encode` does. Fields that are
    // left out have their default value.
    import "DPI-C" sp_dpi_encode_json = function int sp_encode_json(
        input string json,
        inout byte unsigned bytes[],
        output longint unsigned bytes_length
    );

    // Decodes a message into its JSON form together with the rules that it breaks, as `scalepool decode` does. Returns
    // SP_FINDING if it breaks one; the form is written all the same.
    import "DPI-C" sp_dpi_decode_json = function int sp_decode_json(
        input int unsigned layout,
        input byte unsigned bytes[],
        input longint unsigned bytes_length,
        output string json
    );

    // Computes the CRCs of `count` items of `item_bytes` each, which stand one after the other in `data`. `crcs` needs
    // room for `count` numbers. A CRC is given as a number whose little-endian bytes are the CRC in wire order.
    import "DPI-C" sp_dpi_crc = function int sp_crc(
        input int unsigned kind,
        input byte unsigned data[],
        input longint unsigned item_bytes,
        input longint unsigned count,
        inout longint unsigned crcs[]
    );

    // Writes the six FEC bytes of `count` flits of 256 bytes in place. The CRCs must have been written before.
    import "DPI-C" sp_dpi_fec_encode = function int sp_fec_encode(
        input int unsigned kind,
        inout byte unsigned flits[],
        input longint unsigned count
    );

    // Corrects `count` flits of 256 bytes in place. `corrected` needs room for `count` numbers: the number of bytes that
    // were corrected, or -1 for a flit that cannot be corrected and stays as it is. Returns SP_FINDING if there is such a
    // flit. The FEC corrects at most three bytes, one in each group. More errors can look like fewer, so check the CRC
    // afterwards.
    import "DPI-C" sp_dpi_fec_correct = function int sp_fec_correct(
        input int unsigned kind,
        inout byte unsigned flits[],
        input longint unsigned count,
        inout int corrected[]
    );

    // Returns SP_OK if there is a rule with this id, such as `CXL68-CRC-01`. Returns SP_ERR_INPUT if there is none; sp_last_error then names the
    // ids that come nearest.
    import "DPI-C" sp_dpi_rule_known = function int sp_rule_known(
        input string rule
    );

    // Compares the last day of a waiver with the day on which it is judged, both YYYY-MM-DD: `holds` is 1 up to the last day, that day included,
    // and 0 behind it. The library asks no clock: `today` is what the caller says. Returns SP_ERR_INPUT for a text that is no day.
    import "DPI-C" sp_dpi_waiver_holds = function int sp_waiver_holds(
        input string last_day,
        input string today,
        output int unsigned holds
    );

    // Gives the standard bus interfaces of IP cores as a JSON list: the key of each and its signals. A signal has a name, a role, a need
    // (`always`, `driven`: if the interface is driven and not only watched, or `optional`), a width (in bits, or `beat`, `beat_bytes` or
    // `user`), and whether the sender of units drives it.
    import "DPI-C" sp_dpi_interfaces = function int sp_interfaces(
        output string text
    );

    // Makes a stream that decodes the flits of one direction of a link. `protocol` is a name that `scalepool list
    // protocols` shows, such as `cxl-68b`.
    import "DPI-C" sp_dpi_decoder_new = function int sp_decoder_new(
        input string protocol,
        input int unsigned dir,
        output longint unsigned stream
    );

    // Makes a stream that encodes the flits of one direction of a link. `protocol` is as for sp_decoder_new.
    import "DPI-C" sp_dpi_encoder_new = function int sp_encoder_new(
        input string protocol,
        input int unsigned dir,
        output longint unsigned stream
    );

    // Decodes `count` flits of `flit_bytes` each, which stand one after the other. Their answers are queued in the stream,
    // also that of a flit that cannot be read.
    import "DPI-C" sp_dpi_stream_decode = function int sp_stream_decode(
        input longint unsigned stream,
        input byte unsigned flits[],
        input longint unsigned flit_bytes,
        input longint unsigned count
    );

    // Encodes the JSON object of a flit, as `scalepool flit encode` reads it. Its answer is queued in the stream.
    import "DPI-C" sp_dpi_stream_encode = function int sp_stream_encode(
        input longint unsigned stream,
        input string json
    );

    // Tells a stream that no more flits follow. Answers that depend on the next flit (UALink) are queued now.
    import "DPI-C" function int sp_stream_finish(
        input longint unsigned stream
    );

    // Takes the oldest answer: the JSON object of the flit, its bytes, or both. Pass null, 0, null for the one that is not
    // wanted. Returns SP_EMPTY if no answer is queued, SP_FINDING for a flit that breaks a rule, and SP_UNREADABLE for a
    // flit that could not be read, which has neither object nor bytes. In the last two cases the answer is taken, too, and
    // sp_last_error gives the reason.
    import "DPI-C" sp_dpi_stream_take = function int sp_stream_take(
        input longint unsigned stream,
        output string json,
        inout byte unsigned flit[],
        output longint unsigned flit_length
    );

    // Gives the number of answers that are queued.
    import "DPI-C" function int sp_stream_waiting(
        input longint unsigned stream,
        output longint unsigned count
    );

    // Destroys a stream; its handle is invalid from then on.
    import "DPI-C" function int sp_stream_destroy(
        input longint unsigned stream
    );

    // Takes the oldest answer of a stream, as sp_stream_take does, without its JSON object: the bytes of the flit, and the number of its
    // parts, which sp_stream_part takes one by one until the next answer is taken. To leave the bytes out, pass null,
    // 0 and null for `flit`, its capacity and its length.
    import "DPI-C" sp_dpi_stream_take_parts = function int sp_stream_take_parts(
        input longint unsigned stream,
        inout byte unsigned flit[],
        output longint unsigned flit_length,
        output longint unsigned parts
    );

    // Takes the next part of the answer that sp_stream_take_parts has taken. `kind` says what it is:
    //
    // * CXL: `message`, with the number of its `layout`, or `data`, 16 bytes; `place` is the slot
    // * ualink: a half of a TL flit by its kind, such as `control`, `data`, `byte_enables` or `message`, 32 bytes; `place` is 0 for the lower
    //   half, 1 for the upper one. A control half is followed by its fields, of kind `field`, with their layouts. Messages of the DL are
    //   of kind `dl_message`.
    // * nvlink: `header` and `ae` with their layouts, `byte_enables`, `data`
    //
    // `layout` is SP_NO_LAYOUT for a part that has none. Returns SP_EMPTY if no part is left.
    import "DPI-C" sp_dpi_stream_part = function int sp_stream_part(
        input longint unsigned stream,
        output int unsigned layout,
        output int unsigned place,
        output string kind,
        inout byte unsigned bytes[],
        output longint unsigned bytes_length
    );

    // Makes a simulation. `text` is TOML. With `format = 1` it is the description of a system, as `run FILE.toml` takes it;
    // its seed is 1 until sp_sim_seed. Otherwise it names a scenario or the file of a description: the line
    // `scenario = "cxl68-expander"`, and after it, one on a line, `seed = 1`, `link.ber = 1e-6`, `host.accesses = 1000` and
    // whatever else `scalepool describe SCENARIO` lists.
    import "DPI-C" sp_dpi_sim_new = function int sp_sim_new(
        input string text,
        output longint unsigned sim
    );

    // Changes a setting, such as `link.ber=1e-5`, for the next run. The next step, or the next call that names a port,
    // restarts the simulation with the new value.
    import "DPI-C" sp_dpi_sim_set = function int sp_sim_set(
        input longint unsigned sim,
        input string setting
    );

    // Changes the seed for the next run. The next step restarts the simulation with the new seed.
    import "DPI-C" function int sp_sim_seed(
        input longint unsigned sim,
        input longint unsigned seed
    );

    // Writes waves: a VCD file at this path, and GTKWave files beside it. An empty path switches them off. If a run has
    // begun, the wave shows it from here on, and a file that is switched off is completed at once; otherwise the setting
    // is for the next runs.
    import "DPI-C" sp_dpi_sim_wave = function int sp_sim_wave(
        input longint unsigned sim,
        input string path
    );

    // Writes the transaction trace as JSON lines at this path. An empty path switches it off. If a run has begun, the same
    // holds as for sp_sim_wave.
    import "DPI-C" sp_dpi_sim_trace = function int sp_sim_trace(
        input longint unsigned sim,
        input string path
    );

    // Advances the simulation by this number of cycles of the reference clock. The run time of the call grows with it.
    // The first step, and the first after a setting was changed, starts a run at cycle 0. Returns SP_EMPTY if nothing is
    // left to do, because the work is done or the `cycles` of the text are over; waves and traces are complete then.
    // Returns SP_ERR_RANGE if the run would exceed SP_MAX_CYCLES. Broken rules are listed by sp_sim_metrics.
    import "DPI-C" function int sp_sim_step(
        input longint unsigned sim,
        input longint unsigned cycles
    );

    // Advances the simulation to a cycle of the reference clock, 1 to SP_MAX_CYCLES, or until the work is done if that is
    // earlier. 0 stands for the `cycles` of the text, or for SP_MAX_CYCLES if it names none. If the simulation is past
    // that cycle, it restarts. A million cycles take about a second. Waves and traces end here: later steps are not in
    // them. Returns SP_FINDING if a rule is broken.
    import "DPI-C" function int sp_sim_run(
        input longint unsigned sim,
        input longint unsigned cycles
    );

    // Gives the metrics of the run so far, as `scalepool run --json` prints them. Returns SP_EMPTY before the first step.
    import "DPI-C" sp_dpi_sim_metrics = function int sp_sim_metrics(
        input longint unsigned sim,
        output string json
    );

    // Gives the state of the run as a JSON object: `cycle`, `over` (whether the run has ended) and `ports`. Each port is a
    // link end with `name`, `protocol`, `unit_bytes`, `external`, `driven` (number of units that wait to be sent), and
    // `rx` and `tx` with `watched` and the numbers of units `waiting` and `lost`. Behind the link ends of a component with
    // `external = "messages"` follow its channels of messages, which have `layout` too, the layout of their messages.
    // `bad_answers` counts the answers of hooks that were not allowed, and `bad_answer` is the last one.
    import "DPI-C" sp_dpi_sim_state = function int sp_sim_state(
        input longint unsigned sim,
        output string json
    );

    // Puts a simulation back to where sp_sim_new left it: settings, seed and outputs are those of the text, and metrics,
    // driven units and samples are gone. Hooks and watches stay, and hooks count their items from 0 again.
    import "DPI-C" function int sp_sim_reset(
        input longint unsigned sim
    );

    // Destroys a simulation; its handle is invalid from then on. Waves and traces of a run that has begun are completed.
    import "DPI-C" function int sp_sim_destroy(
        input longint unsigned sim
    );

    // Attaches a fault to a hook point of a port, as sp_hook_fault does to one of a link end.
    import "DPI-C" sp_dpi_sim_hook_fault = function int sp_sim_hook_fault(
        input longint unsigned sim,
        input string port,
        input string point,
        input int unsigned way,
        input string fault,
        output longint unsigned hook
    );

    // Detaches a hook from a port. Returns SP_ERR_RANGE if the port has no hook of this number.
    import "DPI-C" sp_dpi_sim_hook_detach = function int sp_sim_hook_detach(
        input longint unsigned sim,
        input string port,
        input longint unsigned hook
    );

    // Starts (1) or stops (0) watching one direction of a port; units that pass it from then on can be sampled. At most
    // 65536 units wait to be sampled; later ones are counted as lost. When watching stops, waiting units stay. Returns
    // SP_ERR_INPUT if there is no such port; sp_sim_state lists the ports. Returns SP_ERR_KIND for a channel of messages,
    // whose messages can be sampled without this call.
    import "DPI-C" sp_dpi_sim_watch = function int sp_sim_watch(
        input longint unsigned sim,
        input string port,
        input int unsigned way,
        input int unsigned on
    );

    // Takes the oldest unit that passed a watched direction of a port, and the time at which it did. Transmitted units are
    // seen after all hooks, received units after all hooks and faults. Returns SP_EMPTY if no unit waits, and SP_ERR_KIND
    // if the direction is not watched.
    //
    // If a component has `external = "messages"`, a port such as `host.cxl.s2m_drs` gives the arriving messages of that
    // class; `way` is SP_RX, and the time is when the message became available. At most 16 messages wait in a channel. The
    // link end keeps any further ones and returns no credits until messages are taken, so nothing is lost.
    import "DPI-C" sp_dpi_sim_sample = function int sp_sim_sample(
        input longint unsigned sim,
        input string port,
        input int unsigned way,
        output longint unsigned time_fs,
        inout byte unsigned unit[],
        output longint unsigned unit_length
    );

    // Takes the oldest unit that passed a watched direction of a port and compares `unit` with it, as sp_link_expect does.
    // Returns SP_FINDING if they differ; sp_last_error names the first byte. Returns SP_EMPTY if no unit waits, and
    // SP_ERR_KIND if the direction is not watched.
    import "DPI-C" sp_dpi_sim_expect = function int sp_sim_expect(
        input longint unsigned sim,
        input string port,
        input int unsigned way,
        input byte unsigned unit[],
        input byte unsigned mask[],
        input longint unsigned unit_length
    );

    // Drives a port of an external component. A component is external if its table has `external = "flits"`, or if the key
    // `external` of the text names it. Units leave in order, one in each flit clock; in a flit clock in which no unit
    // waits, nothing is sent. At most 65536 units wait. The caller takes the place of the link end at this port: the model
    // builds none there, and only answers the link training of the peer. Returns SP_ERR_KIND if the port is not external.
    //
    // If a component has `external = "messages"`, the model keeps its link ends, and a port such as `host.cxl.m2s_req`
    // takes the messages of that class that the component sends, at most one in each cycle of its clock. A message is the
    // bytes of its layout (`layout` in sp_sim_state), as sp_encode makes them and the packed struct of the SystemVerilog
    // package has them. In a class with data, 64 bytes of data follow, then 8 bytes of byte enables (bit n for byte n) and
    // 4 bytes of extended metadata, low byte first; a message without byte enables has ones there, one without metadata
    // zeros. At a port of UALink or NVLink, as a bridge has, there is a channel for each class and direction:
    // `ubridge.x[0].tx_request` is driven, `ubridge.x[0].rx_request` gives what arrives. Behind a header of UALink come 256
    // bytes of data, 32 of byte enables (requests alone) and 1 of poison; behind one of NVLink 16 of its address extension,
    // 16 of byte enables and 256 of data. Fields that the link decides are 0. Returns SP_FULL if 16 messages wait: the message was not taken and can be driven again after a step. Returns
    // SP_ERR_INPUT for a message of another length, with reserved bits or codes, or with what the model has no use for;
    // sp_last_error says where.
    import "DPI-C" sp_dpi_sim_drive = function int sp_sim_drive(
        input longint unsigned sim,
        input string port,
        input byte unsigned unit[],
        input longint unsigned unit_length
    );

    // Makes one end of a link. `protocol` is `cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`, `nvlink`, `ualink`, or
    // `cxl-io`: CXL.io alone in 256B flits.
    // `dir` is the direction in which the end sends: SP_DOWN for a host or an accelerator. `mode` is SP_ACTIVE or
    // SP_PASSIVE; a passive end sends nothing and only reports broken rules. `config` is a JSON object, or an empty text
    // for the defaults, which stand in parentheses here:
    //
    // * `buffers`: size of the receive buffers: for CXL in messages for each channel (64), for nvlink in packets (32), for ualink with
    //   `layer` = `tl` in requests and in responses, each with four beats of data (256)
    // * `data_flits`: for nvlink, size of the receive buffers in data flits for each channel (256)
    // * `classes`: `mem` for CXL.mem alone, or `cachemem` for CXL.cache and CXL.mem (`cachemem`)
    // * `retry_entries`, `timeout_flits`: size of the retry buffer and time-out in flits (the values of the specification,
    //   or of the model where there is none)
    // * `max_num_retry`, `max_num_phy_reinit`, `flush_flits`: limits and flush timer of the retry of cxl-68b
    // * `selective_nak`: true if the end may request the replay of a single flit, in the 256B modes (false)
    // * `reaction_flits`: for a passive end of cxl-68b or ualink, the number of units that the watched end may send after a
    //   unit arrived and before its own units have to show a reaction to it (4096). Set it to the pipeline depth of a design
    //   for a strict check.
    // * `coherence`: for a passive end of CXL, `hdm-h`, `hdm-db` or `hdm-d`, the kind of the memory that answers CXL.mem, to
    //   judge the messages too: who may hold a copy of a line, which data a read may bring, snoops, evicts and their order
    // * `messages`: for a passive end, true if it keeps the messages of both directions for sp_link_seen_bits: messages of CXL.cachemem, TLPs
    //   of cxl-io, requests and responses of ualink, packets of nvlink (false)
    // * `coverage`: true if sp_link_state has `coverage`: which codes of the protocol have passed and how often, in the form that
    //   `scalepool coverage` reads. A passive end counts both directions, an active end of CXL what it has received (false)
    // * `plain_flits`: for an end of CXL but cxl-io, true if the interface hands over protocol flits and has no link layer: no initialisation,
    //   credits, acknowledgements or replays. A queued message is packed at once, and an arriving flit is accepted at once. A flit with
    //   a wrong CRC breaks a rule, and so do control flits of a link layer, credits and acknowledgements (SIM-PLN-01). Only
    //   `coverage` and `transactions` with its keys can be combined with it, and, for a passive end, `coherence` and `messages` (false)
    // * `transactions`: for an end of CXL, `hdm-h`, `hdm-db` or `hdm-d`, the kind of the memory that answers CXL.mem, to judge the
    //   requests and answers of CXL.mem: tags, answers that are doubled, unknown or of the wrong kind, and data that no request asked for. Or
    //   `cxl-cache`, to judge requests, snoops and answers of CXL.cache in the same way; `coherence` may be set as well.
    //   A passive end judges both directions as they pass. An active end judges what it queues and what is taken from it. For a
    //   passive end of ualink, or an active one with `layer` = `tl`, it is `ualink`: tags, beats and data of the requests of both ends. For any
    //   end of nvlink it is `nvlink`. For any end of cxl-io, and a passive end of another protocol of CXL, it is `cxl-io`: tags, completions with
    //   their Byte Counts and order, registers of configuration space
    // * `layer`: for an active end of ualink, `tl` if its messages are requests and responses and it has a transaction layer with credits
    //   and compression, or `dl` if they are TL flits of the caller's (`dl`)
    // * `strict`: with `transactions` of ualink, true if the link keeps strict order (false)
    // * `unique_tags`: with `transactions`, true if no tag is used again while its request is open (false)
    // * `answer_flits`: with `transactions`, highest number of flit clocks from a request to its last answer (no limit)
    // * `all_writers_seen`: with `coherence` or `transactions`, true if nobody but the two ends writes the lines, so that every
    //   read is compared with the last write; of cxl-io the memory behind the BARs (false)
    // * `liveness_flits`: number of flit clocks for which an end may wait for a credit, an acknowledgement, a replay or the end of
    //   initialisation before it is reported (LIV-CRD-01, LIV-ACK-01, LIV-RTY-01, LIV-INI-01), 0 for no limit (131072)
    // * `interleave`: number of FEC code words that the line of ualink interleaves, 1, 2 or 4 (1). Copies of a Replay
    //   Request are sent in groups of this many flits; a peer that groups them otherwise is reported.
    //
    // `cxl-io` has only `retry_entries`, `timeout_flits`, `selective_nak`, `liveness_flits`, `transactions`, `all_writers_seen`,
    // `answer_flits` and `messages`. `ualink` has only `reaction_flits`,
    // `liveness_flits`, `interleave`, `layer`, `buffers`, `coverage`, `messages` and the keys of `transactions`. A unit of
    // one byte stands for control flits of ualink: 0 is idle, 1 is a remote fault. An end of ualink sends such units until it is up.
    //
    // A passive end of cxl-68b checks a limit only if `config` sets it. If `retry_entries` is left out, the passive end uses
    // the value of the watched end's INIT.Param.
    import "DPI-C" sp_dpi_link_new = function int sp_link_new(
        input string protocol,
        input int unsigned dir,
        input string config_json,
        input int unsigned mode,
        output longint unsigned link
    );

    // Puts a link end back to where sp_link_new left it; everything that was queued is gone. Coverage and hooks stay; hooks count their
    // items from 0 again.
    import "DPI-C" function int sp_link_reset(
        input longint unsigned link
    );

    // Queues a unit that arrives at a link end. At most one unit arrives in each direction in a flit clock. SP_RX is what
    // arrives at the end; for a passive end SP_TX is what the watched end sends.
    import "DPI-C" sp_dpi_link_drive = function int sp_link_drive(
        input longint unsigned link,
        input int unsigned port,
        input byte unsigned unit[],
        input longint unsigned unit_length
    );

    // Advances a link end by at most SP_MAX_STEPS flit clocks. In each of them, one queued unit of each direction arrives,
    // and an active end sends at most one. At most 65536 units that were sent wait to be sampled. At most 65536 events
    // wait; later ones are only counted.
    import "DPI-C" function int sp_link_step(
        input longint unsigned link,
        input longint unsigned flit_clocks
    );

    // Takes the oldest unit that the end has sent. Returns SP_EMPTY if none waits: a link may be silent in a flit clock.
    import "DPI-C" sp_dpi_link_sample = function int sp_link_sample(
        input longint unsigned link,
        inout byte unsigned unit[],
        output longint unsigned unit_length
    );

    // Takes the oldest unit that the end has sent and compares `unit` with it; the end is the reference for a design that
    // sent `unit`. `mask` has a 1 for each bit that is compared; null compares all. Returns SP_FINDING if they
    // differ; sp_last_error names the first byte. Returns SP_EMPTY if no unit waits.
    import "DPI-C" sp_dpi_link_expect = function int sp_link_expect(
        input longint unsigned link,
        input byte unsigned unit[],
        input byte unsigned mask[],
        input longint unsigned unit_length
    );

    // Queues a message to be sent, in its JSON form. At most 65536 messages wait; the next one returns SP_ERR_RANGE. The
    // form depends on the protocol:
    //
    // * CXL: `{"layout":..,"fields":{..}}`, with `data` (hex of the 64 bytes of a line) and `be` (byte enables, a number)
    //   where the message has data. cxl-68b also takes `half`, `lower` or `upper`, for 32 bytes of data, and the 256B
    //   modes take `metadata`, a number.
    // * nvlink: one object with `op`, `vc`, `tag`, `rid`, `size`, `ep`, `atag`, `address`, `attr`, `route`, `be` and
    //   `data`
    // * ualink: a TL flit with `lower` and `upper` (hex of 32 bytes each) and `indicators` (0 to 3: bit 0 or 1 is set if
    //   the lower or the upper half is a message). With `layer` = `tl` it is a request or a response, `{"layout":..,"fields":{..}}`
    //   of `ualink.tl_req` or `ualink.tl_rsp`, with `data` (hex of 64 bytes for each beat), `be` (hex of 32 bytes, bit n for byte n of the
    //   256-byte block) and `poisoned` (a number; bit n says that the bytes of beat n are invalid) where it has data. When such a link
    //   goes down, all open requests are lost, and so is everything that is queued before it is up again
    // * cxl-io: `{"tlp":..}` with the bytes of a TLP of flit mode in hex, byte 0 first. At most 64 TLPs of a kind wait; the next one returns
    //   SP_ERR_RANGE
    import "DPI-C" sp_dpi_link_send = function int sp_link_send(
        input longint unsigned link,
        input string message
    );

    // Takes the oldest message that has arrived, in its JSON form, and returns its credit to the peer. Returns SP_EMPTY if
    // none waits.
    import "DPI-C" sp_dpi_link_take = function int sp_link_take(
        input longint unsigned link,
        output string json
    );

    // Takes the oldest event:
    // `{"unit":..,"port":"rx","by":..,"severity":..,"rule":..,"at":..,"found":..,"expected":..,"text":..}`. Returns
    // SP_EMPTY if none waits. Rules of `transactions` also have `tag`, a number, where a request is concerned. `by` says who broke
    // the rule:
    //
    // * `peer`: the other end of the link, by what it sent to this end
    // * `end`: the watched end, if this end is passive
    // * `line`: nobody; a unit was damaged or lost on the wire, and the link repairs it
    import "DPI-C" sp_dpi_link_event = function int sp_link_event(
        input longint unsigned link,
        output string json
    );

    // Gives state and counters of a link end as a JSON object: flit clocks, numbers of queued units and events,
    // comparisons and mismatches, and
    //
    // * `halted`: id of the rule that stopped the link, or null
    // * `transactions`: which transactions are judged, as the configuration says, or null
    // * `up`, `quiet`, `wants_training`: for an active end, whether the link is up (it is not once it has stopped),
    //   whether nothing is left to be sent or acknowledged, and whether the end requests link training
    // * `health`: an object with the figures of the end as far as the protocol has them: states of link and retry with the time in
    //   each, flits, sequence numbers, replays, Naks, CRC errors, FEC repairs, duplicates, discarded flits, messages that wait and
    //   credits of each channel. `scalepool list health` prints them with unit and meaning. A passive end has what the units of both
    //   directions show.
    // * `coverage`: if `config` asks for it, what has passed since sp_link_new, resets included
    // * `bad_answers`, `bad_answer`: number of answers of hooks that were not allowed, and the first of them
    import "DPI-C" sp_dpi_link_state = function int sp_link_state(
        input longint unsigned link,
        output string json
    );

    // Tells a link end that its physical layer begins to train (0) or is up again (1). An end of ualink treats
    // training as a fault of its line; nvlink has no such state in the model. Time spent in training does not count as waiting, so a
    // passive end has to be told, too, both when training begins and when it is over; `liveness_flits` starts again from there.
    import "DPI-C" function int sp_link_train(
        input longint unsigned link,
        input int unsigned up
    );

    // Tells a link end with `transactions` that the run has ended and no message is on its way. Each request of CXL.mem that still lacks
    // an answer becomes an event, once. Returns SP_FINDING if there is such a request; sp_last_error names the first.
    import "DPI-C" function int sp_link_finish(
        input longint unsigned link
    );

    // Destroys a link end; its handle is invalid from then on.
    import "DPI-C" function int sp_link_destroy(
        input longint unsigned link
    );

    // Attaches a fault to a hook point of a link end. `fault` is written as for the setting `link.fault` of scenarios:
    // `flip:N:BIT`, `noise:N`, `drop:N`, `dup:N` or `vanish:N`, where N counts the items of the point from 0. On the wire,
    // `drop` leaves a damaged unit in its place. At the other points `drop` and `vanish` take the item away, and `dup` is
    // refused. Returns SP_ERR_KIND if the point does not allow the fault.
    import "DPI-C" sp_dpi_hook_fault = function int sp_hook_fault(
        input longint unsigned link,
        input string point,
        input int unsigned way,
        input string fault,
        output longint unsigned hook
    );

    // Detaches a hook. Returns SP_ERR_RANGE if the end has no hook of this number.
    import "DPI-C" function int sp_hook_detach(
        input longint unsigned link,
        input longint unsigned hook
    );

    // Queues a message to be sent, as sp_link_send does, with its bits and bytes in place of JSON. `data` and `enables` may have
    // length 0: the message has none. `enables` has bit n for byte n of the data, low byte first. By protocol:
    //
    // * CXL: `layout` is the number of the layout of a message (sp_layout_find) and `bits` its bytes, as sp_encode makes them. `data` is a
    //   line of 64 bytes, `enables` has 8 bytes. `extra` is 0, SP_LOWER_HALF or SP_UPPER_HALF for 32 bytes of data of cxl-68b, or
    //   SP_METADATA together with the metadata in bits 63:32 in the 256B modes.
    // * nvlink: `layout` is that of `nvlink.header`. `bits` has 16 bytes of that layout, then 16 bytes of `nvlink.ae`; of them count
    //   op, vc, tag, rid, size, ep, atag, address, attr and route, since the link fills in the others. `data` has up to 256 bytes,
    //   `enables` 16. `extra` is 0.
    // * ualink: `layout` is SP_NO_LAYOUT and `bits` has length 0. `data` is a TL flit of 64 bytes, lower half first; bit 0 or 1 of `extra` is
    //   set if the lower or the upper half is a message. An end with `layer` = `tl` has requests and responses instead: `layout` is that
    //   of `ualink.tl_req` or `ualink.tl_rsp` and `bits` its bytes, `data` has 64 bytes for each beat, `enables` 32 bytes for a block of
    //   256, and bit n of `extra` says that beat n is poisoned: its bytes mean nothing.
    // * cxl-io: `layout` is SP_NO_LAYOUT, `bits` and `enables` have length 0, `extra` is 0, and `data` is a TLP of flit mode.
    import "DPI-C" sp_dpi_link_send_bits = function int sp_link_send_bits(
        input longint unsigned link,
        input int unsigned layout,
        input byte unsigned bits[],
        input longint unsigned bits_length,
        input byte unsigned data[],
        input longint unsigned data_length,
        input byte unsigned enables[],
        input longint unsigned enables_length,
        input longint unsigned extra
    );

    // Takes the oldest message that has arrived and returns its credit to the peer, as sp_link_take does, with its bits and bytes in
    // place of JSON. They are those of sp_link_send_bits. Returns SP_EMPTY if none waits.
    import "DPI-C" sp_dpi_link_take_bits = function int sp_link_take_bits(
        input longint unsigned link,
        output int unsigned layout,
        inout byte unsigned bits[],
        output longint unsigned bits_length,
        inout byte unsigned data[],
        output longint unsigned data_length,
        inout byte unsigned enables[],
        output longint unsigned enables_length,
        output longint unsigned extra
    );

    // Takes the oldest message that a passive end has seen, in either direction: `port` is SP_TX for what the watched end has sent and
    // SP_RX for what came to it, `unit` the number of the unit in which the message ends, in its direction from 0. A message that was
    // sent again is seen once. The other parts are those of sp_link_send_bits. Returns SP_EMPTY if none waits, or if the end was made
    // without `messages`.
    import "DPI-C" sp_dpi_link_seen_bits = function int sp_link_seen_bits(
        input longint unsigned link,
        output int unsigned port,
        output longint unsigned unit,
        output int unsigned layout,
        inout byte unsigned bits[],
        output longint unsigned bits_length,
        inout byte unsigned data[],
        output longint unsigned data_length,
        inout byte unsigned enables[],
        output longint unsigned enables_length,
        output longint unsigned extra
    );

    // Takes the oldest event, as sp_link_event does: its numbers, and the texts `rule`, `place` (where in the unit or message), `found`,
    // `expected` and `text` (one sentence on it). Returns SP_EMPTY if none waits.
    import "DPI-C" sp_dpi_link_event_fields = function int sp_link_event_fields(
        input longint unsigned link,
        output longint unsigned unit,
        output int unsigned port,
        output int unsigned by,
        output int unsigned severity,
        output int tag,
        output string rule,
        output string place,
        output string found,
        output string expected,
        output string text
    );

    // Gives state and counters of a link end, as sp_link_state does. `rule` is the id of the rule that has stopped the link, or empty.
    import "DPI-C" sp_dpi_link_state_fields = function int sp_link_state_fields(
        input longint unsigned link,
        output longint unsigned flit_clocks,
        output longint unsigned driven,
        output longint unsigned sent,
        output longint unsigned events,
        output longint unsigned events_lost,
        output longint unsigned seen,
        output longint unsigned seen_lost,
        output longint unsigned compared,
        output longint unsigned mismatches,
        output int unsigned up,
        output int unsigned quiet,
        output int unsigned wants_training,
        output int unsigned halted,
        output string rule
    );

    // Gives one figure of the health of a link end. `figure` is a name that `scalepool list health` prints, `part` the name of a channel
    // or of a state for those figures that have one number for each, else empty. `value` receives the number. `name` receives the name
    // of a state for figures that are names, for which `value` is 0. Returns SP_EMPTY if the end does not have this figure or this part.
    import "DPI-C" sp_dpi_link_health = function int sp_link_health(
        input longint unsigned link,
        input string figure,
        input string part,
        output longint unsigned value,
        output string name
    );

    // Makes an arbiter of 1 to 64 requesters that has granted nothing yet. SP_ARBITER_WEIGHTED takes one weight for each
    // requester, 0 to 65535, with that of requester 0 first. The other kinds take no weights: pass length 0.
    import "DPI-C" sp_dpi_arbiter_new = function int sp_arbiter_new(
        input int unsigned kind,
        input int unsigned requesters,
        input int unsigned weights[],
        input longint unsigned weights_length,
        output longint unsigned arbiter
    );

    // Arbitrates one slot. Bit i of `requests` is 1 if requester i requests; bits above the last requester are ignored.
    // `granted` has the bit of the winner, or is 0 if nobody requests. If `used` is 1, the winner uses its turn. If it
    // is 0, the arbiter stays as it is, and the same requests have the same winner in the next slot.
    import "DPI-C" function int sp_arbiter_grant(
        input longint unsigned arbiter,
        input longint unsigned requests,
        input int unsigned used,
        output longint unsigned granted
    );

    // Destroys an arbiter; its handle is invalid from then on.
    import "DPI-C" function int sp_arbiter_destroy(
        input longint unsigned arbiter
    );

    // Makes one direction of a bridge, with no transaction open. With `watches` 0 it is the reference model, which converts messages;
    // with 1 it is a scoreboard, which compares a bridge with the reference model. `config` is a JSON object; the first line of each
    // file of `scalepool export conversions` is an example. Its keys are:
    //
    // * `protocol`: `ualink` or `nvlink`
    // * `direction`: `outbound` from accelerators to CXL, or `inbound` from CXL to accelerators
    // * `own`: number of the bridge among the accelerators
    // * `windows`: address windows, each with `class`, `base`, `size`, `out_base`, `targets`, `granule` and `rights`
    // * `groups`, `entries`, `write_buffers`: groups of sources, number of open transactions, number of write buffers
    // * `order`: `blocks` or `sources`
    // * `io_ack`: when a write to a window of class IO is answered, `flush` or `sent`
    // * `single_beat`: for UALink, true if a read of several lines is answered line by line
    // * `host_ports`: numbers of the CXL ports, side by side, that lead to hosts (default: the ports of windows of class CC)
    // * `control`: for outbound, the registers: `base`, their first address, and `ports`, the class of each CXL port, MN, MC, CC or IO
    // * `cache`: the conversion cache
    // * `ports`: for inbound, the ports to accelerators, interleaved by blocks of 256 bytes
    // * `home`: for windows of class DB, which the bridge keeps coherent: `holders` (for each CXL port, the SPIDs or LD-IDs of those that may
    //   hold lines), `filter_entries`, `filter_ways` and `recalls`
    // * `hairpin`: for windows of class DB, the access of accelerators to these lines: `windows` of class HP, `groups`, `entries`,
    //   `write_buffers` and `order`. With it, requests of hosts and of accelerators both enter at SP_BRIDGE_REQUEST, with port numbers of
    //   their own.
    // * `credits`: for a scoreboard, the credit pools that it counts, each with `point` (`request`, `sent`, `answer` or `response`), `port`,
    //   `class`, `vchan` and `depth`, the number of buffers of the receiver. `vchan` is left out for CXL; for UALink it is 0 to 3, or
    //   left out for the common pool; for NVLink it is 0 to 7. `class` is, for CXL.mem, `m2s_req`, `m2s_rwd`, `m2s_birsp`,
    //   `s2m_ndr`, `s2m_drs` or `s2m_bisnp`; for CXL.cache (outbound), `d2h_req`, `d2h_rsp`, `d2h_data`, `h2d_req`, `h2d_rsp` or `h2d_data`; for
    //   UALink, `request`, `request_data`, `response` or `response_data`, with data counted in beats; for NVLink, `header`
    //   or `data`, with data counted in data flits.
    import "DPI-C" sp_dpi_bridge_new = function int sp_bridge_new(
        input string config_json,
        input int unsigned watches,
        output longint unsigned bridge
    );

    // Passes a message to the bridge. `point` is one of SP_BRIDGE_*. The reference model takes messages at SP_BRIDGE_REQUEST and
    // SP_BRIDGE_ANSWER; a scoreboard takes the messages of all four points, in the order in which they pass. `port` is the number of the
    // port or link on that side, from 0. `json` is a message in the form of the files of `scalepool export conversions`. Pass a request
    // once the bridge under test has accepted it and looked up its line, since the model looks it up at once. Returns SP_FULL if the
    // model has no free entry for a request, which is then not taken; for a scoreboard that is a finding. Returns SP_FINDING as long
    // as sp_bridge_finding has a finding to give.
    import "DPI-C" sp_dpi_bridge_pass = function int sp_bridge_pass(
        input longint unsigned bridge,
        input int unsigned point,
        input int unsigned port,
        input string json
    );

    // Commits new windows and groups of sources to an outbound bridge, in place of the previous ones. `json` is an object with `windows`
    // and `groups`, as in sp_bridge_new. Returns SP_OK if they are valid now. Returns SP_FULL if requests to the old windows are still
    // open. The commit is then taken and waits for the last of their responses: until that response has left, the model returns SP_FULL
    // for every request, and for a scoreboard a request is a finding; the scoreboard counts the responses that are passed to it. Returns
    // SP_ERR_INPUT for windows that are not allowed, for an inbound bridge, while another commit waits, and, with a `cache`, for windows
    // that lead an address of class MN to another port than before.
    import "DPI-C" sp_dpi_bridge_commit = function int sp_bridge_commit(
        input longint unsigned bridge,
        input string json
    );

    // Tells a scoreboard that credits were given to the sender of the messages at a point. Call it in the order in which credits and
    // messages pass. `json` is an object with `point`, `port`, `class`, `vchan` and `count` (1 if left out), for a pool that the
    // configuration of the scoreboard names; initial credits are passed in the same way. A message without a credit is a finding when it
    // passes (BRG-CRD-01). More credits than buffers are a finding at once, or at the end in the case of requests (BRG-CRD-02). Credits
    // that have not been returned at the end are a finding, too (BRG-CRD-03). Returns SP_FINDING as long as there is a finding to take,
    // and SP_ERR_INPUT for an unknown pool and for the reference model.
    import "DPI-C" sp_dpi_bridge_credit = function int sp_bridge_credit(
        input longint unsigned bridge,
        input string json
    );

    // Takes the next message that the model has made, with its point, SP_BRIDGE_SENT or SP_BRIDGE_RESPONSE, and its port. Returns
    // SP_EMPTY if there is none; a scoreboard makes none.
    import "DPI-C" sp_dpi_bridge_next = function int sp_bridge_next(
        input longint unsigned bridge,
        output int unsigned point,
        output int unsigned port,
        output string json
    );

    // Takes the next finding as a JSON object with `rule`, `message` (its number among those that have passed, from 0), `found` and
    // `expected`. Returns SP_EMPTY if there is none.
    import "DPI-C" sp_dpi_bridge_finding = function int sp_bridge_finding(
        input longint unsigned bridge,
        output string json
    );

    // Ends the run of a scoreboard: each message that has not left and each open request becomes a finding. Returns SP_FINDING if there
    // is a finding.
    import "DPI-C" function int sp_bridge_finish(
        input longint unsigned bridge
    );

    // Destroys a bridge; its handle is invalid from then on.
    import "DPI-C" function int sp_bridge_destroy(
        input longint unsigned bridge
    );

    // Gives a message to the bridge, as sp_bridge_pass does, with its bits and bytes in place of JSON. They are those of
    // sp_link_send_bits: of UALink with `layer` = `tl`, of nvlink, of CXL in the layouts `cxl256`, and of a TLP in flit mode.
    import "DPI-C" sp_dpi_bridge_pass_bits = function int sp_bridge_pass_bits(
        input longint unsigned bridge,
        input int unsigned point,
        input int unsigned port,
        input int unsigned layout,
        input byte unsigned bits[],
        input longint unsigned bits_length,
        input byte unsigned data[],
        input longint unsigned data_length,
        input byte unsigned enables[],
        input longint unsigned enables_length,
        input longint unsigned extra
    );

    // Takes the next message that the model has made, as sp_bridge_next does, with its bits and bytes in place of JSON. Returns SP_EMPTY if
    // there is none; a scoreboard makes none.
    import "DPI-C" sp_dpi_bridge_next_bits = function int sp_bridge_next_bits(
        input longint unsigned bridge,
        output int unsigned point,
        output int unsigned port,
        output int unsigned layout,
        inout byte unsigned bits[],
        output longint unsigned bits_length,
        inout byte unsigned data[],
        output longint unsigned data_length,
        inout byte unsigned enables[],
        output longint unsigned enables_length,
        output longint unsigned extra
    );

    // Takes the next finding, as sp_bridge_finding does: `message` is its number among those that have passed, from 0, and the texts are
    // `rule`, `found` and `expected`. Returns SP_EMPTY if there is none.
    import "DPI-C" sp_dpi_bridge_finding_fields = function int sp_bridge_finding_fields(
        input longint unsigned bridge,
        output longint unsigned message,
        output string rule,
        output string found,
        output string expected
    );
endpackage
