/* scalepool: bit-accurate, cycle-approximate model of CXL-over-XLink. Written from src/capi by testbenches/tests/ffi.
 *
 * First call: sp_open(SP_ABI_VERSION). Before it every other call answers SP_ERR_VERSION.
 *
 * Status: 0 is SP_OK, positive numbers are outcomes, negative ones are refusals, which have changed nothing. After every
 * status but SP_OK sp_last_error says more, for the calls of the same thread.
 *
 * Pointers: null is never followed; where it means something, it is said. A pointer that is not null must point to as many
 * items as stand beside it, or to one, and nobody else may use them during the call: an address of other memory is the
 * caller's fault and cannot be found out. Buffers of one call may overlap. Lengths count items of the pointer's type.
 *
 * Texts that go in are UTF-8 with a length, at most 1 MiB, and need no NUL: SP_TEXT("literal") gives both arguments.
 * Texts that come out end in NUL; their length is written without it, so their buffer needs one byte more.
 *
 * Buffers that are filled come as (buffer, capacity, length): the length is always written. Too short a buffer, or null
 * with capacity 0, answers SP_ERR_SHORT, and what waited to be taken still waits.
 *
 * Bytes of messages and flits: byte 0 first, as they travel. JSON forms: those of the command line.
 *
 * Functions that go in are called inside calls of the same handle, in the thread of that call. They have to return: no
 * longjmp, exception or panic may leave them. A pointer of the wrong type is the caller's fault, as with addresses.
 *
 * Handles are numbers, 0 is never one. One handle, one thread at a time: others get SP_ERR_BUSY.
 */

#ifndef SCALEPOOL_H
#define SCALEPOOL_H

#include <stddef.h>
#include <stdint.h>

/* Text and length of a literal, two arguments. */
#define SP_TEXT(literal) (literal), (sizeof(literal) - 1)

// Changes when a caller has to change: a function, argument or meaning is gone.
#define SP_ABI_MAJOR 1

// Changes when something is added.
#define SP_ABI_MINOR 2

// Changes when only mistakes are mended.
#define SP_ABI_PATCH 0

// Version of this header: major (bits 31:16), minor (15:8), patch (7:0).
#define SP_ABI_VERSION (((SP_ABI_MAJOR << 16) | (SP_ABI_MINOR << 8)) | SP_ABI_PATCH)

// Done.
#define SP_OK 0

// Done, and a rule is broken or a comparison failed; the last error says which.
#define SP_FINDING 1

// Nothing waits to be taken.
#define SP_EMPTY 2

// What was taken says that an earlier input could not be read.
#define SP_UNREADABLE 3

// A pointer is null.
#define SP_ERR_NULL -1

// A buffer is too short; its needed length has been written.
#define SP_ERR_SHORT -2

// The handle names nothing: it is wrong, destroyed, or of another kind.
#define SP_ERR_HANDLE -3

// An input cannot be read: a text, a name, a field, a flit.
#define SP_ERR_INPUT -4

// A number or a length is out of its range.
#define SP_ERR_RANGE -5

// A pointer is not aligned for what it points to.
#define SP_ERR_ALIGN -6

// Another thread is inside a call with the same handle.
#define SP_ERR_BUSY -7

// The versions of header and library do not go together, or `sp_open` has not been called.
#define SP_ERR_VERSION -8

// The handle cannot do this: it was made for something else.
#define SP_ERR_KIND -9

// A mistake of the library. The handle of the call can only be destroyed.
#define SP_ERR_INTERNAL -10

// CRC-16 of a 68B flit: 64 bytes of payload.
#define SP_CRC_CXL68 1

// CRC of 8 bytes of a standard or PBR flit: the 242 bytes before it.
#define SP_CRC_CXL256 2

// CRC of 6 bytes of the even half of a latency-optimised flit: the 122 bytes before it.
#define SP_CRC_LOPT_EVEN 3

