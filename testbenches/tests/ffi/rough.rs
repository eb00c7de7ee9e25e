//! Random calls with random arguments: nulls, short buffers, odd addresses, wrong handles, broken texts. Every answer is a
//! known status, never the one of a mistake of the library, and no byte beside a buffer changes. `SCALEPOOL_SOAK=N` makes
//! N times as many calls.

use crate::calls::{last_error, open};
use scalepool_capi::arbiter::*;
use scalepool_capi::bridge::*;
use scalepool_capi::bridge_bits::*;
use scalepool_capi::check::*;
use scalepool_capi::link::hook::*;
use scalepool_capi::link::typed::*;
use scalepool_capi::link::*;
use scalepool_capi::message::*;
use scalepool_capi::parts::*;
use scalepool_capi::rules::*;
use scalepool_capi::sim::hook::*;
use scalepool_capi::sim::port::*;
use scalepool_capi::sim::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::*;
use scalepool_capi::version::*;
use std::ffi::c_char;

/// Calls of one run.
const CALLS: u64 = 30_000;
/// Bytes of an arena that calls may use; guards stand before and behind it.
const ARENA: usize = 4096;
const GUARD: u8 = 0xa5;

/// Words of which texts are made.
const WORDS: &[&str] = &[
    r#"{"protocol":"nvlink","direction":"inbound","windows":[]}"#,
    r#"{"layout":"cxl256.m2s_req","fields":{"opcode":"MemRd"}}"#,
    "cxl-68b",
    "TXN-TAG-02",
    "2027-03-31",
    "cxl-256b",
    "cxl-256b-lopt",
    "cxl-256b-pbr",
    "cxl-io",
    "ualink",
    "nvlink",
    "cxl68.m2s_req",
    "ualink.flit_header",
    "tag",
    "opcode",
    "",
    "{}",
    "link=debug,scenario=info",
    "packer_in",
    "packer_out",
    "credit",
    "replay_in",
    "wire",
    "drop:3",
    "flip:2:9",
    "{\"buffers\":2}",
    "{\"messages\":true}",
    "{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":7}}",
    "{\"layout\":\"cxl256.m2s_req\",\"fields\":{\"address\":64}}",
    "{\"op\":\"READ\",\"tag\":1}",
    "{\"kind\":\"null\",\"pid\":\"0x0000\"}",
    "{\"protocol\":\"cxl-68b\",\"kind\":\"protocol\",\"slots\":[]}",
    "scenario = \"cxl68-expander\"\nhost.accesses = 5\ncycles = 3000",
    "scenario = \"cxl256-expander\"\nhost.accesses = 5\ncycles = 3000",
    "scenario = \"cxl68-expander\"\nexternal = \"device.cxl\"\ncycles = 3000",
    "scenario = \"cxl68-expander\"\ncomponent.device.external = \"messages\"\ncycles = 3000",
    "credits",
    "link_state",
    "sent_flits",
    "m2s_req",
    "host.cxl",
    "device.cxl",
    "device.cxl.s2m_ndr",
    "device.cxl.m2s_req",
    "host.accesses=3",
    "link.ber=0.001",
    "[[[[[[[[[[[[[[[[[[[[",
    "\u{fffd}\0",
];

/// A hook of the caller that answers by its pointer, and changes what it may.
unsafe extern "C" fn answers(
    user: *mut std::ffi::c_void,
    _point: u32,
    way: u32,
    _flit_clock: u64,
    number: u64,
    _name: *const c_char,
    bytes: *const u8,
    other: *mut u8,
    length: usize,
) -> u32 {
    // SAFETY: what the library promises of its pointers.
    let (bytes, other) =
        unsafe { (std::slice::from_raw_parts(bytes, length), std::slice::from_raw_parts_mut(other, length)) };
    other.iter_mut().zip(bytes.iter().rev()).for_each(|(to, from)| *to ^= from);
    (user as usize as u64 + number + u64::from(way)) as u32 % 5
}

/// A log of the caller that reads its lines.
unsafe extern "C" fn reads(_user: *mut std::ffi::c_void, line: *const c_char, length: usize) {
    // SAFETY: what the library promises of its pointers.
    let line = unsafe { std::slice::from_raw_parts(line.cast::<u8>(), length) };
    assert!(std::str::from_utf8(line).is_ok_and(|line| line.starts_with("t_fs=")));
}

struct Rough {
    state: u64,
    inputs: Vec<u8>,
    outputs: Vec<u64>,
    handles: Vec<u64>,
    /// Arm of the last call.
    call: usize,
}

