/* scalepool: bit-accurate, cycle-approximate model of CXL, UALink and NVLink-like links.
 *
 * This file is generated from src/capi by testbenches/tests/ffi.
 *
 * First call: a program calls sp_open(SP_ABI_VERSION) before anything else. Until then every other call returns
 * SP_ERR_VERSION.
 *
 * Status: 0 is SP_OK. A positive status is the outcome of a call that has done its work. A negative status is an error: the
 * call was refused and has changed nothing. After every status but SP_OK, sp_last_error gives the reason. Each thread has
 * its own last error.
 *
 * Pointers: a null pointer is never followed; where it has a meaning, the function says so. Any other pointer must point to
 * as many items as the length beside it says, or to one item if there is no length, and nobody else may use that memory
 * during the call. The library cannot detect a pointer that breaks this. The buffers of one call may overlap. Lengths
 * count items of the pointer's type.
 *
 * Input texts are UTF-8 with a length of at most 1 MiB and need no NUL: SP_TEXT("literal") expands to both arguments.
 * Output texts end in a NUL, which their length does not count, so the buffer needs one byte more.
 *
 * Output buffers are passed as (buffer, capacity, length). The call always writes the length that is needed. If the
 * capacity is too small, or the buffer is null with capacity 0, the call returns SP_ERR_SHORT, and the item to be taken
 * stays queued.
 *
 * Messages and flits are bytes in wire order, byte 0 first. JSON objects have the form that the command line uses.
 *
 * Callbacks run inside calls with the same handle only, in the thread of that call. They have to return: no longjmp,
 * exception or panic may leave them. The library cannot detect a callback whose type is wrong.
 *
 * Handles are numbers, and 0 is never one. Only one thread may use a handle at a time; a call by another thread
 * returns SP_ERR_BUSY.
 */

#ifndef SCALEPOOL_H
#define SCALEPOOL_H

#include <stddef.h>
#include <stdint.h>

/* The text of a literal and its length, as two arguments. */
#define SP_TEXT(literal) (literal), (sizeof(literal) - 1)

// Major version: it changes when a caller has to change, because a function, an argument or a meaning is gone.
#define SP_ABI_MAJOR 1

// Minor version: it changes when something is added.
#define SP_ABI_MINOR 9

// Patch version: it changes when a release only corrects errors.
#define SP_ABI_PATCH 0

// Version of this header: major in bits 31:16, minor in 15:8, patch in 7:0.
#define SP_ABI_VERSION (((SP_ABI_MAJOR << 16) | (SP_ABI_MINOR << 8)) | SP_ABI_PATCH)

// Success.
#define SP_OK 0

// The call is done, and a rule is broken or a comparison failed; sp_last_error says which.
#define SP_FINDING 1

// Nothing is waiting to be taken, or the simulation has nothing left to do.
#define SP_EMPTY 2

// The answer that was taken says that an earlier input could not be read.
#define SP_UNREADABLE 3

// There is no room: what was to be queued was not taken, and can be tried again after a step.
#define SP_FULL 4

// A pointer is null.
#define SP_ERR_NULL -1

// A buffer is too short; the length that is needed has been written.
#define SP_ERR_SHORT -2

// The handle is invalid: it is wrong, has been destroyed, or belongs to an object of another kind.
#define SP_ERR_HANDLE -3

// An input cannot be read: a text, a name, a field or a flit.
#define SP_ERR_INPUT -4

// A number or a length is out of range.
#define SP_ERR_RANGE -5

// A pointer is not aligned for its type.
#define SP_ERR_ALIGN -6

// Another call with the same handle is still running: in another thread, or around the callback that makes this call.
#define SP_ERR_BUSY -7

// The versions of header and library do not match, or sp_open has not been called.
#define SP_ERR_VERSION -8

// The object of the handle does not support this call: an encoder does not decode, a passive end does not send.
#define SP_ERR_KIND -9

// Internal error of the library. The handle of the call can only be destroyed.
#define SP_ERR_INTERNAL -10

// CRC-16 of a 68B flit, over the 64 bytes of its slots.
#define SP_CRC_CXL68 1

// 8-byte CRC of a standard or PBR flit, over the 242 bytes before it.
#define SP_CRC_CXL256 2

// 6-byte CRC of the even half of a latency-optimised flit, over the 122 bytes before it.
#define SP_CRC_LOPT_EVEN 3

// 6-byte CRC of the odd half of a latency-optimised flit, over its bytes 128 to 243 (116 bytes).
#define SP_CRC_LOPT_ODD 4

// CRC-32 of a UALink DL flit. The item is the whole flit of 640 bytes; the bytes of the CRC itself do not count.
#define SP_CRC_UALINK 5

// CRC-25 of an NVLink header in the model profile. The item has 16 bytes for each flit that is covered, with the
// header last; the CRC field of the header does not count.
#define SP_CRC_NVLINK 6

// CRC-16 of a DLLP, over its 4 bytes.
#define SP_CRC_DLLP 7

// LCRC of a TLP, over its sequence number (2 bytes, high byte first) and the TLP in wire order.
#define SP_CRC_LCRC 8

// ECRC of a TLP, over the TLP without its local prefixes and without the digest.
#define SP_CRC_ECRC 9

// FEC of a standard or PBR flit.
#define SP_FEC_STANDARD 1

// FEC of a latency-optimised flit.
#define SP_FEC_LOPT 2

// Direction from host to device: H2D, M2S.
#define SP_DOWN 0

// Direction from device to host: D2H, S2M.
#define SP_UP 1

// Highest number of cycles of the reference clock in one run.
#define SP_MAX_CYCLES 10000000

// A page lies in HBM of its accelerator.
#define SP_TIER_HBM 0