// CRC of 6 bytes of the odd half: the 116 bytes 128 to 243.
#define SP_CRC_LOPT_ODD 4

// CRC-32 of a UALink DL flit: all 640 bytes, those of the CRC do not matter.
#define SP_CRC_UALINK 5

// CRC-25 of an NVLink header in the model profile: 16 bytes for each flit that is covered, the header last, whose own CRC
// does not matter.
#define SP_CRC_NVLINK 6

// CRC-16 of a DLLP: its 4 bytes.
#define SP_CRC_DLLP 7

// LCRC of a TLP: 2 bytes of sequence number, high byte first, then the TLP, as they travel.
#define SP_CRC_LCRC 8

// ECRC of a TLP without its local prefixes and without the digest.
#define SP_CRC_ECRC 9

// FEC of a standard or PBR flit.
#define SP_FEC_STANDARD 1

// FEC of a latency-optimised flit.
#define SP_FEC_LOPT 2

// Host to device, H2D, M2S.
#define SP_DOWN 0

// Device to host, D2H, S2M.
#define SP_UP 1

// Most cycles of the reference clock of one run.
#define SP_MAX_CYCLES 10000000

// A link end that drives a port.
#define SP_ACTIVE 0

// A link end that watches another one.
#define SP_PASSIVE 1

// The port of what comes to the end.
#define SP_RX 0

// The port of what the end sends.
#define SP_TX 1

// Most flit clocks of one step.
#define SP_MAX_STEPS (1 << 16)

// The item goes on as it is.
#define SP_HOOK_KEEP 0

// The item is gone.
#define SP_HOOK_DROP 1

// The bytes of `other` go on in its place.
#define SP_HOOK_REPLACE 2

// Not in this flit clock: it is asked for again.
#define SP_HOOK_HOLD 3

// The first requester at or behind a pointer, which moves behind the winner; at the start it stands at requester 0.
#define SP_ARBITER_ROUND_ROBIN 1

// The requester whose last grant is longest ago; at the start the lower number goes first.
#define SP_ARBITER_MATRIX 2

// The requester that is owed most: each that asks earns its weight, the winner pays the weights of all that asked.
#define SP_ARBITER_WEIGHTED 3

// Size of a layout.
typedef struct {
  // Bits of a message, 1 to 128.
  uint32_t bits;
  // Bytes of a message on the wire.
  uint32_t bytes;
  // Number of fields.
  uint32_t fields;
} sp_layout;

// A number of up to 128 bits.
typedef struct {
  // Bits 63:0.
  uint64_t lo;
  // Bits 127:64.
  uint64_t hi;
} sp_number;

// Place of a field in its message.
typedef struct {
  // Value when a form leaves the field out, as it is written to sp_encode.
  sp_number default_value;
  // Lowest bit.
  uint32_t lsb;
  // Width in bits.
  uint32_t width;
  // For a byte address: the lowest address bit that travels; values are whole byte addresses.
  uint32_t address_lsb;
  // 1 for a reserved field, else 0.
  uint32_t reserved;
} sp_field;

// A function that takes a line of the log, without its end and without NUL; `line` is good during the call alone. It runs
// inside sp_sim_step and sp_sim_run, in the thread of that call, and has to return, as sp_hook has to.
typedef void (*sp_log)(void *user, const char *line, size_t line_length);

// A function that sees the items of a point. `point` is a position in packer_in, packer_out, credit, replay_in,
// replay_out, wire; `way` is SP_RX or SP_TX; `number` counts the items of the point; `name` is a layout, a protocol or
// `credit`. `bytes` and `other` have `length` bytes each; `other` holds a copy to be changed for SP_HOOK_REPLACE. All
// pointers but `user` are good during the call alone.
//
// It runs inside sp_link_step, sp_link_send, sp_sim_step or sp_sim_run, in the thread of that call; it may call any function, but those of its
// own handle answer SP_ERR_BUSY. It has to return: no longjmp, no exception of C++, no panic may leave it.
// The answer is one of SP_HOOK_*; another number is SP_HOOK_KEEP.
typedef uint32_t (*sp_hook)(void *user,
                            uint32_t point,
                            uint32_t way,
                            uint64_t flit_clock,
                            uint64_t number,
                            const char *name,
                            const uint8_t *bytes,
                            uint8_t *other,
                            size_t length);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of the library, in the form of SP_ABI_VERSION. May come before sp_open.