/// A buffer that is to be filled: start, capacity, length.
type Out = (usize, usize, usize);

impl Rough {
    /// xorshift64*.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn rarely(&mut self) -> bool {
        self.below(12) == 0
    }

    /// A small number, seldom any number.
    fn number(&mut self) -> u64 {
        if self.rarely() { self.next() >> self.below(64) } else { self.next() % 4 }
    }

    fn small(&mut self) -> u32 {
        self.number() as u32
    }

    fn handle(&mut self) -> u64 {
        match self.below(8) {
            0 => self.number(),
            1 => {
                let at = self.below(self.handles.len());
                // A number that names nothing of another test either: no place, kind or generation is so high.
                self.handles[at] ^ 1 << [22, 23, 30, 31, 62, 63][self.below(6)]
            }
            _ => {
                let at = self.below(self.handles.len());
                self.handles[at]
            }
        }
    }

    /// Mostly that of a simulation, if there is one: its kind is in bits 31:24.
    fn simulation(&mut self) -> u64 {
        let handle = self.handle();
        let newest = self.handles.iter().rev().find(|handle| *handle >> 24 & 0xff == 2).copied();
        newest.filter(|_| !self.rarely()).unwrap_or(handle)
    }

    /// A place of the inputs with at least so many bytes behind it.
    fn input(&mut self, bytes: usize) -> usize {
        if self.rarely() {
            return 0;
        }
        let at = self.below(ARENA - bytes + 1);
        self.inputs.as_ptr() as usize + at
    }

    /// A text: a word, part of one, null, or noise.
    fn text(&mut self) -> (*const c_char, usize) {
        let word = WORDS[self.below(WORDS.len())].as_bytes();
        match self.below(16) {
            0 => (std::ptr::null(), self.below(4)),
            1 => {
                let length = self.below(64);
                (self.input(64) as *const c_char, length)
            }
            2 => (word.as_ptr().cast(), self.below(word.len() + 1)),
            _ => (word.as_ptr().cast(), word.len()),
        }
    }

    /// One of two names, seldom another text.
    fn often(&mut self, names: [&'static str; 2]) -> (*const c_char, usize) {
        let name = names[self.below(2)];
        if self.rarely() { self.text() } else { (name.as_ptr().cast(), name.len()) }
    }

    /// A place of the outputs behind the guard, of this alignment or seldom of another, or null.
    fn place(&mut self, bytes: usize) -> usize {
        if self.rarely() {
            return 0;
        }
        let odd = if self.rarely() { self.below(8) } else { 0 };
        let at = self.below((ARENA - bytes - 8) / 8) * 8;
        self.outputs.as_mut_ptr() as usize + 64 + at + odd
    }

    /// A buffer for so many items of so many bytes at most.
    fn out(&mut self, items: usize, bytes: usize) -> Out {
        let capacity = if self.below(3) == 0 { self.below(items + 1) } else { items };
        if self.rarely() {
            return (0, capacity * self.below(2), self.place(8));
        }
        (self.place(items * bytes), capacity, self.place(8))
    }

    fn one(&mut self) -> i32 {
        let (text, length) = self.text();
        let (other, other_length) = self.text();
        let (number, small, dir) = (self.number(), self.small(), self.small());
        let handle = self.handle();
        let layout = self.below(scalepool_protocols::registry::layouts().count() + 2) as u32;
        let count = if self.rarely() { self.below(1 << 24) } else { self.below(3) };
        let (t, c, l) = self.out(2000, 1);
        let (t, l) = (t as *mut c_char, l as *mut usize);
        let (b, b_capacity, b_length) = self.out(700, 1);
        let (b, b_length) = (b as *mut u8, b_length as *mut usize);
        let place = self.place(32);
        // Items of which the caller has as many as it says.
        let item = [1, 4, 16, 64, 68, 242, 256, 640][self.below(8)];
        let held = count.saturating_mul(item) <= ARENA;
        let input = if held { self.input(count * item) } else { 0 } as *const u8;
        let sim = self.simulation();
        let (port, port_length) = self.often(["host.cxl", "device.cxl"]);
        let (point, point_length) = self.often(["wire", "packer_out"]);
        // SAFETY: every length is at most that of the arena behind the pointer, or the pointer is null.
        unsafe {
            let call = self.below(90);
            self.call = call;
            match call {
                0 => sp_open(if self.rarely() { number as u32 } else { SP_ABI_VERSION }),
                1 => sp_last_error(t, c, l),
                2 => sp_layout_count(place as *mut u32),
                3 => sp_layout_find(text, length, place as *mut u32),
                4 => sp_layout_size(layout, place as *mut SpLayout),
                5 => sp_layout_name(layout, t, c, l),
                6 => sp_layout_describe(layout, t, c, l),
                7 => sp_field_find(layout, text, length, place as *mut u32),
                8 => sp_field_name(layout, small, t, c, l),
                9 => sp_field_place(layout, small, place as *mut SpField),
                10 | 11 => {
                    let values = self.below(64);
                    let at = self.input(16 * values + 15).next_multiple_of(16);
                    sp_encode(layout, at as *const SpNumber, values, count, b, b_capacity, b_length)
                }
                12 | 13 => {
                    let bytes = self.below(34);
                    let (v, v_capacity, v_length) = self.out(100, 16);
                    let at = self.input(bytes) as *const u8;
                    sp_decode(layout, at, bytes, count, v as *mut SpNumber, v_capacity, v_length as *mut usize)
                }
                14 => sp_encode_json(text, length, b, b_capacity, b_length),
                15 => {
                    let bytes = self.below(17);
                    sp_decode_json(layout, self.input(bytes) as *const u8, bytes, t, c, l)
                }
                16 | 17 => {
                    let crcs = if count <= 64 { self.place(8 * count) } else { 0 };
                    sp_crc(small, input, item, count, crcs as *mut u64)
                }
                18 => {
                    let flits = if count <= 4 { self.place(256 * count) } else { 0 };
                    sp_fec_encode(small, flits as *mut u8, count)
                }
                19 => {
                    let (flits, found) =
                        if count <= 4 { (self.place(256 * count), self.place(4 * count)) } else { (0, 0) };
                    sp_fec_correct(small, flits as *mut u8, count, found as *mut i32)
                }
                20 => self.made(|to| sp_decoder_new(text, length, dir, to)),
                21 => self.made(|to| sp_encoder_new(text, length, dir, to)),
                22 | 23 => sp_stream_decode(handle, input, item, count),
                24 | 25 => sp_stream_encode(handle, text, length),
                26 => sp_stream_finish(handle),
                27 | 28 => sp_stream_take(handle, t, c, l, b, b_capacity, b_length),
                29 => sp_stream_waiting(handle, place as *mut usize),
                30 => sp_stream_destroy(handle),
                31 => self.made(|to| sp_sim_new(text, length, to)),
                32 => sp_sim_set(handle, text, length),
                33 => sp_sim_seed(handle, number),
                34 => sp_sim_run(handle, number),
                35 => sp_sim_metrics(handle, t, c, l),
                36 if self.rarely() => sp_sim_reset(handle),
                37 => self.made(|to| sp_link_new(text, length, dir, other, other_length, small, to)),
                38 => sp_link_drive(handle, small, input, if held { item.min(count * item) } else { item }),
                39 => sp_link_step(handle, if self.rarely() { self.number() | 1 << 32 } else { number % 64 }),
                40 => sp_link_sample(handle, b, b_capacity, b_length),
                41 if held && count > 0 => sp_link_expect(handle, input, self.input(item) as *const u8, item),
                42 => sp_link_send(handle, text, length),
                43 => sp_link_take(handle, t, c, l),
                44 if self.rarely() => sp_link_destroy(handle),
                45 => sp_link_train(handle, small),
                46 => {
                    let function: SpHook = if self.rarely() { None } else { Some(answers) };
                    let user = std::ptr::without_provenance_mut(small as usize);
                    sp_hook_attach(handle, text, length, dir, function, user, place as *mut u64)
                }
                47 => sp_hook_fault(handle, text, length, dir, other, other_length, place as *mut u64),
                48 => sp_hook_detach(handle, number),
                49 => {
                    let function: SpLog = if self.rarely() { None } else { Some(reads) };
                    sp_sim_log(handle, text, length, function, std::ptr::null_mut())
                }
                50..=52 => sp_sim_step(sim, if self.rarely() { number } else { number % 300 }),
                66 | 67 => self.made(|to| sp_sim_new(text, length, to)),
                53 => sp_sim_state(sim, t, c, l),
                54 | 55 => sp_sim_watch(sim, port, port_length, dir % 2, small),
                56 | 57 => sp_sim_sample(sim, port, port_length, dir % 2, place as *mut u64, b, b_capacity, b_length),
                58 if held && count > 0 => {
                    sp_sim_expect(sim, port, port_length, dir % 2, input, self.input(item) as *const u8, item)
                }
                59 | 60 => {
                    sp_sim_drive(sim, port, port_length, input, if held { item.min(count * item) } else { item })
                }
                61 | 64 => {
                    let function: SpHook = if self.rarely() { None } else { Some(answers) };
                    let user = std::ptr::without_provenance_mut(small as usize);
                    let hook = place as *mut u64;
                    sp_sim_hook_attach(sim, port, port_length, point, point_length, dir, function, user, hook)
                }
                62 | 65 => {
                    let hook = place as *mut u64;
                    sp_sim_hook_fault(sim, port, port_length, point, point_length, dir, other, other_length, hook)
                }
                63 => sp_sim_hook_detach(sim, port, port_length, number),
                68 => {
                    // Mostly as many weights as requesters, so that some are made.
                    let requesters = if self.rarely() { small } else { small % 4 + 1 };
                    let weights = if self.rarely() { self.below(100) } else { requesters as usize % 100 };
                    let weights = if number % 4 == u64::from(SP_ARBITER_WEIGHTED) { weights } else { 0 };
                    let at = self.input(4 * weights + 3).next_multiple_of(4);
                    self.made(|to| sp_arbiter_new(number as u32, requesters, at as *const u32, weights, to))
                }
                69 => sp_arbiter_grant(handle, number, small % 3, place as *mut u64),
                70 => match self.below(11) {
                    0 | 1 => self.made(|to| sp_bridge_new(text, length, small % 3, to)),
                    2 => sp_bridge_pass(handle, small % 5, small % 3, other, other_length),
                    3 => sp_bridge_next(handle, place as *mut u32, place as *mut u32, t, c, l),
                    4 => sp_bridge_finding(handle, t, c, l),
                    5 => sp_bridge_commit(handle, other, other_length),
                    6 => sp_bridge_credit(handle, other, other_length),
                    7 => {
                        let [bits, data, enables] = [[0, 16, 32], [0, 64, 256], [0, 8, 32]].map(|of| of[self.below(3)]);
                        let [bits_at, data_at, enables_at] = [bits, data, enables].map(|n| self.input(n) as *const u8);
                        sp_bridge_pass_bits(
                            handle,
                            small % 5,
                            small % 3,
                            layout,
                            bits_at,
                            bits,
                            data_at,
                            data,
                            enables_at,
                            enables,
                            number % 4,
                        )
                    }
                    8 => {
                        let (d, d_capacity, d_length) = self.out(300, 1);
                        let (e, e_capacity, e_length) = self.out(40, 1);
                        let (d, d_length) = (d as *mut u8, d_length as *mut usize);
                        let (e, e_length) = (e as *mut u8, e_length as *mut usize);
                        let [point, port, to] = [0; 3].map(|_| self.place(4) as *mut u32);
                        let extra = self.place(8) as *mut u64;
                        sp_bridge_next_bits(
                            handle, point, port, to, b, b_capacity, b_length, d, d_capacity, d_length, e, e_capacity,
                            e_length, extra,
                        )
                    }
                    9 => {
                        let [a, d] = [0; 2].map(|_| {
                            let (text, capacity, length) = self.out(400, 1);
                            (text as *mut c_char, capacity, length as *mut usize)
                        });
                        let at = place as *mut u64;
                        sp_bridge_finding_fields(handle, at, t, c, l, a.0, a.1, a.2, d.0, d.1, d.2)
                    }
                    _ => sp_bridge_finish(handle),
                },
                71 if self.rarely() => sp_arbiter_destroy(handle),
                72..=74 => {
                    // Mostly lengths that some message has.
                    let [bits, data, enables] = [[0, 11, 32], [0, 64, 16], [0, 8, 16]].map(|of| of[self.below(3)]);
                    let [bits_at, data_at, enables_at] = [bits, data, enables].map(|n| self.input(n) as *const u8);
                    let extra = if self.rarely() { number } else { number % 4 };
                    sp_link_send_bits(handle, layout, bits_at, bits, data_at, data, enables_at, enables, extra)
                }
                75 | 76 => {
                    let (d, d_capacity, d_length) = self.out(300, 1);
                    let (e, e_capacity, e_length) = self.out(20, 1);
                    let (d, d_length, e, e_length) =
                        (d as *mut u8, d_length as *mut usize, e as *mut u8, e_length as *mut usize);
                    let (to, extra) = (place as *mut u32, self.place(8) as *mut u64);
                    if number % 2 == 0 {
                        let (port, unit) = (self.place(4) as *mut u32, self.place(8) as *mut u64);
                        return sp_link_seen_bits(
                            handle, port, unit, to, b, b_capacity, b_length, d, d_capacity, d_length, e, e_capacity,
                            e_length, extra,
                        );
                    }
                    sp_link_take_bits(
                        handle, to, b, b_capacity, b_length, d, d_capacity, d_length, e, e_capacity, e_length, extra,
                    )
                }
                77 | 78 => {
                    let [a, b, d, e] = [0; 4].map(|_| {
                        let (text, capacity, length) = self.out(400, 1);
                        (text as *mut c_char, capacity, length as *mut usize)
                    });
                    let event = place as *mut SpEvent;
                    sp_link_event_fields(
                        handle, event, t, c, l, a.0, a.1, a.2, b.0, b.1, b.2, d.0, d.1, d.2, e.0, e.1, e.2,
                    )
                }
                79 => sp_link_state_fields(handle, self.place(88) as *mut SpLinkStatus, t, c, l),
                80 => sp_link_health(handle, text, length, other, other_length, place as *mut u64, t, c, l),
                81 | 82 => sp_stream_take_parts(handle, b, b_capacity, b_length, place as *mut usize),
                83 | 84 => {
                    let (to, kind) = (self.place(4) as *mut u32, self.place(4) as *mut u32);
                    sp_stream_part(handle, to, kind, t, c, l, b, b_capacity, b_length)
                }
                85 => sp_rule_known(text, length),
                86 => sp_waiver_holds(text, length, other, other_length, place as *mut u32),
                n if n % 2 == 0 => sp_link_event(handle, t, c, l),
                _ => sp_link_state(handle, t, c, l),
            }
        }
    }

    /// Makes an object and keeps its handle; the oldest goes when there are many.
    fn made(&mut self, make: impl FnOnce(*mut u64) -> i32) -> i32 {
        let mut handle = 0;
        let to = if self.rarely() { std::ptr::null_mut() } else { &raw mut handle };
        let status = make(to);
        if status == SP_OK {
            self.handles.push(handle);
        }
        if self.handles.len() > 24 {
            let oldest = self.handles.remove(1);
            for destroy in [sp_stream_destroy, sp_sim_destroy, sp_link_destroy, sp_arbiter_destroy, sp_bridge_destroy] {
                destroy(oldest);
            }
        }
        status
    }

    fn assert_guards(&self, call: u64) {
        // SAFETY: the memory of `outputs`, which holds guard, arena, guard.
        let bytes = unsafe { std::slice::from_raw_parts(self.outputs.as_ptr().cast::<u8>(), 8 * self.outputs.len()) };
        let beside = bytes[..64].iter().chain(&bytes[64 + ARENA..]);
        assert!(beside.copied().all(|b| b == GUARD), "call {call} wrote beside its buffers");
    }
}