// A page lies in HBM of the next accelerator.
#define SP_TIER_PEER_HBM 1

// A page lies in tier 2, behind a bridge.
#define SP_TIER_2 2

// A page has not been placed yet, because nobody has accessed it.
#define SP_TIER_NONE 3

// The number that means no page.
#define SP_NO_PAGE 4294967295

// Mode of a link end that takes part in the link.
#define SP_ACTIVE 0

// Mode of a link end that only watches another one.
#define SP_PASSIVE 1

// Receive direction: units that arrive at the end.
#define SP_RX 0

// Transmit direction: units that the end sends.
#define SP_TX 1

// Highest number of flit clocks in one step.
#define SP_MAX_STEPS (1 << 16)

// The item passes unchanged.
#define SP_HOOK_KEEP 0

// The item is dropped.
#define SP_HOOK_DROP 1

// The item is replaced with the bytes in `other`.
#define SP_HOOK_REPLACE 2

// The item is held back in this flit clock and offered again in the next one.
#define SP_HOOK_HOLD 3

// The number that means no layout.
#define SP_NO_LAYOUT 65535

// The data of a message of cxl-68b is a line of 64 bytes.
#define SP_WHOLE_LINE 0

// The data of a message of cxl-68b is bytes 0 to 31 of its line.
#define SP_LOWER_HALF 1

// The data of a message of cxl-68b is bytes 32 to 63 of its line.
#define SP_UPPER_HALF 2

// A message of the 256B modes has metadata, which stands in bits 63:32 beside this bit.
#define SP_METADATA 4

// The watched end has broken a rule.
#define SP_BY_END 0

// The other end of the link has broken a rule.
#define SP_BY_PEER 1

// Nobody has broken a rule: a unit was damaged or lost on the wire.
#define SP_BY_LINE 2

// Severity of an event: the link has repaired the error.
#define SP_CORRECTED 0

// Severity of an event: a rule of the protocol is broken; the receiver goes on.
#define SP_PROTOCOL 1

// The link is trained again.
#define SP_RETRAIN 2

// The link stops.
#define SP_UNCORRECTABLE 3

// The peer has declared viral.
#define SP_FATAL 4

// Round robin: the first requester at or after a pointer wins, and the pointer moves to the one after the winner. It
// starts at requester 0.
#define SP_ARBITER_ROUND_ROBIN 1

// Matrix: the requester that was granted least recently wins. At the start the lower number wins.
#define SP_ARBITER_MATRIX 2

// Weighted round robin: in each slot every requester gains its weight, and the one with the highest balance wins and
// pays the weights of all that requested.
#define SP_ARBITER_WEIGHTED 3

// Point of a bridge where a message enters it on the requesting side: a request, when the bridge has accepted it and looked up its
// line; or the answer of a holder of lines to a snoop of the bridge.
#define SP_BRIDGE_REQUEST 0

// Point of a bridge where a message leaves it on the other side: what a request was converted to, with a tag of the bridge; or the
// answer of the bridge to a snoop of a host, or the data that a host pulls, both under the UQID of the host.
#define SP_BRIDGE_SENT 1

// Point of a bridge where a message enters it on the other side: the answer to a message that the bridge sent, or a snoop of a host.
#define SP_BRIDGE_ANSWER 2

// Point of a bridge where a message leaves it on the requesting side: the response to a request, or a snoop of the bridge for the
// holders of its lines.
#define SP_BRIDGE_RESPONSE 3

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

// Position of a field in its message.
typedef struct {
  // Value of the field when a JSON form leaves it out, as it is passed to sp_encode.
  sp_number default_value;
  // Lowest bit of the field.
  uint32_t lsb;
  // Width in bits.
  uint32_t width;
  // Lowest address bit that is transmitted, for a byte address. Values are always whole byte addresses.
  uint32_t address_lsb;
  // 1 for a reserved field, 0 for any other.
  uint32_t reserved;
} sp_field;

// Callback for one line of the log. `line` has neither a line end nor a NUL and is valid during the call only. The
// callback runs inside sp_sim_step and sp_sim_run, in the thread of that call, and has to return, as sp_hook has to.
typedef void (*sp_log)(void *user, const char *line, size_t line_length);

// Callback of a hook point. It sees each item that passes and answers with one of SP_HOOK_*; any other number is taken
// for SP_HOOK_KEEP. `point` is a position in the list packer_in, packer_out, credit, replay_in, replay_out, wire.
// `way` is the direction, SP_RX or SP_TX. `number` counts the items of the point from 0. `name` is the name of a
// layout or a protocol, or `credit`.
// `bytes` and `other` have `length` bytes each; `other` holds a copy that the callback may change for SP_HOOK_REPLACE.
// All pointers but `user` are valid during the call only.
//
// The callback runs inside sp_link_step, sp_link_send, sp_sim_step or sp_sim_run, in the thread of that call. It may
// call any function, but those on its own handle return SP_ERR_BUSY. It has to return: no longjmp, C++ exception or
// panic may leave it.
typedef uint32_t (*sp_hook)(void *user,
                            uint32_t point,
                            uint32_t way,
                            uint64_t flit_clock,
                            uint64_t number,
                            const char *name,
                            const uint8_t *bytes,
                            uint8_t *other,
                            size_t length);

