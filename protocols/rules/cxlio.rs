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
    rule("CXLIO-NFM-02", "cxl-io §1.2", "codes of Fmt and Type, non-flit mode"),
    rule(
        "CXLIO-NFM-03",
        "cxl-io §1.3",
        "layouts of memory, configuration, completion and message headers, non-flit mode",
    ),
    rule("CXLIO-NFM-04", "cxl-io §1.1 §1.3", "Length 0 means 1024 DW, ByteCount 0 means 4096 bytes"),
    rule("CXLIO-NFM-05", "cxl-io §1.3", "codes of the completion status"),
    rule("CXLIO-NFM-06", "cxl-io §8", "TLPs equal the reference bytes of a public tool"),
    rule("CXLIO-LCR-01", "cxl-io §1.4", "definition and place of the LCRC"),
    rule("CXLIO-LCR-02", "cxl-io §1.4", "the LCRC covers the sequence number"),
    choice("CXLIO-LCR-03", "cxl-io §1.4", "a nullified TLP has its LCRC inverted, and the receiver drops it"),
    choice("CXLIO-LCR-04", "cxl-io §1.4", "the ECRC takes variant bits as 1"),
    rule("CXLIO-DLL-01", "cxl-io §2.1", "types of DLLPs"),
    rule("CXLIO-DLL-02", "cxl-io §2.2", "layout of a flow-control DLLP"),
    rule(
        "CXLIO-DLL-03",
        "cxl-io §2.2",
        "credits count headers and 4 DW of data, by scale 0 to 3; a scale stays as initialised",
    ),
    rule("CXLIO-DLL-04", "cxl-io §2.3 §2.4", "definition of the CRC-16 of a DLLP"),
    rule("CXLIO-DLL-05", "cxl-io §2.1", "in flit mode a DLLP has 4 bytes and no CRC-16"),
    choice(
        "CXLIO-DLL-06",
        "cxl-io §2.1",
        "a 256B link carries no Ack, Nak or power-state DLLP; one that comes is dropped",
    ),
    rule("CXLIO-DLL-07", "cxl-io §2.5", "layouts of Optimized_Update_FC and Flit_Marker"),
    rule("CXLIO-DLL-08", "cxl-io §2.5", "an UpdateFC of each kind is sent at least every 10 us"),
    rule("CXLIO-FCC-01", "cxl-io §2.2", "a TLP needs one header credit of its kind, and data credits for its data"),
    rule(
        "CXLIO-FMT-01",
        "cxl-io §3.1",
        "the parts of a TLP stand in this order: prefix, base, OHC A, B, C, E, data, trailer",
    ),
    rule("CXLIO-FMT-02", "cxl-io §3.2", "layout of DW0, flit mode"),
    rule("CXLIO-FMT-03", "cxl-io §3.3", "type codes, flit mode"),
    rule("CXLIO-FMT-04", "cxl-io §3.3", "each type has its base size, reserved types too"),
    rule("CXLIO-FMT-05", "cxl-io §3.4", "the OHC field says which OHC words follow"),
    rule("CXLIO-FMT-06", "cxl-io §3.5", "layouts of the base headers"),
    rule("CXLIO-FMT-07", "cxl-io §3.5", "layouts of the OHC words"),
    rule("CXLIO-FMT-08", "cxl-io §3.5", "an I/O request has OHC-A2, a configuration request OHC-A3"),
    rule(
        "CXLIO-FMT-09",
        "cxl-io §3.5",
        "without OHC-A1 all bytes are enabled; without OHC-A5 a completion is successful with low address 0",
    ),
    rule(
        "CXLIO-FMT-10",
        "cxl-io §3.5",
        "with PV = 0 the fields PASID, ER and PMR are 0; NW, ER and PMR depend on the kind of request",
    ),
    rule("CXLIO-FMT-11", "cxl-io §3.6", "the TS field says how long the trailer is"),
    rule("CXLIO-FMT-12", "cxl-io §3.5", "TLPs equal the example bytes"),
    rule("CXLIO-PLC-01", "cxl-io §3.7", "the rest of a flit is filled with NOP TLPs of one whole DW each"),
    rule("CXLIO-PLC-02", "cxl-io §3.7", "at most 8 TLPs start in a group"),
    rule("CXLIO-PLC-03", "cxl-io §3.1 §4", "a TLP may straddle flits; its bytes keep their order"),
    rule("CXLIO-PLC-04", "cxl-io §3.7", "a NOP flit carries no TLP; its DLLP may be valid"),
    rule("CXLIO-PTH-01", "cxl-io §3.8", "layout of the PBR TLP header"),
    rule(
        "CXLIO-PTH-02",
        "cxl-io §3.8",
        "on a PBR link a PBR TLP header stands before each TLP except NOP; a TLP without one is dropped",
    ),
    rule(
        "CXLIO-PTH-03",
        "cxl-io §3.8",
        "on a PBR link the first byte tells PBR TLP header, NOP and illegal starts apart",
    ),
    rule("CXLIO-PTH-04", "cxl-io §3.8", "a local prefix 8E holds an LD-ID or PBR-ID, on links that have one"),
    rule("CXLIO-STP-01", "cxl-io §5", "a start token has check bits and a parity bit over its length"),
    rule("CXLIO-STP-02", "cxl-io §5", "byte patterns of the tokens SDP, EDB, EDS and IDL"),
    rule("CXLIO-STP-03", "cxl-io §5", "a TLP that ends with its flit is held until the next flit has come"),
    rule("CXLIO-STP-04", "cxl-io §5", "tokens begin at every fourth byte, as on x16, at every link width"),
    rule("CXLIO-VDM-01", "cxl-io §6", "frame of a CXL message: message code 7E, vendor 1E98, CXL code in byte 15"),
    rule("CXLIO-VDM-02", "cxl-io §6", "payload layout and opcodes of power-management messages"),
    choice("CXLIO-VDM-03", "cxl-io §6", "power management begins with CREDIT_RTN, then AGENT_INFO, in each direction"),
    rule("CXLIO-VDM-04", "cxl-io §6", "a power-management message spends a credit of its receiver"),
    rule("CXLIO-VDM-05", "cxl-io §6", "each RESETPREP is acknowledged"),
    rule("CXLIO-VDM-06", "cxl-io §6", "PMREQ goes as request, response and GO; its payload is a latency report"),
    rule("CXLIO-VDM-07", "cxl-io §6", "GPF goes through phase 1, then phase 2; no cache traffic follows phase 1"),
    rule("CXLIO-ATS-01", "cxl-io §6", "the CXL source bit of a translation request is bit 3 of byte 15"),
    rule("CXLIO-DVS-01", "cxl-io §7", "header of a CXL DVSEC: vendor, IDs, lengths"),
    rule("CXLIO-DVS-02", "cxl-io §7", "register offsets in the DVSEC of a device"),
    rule("CXLIO-DVS-03", "cxl-io §7", "Flex Bus capability bits, and the mode that two ports agree on"),
    rule("CXLIO-DVS-04", "cxl-io §7", "status bits report protocol ID errors and failed even halves"),
];