uint32_t sp_version(void);

// The first call: says which header the caller was compiled with. SP_ERR_VERSION if the library cannot serve it: another
// major version, or an older minor one than that of the header.
int32_t sp_open(uint32_t header_version);

// Text of the last call of this thread that did not answer SP_OK: what was found, what was expected, where. May come
// before sp_open.
int32_t sp_last_error(char *text, size_t text_capacity, size_t *text_length);

// Number of layouts. Their numbers, from 0, hold for one version of the library alone: look them up by name.
int32_t sp_layout_count(uint32_t *count);

// Number of the layout of a name such as `cxl68.m2s_req`.
int32_t sp_layout_find(const char *name, size_t name_length, uint32_t *layout);

// Size of a layout.
int32_t sp_layout_size(uint32_t layout, sp_layout *size);

// Name of a layout.
int32_t sp_layout_name(uint32_t layout, char *name, size_t name_capacity, size_t *name_length);

// The whole field table of a layout, as `scalepool describe LAYOUT --json` prints it: codes, source, basis.
int32_t sp_layout_describe(uint32_t layout, char *json, size_t json_capacity, size_t *json_length);

// Number of the field of a name.
int32_t sp_field_find(uint32_t layout, const char *name, size_t name_length, uint32_t *field);

// Name of a field.
int32_t sp_field_name(uint32_t layout, uint32_t field, char *name, size_t name_capacity, size_t *name_length);

// Place of a field.
int32_t sp_field_place(uint32_t layout, uint32_t field, sp_field *place);

// Encodes `count` messages of a layout. `values` has one number for each field in the order of the layout, message behind
// message; `values_length` is their number in all. `bytes` gets the messages one behind the other. The first value that
// does not fit refuses the call; the last error names message and field.
int32_t sp_encode(uint32_t layout,
                  const sp_number *values,
                  size_t values_length,
                  size_t count,
                  uint8_t *bytes,
                  size_t bytes_capacity,
                  size_t *bytes_length);

// Decodes `count` messages of a layout, which stand one behind the other in `bytes`. `values` gets one number for each
// field in the order of the layout, message behind message. SP_FINDING if a message breaks a rule; the values are there
// then too, and the last error tells the first rule.
int32_t sp_decode(uint32_t layout,
                  const uint8_t *bytes,
                  size_t bytes_length,
                  size_t count,
                  sp_number *values,
                  size_t values_capacity,
                  size_t *values_length);

// Encodes a message in its JSON form, `{"layout":..,"fields":{..}}`, as `scalepool encode` does. Fields left out have
// their default.
int32_t sp_encode_json(const char *json,
                       size_t json_length,
                       uint8_t *bytes,
                       size_t bytes_capacity,
                       size_t *bytes_length);

// Decodes a message into its JSON form with the rules that it breaks, as `scalepool decode` does. SP_FINDING if there are
// any; the form is there then too.
int32_t sp_decode_json(uint32_t layout,
                       const uint8_t *bytes,
                       size_t bytes_length,
                       char *json,
                       size_t json_capacity,
                       size_t *json_length);

// CRCs of `count` items of `item_bytes` each, which stand one behind the other in `data`; `crcs` has room for `count`
// numbers. A CRC is the number that its bytes are in wire order, read little-endian.
int32_t sp_crc(uint32_t kind, const uint8_t *data, size_t item_bytes, size_t count, uint64_t *crcs);

// Puts the six FEC bytes into `count` flits of 256 bytes, in place. CRCs must be there already.
int32_t sp_fec_encode(uint32_t kind, uint8_t *flits, size_t count);