// Callback that decides in which tier the pages of an accelerator lie. It is called for two decisions:
//
// * When a page is accessed for the first time, `first` is the number of that page. The callback writes its tier to `tier`.
// * When an interval of the accelerator has ended, and again after each move, `first` is SP_NO_PAGE. The callback writes the page
//   that is to move next to `page`, and the tier that it is to move to to `tier`.
//
// It returns 1 if it has decided and 0 if it has not. Without a decision a new page takes the fastest free frame, and no page is
// moved. `tiers`, `accesses` and `used` have one entry for each of the `pages` of the accelerator: its tier (SP_TIER_HBM,
// SP_TIER_PEER_HBM, SP_TIER_2 or SP_TIER_NONE), the number of accesses in the last interval, and the number of the interval of the
// last access, from 1, or 0 for none. `free` has the number of free frames in each of the three tiers. `interval` is the number of
// intervals that have ended. The arrays are valid during the call only. A decision that cannot be carried out changes nothing and
// is counted in the metric `decisions refused`; a page moves at most once in an interval. The callback runs inside sp_sim_step and
// sp_sim_run, in the thread of that call, and has to return, as sp_hook has to.
typedef uint32_t (*sp_placement)(void *user,
                                 uint32_t first,
                                 uint32_t pages,
                                 const uint32_t *tiers,
                                 const uint64_t *accesses,
                                 const uint64_t *used,
                                 const uint32_t *free,
                                 uint64_t interval,
                                 uint32_t *page,
                                 uint32_t *tier);

// The numbers of an event.
typedef struct {
  // Number of the unit in its direction, from 0.
  uint64_t unit;
  // SP_RX or SP_TX.
  uint32_t port;
  // SP_BY_END, SP_BY_PEER or SP_BY_LINE.
  uint32_t by;
  // SP_CORRECTED, SP_PROTOCOL, SP_RETRAIN, SP_UNCORRECTABLE or SP_FATAL.
  uint32_t severity;
  // Tag of the request that the event concerns, or -1.
  int32_t tag;
} sp_event;

// State and counters of a link end.
typedef struct {
  // Flit clocks that have passed.
  uint64_t flit_clocks;
  // Units that were driven and have not arrived yet.
  uint64_t driven;
  // Units that were sent and wait to be sampled.
  uint64_t sent;
  // Events that wait to be taken.
  uint64_t events;
  // Events that were lost because the queue was full.
  uint64_t events_lost;
  // Messages that a passive end has seen and that wait to be taken.
  uint64_t seen;
  // Messages that a passive end has seen and that were lost because the queue was full.
  uint64_t seen_lost;
  // Units that were compared by sp_link_expect.
  uint64_t compared;
  // Those of them that differed.
  uint64_t mismatches;
  // 1 if the link of an active end is up; always 0 for a passive end.
  uint32_t up;
  // 1 if an active end has nothing left to send, to be acknowledged or to be taken; always 0 for a passive end.
  uint32_t quiet;
  // 1 if an active end requests link training.
  uint32_t wants_training;
  // 1 if a rule has stopped the link.
  uint32_t halted;
} sp_link_status;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, coded as SP_ABI_VERSION. It may be called before sp_open.
uint32_t sp_version(void);

// Tells the library which header the caller was compiled with; this has to be the first call. Returns SP_ERR_VERSION
// if the library has another major version than the header, or an older minor one.
int32_t sp_open(uint32_t header_version);

// Sets the text that sp_last_error gives in this thread, for a binding of another language that refuses a call itself. It may be called before
// sp_open.
int32_t sp_set_last_error(const char *text,
                          size_t text_length);

// Gives the text of the last call of this thread that did not return SP_OK: where, what was found and what was
// expected. It may be called before sp_open.
int32_t sp_last_error(char *text, size_t text_capacity, size_t *text_length);

// Gives the number of layouts. Layouts are numbered from 0. The numbers are valid for one version of the library only,
// so look them up by name.
int32_t sp_layout_count(uint32_t *count);

// Gives the number of the layout with a name such as `cxl68.m2s_req`.
int32_t sp_layout_find(const char *name, size_t name_length, uint32_t *layout);

// Gives the size of a layout.
int32_t sp_layout_size(uint32_t layout, sp_layout *size);

// Gives the name of a layout.
int32_t sp_layout_name(uint32_t layout, char *name, size_t name_capacity, size_t *name_length);

// Gives the field table of a layout with codes, source and basis, as `scalepool describe LAYOUT --json` prints it.
int32_t sp_layout_describe(uint32_t layout, char *json, size_t json_capacity, size_t *json_length);

// Gives the number of the field with this name. Fields are numbered from 0 in the order of the layout.
int32_t sp_field_find(uint32_t layout, const char *name, size_t name_length, uint32_t *field);

// Gives the name of a field.
int32_t sp_field_name(uint32_t layout, uint32_t field, char *name, size_t name_capacity, size_t *name_length);

// Gives the position of a field.
int32_t sp_field_place(uint32_t layout, uint32_t field, sp_field *place);

// Encodes `count` messages of a layout. `values` has one number for each field in the order of the layout, message
// after message; `values_length` is the total. `bytes` receives the messages one after the other. The call is refused
// at the first value that does not fit; sp_last_error names the message and the field.
int32_t sp_encode(uint32_t layout,
                  const sp_number *values,
                  size_t values_length,
                  size_t count,
                  uint8_t *bytes,
                  size_t bytes_capacity,
                  size_t *bytes_length);

// Decodes `count` messages of a layout from `bytes`, where they stand one after the other. `values` receives one
// number for each field in the order of the layout, message after message. Returns SP_FINDING if a message breaks a
// rule: the values are written all the same, and sp_last_error names the first rule.
int32_t sp_decode(uint32_t layout,
                  const uint8_t *bytes,
                  size_t bytes_length,
                  size_t count,
                  sp_number *values,
                  size_t values_capacity,
                  size_t *values_length);

// Encodes a message from its JSON form, `{"layout":..,"fields":{..}}`, as `scalepool encode` does. Fields that are
// left out have their default value.
int32_t sp_encode_json(const char *json,
                       size_t json_length,
                       uint8_t *bytes,
                       size_t bytes_capacity,
                       size_t *bytes_length);

