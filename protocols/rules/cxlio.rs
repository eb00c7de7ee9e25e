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
    rule("CXLIO-NFM-01", "cxl-io §1.1", "DW0 of a non-flit-mode TLP has the specified layout"),
    rule("CXLIO-NFM-02", "cxl-io §1.2", "Fmt and Type of a non-flit-mode TLP hold a specified code"),
    rule(
        "CXLIO-NFM-03",
        "cxl-io §1.3",
        "memory, configuration, completion and message headers have the specified layouts, non-flit mode",
    ),
    rule("CXLIO-NFM-04", "cxl-io §1.1 §1.3", "Length 0 means 1024 DW, ByteCount 0 means 4096 bytes"),
    rule("CXLIO-NFM-05", "cxl-io §1.3", "a completion carries a specified status code"),
    rule("CXLIO-NFM-06", "cxl-io §8", "non-flit-mode TLPs equal the reference bytes of a public tool"),
    rule(
        "CXLIO-LCR-01",
        "cxl-io §1.4",
        "the LCRC is the CRC-32 of the sequence number and the TLP, sent directly after the TLP",
    ),
    rule("CXLIO-LCR-02", "cxl-io §1.4", "the LCRC covers the sequence number"),
    choice("CXLIO-LCR-03", "cxl-io §1.4", "a nullified TLP has its LCRC inverted, and the receiver drops it"),
    choice("CXLIO-LCR-04", "cxl-io §1.4", "the ECRC is computed with the variant bits taken as 1"),
    rule("CXLIO-DLL-01", "cxl-io §2.1", "a DLLP has a specified type code"),
    rule("CXLIO-DLL-02", "cxl-io §2.2", "a flow-control DLLP has the specified layout"),
    rule(
        "CXLIO-DLL-03",
        "cxl-io §2.2",
        "a header credit is one header, a data credit 4 DW, both in units of their scale; a scale keeps its initial value",
    ),
    rule("CXLIO-DLL-04", "cxl-io §2.3 §2.4", "in non-flit mode a DLLP ends with the CRC-16 of its first 4 bytes"),
    rule("CXLIO-DLL-05", "cxl-io §2.1", "in flit mode a DLLP has 4 bytes and no CRC-16"),
    choice(
        "CXLIO-DLL-06",
        "cxl-io §2.1",
        "a 256B link carries no Ack, Nak or power-state DLLP; a receiver drops one that arrives",
    ),
    rule("CXLIO-DLL-07", "cxl-io §2.5", "Optimized_Update_FC and Flit_Marker have the specified layouts"),
    rule("CXLIO-DLL-08", "cxl-io §2.5", "an UpdateFC of each kind is sent at least every 10 us"),
    rule("CXLIO-FCC-01", "cxl-io §2.2", "a TLP needs one header credit of its kind, and data credits for its data"),
    rule(
        "CXLIO-FMT-01",
        "cxl-io §3.1",
        "the parts of a TLP come in this order: prefix, base, OHC A, B, C, E, data, trailer",
    ),
    rule("CXLIO-FMT-02", "cxl-io §3.2", "DW0 of a flit-mode TLP has the specified layout"),
    rule("CXLIO-FMT-03", "cxl-io §3.3", "a flit-mode TLP has a specified type code"),
    rule(
        "CXLIO-FMT-04",
        "cxl-io §3.3",
        "every flit-mode TLP type has its specified base size, reserved types included",
    ),
    rule("CXLIO-FMT-05", "cxl-io §3.4", "the OHC field says which OHC words follow"),
    rule("CXLIO-FMT-06", "cxl-io §3.5", "flit-mode base headers have the specified layouts"),
    rule("CXLIO-FMT-07", "cxl-io §3.5", "OHC words have the specified layouts"),
    rule("CXLIO-FMT-08", "cxl-io §3.5", "an I/O request has OHC-A2, a configuration request OHC-A3"),
    rule(
        "CXLIO-FMT-09",
        "cxl-io §3.5",
        "a memory request without OHC-A1 enables all bytes; a completion without OHC-A5 is successful with low address 0",
    ),
    rule(
        "CXLIO-FMT-10",
        "cxl-io §3.5",
        "with PV = 0 the fields PASID, ER and PMR are 0; NW, ER and PMR depend on the kind of request",
    ),
    rule("CXLIO-FMT-11", "cxl-io §3.6", "the TS field says how long the trailer is"),
    rule("CXLIO-FMT-12", "cxl-io §3.5", "flit-mode TLPs equal the example bytes"),
    rule("CXLIO-PLC-01", "cxl-io §3.7", "the rest of a flit is filled with NOP TLPs of one whole DW each"),
    rule("CXLIO-PLC-02", "cxl-io §3.7", "at most 8 TLPs start in a group"),
    rule("CXLIO-PLC-03", "cxl-io §3.1 §4", "a TLP may straddle flits; its bytes keep their order"),
    rule("CXLIO-PLC-04", "cxl-io §3.7", "a NOP flit carries no TLP; its DLLP may be valid"),
    rule("CXLIO-PTH-01", "cxl-io §3.8", "the PBR TLP header has the specified layout"),
    rule(
        "CXLIO-PTH-02",
        "cxl-io §3.8",
        "on a PBR link a PBR TLP header precedes each TLP except NOP; a TLP without one is dropped",
    ),
    rule(
        "CXLIO-PTH-03",
        "cxl-io §3.8",
        "on a PBR link the first byte tells PBR TLP header, NOP and illegal starts apart",
    ),
    rule(
        "CXLIO-PTH-04",
        "cxl-io §3.8",
        "a local prefix 8E holds an LD-ID or PBR-ID, and is sent only on a link that uses these",
    ),
    rule("CXLIO-STP-01", "cxl-io §5", "a start token has check bits and a parity bit over its length"),
    rule("CXLIO-STP-02", "cxl-io §5", "the tokens SDP, EDB, EDS and IDL have the specified byte patterns"),
    rule("CXLIO-STP-03", "cxl-io §5", "a TLP that ends with its flit is held until the next flit has arrived"),
    rule("CXLIO-STP-04", "cxl-io §5", "tokens start on 4-byte boundaries at every link width, as on x16"),
    rule(
        "CXLIO-VDM-01",
        "cxl-io §6",
        "a CXL vendor-defined message has message code 7E, vendor ID 1E98 and its CXL code in byte 15",
    ),
    rule("CXLIO-VDM-02", "cxl-io §6", "a power-management message has the specified payload layout and opcodes"),
    choice("CXLIO-VDM-03", "cxl-io §6", "an end begins power management with CREDIT_RTN, then AGENT_INFO"),
    rule("CXLIO-VDM-04", "cxl-io §6", "a power-management message spends a credit of its receiver"),
    rule("CXLIO-VDM-05", "cxl-io §6", "each RESETPREP is acknowledged"),
    rule(
        "CXLIO-VDM-06",
        "cxl-io §6",
        "PMREQ is exchanged as request, response and GO; its payload is a latency report",
    ),
    rule("CXLIO-VDM-07", "cxl-io §6", "GPF runs phase 1, then phase 2; no cache traffic is sent after phase 1"),
    rule("CXLIO-ATS-01", "cxl-io §6", "the CXL source bit of a translation request is bit 3 of byte 15"),
    rule("CXLIO-DVS-01", "cxl-io §7", "a CXL DVSEC header has the specified vendor, IDs and lengths"),
    rule("CXLIO-DVS-02", "cxl-io §7", "the DVSEC of a device has the specified register offsets"),
    rule(
        "CXLIO-DVS-03",
        "cxl-io §7",
        "two ports agree on the best mode that the Flex Bus capability bits of both allow",
    ),
    rule("CXLIO-DVS-04", "cxl-io §7", "status bits report protocol ID errors and failed even halves"),
];
