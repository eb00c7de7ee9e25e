//! Rules of CXL.io (`cxl-io`), in the order of the conformance catalogue. Rules over time stand with the link.

use super::Rule;

const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: false, text }
}

/// A rule that the sheet marks as our own choice or as unconfirmed.
const fn choice(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    rule("CXLIO-NFM-01", "cxl-io §1.1", "layout of DW0, non-flit mode"),
    rule("CXLIO-NFM-02", "cxl-io §1.2", "Fmt and Type codes, non-flit mode"),
    rule("CXLIO-NFM-03", "cxl-io §1.3", "layouts of memory, configuration, completion, message, non-flit mode"),
    rule("CXLIO-NFM-04", "cxl-io §1.1 §1.3", "Length 0 = 1024 DW, ByteCount 0 = 4096 bytes"),
    rule("CXLIO-NFM-05", "cxl-io §1.3", "codes of the completion status"),
    rule("CXLIO-NFM-06", "cxl-io §8", "reference bytes of a public tool"),
    rule("CXLIO-LCR-01", "cxl-io §1.4", "LCRC: definition and place"),
    rule("CXLIO-LCR-02", "cxl-io §1.4", "the LCRC covers the sequence number"),
    choice("CXLIO-LCR-03", "cxl-io §1.4", "a nullified TLP has its LCRC complemented and is dropped"),
    choice("CXLIO-LCR-04", "cxl-io §1.4", "the ECRC takes variant bits as 1"),
    rule("CXLIO-DLL-01", "cxl-io §2.1", "types of DLLPs"),
    rule("CXLIO-DLL-02", "cxl-io §2.2", "layout of a flow-control DLLP"),
    rule("CXLIO-DLL-03", "cxl-io §2.2", "scales 0 to 3 of headers and 4 DW of data; they stay as initialised"),
    rule("CXLIO-DLL-04", "cxl-io §2.3 §2.4", "CRC-16 of a DLLP"),
    rule("CXLIO-DLL-05", "cxl-io §2.1", "flit mode: a DLLP is 4 bytes without CRC-16"),
    choice("CXLIO-DLL-06", "cxl-io §2.1", "no Ack, Nak or power state DLLP on a 256B link: dropped"),
    rule("CXLIO-DLL-07", "cxl-io §2.5", "Optimized_Update_FC and Flit_Marker"),
    rule("CXLIO-DLL-08", "cxl-io §2.5", "an UpdateFC of each kind within 10 us"),
    rule("CXLIO-FCC-01", "cxl-io §2.2", "header and data credits of each kind; without them no TLP"),
    rule("CXLIO-FMT-01", "cxl-io §3.1", "order: prefix, base, OHC A B C E, data, trailer"),
    rule("CXLIO-FMT-02", "cxl-io §3.2", "layout of DW0, flit mode"),
    rule("CXLIO-FMT-03", "cxl-io §3.3", "type codes, flit mode"),
    rule("CXLIO-FMT-04", "cxl-io §3.3", "size of the base of every type"),
    rule("CXLIO-FMT-05", "cxl-io §3.4", "presence bits of the OHC"),
    rule("CXLIO-FMT-06", "cxl-io §3.5", "layouts of the bases"),
    rule("CXLIO-FMT-07", "cxl-io §3.5", "layouts of the OHC"),
    rule("CXLIO-FMT-08", "cxl-io §3.5", "I/O needs OHC-A2, configuration needs OHC-A3"),
    rule("CXLIO-FMT-09", "cxl-io §3.5", "no OHC-A1: all bytes; no OHC-A5: successful, low address 0"),
    rule("CXLIO-FMT-10", "cxl-io §3.5", "PV = 0 reserves PASID, ER, PMR; NW, ER, PMR by kind of request"),
    rule("CXLIO-FMT-11", "cxl-io §3.6", "size of the trailer"),
    rule("CXLIO-FMT-12", "cxl-io §3.5", "example bytes"),
    rule("CXLIO-PLC-01", "cxl-io §3.7", "the rest of a flit is NOPs, each of one whole DW"),
    rule("CXLIO-PLC-02", "cxl-io §3.7", "at most 8 TLPs start in a group"),
    rule("CXLIO-PLC-03", "cxl-io §3.1 §4", "a TLP may straddle flits; its bytes keep their order"),
    rule("CXLIO-PLC-04", "cxl-io §3.7", "a NOP flit carries no TLP; its DLLP may be valid"),
    rule("CXLIO-PTH-01", "cxl-io §3.8", "layout of the PBR header"),
    rule("CXLIO-PTH-02", "cxl-io §3.8", "a PBR header before each TLP but NOP on a PBR link; else dropped"),
    rule("CXLIO-PTH-03", "cxl-io §3.8", "classes of the first byte on a PBR link"),
    rule("CXLIO-PTH-04", "cxl-io §3.8", "LD-ID or PBR-ID in the local prefix 8E, on links that have one"),
    rule("CXLIO-STP-01", "cxl-io §5", "start token: check bits and parity of the length"),
    rule("CXLIO-STP-02", "cxl-io §5", "bytes of SDP, EDB, EDS, IDL"),
    rule("CXLIO-STP-03", "cxl-io §5", "a TLP that ends with its flit is held until the next one has come"),
    rule("CXLIO-STP-04", "cxl-io §5", "tokens begin at every fourth byte, as on x16, whatever the width"),
    rule("CXLIO-VDM-01", "cxl-io §6", "frame of a CXL message: code 7E, vendor 1E98, byte 15"),
    rule("CXLIO-VDM-02", "cxl-io §6", "payload and opcodes of power management"),
    choice("CXLIO-VDM-03", "cxl-io §6", "power management starts with CREDIT_RTN, then AGENT_INFO, in each direction"),
    rule("CXLIO-VDM-04", "cxl-io §6", "power management messages spend credits of the receiver"),
    rule("CXLIO-VDM-05", "cxl-io §6", "RESETPREP is acknowledged"),
    rule("CXLIO-VDM-06", "cxl-io §6", "PMREQ: request, response, GO; its payload is a latency report"),
    rule("CXLIO-VDM-07", "cxl-io §6", "GPF: phase 1, then phase 2; no cache traffic after phase 1"),
    rule("CXLIO-ATS-01", "cxl-io §6", "CXL source bit of a translation request: byte 15, bit 3"),
    rule("CXLIO-DVS-01", "cxl-io §7", "DVSEC header: vendor, IDs, lengths"),
    rule("CXLIO-DVS-02", "cxl-io §7", "offsets in the DVSEC of a device"),
    rule("CXLIO-DVS-03", "cxl-io §7", "Flex Bus bits and the mode that two ports agree on"),
    rule("CXLIO-DVS-04", "cxl-io §7", "status bits follow protocol ID errors and failed even halves"),
];