// Decodes a message into its JSON form together with the rules that it breaks, as `scalepool decode` does. Returns
// SP_FINDING if it breaks one; the form is written all the same.
int32_t sp_decode_json(uint32_t layout,
                       const uint8_t *bytes,
                       size_t bytes_length,
                       char *json,
                       size_t json_capacity,
                       size_t *json_length);

// Computes the CRCs of `count` items of `item_bytes` each, which stand one after the other in `data`. `crcs` needs
// room for `count` numbers. A CRC is given as a number whose little-endian bytes are the CRC in wire order.
int32_t sp_crc(uint32_t kind, const uint8_t *data, size_t item_bytes, size_t count, uint64_t *crcs);

// Writes the six FEC bytes of `count` flits of 256 bytes in place. The CRCs must have been written before.
int32_t sp_fec_encode(uint32_t kind, uint8_t *flits, size_t count);

// Corrects `count` flits of 256 bytes in place. `corrected` needs room for `count` numbers: the number of bytes that
// were corrected, or -1 for a flit that cannot be corrected and stays as it is. Returns SP_FINDING if there is such a
// flit. The FEC corrects at most three bytes, one in each group. More errors can look like fewer, so check the CRC
// afterwards.
int32_t sp_fec_correct(uint32_t kind, uint8_t *flits, size_t count, int32_t *corrected);

// Returns SP_OK if there is a rule with this id, such as `CXL68-CRC-01`. Returns SP_ERR_INPUT if there is none; sp_last_error then names the
// ids that come nearest.
int32_t sp_rule_known(const char *rule,
                      size_t rule_length);

// Compares the last day of a waiver with the day on which it is judged, both YYYY-MM-DD: `holds` is 1 up to the last day, that day included,
// and 0 behind it. The library asks no clock: `today` is what the caller says. Returns SP_ERR_INPUT for a text that is no day.
int32_t sp_waiver_holds(const char *last_day,
                        size_t last_day_length,
                        const char *today,
                        size_t today_length,
                        uint32_t *holds);

// Gives the standard bus interfaces of IP cores as a JSON list: the key of each and its signals. A signal has a name, a role, a need
// (`always`, `driven`: if the interface is driven and not only watched, or `optional`), a width (in bits, or `beat`, `beat_bytes` or
// `user`), and whether the sender of units drives it.
int32_t sp_interfaces(char *text,
                      size_t text_capacity,
                      size_t *text_length);

// Makes a stream that decodes the flits of one direction of a link. `protocol` is a name that `scalepool list
// protocols` shows, such as `cxl-68b`.
int32_t sp_decoder_new(const char *protocol, size_t protocol_length, uint32_t dir, uint64_t *stream);

// Makes a stream that encodes the flits of one direction of a link. `protocol` is as for sp_decoder_new.
int32_t sp_encoder_new(const char *protocol, size_t protocol_length, uint32_t dir, uint64_t *stream);

// Decodes `count` flits of `flit_bytes` each, which stand one after the other. Their answers are queued in the stream,
// also that of a flit that cannot be read.
int32_t sp_stream_decode(uint64_t stream, const uint8_t *flits, size_t flit_bytes, size_t count);

// Encodes the JSON object of a flit, as `scalepool flit encode` reads it. Its answer is queued in the stream.
int32_t sp_stream_encode(uint64_t stream, const char *json, size_t json_length);

// Tells a stream that no more flits follow. Answers that depend on the next flit (UALink) are queued now.
int32_t sp_stream_finish(uint64_t stream);

// Takes the oldest answer: the JSON object of the flit, its bytes, or both. Pass null, 0, null for the one that is not
// wanted. Returns SP_EMPTY if no answer is queued, SP_FINDING for a flit that breaks a rule, and SP_UNREADABLE for a
// flit that could not be read, which has neither object nor bytes. In the last two cases the answer is taken, too, and
// sp_last_error gives the reason.
int32_t sp_stream_take(uint64_t stream,
                       char *json,
                       size_t json_capacity,
                       size_t *json_length,
                       uint8_t *flit,
                       size_t flit_capacity,
                       size_t *flit_length);

// Gives the number of answers that are queued.
int32_t sp_stream_waiting(uint64_t stream, size_t *count);

// Destroys a stream; its handle is invalid from then on.
int32_t sp_stream_destroy(uint64_t stream);

// Takes the oldest answer of a stream, as sp_stream_take does, without its JSON object: the bytes of the flit, and the number of its
// parts, which sp_stream_part takes one by one until the next answer is taken. To leave the bytes out, pass null,
// 0 and null for `flit`, its capacity and its length.
int32_t sp_stream_take_parts(uint64_t stream,
                             uint8_t *flit,
                             size_t flit_capacity,
                             size_t *flit_length,
                             size_t *parts);

// Takes the next part of the answer that sp_stream_take_parts has taken. `kind` says what it is:
//
// * CXL: `message`, with the number of its `layout`, or `data`, 16 bytes; `place` is the slot
// * ualink: a half of a TL flit by its kind, such as `control`, `data`, `byte_enables` or `message`, 32 bytes; `place` is 0 for the lower
//   half, 1 for the upper one. A control half is followed by its fields, of kind `field`, with their layouts. Messages of the DL are
//   of kind `dl_message`.
// * nvlink: `header` and `ae` with their layouts, `byte_enables`, `data`
//
// `layout` is SP_NO_LAYOUT for a part that has none. Returns SP_EMPTY if no part is left.
int32_t sp_stream_part(uint64_t stream,
                       uint32_t *layout,
                       uint32_t *place,
                       char *kind,
                       size_t kind_capacity,
                       size_t *kind_length,
                       uint8_t *bytes,
                       size_t bytes_capacity,
                       size_t *bytes_length);

