//! Rules of the coherence engine (`coherence`) about what stands between agents: channels, routes, waits, peers, load.

use super::Rule;

const fn row(id: &'static str, source: &'static str, choice: bool, text: &'static str) -> Rule {
    Rule { id, source, choice, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    row(
        "COH-CHN-01",
        "coherence §1",
        false,
        "every channel has its own credits; direct peers have the six CXL.mem channels a second time",
    ),
    row(
        "COH-IDS-04",
        "coherence §1",
        false,
        "LowAddr repeats Addr[7:6] of the answered line; in the answer for a block it is reserved, any value passes (CXL256-ENC-12)",
    ),
    row("COH-REQ-17", "coherence §2.2", false, "GO-M is granted only for a dirty sole copy"),
    row("COH-ORD-09", "coherence §2.6", false, "O10: the home may take the requests of a device in any order"),
    row(
        "COH-ORD-10",
        "coherence §2.6",
        false,
        "O11: a cacheable read is the only open access of its device to a line; between two evicts of a line there is a read",
    ),
    row(
        "COH-ORD-13",
        "coherence §2.6",
        false,
        "O13: WrInv, ItoMWr, WrCur and evicts are visible when they end, WOWrInv when ExtCmp comes",
    ),
    row(
        "COH-CID-01",
        "coherence §2.9",
        false,
        "the port next to a device sets the CacheID; there are at most 16 devices, each with its own",
    ),
    row("COH-CID-02", "coherence §2.9", false, "a port forwards only messages of its own CacheID to its device"),
    row("COH-CID-03", "coherence §2.9", false, "a message without a valid route is discarded without an answer"),
    row(
        "COH-CID-04",
        "coherence §2.9",
        false,
        "links above several caching devices carry CacheID; a device on a 68B link has CacheID 0",
    ),
    row("COH-CID-06", "coherence §2.9", false, "a device with HDM-D is the only caching device below its bridge"),
    row(
        "COH-BIA-10",
        "coherence §3.3",
        false,
        "for its own HDM-DB a device sends only ItoMWr, WrCur and WrInv on CXL.cache",
    ),
    row(
        "COH-DLK-01",
        "coherence §3.6",
        false,
        "S2M NDR, DRS, D2H Rsp and Data pass stuck D2H Req and BISnp; BIConflictAck passes no earlier Cmp",
    ),
    row("COH-DLK-02", "coherence §3.6", false, "S2M BISnp passes stuck D2H Req"),
    row("COH-DLK-03", "coherence §3.6", false, "D2H Req need not pass anything, and is not starved"),
    row(
        "COH-DLK-04",
        "coherence §3.6",
        false,
        "M2S Req passes no earlier MemRdFwd or MemWrFwd of its line, and is not starved",
    ),
    row("COH-DLK-05", "coherence §3.6", false, "M2S RwD passes stuck M2S Req"),
    row("COH-DLK-06", "coherence §3.6", false, "H2D Req passes stuck M2S Req, in fabrics RwD too, and no earlier GO"),
    row("COH-DLK-07", "coherence §3.6", false, "H2D Rsp, H2D Data and BIRsp pass stuck M2S Req, RwD and H2D Req"),
    row("COH-DLK-08", "coherence §3.6", false, "M2S Req at a device does not wait for D2H Req"),
    row("COH-DLK-09", "coherence §3.6", false, "M2S RwD at a device does not wait for D2H Req or BISnp"),
    row("COH-DLK-10", "coherence §3.6", false, "H2D Req at a device does not wait for D2H Req or BISnp"),
    row("COH-DLK-11", "coherence §3.6", false, "H2D Rsp, H2D Data and BIRsp at a device wait for nothing"),
    row(
        "COH-DLK-12",
        "coherence §3.6",
        false,
        "NDR, DRS, D2H Rsp and Data at a host wait at most for H2D Rsp, H2D Data and BIRsp",
    ),
    row("COH-DLK-13", "coherence §3.6", false, "S2M BISnp at a host does not wait for M2S Req"),
    row("COH-DLK-14", "coherence §3.6", false, "D2H Req at a host may wait for every message that the host sends"),
    row(
        "COH-DLK-15",
        "coherence §3.6",
        true,
        "NDR, DRS, one BISnp, RwD and BIRsp have buffer space that no request can take",
    ),
    row(
        "COH-DLK-16",
        "coherence §3.6",
        false,
        "CXL.cachemem does not wait for CXL.io; completions of UIO do not wait for CXL.cachemem",
    ),
    row("COH-MHO-03", "coherence §3.7", false, "only the states M, E, S and I exist outside a host"),
    row("COH-P2P-01", "coherence §3.7", false, "a direct peer is one more holder and answers BISnp"),
    row(
        "COH-P2P-02",
        "coherence §3.7",
        false,
        "a snoop on an interface through which a line did not come changes nothing",
    ),
    row(
        "COH-P2P-03",
        "coherence §3.7",
        false,
        "towards a peer a waiting M2S Req blocks nothing, a waiting RwD only M2S Req and BISnp, and a waiting BIRsp all but H2D Rsp, H2D Data and BIRsp",
    ),
    row(
        "COH-UIO-01",
        "coherence §3.7",
        true,
        "a UIO read finds the owner with BISnpCur; a UIO write takes the line from all holders first",
    ),
    row(
        "COH-UIO-02",
        "coherence §3.7",
        false,
        "a UIO access lies in one decoder that allows UIO; any other is aborted without effect",
    ),
    row(
        "COH-QOS-02",
        "coherence §3.8",
        false,
        "DevLoad is the maximum of internal load, egress congestion and reduced throughput",
    ),
    row(
        "COH-QOS-03",
        "coherence §3.8",
        false,
        "a logical device over its limit sees overload; one inside its allocation sees one step less",
    ),
    row(
        "COH-QOS-04",
        "coherence §3.8",
        true,
        "the host throttles by DevLoad in steps, once per window; coherence does not depend on it",
    ),
    row(
        "COH-INV-11",
        "coherence §4",
        false,
        "V11: a channel never holds more messages than credits, each message returns one credit, and all are back when idle",
    ),
];
