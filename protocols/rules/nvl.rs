//! Rules of NVLink, model profile NVL-M1 (`nvlink`), in the order of the conformance catalogue. Those of §1 are public
//! facts; all others are choices of the profile.

use super::Rule;

const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: false, text }
}

/// A rule that the sheet marks as our own choice.
const fn choice(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    choice("NVL-FLT-01", "nvlink §1 §6.1", "a flit has 128 bits; byte k holds bits 8k+7 to 8k"),
    rule("NVL-PKT-01", "nvlink §1", "a packet has 1 to 18 flits: header, AE, BE, 0 to 16 of data"),
    choice("NVL-PKT-02", "nvlink §6.1", "the flits of a packet come in this order: header, AE, BE, data ascending"),
    choice("NVL-PKT-03", "nvlink §6.1", "byte enables travel only with 16 to 128 bytes of data"),
    choice("NVL-PKT-04", "nvlink §6.1", "len counts the AE, BE and data flits; data flits are size + 1, or 0"),
    choice("NVL-HDR-01", "nvlink §6.1", "a header flit has the specified layout of 25 + 83 + 20 bits"),
    choice("NVL-HDR-02", "nvlink §6.1", "AE and BE flits have the specified layouts"),
    choice("NVL-HDR-03", "nvlink §6.1", "a packet without AE uses the last AE of its channel, which is 0 after reset"),
    choice("NVL-OPC-01", "nvlink §6.1", "a packet has a specified operation code"),
    choice("NVL-OPC-02", "nvlink §6.1", "each operation is sent on its own channel"),
    choice("NVL-OPC-03", "nvlink §6", "every vector file names its basis as model"),
    choice("NVL-CRC-01", "nvlink §6.2", "the CRC-25 has the specified definition and place"),
    rule("NVL-CRC-02", "nvlink §2", "the CRC covers the payload of the previous packet and the header itself"),
    rule("NVL-CRC-03", "nvlink §2", "the CRC detects every pattern of up to 5 wrong bits"),
    rule("NVL-CRC-04", "nvlink §2", "the CRC detects every burst of up to 25 bits on one lane"),
    choice(
        "NVL-CRC-05",
        "nvlink §6.2",
        "polynomial, initial value, final XOR and coverage of the CRC can be configured",
    ),
    choice("NVL-SEQ-01", "nvlink §6.3", "every flit of a numbered packet takes an identifier, modulo 4096"),
    choice("NVL-SEQ-02", "nvlink §6.3", "IDLE, CREDIT_INIT and REPLAY_INIT take no identifier"),
    choice(
        "NVL-DLV-01",
        "nvlink §6.3",
        "a packet is delivered when its own CRC is good and, if it has payload, that of the next header",
    ),
    choice("NVL-DLV-02", "nvlink §6.3", "a sender sends an IDLE after a payload when nothing else is ready"),
    choice("NVL-ACK-01", "nvlink §6.3", "an acknowledgement names the last flit received in order"),
    choice("NVL-ACK-02", "nvlink §6.3", "at most 2048 flits are unacknowledged"),
    choice(
        "NVL-RPL-01",
        "nvlink §6.3",
        "after a header with a bad CRC a receiver drops that packet and the open payload, and ignores everything until REPLAY_INIT",
    ),
    choice(
        "NVL-RPL-02",
        "nvlink §6.3",
        "a receiver accepts REPLAY_INIT only with the identifier that follows the last accepted one",
    ),
    choice(
        "NVL-RPL-03",
        "nvlink §6.3",
        "after a time-out or 3 equal acknowledgements a sender sends REPLAY_INIT 3 times, then replays from the oldest flit",
    ),
    choice("NVL-RPL-04", "nvlink §6.3", "the CRC of the first header after REPLAY_INIT covers no payload"),
    choice("NVL-RPL-05", "nvlink §6.3", "after 8 failed replays the link goes down"),
    choice("NVL-CRD-01", "nvlink §6.3", "the counts of several CREDIT_INIT packets add up"),
    choice(
        "NVL-CRD-02",
        "nvlink §6.3",
        "a packet takes one header credit and one data credit per data flit; AE and BE take none",
    ),
    choice("NVL-CRD-03", "nvlink §6.3", "a receiver returns a credit when the buffer entry is free"),
    choice("NVL-CRD-04", "nvlink §6.3", "no packet is sent without credits"),
    choice("NVL-CRD-05", "nvlink §6.3", "an end always accepts responses"),
    rule("NVL-TLR-01", "nvlink §3", "a posted write has no answer, and every other request has one"),
    rule("NVL-TLR-02", "nvlink §3", "a FLUSH is answered only after all posted writes before it"),
    rule("NVL-TLR-03", "nvlink §3", "ganged links keep the order of one requester, channel and block of 256 bytes"),
    rule("NVL-GEN-01", "nvlink §4", "link rates of the generations; throughput is computed from the nominal rate"),
    rule(
        "NVL-SWI-01",
        "nvlink §5",
        "the switch has a queue for each destination and channel and arbitrates in two stages; no input starves",
    ),
    rule(
        "NVL-SWI-02",
        "nvlink §5",
        "requests are routed by remapped address and responses by requester; a packet without a route is dropped and counted",
    ),
    rule("NVL-SWI-03", "nvlink §5", "a multicast write gives each member of its group exactly one copy"),
    choice(
        "NVL-SWI-04",
        "nvlink §5",
        "a switch hop takes 150 ns and a link 60 ns in each direction, unless configured otherwise",
    ),
    rule(
        "NVL-EFF-01",
        "nvlink §5",
        "link efficiency follows from the payload and the number of AE and BE flits, one-way and two-way",
    ),
    rule("NVL-C2C-01", "nvlink §5", "C2C has 45 GB/s per link and 450 GB/s per side; its wire format is not public"),
];