// Makes a simulation. `text` is TOML. With `format = 1` it is the description of a system, as `run FILE.toml` takes it;
// its seed is 1 until sp_sim_seed. Otherwise it names a scenario or the file of a description: the line
// `scenario = "cxl68-expander"`, and after it, one on a line, `seed = 1`, `link.ber = 1e-6`, `host.accesses = 1000` and
// whatever else `scalepool describe SCENARIO` lists.
int32_t sp_sim_new(const char *text, size_t text_length, uint64_t *sim);

// Changes a setting, such as `link.ber=1e-5`, for the next run. The next step, or the next call that names a port,
// restarts the simulation with the new value.
int32_t sp_sim_set(uint64_t sim, const char *setting, size_t setting_length);

// Changes the seed for the next run. The next step restarts the simulation with the new seed.
int32_t sp_sim_seed(uint64_t sim, uint64_t seed);

// Writes waves: a VCD file at this path, and GTKWave files beside it. An empty path switches them off. If a run has
// begun, the wave shows it from here on, and a file that is switched off is completed at once; otherwise the setting
// is for the next runs.
int32_t sp_sim_wave(uint64_t sim, const char *path, size_t path_length);

// Writes the transaction trace as JSON lines at this path. An empty path switches it off. If a run has begun, the same
// holds as for sp_sim_wave.
int32_t sp_sim_trace(uint64_t sim, const char *path, size_t path_length);

// Passes every event that the filter selects to `function`, as one line of text; null switches the log off. If a run
// has begun, the same holds as for sp_sim_wave. The filter is that of `scalepool run --log`:
// `link=debug,scenario=info`, or one level for all layers. The layers are link, coherence and scenario, the levels
// off, warn, info, debug and trace. A line has the transaction id that stands in the trace, too. `user` is passed to
// the function unchanged.
int32_t sp_sim_log(uint64_t sim, const char *filter, size_t filter_length, sp_log function, void *user);

// Advances the simulation by this number of cycles of the reference clock. The run time of the call grows with it.
// The first step, and the first after a setting was changed, starts a run at cycle 0. Returns SP_EMPTY if nothing is
// left to do, because the work is done or the `cycles` of the text are over; waves and traces are complete then.
// Returns SP_ERR_RANGE if the run would exceed SP_MAX_CYCLES. Broken rules are listed by sp_sim_metrics.
int32_t sp_sim_step(uint64_t sim, uint64_t cycles);

// Advances the simulation to a cycle of the reference clock, 1 to SP_MAX_CYCLES, or until the work is done if that is
// earlier. 0 stands for the `cycles` of the text, or for SP_MAX_CYCLES if it names none. If the simulation is past
// that cycle, it restarts. A million cycles take about a second. Waves and traces end here: later steps are not in
// them. Returns SP_FINDING if a rule is broken.
int32_t sp_sim_run(uint64_t sim, uint64_t cycles);

// Gives the metrics of the run so far, as `scalepool run --json` prints them. Returns SP_EMPTY before the first step.
int32_t sp_sim_metrics(uint64_t sim, char *json, size_t json_capacity, size_t *json_length);

// Gives the state of the run as a JSON object: `cycle`, `over` (whether the run has ended) and `ports`. Each port is a
// link end with `name`, `protocol`, `unit_bytes`, `external`, `driven` (number of units that wait to be sent), and
// `rx` and `tx` with `watched` and the numbers of units `waiting` and `lost`. Behind the link ends of a component with
// `external = "messages"` follow its channels of messages, which have `layout` too, the layout of their messages.
// `bad_answers` counts the answers of hooks that were not allowed, and `bad_answer` is the last one.
int32_t sp_sim_state(uint64_t sim, char *json, size_t json_capacity, size_t *json_length);

// Puts a simulation back to where sp_sim_new left it: settings, seed and outputs are those of the text, and metrics,
// driven units and samples are gone. Hooks and watches stay, and hooks count their items from 0 again.
int32_t sp_sim_reset(uint64_t sim);

// Destroys a simulation; its handle is invalid from then on. Waves and traces of a run that has begun are completed.
int32_t sp_sim_destroy(uint64_t sim);

// Attaches a callback to a hook point of a port, as sp_hook_attach does to one of a link end. `hook` receives the
// number to pass to sp_sim_hook_detach. Returns SP_ERR_KIND in a run of several threads, since callbacks run in the
// thread of the call, and for an external port at any point but `wire`. Answers that are not allowed change nothing;
// sp_sim_state counts them.
int32_t sp_sim_hook_attach(uint64_t sim,
                           const char *port,
                           size_t port_length,
                           const char *point,
                           size_t point_length,
                           uint32_t way,
                           sp_hook function,
                           void *user,
                           uint64_t *hook);

// Attaches a fault to a hook point of a port, as sp_hook_fault does to one of a link end.
int32_t sp_sim_hook_fault(uint64_t sim,
                          const char *port,
                          size_t port_length,
                          const char *point,
                          size_t point_length,
                          uint32_t way,
                          const char *fault,
                          size_t fault_length,
                          uint64_t *hook);

// Detaches a hook from a port. Returns SP_ERR_RANGE if the port has no hook of this number.
int32_t sp_sim_hook_detach(uint64_t sim, const char *port, size_t port_length, uint64_t hook);

// Lets `function` decide where the pages of an accelerator lie whose `policy` is "caller"; null ends that, and pages are placed as with
// "first-touch". `component` is its path, such as `accel[0]`. `user` is passed to the function unchanged. Returns SP_ERR_INPUT if there is
// no such accelerator, and SP_ERR_KIND in a run of several threads, since callbacks run in the thread of the call. The function stays
// for later runs of the handle.
int32_t sp_sim_placement(uint64_t sim,
                         const char *component,
                         size_t component_length,
                         sp_placement function,
                         void *user);

