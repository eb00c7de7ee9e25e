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
    localparam int SP_ABI_MINOR = 2;
    localparam int SP_ABI_PATCH = 0;
    localparam int SP_ABI_VERSION = (((SP_ABI_MAJOR << 16) | (SP_ABI_MINOR << 8)) | SP_ABI_PATCH);
    localparam int SP_OK = 0;
    localparam int SP_FINDING = 1;
    localparam int SP_EMPTY = 2;
    localparam int SP_UNREADABLE = 3;
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
    localparam int SP_ACTIVE = 0;
    localparam int SP_PASSIVE = 1;
    localparam int SP_RX = 0;
    localparam int SP_TX = 1;
    localparam int SP_MAX_STEPS = (1 << 16);
    localparam int SP_HOOK_KEEP = 0;
    localparam int SP_HOOK_DROP = 1;
    localparam int SP_HOOK_REPLACE = 2;
    localparam int SP_HOOK_HOLD = 3;
    localparam int SP_ARBITER_ROUND_ROBIN = 1;
    localparam int SP_ARBITER_MATRIX = 2;
    localparam int SP_ARBITER_WEIGHTED = 3;

    // Version of the library, in the form of SP_ABI_VERSION. May come before sp_open.
    import "DPI-C" function int unsigned sp_version();

    // The first call: says which header the caller was compiled with. SP_ERR_VERSION if the library cannot serve it: another
    // major version, or an older minor one than that of the header.
    import "DPI-C" function int sp_open(
        input int unsigned header_version
    );

    // Text of the last call of this thread that did not answer SP_OK: what was found, what was expected, where. May come
    // before sp_open.
    import "DPI-C" sp_dpi_last_error = function int sp_last_error(
        output string text
    );

    // Number of layouts. Their numbers, from 0, hold for one version of the library alone: look them up by name.
    import "DPI-C" function int sp_layout_count(
        output int unsigned count
    );

    // Number of the layout of a name such as `cxl68.m2s_req`.
    import "DPI-C" sp_dpi_layout_find = function int sp_layout_find(
        input string name,
        output int unsigned layout
    );

    // Size of a layout.
    import "DPI-C" sp_dpi_layout_size = function int sp_layout_size(
        input int unsigned layout,
        output int unsigned bits,
        output int unsigned bytes,
        output int unsigned fields
    );

    // Name of a layout.
    import "DPI-C" sp_dpi_layout_name = function int sp_layout_name(
        input int unsigned layout,
        output string name
    );

    // The whole field table of a layout, as `scalepool describe LAYOUT --json` prints it: codes, source, basis.
    import "DPI-C" sp_dpi_layout_describe = function int sp_layout_describe(
        input int unsigned layout,
        output string json
    );

    // Number of the field of a name.
    import "DPI-C" sp_dpi_field_find = function int sp_field_find(
        input int unsigned layout,
        input string name,
        output int unsigned field
    );

    // Name of a field.
    import "DPI-C" sp_dpi_field_name = function int sp_field_name(
        input int unsigned layout,
        input int unsigned field,
        output string name
    );

    // Place of a field.
    import "DPI-C" sp_dpi_field_place = function int sp_field_place(
        input int unsigned layout,
        input int unsigned field,
        output bit [127:0] default_value,
        output int unsigned lsb,
        output int unsigned width,
        output int unsigned address_lsb,
        output int unsigned reserved
    );

    // Encodes `count` messages of a layout. `values` has one number for each field in the order of the layout, message behind
    // message; `values_length` is their number in all. `bytes` gets the messages one behind the other. The first value that
    // does not fit refuses the call; the last error names message and field.
    import "DPI-C" sp_dpi_encode = function int sp_encode(
        input int unsigned layout,
        input bit [127:0] values[],
        input longint unsigned values_length,
        input longint unsigned count,
        inout byte unsigned bytes[],
        output longint unsigned bytes_length
    );

    // Decodes `count` messages of a layout, which stand one behind the other in `bytes`. `values` gets one number for each
    // field in the order of the layout, message behind message. SP_FINDING if a message breaks a rule; the values are there
    // then too, and the last error tells the first rule.
    import "DPI-C" sp_dpi_decode = function int sp_decode(
        input int unsigned layout,
        input byte unsigned bytes[],
        input longint unsigned bytes_length,
        input longint unsigned count,
        inout bit [127:0] values[],
        output longint unsigned values_length
    );

    // Encodes a message in its JSON form, `{"layout":..,"fields":{..}}`, as `scalepool encode` does. Fields left out have
    // their default.
    import "DPI-C" sp_dpi_encode_json = function int sp_encode_json(
        input string json,
        inout byte unsigned bytes[],
        output longint unsigned bytes_length
    );

    // Decodes a message into its JSON form with the rules that it breaks, as `scalepool decode` does. SP_FINDING if there are
    // any; the form is there then too.
    import "DPI-C" sp_dpi_decode_json = function int sp_decode_json(
        input int unsigned layout,
        input byte unsigned bytes[],
        input longint unsigned bytes_length,
        output string json
    );

    // CRCs of `count` items of `item_bytes` each, which stand one behind the other in `data`; `crcs` has room for `count`
    // numbers. A CRC is the number that its bytes are in wire order, read little-endian.
    import "DPI-C" sp_dpi_crc = function int sp_crc(
        input int unsigned kind,
        input byte unsigned data[],
        input longint unsigned item_bytes,
        input longint unsigned count,
        inout longint unsigned crcs[]
    );

    // Puts the six FEC bytes into `count` flits of 256 bytes, in place. CRCs must be there already.
    import "DPI-C" sp_dpi_fec_encode = function int sp_fec_encode(
        input int unsigned kind,
        inout byte unsigned flits[],
        input longint unsigned count
    );

    // Repairs `count` flits of 256 bytes in place. `corrected` has room for `count` numbers: bytes that were repaired, or -1
    // for a flit that cannot be, which stays as it is. SP_FINDING if there is one. Three wrong bytes at most, one in each
    // group; what is more may look like less, so check the CRC behind it.
    import "DPI-C" sp_dpi_fec_correct = function int sp_fec_correct(
        input int unsigned kind,
        inout byte unsigned flits[],
        input longint unsigned count,
        inout int corrected[]
    );

    // A stream that decodes the flits of one direction of a link. `protocol` is a name that `scalepool list protocols` shows,
    // such as `cxl-68b`.
    import "DPI-C" sp_dpi_decoder_new = function int sp_decoder_new(
        input string protocol,
        input int unsigned dir,
        output longint unsigned stream
    );

    // A stream that encodes the flits of one direction of a link.
    import "DPI-C" sp_dpi_encoder_new = function int sp_encoder_new(
        input string protocol,
        input int unsigned dir,
        output longint unsigned stream
    );

    // Decodes `count` flits of `flit_bytes` each, which stand one behind the other. Their answers wait in the stream; a flit
    // that cannot be read has an answer that says so.
    import "DPI-C" sp_dpi_stream_decode = function int sp_stream_decode(
        input longint unsigned stream,
        input byte unsigned flits[],
        input longint unsigned flit_bytes,
        input longint unsigned count
    );

    // Encodes the JSON object of a flit, as `scalepool flit encode` reads it. Its answer waits in the stream.
    import "DPI-C" sp_dpi_stream_encode = function int sp_stream_encode(
        input longint unsigned stream,
        input string json
    );

    // No more flits follow: answers that wait for one are given now.
    import "DPI-C" function int sp_stream_finish(
        input longint unsigned stream
    );

    // Takes the oldest answer: the JSON object of the flit, its bytes, or both; what is not wanted is all null. SP_EMPTY if
    // none waits. SP_FINDING for a flit that breaks a rule; SP_UNREADABLE for one that could not be read, without object
    // and bytes. Either way the answer is taken and the last error says why.
    import "DPI-C" sp_dpi_stream_take = function int sp_stream_take(
        input longint unsigned stream,
        output string json,
        inout byte unsigned flit[],
        output longint unsigned flit_length
    );

    // Number of answers that wait.
    import "DPI-C" function int sp_stream_waiting(
        input longint unsigned stream,
        output longint unsigned count
    );

    // Ends a stream; its handle names nothing any more.
    import "DPI-C" function int sp_stream_destroy(
        input longint unsigned stream
    );

    // A simulation of a scenario in a text of TOML:
    // `scenario = "cxl68-expander"`, then `seed = 1`, `link.ber = 1e-6`, `host.accesses = 1000` and so on, one a line.
    import "DPI-C" sp_dpi_sim_new = function int sp_sim_new(
        input string text,
        output longint unsigned sim
    );

    // Changes a setting of the scenario for the next run, with which the next step, or call that names a port, begins at the
    // start: `link.ber=1e-5`.
    import "DPI-C" sp_dpi_sim_set = function int sp_sim_set(
        input longint unsigned sim,
        input string setting
    );

    // Changes the seed for the next run, with which the next step begins at the start.
    import "DPI-C" function int sp_sim_seed(
        input longint unsigned sim,
        input longint unsigned seed
    );

    // Waves: a VCD file at this path, with GTKWave files beside it; an empty path switches them off. In a run that is under way
    // they show what happens from here on, and a file that is switched off gets its name at once; else they are of the next
    // runs.
    import "DPI-C" sp_dpi_sim_wave = function int sp_sim_wave(
        input longint unsigned sim,
        input string path
    );

    // Transaction trace: JSON lines at this path; an empty path switches it off. In a run that is under way as for sp_sim_wave.
    import "DPI-C" sp_dpi_sim_trace = function int sp_sim_trace(
        input longint unsigned sim,
        input string path
    );

    // Goes on for so many cycles of the reference clock; what it costs is in proportion to them. The first step, and the first
    // one after other settings, begins at the start. SP_EMPTY if nothing is left to do: the work is done, or `cycles` of the
    // text are over; then waves and traces are complete. SP_ERR_RANGE if that would be more than SP_MAX_CYCLES in all. Broken
    // rules are in the metrics.
    import "DPI-C" function int sp_sim_step(
        input longint unsigned sim,
        input longint unsigned cycles
    );

    // Goes on to a cycle of the reference clock, 1 to SP_MAX_CYCLES, or until the work is done if that is earlier; 0 takes
    // `cycles` of the text, or SP_MAX_CYCLES. A cycle that is past begins at the start. It takes as long as the scenario asks
    // for: a million cycles are about a second. Waves and traces end here, and a step behind it is not in them. SP_FINDING if a
    // rule is broken.
    import "DPI-C" function int sp_sim_run(
        input longint unsigned sim,
        input longint unsigned cycles
    );

    // Metrics of the run so far, as `scalepool run --json` prints them. SP_EMPTY before the first step.
    import "DPI-C" sp_dpi_sim_metrics = function int sp_sim_metrics(
        input longint unsigned sim,
        output string json
    );

    // Where the run stands and what its ports are, as a JSON object: `cycle`, `over`, and `ports` with, for each link end,
    // `name`, `protocol`, `unit_bytes`, `external`, `driven` (units that wait to be sent), `rx` and `tx` with `watched`,
    // `waiting` and `lost` units, and answers of hooks that were not allowed (`bad_answers`, the last ones as `bad_answer`).
    import "DPI-C" sp_dpi_sim_state = function int sp_sim_state(
        input longint unsigned sim,
        output string json
    );

    // As it was made: settings, seed and outputs of the text, no metrics, nothing driven or sampled. Hooks stay, and count
    // their items anew; so do watches.
    import "DPI-C" function int sp_sim_reset(
        input longint unsigned sim
    );

    // Ends a simulation; its handle names nothing any more. Waves and traces of a run that is under way are completed.
    import "DPI-C" function int sp_sim_destroy(
        input longint unsigned sim
    );

    // Attaches a fault to a point of a port, as sp_hook_fault does to one of a link end.
    import "DPI-C" sp_dpi_sim_hook_fault = function int sp_sim_hook_fault(
        input longint unsigned sim,
        input string port,
        input string point,
        input int unsigned way,
        input string fault,
        output longint unsigned hook
    );

    // Takes a hook off a port again. SP_ERR_RANGE if the number names none of it.
    import "DPI-C" sp_dpi_sim_hook_detach = function int sp_sim_hook_detach(
        input longint unsigned sim,
        input string port,
        input longint unsigned hook
    );

    // Watches a wire of a port (1) or no more (0): what passes it from here on can be sampled. Units that nobody samples wait,
    // 65536 at most, and those behind them are counted as lost. Units that wait stay. SP_ERR_INPUT if there is no such port;
    // sp_sim_state lists them.
    import "DPI-C" sp_dpi_sim_watch = function int sp_sim_watch(
        input longint unsigned sim,
        input string port,
        input int unsigned way,
        input int unsigned on
    );

    // Takes the oldest unit that passed a wire, with its time; behind hooks, and of what arrives behind all faults. SP_EMPTY if
    // none waits, SP_ERR_KIND if the wire is not watched.
    import "DPI-C" sp_dpi_sim_sample = function int sp_sim_sample(
        input longint unsigned sim,
        input string port,
        input int unsigned way,
        output longint unsigned time_fs,
        inout byte unsigned unit[],
        output longint unsigned unit_length
    );

    // Takes the oldest unit that passed a wire and compares `unit` with it, as sp_link_expect does. SP_FINDING if they differ;
    // the last error names the first byte. SP_EMPTY if none waits, SP_ERR_KIND if the wire is not watched.
    import "DPI-C" sp_dpi_sim_expect = function int sp_sim_expect(
        input longint unsigned sim,
        input string port,
        input int unsigned way,
        input byte unsigned unit[],
        input byte unsigned mask[],
        input longint unsigned unit_length
    );

    // Drives an external port, the one that `external` of the text names: the unit leaves in the next flit clock that has not
    // another one before it, one a flit clock; where none waits, nothing is sent. Units wait, 65536 at most. The end that
    // stands there is the caller's: the model does not build it, and answers training of the peer alone. Where a port is
    // external a run has no end of its own. SP_ERR_KIND if the port is not external.
    import "DPI-C" sp_dpi_sim_drive = function int sp_sim_drive(
        input longint unsigned sim,
        input string port,
        input byte unsigned unit[],
        input longint unsigned unit_length
    );

    // An end of a link. `protocol` is `cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`, `nvlink` or `ualink`; `dir` is the direction
    // in which the end sends, SP_DOWN for a host or accelerator. `config` is a JSON object, empty for the defaults:
    //
    // * `buffers`: messages a channel that fit into the receive buffers (64); nvlink: packets (32)
    // * `data_flits`: nvlink, data flits a channel (256)
    // * `classes`: `mem`, or `cachemem` for CXL.cache too (`cachemem`)
    // * `retry_entries`, `timeout_flits`: retry buffer and time-out (those of the sheets)
    // * `max_num_retry`, `max_num_phy_reinit`, `flush_flits`: cxl-68b
    // * `selective_nak`: the 256B modes, true or false (false)
    // * `reaction_flits`: cxl-68b and ualink, passive: units that the end which is watched may go on for, before it shows that
    //   something has come (4096); the depth of its pipeline makes the watcher strict
    //
    // A passive cxl-68b end does not hold the one that it watches to a number that is left out: `retry_entries` is then what its
    // INIT.Param names, and no time-out, limit or flush timer is judged.
    //
    // `ualink` has none of the others. A unit of one byte stands there for control flits in place of a flit: 0 is idle, 1 a remote
    // fault; an end sends them until it is up.
    //
    // `mode` is SP_ACTIVE or SP_PASSIVE; a passive end never sends and only reports what breaks a rule.
    import "DPI-C" sp_dpi_link_new = function int sp_link_new(
        input string protocol,
        input int unsigned dir,
        input string config_json,
        input int unsigned mode,
        output longint unsigned link
    );

    // As it was made: all that waits is gone. Hooks stay, and count their items anew.
    import "DPI-C" function int sp_link_reset(
        input longint unsigned link
    );

    // Drives a port: the unit arrives in the next step that has not another one before it. SP_RX is what comes to the end;
    // a passive end takes what the end that it watches sends at SP_TX.
    import "DPI-C" sp_dpi_link_drive = function int sp_link_drive(
        input longint unsigned link,
        input int unsigned port,
        input byte unsigned unit[],
        input longint unsigned unit_length
    );

    // Flit clocks, at most SP_MAX_STEPS: in each, one driven unit of each port arrives and an active end sends at most one.
    // Units that nobody samples wait, 65536 at most; so do events, and those behind them are counted alone.
    import "DPI-C" function int sp_link_step(
        input longint unsigned link,
        input longint unsigned flit_clocks
    );

    // Takes the oldest unit that the end has sent. SP_EMPTY if none waits: a link may be silent in a flit clock.
    import "DPI-C" sp_dpi_link_sample = function int sp_link_sample(
        input longint unsigned link,
        inout byte unsigned unit[],
        output longint unsigned unit_length
    );

    // Takes the oldest unit that the end has sent and compares it with `unit`: the end is the twin of what sent that. `mask`
    // has a 1 for each bit that counts, null for all. SP_FINDING if they differ; the last error names the first byte.
    // SP_EMPTY if none waits.
    import "DPI-C" sp_dpi_link_expect = function int sp_link_expect(
        input longint unsigned link,
        input byte unsigned unit[],
        input byte unsigned mask[],
        input longint unsigned unit_length
    );

    // Queues a message to be sent, in its JSON form: `{"layout":..,"fields":{..}}`, with `data` (hex of the 64 bytes of a
    // line), `be` (byte enables, a number); cxl-68b: `half` (`lower` or `upper`) for 32 bytes; the 256B modes: `metadata` (a
    // number). nvlink: one flat object with `op`, `vc`, `tag`, `rid`, `size`, `ep`, `atag`, `address`, `attr`, `route`, `be`, `data`.
    // At most 65536 messages wait: SP_ERR_RANGE beyond. ualink: a TL flit, `lower` and `upper` (hex of 32 bytes each) and `indicators` (0 to 3, bit n: half n is a message).
    import "DPI-C" sp_dpi_link_send = function int sp_link_send(
        input longint unsigned link,
        input string message
    );

    // Takes the oldest message that has come, in its JSON form; its credit goes back. SP_EMPTY if none waits.
    import "DPI-C" sp_dpi_link_take = function int sp_link_take(
        input longint unsigned link,
        output string json
    );

    // Takes the oldest event: `{"unit":..,"port":"rx","by":..,"severity":..,"rule":..,"at":..,"found":..,"expected":..,"text":..}`.
    // `by` is who has broken the rule: `peer` by what it sent to this end, `end` the one that a passive end watches, `line` where a
    // unit was damaged or lost under way, which the link repairs. SP_EMPTY if none waits.
    import "DPI-C" sp_dpi_link_event = function int sp_link_event(
        input longint unsigned link,
        output string json
    );

    // State and counters as a JSON object: flit clocks, what waits, what was compared; the rule id that has stopped the link
    // (`halted`, null as long as none has); of an active end whether it is `up`, which a link that has stopped is not, `quiet`, and
    // whether it asks for training (`wants_training`); answers of hooks that were not allowed (`bad_answers`, the first one as
    // `bad_answer`).
    import "DPI-C" sp_dpi_link_state = function int sp_link_state(
        input longint unsigned link,
        output string json
    );

    // The physical layer begins to train (0) or is up again (1). nvlink has no such state here; an end of
    // ualink takes it for a fault of its line.
    import "DPI-C" function int sp_link_train(
        input longint unsigned link,
        input int unsigned up
    );

    // Ends a link end; its handle names nothing any more.
    import "DPI-C" function int sp_link_destroy(
        input longint unsigned link
    );

    // Attaches a fault to a point of a link end, as `link.fault` of scenarios spells it: `flip:N:BIT`, `noise:N`, `drop:N`,
    // `dup:N`, `vanish:N`, where N counts the items of the point from 0. On the wire a drop leaves a bad unit in its place; at
    // the other points drop and vanish take the item away and dup is refused. SP_ERR_KIND where the point does not allow it.
    import "DPI-C" sp_dpi_hook_fault = function int sp_hook_fault(
        input longint unsigned link,
        input string point,
        input int unsigned way,
        input string fault,
        output longint unsigned hook
    );

    // Takes a hook off again. SP_ERR_RANGE if the number names none of this end.
    import "DPI-C" function int sp_hook_detach(
        input longint unsigned link,
        input longint unsigned hook
    );

    // An arbiter of 1 to 64 requesters that has granted nothing yet. SP_ARBITER_WEIGHTED takes a weight for each, 0 to 65535,
    // that of requester 0 first; the others take none, length 0.
    import "DPI-C" sp_dpi_arbiter_new = function int sp_arbiter_new(
        input int unsigned kind,
        input int unsigned requesters,
        input int unsigned weights[],
        input longint unsigned weights_length,
        output longint unsigned arbiter
    );

    // One slot: bit i of `requests` says that requester i asks, bits beyond the requesters do not count; `granted` is the bit
    // of the winner, 0 when nobody asks. If the grant is `used`, 1, the winner has had its turn; with 0 nothing changes, and it
    // is the winner of the next slot with the same requests too.
    import "DPI-C" function int sp_arbiter_grant(
        input longint unsigned arbiter,
        input longint unsigned requests,
        input int unsigned used,
        output longint unsigned granted
    );

    // Ends an arbiter; its handle names nothing any more.
    import "DPI-C" function int sp_arbiter_destroy(
        input longint unsigned arbiter
    );
endpackage
