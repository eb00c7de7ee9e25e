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
    choice("NVL-FLT-01", "nvlink §1 §6.1", "a flit has 128 bits; byte k is bits 8k+7 to 8k"),
    rule("NVL-PKT-01", "nvlink §1", "1 to 18 flits: header, AE, BE, 0 to 16 of data"),
    choice("NVL-PKT-02", "nvlink §6.1", "order: header, AE, BE, data ascending"),
    choice("NVL-PKT-03", "nvlink §6.1", "byte enables only beside at most 128 bytes of data"),
    choice("NVL-PKT-04", "nvlink §6.1", "len = ae + be + data flits; data flits are size + 1 or 0"),
    choice("NVL-HDR-01", "nvlink §6.1", "layout of the header: 25 + 83 + 20 bits"),
    choice("NVL-HDR-02", "nvlink §6.1", "layouts of AE and BE"),
    choice("NVL-HDR-03", "nvlink §6.1", "without AE the last one of the channel counts; zero after reset"),
    choice("NVL-OPC-01", "nvlink §6.1", "operation codes"),
    choice("NVL-OPC-02", "nvlink §6.1", "channel of each operation"),
    choice("NVL-OPC-03", "nvlink §6", "the basis is model, and every header of vectors says so"),
    choice("NVL-CRC-01", "nvlink §6.2", "CRC-25: definition and place"),
    rule("NVL-CRC-02", "nvlink §2", "the CRC covers the payload of the packet before and the header"),
    rule("NVL-CRC-03", "nvlink §2", "every pattern of up to 5 wrong bits is found"),
    rule("NVL-CRC-04", "nvlink §2", "every burst of up to 25 bits on one lane is found"),
    choice("NVL-CRC-05", "nvlink §6.2", "polynomial, initial value, final XOR and coverage are parameters"),
    choice("NVL-SEQ-01", "nvlink §6.3", "every flit of a numbered packet takes an identifier, modulo 4096"),
    choice("NVL-SEQ-02", "nvlink §6.3", "IDLE, CREDIT_INIT and REPLAY_INIT take none"),
    choice("NVL-DLV-01", "nvlink §6.3", "accepted: own CRC good and, with payload, that of the next header"),
    choice("NVL-DLV-02", "nvlink §6.3", "IDLE follows a payload when nothing else is ready"),
    choice("NVL-ACK-01", "nvlink §6.3", "an acknowledgement names the last flit received in order"),
    choice("NVL-ACK-02", "nvlink §6.3", "at most 2048 flits are unacknowledged"),
    choice(
        "NVL-RPL-01",
        "nvlink §6.3",
        "bad header: it and the open payload are dropped, all is ignored until REPLAY_INIT",
    ),
    choice("NVL-RPL-02", "nvlink §6.3", "REPLAY_INIT counts only with the identifier after the last accepted"),
    choice(
        "NVL-RPL-03",
        "nvlink §6.3",
        "time-out or 3 equal acknowledgements: REPLAY_INIT 3 times, replay from the oldest",
    ),
    choice("NVL-RPL-04", "nvlink §6.3", "the first header after REPLAY_INIT covers no payload"),
    choice("NVL-RPL-05", "nvlink §6.3", "after 8 failed replays the link is down"),
    choice("NVL-CRD-01", "nvlink §6.3", "counts of CREDIT_INIT add"),
    choice("NVL-CRD-02", "nvlink §6.3", "one header credit a packet, one data credit a data flit; AE and BE are free"),
    choice("NVL-CRD-03", "nvlink §6.3", "credits come back when the buffer is free"),
    choice("NVL-CRD-04", "nvlink §6.3", "nothing is sent without credit"),
    choice("NVL-CRD-05", "nvlink §6.3", "responses always sink"),
    rule("NVL-TLR-01", "nvlink §3", "posted writes give no answer, every other request one"),
    rule("NVL-TLR-02", "nvlink §3", "a FLUSH is answered behind the posted writes before it"),
    rule(
        "NVL-TLR-03",
        "nvlink §3",
        "ganged links keep the stated order: one requester, channel and block of 256 bytes",
    ),
    rule("NVL-GEN-01", "nvlink §4", "rates of the generations; throughput uses the nominal one"),
    rule(
        "NVL-SWI-01",
        "nvlink §5",
        "a queue for each destination and channel, arbitration in two stages, nobody starves",
    ),
    rule(
        "NVL-SWI-02",
        "nvlink §5",
        "requests go by remapped address, responses by requester; a miss is dropped, counted",
    ),
    rule("NVL-SWI-03", "nvlink §5", "a multicast write gives each member of its group one copy"),
    choice("NVL-SWI-04", "nvlink §5", "a hop takes 150 ns, a link 60 ns each way"),
    rule("NVL-EFF-01", "nvlink §5", "efficiency by payload and AE or BE flits, one-way and two-way"),
    rule("NVL-C2C-01", "nvlink §5", "C2C: 45 GB/s a link, 450 GB/s a side, no wire format"),
];