// Starts (1) or stops (0) watching one direction of a port; units that pass it from then on can be sampled. At most
// 65536 units wait to be sampled; later ones are counted as lost. When watching stops, waiting units stay. Returns
// SP_ERR_INPUT if there is no such port; sp_sim_state lists the ports. Returns SP_ERR_KIND for a channel of messages,
// whose messages can be sampled without this call.
int32_t sp_sim_watch(uint64_t sim, const char *port, size_t port_length, uint32_t way, uint32_t on);

// Takes the oldest unit that passed a watched direction of a port, and the time at which it did. Transmitted units are
// seen after all hooks, received units after all hooks and faults. Returns SP_EMPTY if no unit waits, and SP_ERR_KIND
// if the direction is not watched.
//
// If a component has `external = "messages"`, a port such as `host.cxl.s2m_drs` gives the arriving messages of that
// class; `way` is SP_RX, and the time is when the message became available. At most 16 messages wait in a channel. The
// link end keeps any further ones and returns no credits until messages are taken, so nothing is lost.
int32_t sp_sim_sample(uint64_t sim,
                      const char *port,
                      size_t port_length,
                      uint32_t way,
                      uint64_t *time_fs,
                      uint8_t *unit,
                      size_t unit_capacity,
                      size_t *unit_length);

// Takes the oldest unit that passed a watched direction of a port and compares `unit` with it, as sp_link_expect does.
// Returns SP_FINDING if they differ; sp_last_error names the first byte. Returns SP_EMPTY if no unit waits, and
// SP_ERR_KIND if the direction is not watched.
int32_t sp_sim_expect(uint64_t sim,
                      const char *port,
                      size_t port_length,
                      uint32_t way,
                      const uint8_t *unit,
                      const uint8_t *mask,
                      size_t unit_length);

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
int32_t sp_sim_drive(uint64_t sim,
                     const char *port,
                     size_t port_length,
                     const uint8_t *unit,
                     size_t unit_length);

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
int32_t sp_link_new(const char *protocol,
                    size_t protocol_length,
                    uint32_t dir,
                    const char *config,
                    size_t config_length,
                    uint32_t mode,
                    uint64_t *link);

// Puts a link end back to where sp_link_new left it; everything that was queued is gone. Coverage and hooks stay; hooks count their
// items from 0 again.
int32_t sp_link_reset(uint64_t link);

// Queues a unit that arrives at a link end. At most one unit arrives in each direction in a flit clock. SP_RX is what
// arrives at the end; for a passive end SP_TX is what the watched end sends.
int32_t sp_link_drive(uint64_t link, uint32_t port, const uint8_t *unit, size_t unit_length);

// Advances a link end by at most SP_MAX_STEPS flit clocks. In each of them, one queued unit of each direction arrives,
// and an active end sends at most one. At most 65536 units that were sent wait to be sampled. At most 65536 events
// wait; later ones are only counted.
int32_t sp_link_step(uint64_t link, uint64_t flit_clocks);

// Takes the oldest unit that the end has sent. Returns SP_EMPTY if none waits: a link may be silent in a flit clock.
int32_t sp_link_sample(uint64_t link, uint8_t *unit, size_t unit_capacity, size_t *unit_length);

// Takes the oldest unit that the end has sent and compares `unit` with it; the end is the reference for a design that
// sent `unit`. `mask` has a 1 for each bit that is compared; null compares all. Returns SP_FINDING if they
// differ; sp_last_error names the first byte. Returns SP_EMPTY if no unit waits.
int32_t sp_link_expect(uint64_t link, const uint8_t *unit, const uint8_t *mask, size_t unit_length);

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
int32_t sp_link_send(uint64_t link,
                     const char *message,
                     size_t message_length);

// Takes the oldest message that has arrived, in its JSON form, and returns its credit to the peer. Returns SP_EMPTY if
// none waits.
int32_t sp_link_take(uint64_t link, char *json, size_t json_capacity, size_t *json_length);

// Takes the oldest event:
// `{"unit":..,"port":"rx","by":..,"severity":..,"rule":..,"at":..,"found":..,"expected":..,"text":..}`. Returns
// SP_EMPTY if none waits. Rules of `transactions` also have `tag`, a number, where a request is concerned. `by` says who broke
// the rule:
//
// * `peer`: the other end of the link, by what it sent to this end
// * `end`: the watched end, if this end is passive
// * `line`: nobody; a unit was damaged or lost on the wire, and the link repairs it
int32_t sp_link_event(uint64_t link,
                      char *json,
                      size_t json_capacity,
                      size_t *json_length);

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
int32_t sp_link_state(uint64_t link,
                      char *json,
                      size_t json_capacity,
                      size_t *json_length);

// Tells a link end that its physical layer begins to train (0) or is up again (1). An end of ualink treats
// training as a fault of its line; nvlink has no such state in the model. Time spent in training does not count as waiting, so a
// passive end has to be told, too, both when training begins and when it is over; `liveness_flits` starts again from there.
int32_t sp_link_train(uint64_t link,
                      uint32_t up);

// Tells a link end with `transactions` that the run has ended and no message is on its way. Each request of CXL.mem that still lacks
// an answer becomes an event, once. Returns SP_FINDING if there is such a request; sp_last_error names the first.
int32_t sp_link_finish(uint64_t link);

// Destroys a link end; its handle is invalid from then on.
int32_t sp_link_destroy(uint64_t link);