// Repairs `count` flits of 256 bytes in place. `corrected` has room for `count` numbers: bytes that were repaired, or -1
// for a flit that cannot be, which stays as it is. SP_FINDING if there is one. Three wrong bytes at most, one in each
// group; what is more may look like less, so check the CRC behind it.
int32_t sp_fec_correct(uint32_t kind,
                       uint8_t *flits,
                       size_t count,
                       int32_t *corrected);

// A stream that decodes the flits of one direction of a link. `protocol` is a name that `scalepool list protocols` shows,
// such as `cxl-68b`.
int32_t sp_decoder_new(const char *protocol,
                       size_t protocol_length,
                       uint32_t dir,
                       uint64_t *stream);

// A stream that encodes the flits of one direction of a link.
int32_t sp_encoder_new(const char *protocol, size_t protocol_length, uint32_t dir, uint64_t *stream);

// Decodes `count` flits of `flit_bytes` each, which stand one behind the other. Their answers wait in the stream; a flit
// that cannot be read has an answer that says so.
int32_t sp_stream_decode(uint64_t stream,
                         const uint8_t *flits,
                         size_t flit_bytes,
                         size_t count);

// Encodes the JSON object of a flit, as `scalepool flit encode` reads it. Its answer waits in the stream.
int32_t sp_stream_encode(uint64_t stream, const char *json, size_t json_length);

// No more flits follow: answers that wait for one are given now.
int32_t sp_stream_finish(uint64_t stream);

// Takes the oldest answer: the JSON object of the flit, its bytes, or both; what is not wanted is all null. SP_EMPTY if
// none waits. SP_FINDING for a flit that breaks a rule; SP_UNREADABLE for one that could not be read, without object
// and bytes. Either way the answer is taken and the last error says why.
int32_t sp_stream_take(uint64_t stream,
                       char *json,
                       size_t json_capacity,
                       size_t *json_length,
                       uint8_t *flit,
                       size_t flit_capacity,
                       size_t *flit_length);

// Number of answers that wait.
int32_t sp_stream_waiting(uint64_t stream, size_t *count);

// Ends a stream; its handle names nothing any more.
int32_t sp_stream_destroy(uint64_t stream);

// A simulation of a scenario in a text of TOML:
// `scenario = "cxl68-expander"`, then `seed = 1`, `link.ber = 1e-6`, `host.accesses = 1000` and so on, one a line.
int32_t sp_sim_new(const char *text, size_t text_length, uint64_t *sim);

// Changes a setting of the scenario for the next run, with which the next step, or call that names a port, begins at the
// start: `link.ber=1e-5`.
int32_t sp_sim_set(uint64_t sim,
                   const char *setting,
                   size_t setting_length);

// Changes the seed for the next run, with which the next step begins at the start.
int32_t sp_sim_seed(uint64_t sim, uint64_t seed);

// Waves: a VCD file at this path, with GTKWave files beside it; an empty path switches them off. In a run that is under way
// they show what happens from here on, and a file that is switched off gets its name at once; else they are of the next
// runs.
int32_t sp_sim_wave(uint64_t sim,
                    const char *path,
                    size_t path_length);

// Transaction trace: JSON lines at this path; an empty path switches it off. In a run that is under way as for sp_sim_wave.
int32_t sp_sim_trace(uint64_t sim,
                     const char *path,
                     size_t path_length);

// Log: every event that the filter wants, as a line for `function`; null switches it off. In a run that is under way as for
// sp_sim_wave. The filter is that of `scalepool run --log`: `link=debug,scenario=info`, or a level for all layers. Layers are
// link, coherence and scenario; levels off, warn, info, debug and trace. A line has the id of its
// transaction, which is that of the trace. `user` goes to the function as it is.
int32_t sp_sim_log(uint64_t sim,
                   const char *filter,
                   size_t filter_length,
                   sp_log function,
                   void *user);

