//! Rules of CXL switches with hierarchy based routing and of HDM decoders (`fabric` §1, §2).

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
    rule("FAB-VCS-01", "fabric §1.1", "a virtual hierarchy has one upstream port and at least one downstream port"),
    rule(
        "FAB-VCS-02",
        "fabric §1.1",
        "a downstream port belongs to one virtual hierarchy, or by its logical devices to at most 16",
    ),
    rule("FAB-VCS-03", "fabric §1.1", "nothing is routed between virtual hierarchies"),
    rule(
        "FAB-VCS-04",
        "fabric §1.1",
        "bindings are there from reset on and stay, or a fabric manager makes them before or while hosts run, where a late one is a hot-add",
    ),
    rule(
        "FAB-VCS-05",
        "fabric §1.1",
        "without a fabric manager static bindings rule, and there are no logical devices",
    ),
    rule(
        "FAB-VCS-06",
        "fabric §1.1",
        "a downstream port is in CXL mode or in PCIe mode, which has neither CXL.mem nor CXL.cache; a hierarchy has one device of CXL 1.1 at most",
    ),
    rule("FAB-RST-01", "fabric §1.4", "a reset of the switch resets every device below"),
    rule("FAB-RST-02", "fabric §1.4", "PERST# of an upstream port resets what is bound in its VCS and nothing else"),
    rule(
        "FAB-RST-03",
        "fabric §1.4",
        "a hot reset or SBR of an upstream port resets what is bound in its VCS and nothing else",
    ),
    rule("FAB-RST-04", "fabric §1.4", "SBR in a vPPB resets its port or logical device and nothing else"),
    rule("FAB-RST-05", "fabric §1.4", "a reset of a port by the manager resets all of its logical devices"),
    rule(
        "FAB-RST-07",
        "fabric §1.4",
        "the reset of a logical device leaves the link up and other logical devices alone",
    ),
    choice(
        "FAB-BND-04",
        "fabric §1.2",
        "an unbind has option 0, 1 or 2, runs in the background and ends with a record; other options are invalid",
    ),
    rule(
        "FAB-BND-05",
        "fabric §1.2",
        "an unbind of a port that has been drained loses nothing; a surprise discards what is open there, and records it",
    ),
    choice(
        "FAB-BND-06",
        "fabric §1.2",
        "an unbind stops new requests, waits for open ones up to a limit, flushes what is left and drops late answers",
    ),
    rule("FAB-BND-07", "fabric §1.2", "a binding that is refused changes nothing"),
    rule(
        "FAB-BND-01",
        "fabric §1.2",
        "a bind maps the vPPB, moves its PERST# and presence signals, sets Link Disable, moves the functions of the bridge and removes the manager's bridge; then the host trains the link",
    ),
    rule(
        "FAB-BND-02",
        "fabric §1.2",
        "after a bind the host sees presence and a hot-plug event, and then trains the link",
    ),
    rule(
        "FAB-BND-03",
        "fabric §1.2",
        "after an unbind the host sees link down and no presence, and the manager's port is held by Link Disable",
    ),
    rule(
        "FAB-BND-08",
        "fabric §1.2",
        "link down leaves presence, removal clears it; the manager gets records of an unbound port, the host the events of a bound one",
    ),
    rule("FAB-MLD-01", "fabric §1.3", "a device has up to 16 logical devices, with LD-ID 0 to 15"),
    rule(
        "FAB-MLD-02",
        "fabric §1.3",
        "a request to logical device n carries LD-ID n below the switch, its answer goes to the hierarchy of that; above the switch the LD-ID is 0",
    ),
    rule(
        "FAB-MLD-03",
        "fabric §1.3",
        "a logical device is bound and unbound without an effect on the link or on other logical devices",
    ),
    choice(
        "FAB-MLD-05",
        "fabric §1.3",
        "an answer with an LD-ID that is not bound is dropped and counted, and the fabric manager is told",
    ),
    rule(
        "FAB-MLD-06",
        "fabric §1.3",
        "the link of a multi-logical device carries CXL.mem, with back-invalidates, and no CXL.cache",
    ),
    rule(
        "FAB-MLD-04",
        "fabric §1.3",
        "a port that is bound as a whole does not advertise logical devices, and its device works with one",
    ),
    rule(
        "FAB-MLD-07",
        "fabric §1.3",
        "a contained logical device stays bound and loses its traffic both ways, until the trigger is cleared; others notice nothing",
    ),
    rule(
        "FAB-MLD-08",
        "fabric §1.3",
        "an error of the link is recorded by every bound vPPB, by the one it belongs to, or by none, with a header of ones where it has no single owner",
    ),
    rule(
        "FAB-MLD-10",
        "fabric §1.3",
        "the removal of a shared device awaits every host; a surprise removal ends all of its bindings",
    ),
    rule(
        "FAB-CMR-01",
        "fabric §1.6",
        "a request goes by decoder and target list to a vPPB, and by its binding to a port",
    ),
    rule("FAB-CMR-02", "fabric §1.6", "an answer goes by port and LD-ID; tags are opaque"),
    rule(
        "FAB-CMR-03",
        "fabric §1.6",
        "reserved bits pass between links of 256B flits, are cleared toward one of 68B flits, and none are created",
    ),
    choice(
        "FAB-CMR-04",
        "fabric §1.6",
        "where no decoder is hit a write is dropped and completed and a read gets ones, as MemDataNXM with 256B flits",
    ),
    choice("FAB-CMR-05", "fabric §1.6", "a request whose target is not bound is answered as one that nothing decodes"),
    rule(
        "FAB-CID-01",
        "fabric §1.7",
        "without CacheIDs a hierarchy has one caching device, to which everything of CXL.cache goes",
    ),
    rule(
        "FAB-CID-02",
        "fabric §1.7",
        "a port assigns its own CacheID and passes downstream messages with that CacheID alone, or it forwards CacheIDs; with both or neither enabled it discards the message",
    ),
    rule(
        "FAB-CID-03",
        "fabric §1.7",
        "the table of an upstream port finds a device by CacheID; without an entry a message is discarded, not answered",
    ),
    rule(
        "FAB-CID-04",
        "fabric §1.7",
        "a commit ends as Committed or Error within its limit, and only a committed table is used",
    ),
    rule("FAB-CID-05", "fabric §1.7", "links above the lowest switch carry CacheIDs, so they have 256B flits"),
    choice(
        "FAB-BIR-01",
        "fabric §1.7",
        "a port gives a snoop its bus as BI-ID if the address leads back to it, and takes answers to its bus; on the link of a multi-logical device the LD-ID stands in its place",
    ),
    rule(
        "FAB-BIR-02",
        "fabric §1.7",
        "an answer to a snoop goes to the bridge whose buses hold its BI-ID, or is dropped",
    ),
    choice(
        "FAB-BIR-03",
        "fabric §1.7",
        "a snoop that is discarded is not answered and is a mistake of the configuration",
    ),
    rule(
        "FAB-ERR-01",
        "fabric §1.8",
        "not decoded, bad data and cannot complete are three failures, and none ends as another one",
    ),
    rule("FAB-ERR-03", "fabric §1.8", "a switch passes poison on with its data and makes no error answer of it"),
    rule(
        "FAB-ERR-05",
        "fabric §1.8",
        "an error of the link of a device with one logical device is recorded in the bridge of its port alone",
    ),
    choice("FAB-ERR-04", "fabric §1.8", "a message of a class that was not negotiated is dropped and counted"),
    rule("FAB-ORD-04", "fabric §4.2", "a class that is not taken holds up no other class"),
    rule(
        "FAB-ORD-05",
        "fabric §4.2",
        "a snoop of CXL.cache stays behind the responses of its host that came before it",
    ),
    choice("FAB-ORD-06", "fabric §4.2", "no message class starves at a port, whatever the others have to send"),
    rule(
        "FAB-ORD-07",
        "fabric §4.2",
        "a switch uses and returns credits hop by hop and forwards none; logical devices share those of their link, but for what is reserved",
    ),
    choice(
        "FAB-ORD-08",
        "fabric §4.2",
        "a message that leaves before all of it has come ends as bad if any part of it was",
    ),
    choice(
        "FAB-ISO-01",
        "fabric §1.9",
        "each request has a timer of its own; a range of the register stands for its geometric middle",
    ),
    rule(
        "FAB-ISO-02",
        "fabric §1.9",
        "a time-out isolates the port where that is enabled, and link down where that is",
    ),
    rule(
        "FAB-ISO-03",
        "fabric §1.9",
        "at an isolated port reads end with poisoned data and writes with a completion, and nothing goes to the link",
    ),
    rule(
        "FAB-ISO-04",
        "fabric §1.9",
        "in the place of an isolated cache a snoop ends with poison where it may own the line or owes its data, else as invalid",
    ),
    rule(
        "FAB-ISO-05",
        "fabric §1.9",
        "isolation ends when its status is cleared, which takes a port without open requests and a link that has been down",
    ),
    choice(
        "FAB-ISO-06",
        "fabric §1.9",
        "without the capability a lost request stays open, and the end of the run names it",
    ),
    rule(
        "FAB-ISO-07",
        "fabric §1.9",
        "capability, control and status have their fields where the sheet says; a code belongs to a range that the port has",
    ),
    choice("FAB-ISO-08", "fabric §1.9", "a time-out without isolation ends its request alone, as at an isolated port"),
    rule(
        "FAB-VIR-01",
        "fabric §1.10",
        "a port that goes viral makes its hierarchy viral, and every port of that tells its link before any later message",
    ),
    rule(
        "FAB-VIR-02",
        "fabric §1.10",
        "every message of a viral hierarchy counts as viral, and no other hierarchy is touched",
    ),
    rule(
        "FAB-VIR-03",
        "fabric §1.10",
        "upstream ports and ports bound whole tell an empty vector, others a bit for each logical device of a viral hierarchy",
    ),
    rule(
        "FAB-VIR-04",
        "fabric §1.10",
        "a conventional reset ends viral; CXL Reset, a function level reset, bind and unbind do not; a fatal error inside the switch begins it",
    ),
    rule("FAB-SWC-01", "fabric §6.1", "an output that takes nothing holds up no message for another one"),
    rule("FAB-SWC-02", "fabric §4.2", "requests never block responses: each class has queues of its own"),
    rule(
        "FAB-SWC-03",
        "fabric §4.2",
        "inside a switch no more room is taken than there is, none is given back that was not taken, and all is back at rest",
    ),
    choice(
        "FAB-SWC-04",
        "fabric §4.2",
        "an input has room again when a message has left its queue, and nothing leaves for a link without room there",
    ),
    choice(
        "FAB-SWC-05",
        "fabric §5",
        "from the receiver of the input to the transmitter of the output a message takes the sum of the named stages",
    ),
    choice(
        "FAB-SWC-06",
        "fabric §4.2",
        "the flits of a packet are pipelined through a router: one more hop costs its stages once, and not the length of the packet again",
    ),
    choice(
        "FAB-SWC-07",
        "fabric §4.2",
        "a router that stores and forwards takes in all flits of a packet before the first one leaves, so that they take their time at each of them",
    ),
    rule(
        "FAB-SWC-08",
        "fabric §6.1",
        "with a speed-up of s a port of the crossbar moves at most s times in a cycle what the port of the switch moves",
    ),
    rule("FAB-SWC-09", "fabric §4.2", "messages that came in went out, ended in the switch, or are held there"),
    rule("FAB-HDM-01", "fabric §2.1", "a decoder is hit by Base <= HPA < Base + Size; one of size 0 never"),
    rule(
        "FAB-HDM-02",
        "fabric §2.1",
        "a commit with lock checks order, wrap, sizes for a multiple of three ways, targets, and that the decoder before is committed",
    ),
    rule("FAB-HDM-03", "fabric §2.1", "decoders are committed in rising and ended in falling order (lint)"),
    choice(
        "FAB-HDM-04",
        "fabric §2.1",
        "overlapping decoders, more ways than targets and granularities outside the capability are refused",
    ),
    rule("FAB-HDM-05", "fabric §2.3", "XOR arithmetic permutes targets and leaves device addresses as they are"),
    choice("FAB-HDM-06", "fabric §2.3", "the remainder at the root is that of the whole address, not of the offset"),
    rule("FAB-HDM-07", "fabric §2.3", "a decoder with 8 ways uses all 8 targets of its list"),
    rule("FAB-HDM-08", "fabric §2.4", "decoders of different levels use different, adjacent address bits"),
    rule(
        "FAB-HDM-09",
        "fabric §2.4",
        "ways of a region are those of the root times a power of two, with its granularity, and the size is 256 MiB for each or a multiple",
    ),
    choice(
        "FAB-HDM-10",
        "fabric §2.4",
        "a device has ways and granularity of the whole set, and selects by a group of bits that its capability has",
    ),
    rule("FAB-HDM-11", "fabric §2.4", "the position of a device counts the innermost way highest"),
    rule("FAB-HDM-12", "fabric §2.4", "below a root of 3 ways a bridge has the granularity of the root"),
    choice("FAB-HDM-13", "fabric §2.4", "the chunk of a device below a root of 3 ways follows from both remainders"),
    rule("FAB-HDM-14", "fabric §2.1", "registers hold bases, sizes and skips in steps of 256 MiB"),
    rule("FAB-HDM-15", "fabric §2.1", "ways, granularities and numbers of decoders have the codes of the sheet"),
    rule(
        "FAB-TGT-01",
        "fabric §2.2",
        "a bridge selects its target by the address bits from that of its granularity on",
    ),
    rule(
        "FAB-TGT-02",
        "fabric §2.2",
        "the root selects among 1, 2, 3, 4, 6, 8, 12 or 16 targets by bits and a remainder of 3",
    ),
    rule(
        "FAB-TGT-03",
        "fabric §2.2",
        "XOR arithmetic takes each bit of the target as the parity of mapped address bits",
    ),
    rule("FAB-TGT-04", "fabric §2.2", "remainders and XOR arithmetic are the root's alone"),
    rule(
        "FAB-DPA-01",
        "fabric §2.3",
        "with 1, 2, 4, 8 or 16 ways the device takes the interleave bits out of the offset",
    ),
    rule("FAB-DPA-02", "fabric §2.3", "with 3, 6 or 12 ways the device divides the chunk of the offset by 3"),
    rule(
        "FAB-DPA-03",
        "fabric §2.3",
        "the share of a decoder begins behind the shares and skips of those before it and its own skip",
    ),
    rule(
        "FAB-DPA-04",
        "fabric §2.3 §2.5",
        "a device address and a position in the interleave set map back to one host physical address",
    ),
    rule(
        "FAB-UIO-01",
        "fabric §2.6",
        "a request of unordered I/O all of whose bytes are of a port's range turns to the peer there; ranges have 1, 2, 4, 8 or 16 ways, by modulo",
    ),
    rule(
        "FAB-UIO-02",
        "fabric §2.6",
        "a request with some bytes of the range, or to a decoder without UIO, goes toward the host; one with all bytes of it is aborted where the port is not enabled",
    ),
    rule(
        "FAB-UIO-03",
        "fabric §2.6",
        "a device aborts a request that crosses a chunk of the interleave, is its only in part, or has no UIO, and commits nothing of it",
    ),
];