// Attaches a callback to a hook point of a link end: `packer_in`, `packer_out`, `credit`, `replay_in`, `replay_out` or
// `wire`. `way` is the direction: SP_RX for what arrives at the end, SP_TX for what it sends. `hook` receives the number
// to pass to sp_hook_detach. `user` is passed to the callback unchanged. Each point shows these items and allows these
// answers beside SP_HOOK_KEEP:
//
// * `packer_in` SP_TX: a message that was queued; drop, replace. SP_RX: a payload flit to unpack
// * `packer_out` SP_TX: a new payload flit; drop, replace. SP_RX: a message that was unpacked; drop, replace
// * `credit` SP_TX: credits that wait to be returned, 8 bytes, lowest first; hold. SP_RX: credits that arrived; drop,
//   replace
// * `replay_in` SP_TX: a flit that is kept for replay; replace. SP_RX: a flit before it is judged; drop, replace
// * `replay_out` SP_TX: a flit that is sent again; drop, replace. SP_RX: a flit that was accepted
// * `wire`: a unit that is sent or arrives; drop, replace. A passive end has this point only.
//
// Returns SP_ERR_KIND if the end has no such point (ualink has no `credit`: its credits are up to the caller). An
// answer that is not allowed changes nothing; sp_link_state counts it in `bad_answers` and shows the first one as
// `bad_answer`.
int32_t sp_hook_attach(uint64_t link,
                       const char *point,
                       size_t point_length,
                       uint32_t way,
                       sp_hook function,
                       void *user,
                       uint64_t *hook);

// Attaches a fault to a hook point of a link end. `fault` is written as for the setting `link.fault` of scenarios:
// `flip:N:BIT`, `noise:N`, `drop:N`, `dup:N` or `vanish:N`, where N counts the items of the point from 0. On the wire,
// `drop` leaves a damaged unit in its place. At the other points `drop` and `vanish` take the item away, and `dup` is
// refused. Returns SP_ERR_KIND if the point does not allow the fault.
int32_t sp_hook_fault(uint64_t link,
                      const char *point,
                      size_t point_length,
                      uint32_t way,
                      const char *fault,
                      size_t fault_length,
                      uint64_t *hook);

// Detaches a hook. Returns SP_ERR_RANGE if the end has no hook of this number.
int32_t sp_hook_detach(uint64_t link, uint64_t hook);

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
int32_t sp_link_send_bits(uint64_t link,
                          uint32_t layout,
                          const uint8_t *bits,
                          size_t bits_length,
                          const uint8_t *data,
                          size_t data_length,
                          const uint8_t *enables,
                          size_t enables_length,
                          uint64_t extra);

// Takes the oldest message that has arrived and returns its credit to the peer, as sp_link_take does, with its bits and bytes in
// place of JSON. They are those of sp_link_send_bits. Returns SP_EMPTY if none waits.
int32_t sp_link_take_bits(uint64_t link,
                          uint32_t *layout,
                          uint8_t *bits,
                          size_t bits_capacity,
                          size_t *bits_length,
                          uint8_t *data,
                          size_t data_capacity,
                          size_t *data_length,
                          uint8_t *enables,
                          size_t enables_capacity,
                          size_t *enables_length,
                          uint64_t *extra);

// Takes the oldest message that a passive end has seen, in either direction: `port` is SP_TX for what the watched end has sent and
// SP_RX for what came to it, `unit` the number of the unit in which the message ends, in its direction from 0. A message that was
// sent again is seen once. The other parts are those of sp_link_send_bits. Returns SP_EMPTY if none waits, or if the end was made
// without `messages`.
int32_t sp_link_seen_bits(uint64_t link,
                          uint32_t *port,
                          uint64_t *unit,
                          uint32_t *layout,
                          uint8_t *bits,
                          size_t bits_capacity,
                          size_t *bits_length,
                          uint8_t *data,
                          size_t data_capacity,
                          size_t *data_length,
                          uint8_t *enables,
                          size_t enables_capacity,
                          size_t *enables_length,
                          uint64_t *extra);

// Takes the oldest event, as sp_link_event does: its numbers, and the texts `rule`, `place` (where in the unit or message), `found`,
// `expected` and `text` (one sentence on it). Returns SP_EMPTY if none waits.
int32_t sp_link_event_fields(uint64_t link,
                             sp_event *event,
                             char *rule,
                             size_t rule_capacity,
                             size_t *rule_length,
                             char *place,
                             size_t place_capacity,
                             size_t *place_length,
                             char *found,
                             size_t found_capacity,
                             size_t *found_length,
                             char *expected,
                             size_t expected_capacity,
                             size_t *expected_length,
                             char *text,
                             size_t text_capacity,
                             size_t *text_length);

// Gives state and counters of a link end, as sp_link_state does. `rule` is the id of the rule that has stopped the link, or empty.
int32_t sp_link_state_fields(uint64_t link,
                             sp_link_status *state,
                             char *rule,
                             size_t rule_capacity,
                             size_t *rule_length);

// Gives one figure of the health of a link end. `figure` is a name that `scalepool list health` prints, `part` the name of a channel
// or of a state for those figures that have one number for each, else empty. `value` receives the number. `name` receives the name
// of a state for figures that are names, for which `value` is 0. Returns SP_EMPTY if the end does not have this figure or this part.
int32_t sp_link_health(uint64_t link,
                       const char *figure,
                       size_t figure_length,
                       const char *part,
                       size_t part_length,
                       uint64_t *value,
                       char *name,
                       size_t name_capacity,
                       size_t *name_length);

// Makes an arbiter of 1 to 64 requesters that has granted nothing yet. SP_ARBITER_WEIGHTED takes one weight for each
// requester, 0 to 65535, with that of requester 0 first. The other kinds take no weights: pass length 0.
int32_t sp_arbiter_new(uint32_t kind,
                       uint32_t requesters,
                       const uint32_t *weights,
                       size_t weights_length,
                       uint64_t *arbiter);