// Goes on for so many cycles of the reference clock; what it costs is in proportion to them. The first step, and the first
// one after other settings, begins at the start. SP_EMPTY if nothing is left to do: the work is done, or `cycles` of the
// text are over; then waves and traces are complete. SP_ERR_RANGE if that would be more than SP_MAX_CYCLES in all. Broken
// rules are in the metrics.
int32_t sp_sim_step(uint64_t sim,
                    uint64_t cycles);

// Goes on to a cycle of the reference clock, 1 to SP_MAX_CYCLES, or until the work is done if that is earlier; 0 takes
// `cycles` of the text, or SP_MAX_CYCLES. A cycle that is past begins at the start. It takes as long as the scenario asks
// for: a million cycles are about a second. Waves and traces end here, and a step behind it is not in them. SP_FINDING if a
// rule is broken.
int32_t sp_sim_run(uint64_t sim,
                   uint64_t cycles);

// Metrics of the run so far, as `scalepool run --json` prints them. SP_EMPTY before the first step.
int32_t sp_sim_metrics(uint64_t sim, char *json, size_t json_capacity, size_t *json_length);

// Where the run stands and what its ports are, as a JSON object: `cycle`, `over`, and `ports` with, for each link end,
// `name`, `protocol`, `unit_bytes`, `external`, `driven` (units that wait to be sent), `rx` and `tx` with `watched`,
// `waiting` and `lost` units, and answers of hooks that were not allowed (`bad_answers`, the last ones as `bad_answer`).
int32_t sp_sim_state(uint64_t sim,
                     char *json,
                     size_t json_capacity,
                     size_t *json_length);

// As it was made: settings, seed and outputs of the text, no metrics, nothing driven or sampled. Hooks stay, and count
// their items anew; so do watches.
int32_t sp_sim_reset(uint64_t sim);

// Ends a simulation; its handle names nothing any more. Waves and traces of a run that is under way are completed.
int32_t sp_sim_destroy(uint64_t sim);

// Attaches a function to a point of a port, as sp_hook_attach does to one of a link end. `hook` gets a number for
// sp_sim_hook_detach. SP_ERR_KIND in a run of several threads, since functions are called in the thread of the call, and
// at an external port at any point but `wire`. Answers that are not allowed change nothing; sp_sim_state counts them.
int32_t sp_sim_hook_attach(uint64_t sim,
                           const char *port,
                           size_t port_length,
                           const char *point,
                           size_t point_length,
                           uint32_t way,
                           sp_hook function,
                           void *user,
                           uint64_t *hook);

// Attaches a fault to a point of a port, as sp_hook_fault does to one of a link end.
int32_t sp_sim_hook_fault(uint64_t sim,
                          const char *port,
                          size_t port_length,
                          const char *point,
                          size_t point_length,
                          uint32_t way,
                          const char *fault,
                          size_t fault_length,
                          uint64_t *hook);

// Takes a hook off a port again. SP_ERR_RANGE if the number names none of it.
int32_t sp_sim_hook_detach(uint64_t sim, const char *port, size_t port_length, uint64_t hook);

// Watches a wire of a port (1) or no more (0): what passes it from here on can be sampled. Units that nobody samples wait,
// 65536 at most, and those behind them are counted as lost. Units that wait stay. SP_ERR_INPUT if there is no such port;
// sp_sim_state lists them.
int32_t sp_sim_watch(uint64_t sim,
                     const char *port,
                     size_t port_length,
                     uint32_t way,
                     uint32_t on);

// Takes the oldest unit that passed a wire, with its time; behind hooks, and of what arrives behind all faults. SP_EMPTY if
// none waits, SP_ERR_KIND if the wire is not watched.
int32_t sp_sim_sample(uint64_t sim,
                      const char *port,
                      size_t port_length,
                      uint32_t way,
                      uint64_t *time_fs,
                      uint8_t *unit,
                      size_t unit_capacity,
                      size_t *unit_length);