#[test]
fn no_argument_breaks_a_call() {
    open();
    let times: u64 = std::env::var("SCALEPOOL_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut rough = Rough {
        state: 0x5ca1_ab1e,
        inputs: (0..ARENA).map(|n| if n % 1024 < 512 { 0 } else { (n * n / 3) as u8 }).collect(),
        outputs: vec![u64::from_ne_bytes([GUARD; 8]); (ARENA + 128) / 8],
        handles: vec![0],
        call: 0,
    };
    let (mut met, mut done) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for call in 0..times * CALLS {
        let status = rough.one();
        assert!((SP_ERR_INTERNAL + 1..=SP_FULL).contains(&status), "call {call}: {status}: {}", last_error());
        *met.entry(status).or_insert(0u64) += 1;
        if status == SP_OK {
            *done.entry(rough.call).or_insert(0u64) += 1;
        }
        rough.assert_guards(call);
    }
    // Steps, watches, samples, driven units and hooks of simulations do their work too.
    for call in [50, 53, 54, 56, 59, 61, 62, 63] {
        assert!(done.contains_key(&call), "call {call} never did its work: {done:?}");
    }
    // A run that meets none of them would show nothing.
    for status in [SP_OK, SP_FINDING, SP_EMPTY, SP_UNREADABLE, SP_ERR_NULL, SP_ERR_SHORT, SP_ERR_HANDLE, SP_ERR_INPUT] {
        assert!(met.contains_key(&status), "status {status} was never met: {met:?}");
    }
    for status in [SP_ERR_RANGE, SP_ERR_ALIGN, SP_ERR_VERSION, SP_ERR_KIND] {
        assert!(met.contains_key(&status), "status {status} was never met: {met:?}");
    }
}