// Arbitrates one slot. Bit i of `requests` is 1 if requester i requests; bits above the last requester are ignored.
// `granted` has the bit of the winner, or is 0 if nobody requests. If `used` is 1, the winner uses its turn. If it
// is 0, the arbiter stays as it is, and the same requests have the same winner in the next slot.
int32_t sp_arbiter_grant(uint64_t arbiter, uint64_t requests, uint32_t used, uint64_t *granted);

// Destroys an arbiter; its handle is invalid from then on.
int32_t sp_arbiter_destroy(uint64_t arbiter);

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
int32_t sp_bridge_new(const char *config,
                      size_t config_length,
                      uint32_t watches,
                      uint64_t *bridge);

// Passes a message to the bridge. `point` is one of SP_BRIDGE_*. The reference model takes messages at SP_BRIDGE_REQUEST and
// SP_BRIDGE_ANSWER; a scoreboard takes the messages of all four points, in the order in which they pass. `port` is the number of the
// port or link on that side, from 0. `json` is a message in the form of the files of `scalepool export conversions`. Pass a request
// once the bridge under test has accepted it and looked up its line, since the model looks it up at once. Returns SP_FULL if the
// model has no free entry for a request, which is then not taken; for a scoreboard that is a finding. Returns SP_FINDING as long
// as sp_bridge_finding has a finding to give.
int32_t sp_bridge_pass(uint64_t bridge,
                       uint32_t point,
                       uint32_t port,
                       const char *json,
                       size_t json_length);

// Commits new windows and groups of sources to an outbound bridge, in place of the previous ones. `json` is an object with `windows`
// and `groups`, as in sp_bridge_new. Returns SP_OK if they are valid now. Returns SP_FULL if requests to the old windows are still
// open. The commit is then taken and waits for the last of their responses: until that response has left, the model returns SP_FULL
// for every request, and for a scoreboard a request is a finding; the scoreboard counts the responses that are passed to it. Returns
// SP_ERR_INPUT for windows that are not allowed, for an inbound bridge, while another commit waits, and, with a `cache`, for windows
// that lead an address of class MN to another port than before.
int32_t sp_bridge_commit(uint64_t bridge,
                         const char *json,
                         size_t json_length);

// Tells a scoreboard that credits were given to the sender of the messages at a point. Call it in the order in which credits and
// messages pass. `json` is an object with `point`, `port`, `class`, `vchan` and `count` (1 if left out), for a pool that the
// configuration of the scoreboard names; initial credits are passed in the same way. A message without a credit is a finding when it
// passes (BRG-CRD-01). More credits than buffers are a finding at once, or at the end in the case of requests (BRG-CRD-02). Credits
// that have not been returned at the end are a finding, too (BRG-CRD-03). Returns SP_FINDING as long as there is a finding to take,
// and SP_ERR_INPUT for an unknown pool and for the reference model.
int32_t sp_bridge_credit(uint64_t bridge,
                         const char *json,
                         size_t json_length);

// Takes the next message that the model has made, with its point, SP_BRIDGE_SENT or SP_BRIDGE_RESPONSE, and its port. Returns
// SP_EMPTY if there is none; a scoreboard makes none.
int32_t sp_bridge_next(uint64_t bridge,
                       uint32_t *point,
                       uint32_t *port,
                       char *json,
                       size_t json_capacity,
                       size_t *json_length);

// Takes the next finding as a JSON object with `rule`, `message` (its number among those that have passed, from 0), `found` and
// `expected`. Returns SP_EMPTY if there is none.
int32_t sp_bridge_finding(uint64_t bridge,
                          char *json,
                          size_t json_capacity,
                          size_t *json_length);

// Ends the run of a scoreboard: each message that has not left and each open request becomes a finding. Returns SP_FINDING if there
// is a finding.
int32_t sp_bridge_finish(uint64_t bridge);

// Destroys a bridge; its handle is invalid from then on.
int32_t sp_bridge_destroy(uint64_t bridge);

// Gives a message to the bridge, as sp_bridge_pass does, with its bits and bytes in place of JSON. They are those of
// sp_link_send_bits: of UALink with `layer` = `tl`, of nvlink, of CXL in the layouts `cxl256`, and of a TLP in flit mode.
int32_t sp_bridge_pass_bits(uint64_t bridge,
                            uint32_t point,
                            uint32_t port,
                            uint32_t layout,
                            const uint8_t *bits,
                            size_t bits_length,
                            const uint8_t *data,
                            size_t data_length,
                            const uint8_t *enables,
                            size_t enables_length,
                            uint64_t extra);

// Takes the next message that the model has made, as sp_bridge_next does, with its bits and bytes in place of JSON. Returns SP_EMPTY if
// there is none; a scoreboard makes none.
int32_t sp_bridge_next_bits(uint64_t bridge,
                            uint32_t *point,
                            uint32_t *port,
                            uint32_t *layout,
                            uint8_t *bits,
                            size_t bits_capacity,
                            size_t *bits_length,
                            uint8_t *data,
                            size_t data_capacity,
                            size_t *data_length,
                            uint8_t *enables,
                            size_t enables_capacity,
                            size_t *enables_length,
                            uint64_t *extra);

// Takes the next finding, as sp_bridge_finding does: `message` is its number among those that have passed, from 0, and the texts are
// `rule`, `found` and `expected`. Returns SP_EMPTY if there is none.
int32_t sp_bridge_finding_fields(uint64_t bridge,
                                 uint64_t *message,
                                 char *rule,
                                 size_t rule_capacity,
                                 size_t *rule_length,
                                 char *found,
                                 size_t found_capacity,
                                 size_t *found_length,
                                 char *expected,
                                 size_t expected_capacity,
                                 size_t *expected_length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SCALEPOOL_H */