// Takes the oldest unit that passed a wire and compares `unit` with it, as sp_link_expect does. SP_FINDING if they differ;
// the last error names the first byte. SP_EMPTY if none waits, SP_ERR_KIND if the wire is not watched.
int32_t sp_sim_expect(uint64_t sim,
                      const char *port,
                      size_t port_length,
                      uint32_t way,
                      const uint8_t *unit,
                      const uint8_t *mask,
                      size_t unit_length);

// Drives an external port, the one that `external` of the text names: the unit leaves in the next flit clock that has not
// another one before it, one a flit clock; where none waits, nothing is sent. Units wait, 65536 at most. The end that
// stands there is the caller's: the model does not build it, and answers training of the peer alone. Where a port is
// external a run has no end of its own. SP_ERR_KIND if the port is not external.
int32_t sp_sim_drive(uint64_t sim,
                     const char *port,
                     size_t port_length,
                     const uint8_t *unit,
                     size_t unit_length);

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
int32_t sp_link_new(const char *protocol,
                    size_t protocol_length,
                    uint32_t dir,
                    const char *config,
                    size_t config_length,
                    uint32_t mode,
                    uint64_t *link);

// As it was made: all that waits is gone. Hooks stay, and count their items anew.
int32_t sp_link_reset(uint64_t link);

// Drives a port: the unit arrives in the next step that has not another one before it. SP_RX is what comes to the end;
// a passive end takes what the end that it watches sends at SP_TX.
int32_t sp_link_drive(uint64_t link, uint32_t port, const uint8_t *unit, size_t unit_length);

// Flit clocks, at most SP_MAX_STEPS: in each, one driven unit of each port arrives and an active end sends at most one.
// Units that nobody samples wait, 65536 at most; so do events, and those behind them are counted alone.
int32_t sp_link_step(uint64_t link, uint64_t flit_clocks);

// Takes the oldest unit that the end has sent. SP_EMPTY if none waits: a link may be silent in a flit clock.
int32_t sp_link_sample(uint64_t link, uint8_t *unit, size_t unit_capacity, size_t *unit_length);

// Takes the oldest unit that the end has sent and compares it with `unit`: the end is the twin of what sent that. `mask`
// has a 1 for each bit that counts, null for all. SP_FINDING if they differ; the last error names the first byte.
// SP_EMPTY if none waits.
int32_t sp_link_expect(uint64_t link,
                       const uint8_t *unit,
                       const uint8_t *mask,
                       size_t unit_length);

// Queues a message to be sent, in its JSON form: `{"layout":..,"fields":{..}}`, with `data` (hex of the 64 bytes of a
// line), `be` (byte enables, a number); cxl-68b: `half` (`lower` or `upper`) for 32 bytes; the 256B modes: `metadata` (a
// number). nvlink: one flat object with `op`, `vc`, `tag`, `rid`, `size`, `ep`, `atag`, `address`, `attr`, `route`, `be`, `data`.
// At most 65536 messages wait: SP_ERR_RANGE beyond. ualink: a TL flit, `lower` and `upper` (hex of 32 bytes each) and `indicators` (0 to 3, bit n: half n is a message).
int32_t sp_link_send(uint64_t link,
                     const char *message,
                     size_t message_length);

// Takes the oldest message that has come, in its JSON form; its credit goes back. SP_EMPTY if none waits.
int32_t sp_link_take(uint64_t link, char *json, size_t json_capacity, size_t *json_length);

// Takes the oldest event: `{"unit":..,"port":"rx","by":..,"severity":..,"rule":..,"at":..,"found":..,"expected":..,"text":..}`.
// `by` is who has broken the rule: `peer` by what it sent to this end, `end` the one that a passive end watches, `line` where a
// unit was damaged or lost under way, which the link repairs. SP_EMPTY if none waits.
int32_t sp_link_event(uint64_t link,
                      char *json,
                      size_t json_capacity,
                      size_t *json_length);

// State and counters as a JSON object: flit clocks, what waits, what was compared; the rule id that has stopped the link
// (`halted`, null as long as none has); of an active end whether it is `up`, which a link that has stopped is not, `quiet`, and
// whether it asks for training (`wants_training`); answers of hooks that were not allowed (`bad_answers`, the first one as
// `bad_answer`).
int32_t sp_link_state(uint64_t link,
                      char *json,
                      size_t json_capacity,
                      size_t *json_length);

// The physical layer begins to train (0) or is up again (1). nvlink has no such state here; an end of
// ualink takes it for a fault of its line.
int32_t sp_link_train(uint64_t link, uint32_t up);

// Ends a link end; its handle names nothing any more.
int32_t sp_link_destroy(uint64_t link);

// Attaches a function to a point of a link end: `packer_in`, `packer_out`, `credit`, `replay_in`, `replay_out` or `wire`;
// `way` is SP_RX for what comes to the end, SP_TX for what it sends. `hook` gets a number for sp_hook_detach. `user` goes
// to the function as it is. What each point shows, and may be answered:
//
// * `packer_in` SP_TX: a message that is queued; drop, replace. SP_RX: a payload flit to unpack
// * `packer_out` SP_TX: a new payload flit; drop, replace. SP_RX: a message that was unpacked; drop, replace
// * `credit` SP_TX: 8 bytes, lowest first: credits that wait to be returned; hold. SP_RX: credits that came; drop, replace
// * `replay_in` SP_TX: a flit that is kept for replay; replace. SP_RX: a flit before it is judged; drop, replace
// * `replay_out` SP_TX: a flit that goes again; drop, replace. SP_RX: a flit that was accepted
// * `wire` a unit that leaves or arrives; drop, replace. A passive end has this point alone
//
// SP_ERR_KIND if the end has no such point (ualink: no `credit`, which is the caller's). Another answer than those changes
// nothing; sp_link_state counts them as `bad_answers` and shows the first as `bad_answer`.
int32_t sp_hook_attach(uint64_t link,
                       const char *point,
                       size_t point_length,
                       uint32_t way,
                       sp_hook function,
                       void *user,
                       uint64_t *hook);

// Attaches a fault to a point of a link end, as `link.fault` of scenarios spells it: `flip:N:BIT`, `noise:N`, `drop:N`,
// `dup:N`, `vanish:N`, where N counts the items of the point from 0. On the wire a drop leaves a bad unit in its place; at
// the other points drop and vanish take the item away and dup is refused. SP_ERR_KIND where the point does not allow it.
int32_t sp_hook_fault(uint64_t link,
                      const char *point,
                      size_t point_length,
                      uint32_t way,
                      const char *fault,
                      size_t fault_length,
                      uint64_t *hook);

// Takes a hook off again. SP_ERR_RANGE if the number names none of this end.
int32_t sp_hook_detach(uint64_t link, uint64_t hook);

// An arbiter of 1 to 64 requesters that has granted nothing yet. SP_ARBITER_WEIGHTED takes a weight for each, 0 to 65535,
// that of requester 0 first; the others take none, length 0.
int32_t sp_arbiter_new(uint32_t kind,
                       uint32_t requesters,
                       const uint32_t *weights,
                       size_t weights_length,
                       uint64_t *arbiter);

// One slot: bit i of `requests` says that requester i asks, bits beyond the requesters do not count; `granted` is the bit
// of the winner, 0 when nobody asks. If the grant is `used`, 1, the winner has had its turn; with 0 nothing changes, and it
// is the winner of the next slot with the same requests too.
int32_t sp_arbiter_grant(uint64_t arbiter,
                         uint64_t requests,
                         uint32_t used,
                         uint64_t *granted);

// Ends an arbiter; its handle names nothing any more.
int32_t sp_arbiter_destroy(uint64_t arbiter);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SCALEPOOL_H */
