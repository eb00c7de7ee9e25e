//! Rules of the bridge SoC between UALink and CXL (`bridge`), those that are built: from UALink to CXL.mem without a cache.

use super::Rule;

/// All of the profile is our own choice.
const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    rule("BRG-PRT-01", "bridge §1.1", "an accelerator has a number of 10 bits; a window names its CXL ports"),
    rule("BRG-PRT-02", "bridge §1.2", "a direct requester of CXL.mem needs 256B flits with port based routing"),
    rule("BRG-WIN-01", "bridge §2", "an address in no window ends with status 3"),
    rule("BRG-WIN-02", "bridge §2", "group and window give rights; an atomic takes all three"),
    rule("BRG-WIN-03", "bridge §2", "window, rights and legality are looked at in this order"),
    rule(
        "BRG-WIN-04",
        "bridge §2",
        "an address moves by the distance of both bases; its way is that of its offset in granules, 1, 2, 4, 8 or 16 of them",
    ),
    rule(
        "BRG-WIN-05",
        "bridge §2",
        "there are at most 16 windows, in multiples of 256 bytes, of at least 2 MiB, that do not overlap",
    ),
    rule(
        "BRG-WIN-07",
        "bridge §2 §8.1",
        "a result from 2^52 on ends with status 3; a window beyond 64 bits is refused",
    ),
    rule("BRG-WIN-09", "bridge §2", "the traffic class on CXL is the virtual channel; LD-ID is 0"),
    rule("BRG-SPL-01", "bridge §3.1", "a request is cut at lines of 64 bytes; beat i is the i-th line that it touches"),
    rule("BRG-SPL-02", "bridge §3.2", "bytes are written that are covered and enabled; others are ignored and counted"),
    rule("BRG-SPL-03", "bridge §3.1", "a request that leaves its block of 256 bytes ends with status 2"),
    rule("BRG-SPL-04", "bridge §3.2", "a line without an enabled byte sends nothing and is OKAY"),
    rule(
        "BRG-SPL-08",
        "bridge §3.3",
        "children end in any order by the answers of their row; there is one answer behind all",
    ),
    rule(
        "BRG-SPL-09",
        "bridge §3.4",
        "one transaction is active on a line; others wait in the order in which they came",
    ),
    rule("BRG-SPL-10", "bridge §3.4", "up to 8 reads join an active read of their class; writes never merge"),
    rule("BRG-MAP-01", "bridge §4.1", "MC reads by MemRd Invalid/SnpCur"),
    rule("BRG-MAP-02", "bridge §4.1", "MN reads by MemRd without meta value"),
    rule("BRG-MAP-05", "bridge §4.1", "MC writes a line by MemInv Any/SnpInv, then MemWr Invalid/NoOp"),
    rule("BRG-MAP-06", "bridge §4.1", "MN writes a line by MemWr Any"),
    rule("BRG-MAP-09", "bridge §4.1", "MC writes a part by MemRd Any/SnpInv, merge, MemWr Invalid/NoOp"),
    rule("BRG-MAP-10", "bridge §4.1", "MN writes a part by MemWrPtl Any with enables"),
    rule("BRG-MAP-13", "bridge §4.1", "MC does an atomic by MemRd Any/SnpInv, its unit, MemWr Invalid/NoOp"),
    rule("BRG-MAP-14", "bridge §4.1", "MN refuses atomics with status 2"),
    rule("BRG-MAP-17", "bridge §4.2", "Read is answered by a read response with a beat for each line"),
    rule("BRG-MAP-18", "bridge §4.2", "Write and WriteFull write; a line that is not covered whole is a part"),
    rule("BRG-MAP-19", "bridge §4.2", "AtomicR works on one line and is answered by a read response with one beat"),
    rule("BRG-MAP-20", "bridge §4.2", "AtomicNR works on one line and is answered by a write response"),
    rule(
        "BRG-MAP-21",
        "bridge §4.2",
        "Write Messages NOP and KeyRoll end in the bridge, answered where their type says",
    ),
    rule(
        "BRG-MAP-22",
        "bridge §4.2",
        "commands of vendors and reserved ones end with status 2 on the channel of their class",
    ),
    rule(
        "BRG-ATM-02",
        "bridge §4.4",
        "there are 13 operations on 8 to 64 bits, FADD on 16 to 64, INC and DEC on 32 and 64",
    ),
    rule("BRG-ATM-03", "bridge §4.4", "an element with all bytes enabled is active; one with some ends with status 2"),
    rule("BRG-ATM-04", "bridge §4.4", "CAS has one element; its operands stand at the beginning of the beat"),
    rule("BRG-ATM-05", "bridge §4.1 §4.4", "an atomic on memory without an owner has no effect"),
    rule(
        "BRG-ATM-06",
        "bridge §4.4",
        "an atomic on a poisoned line is OKAY with a poisoned answer and leaves the line as it is",
    ),
    rule("BRG-RSP-01", "bridge §4.2", "a read response that is not OKAY has all beats, of ones"),
    rule("BRG-RSP-02", "bridge §8.1", "of several states of lines the first of 6, 3, 2, 8, 0 is told"),
    rule(
        "BRG-ORD-01",
        "bridge §6.2",
        "of a source, virtual channel and block one request is active until it is performed",
    ),
    rule("BRG-ORD-02", "bridge §6.2", "other blocks, channels and sources are free"),
    rule("BRG-ORD-03", "bridge §6.2", "strict order: one request of a source is active, answers keep the order"),
    rule("BRG-TAG-01", "bridge §7", "the tag of a line is its entry times 4 and its child"),
    rule(
        "BRG-TAG-02",
        "bridge §7",
        "an identifier is used again when its transaction has ended; a second step keeps it",
    ),
    rule(
        "BRG-TAG-03",
        "bridge §7",
        "an identifier that was given up is free when the late answer has come, which is dropped",
    ),
    rule("BRG-TMO-01", "bridge §7", "a request with a line that does not get on in time ends with status 8"),
    rule("BRG-BUF-02", "bridge §7", "each virtual channel has 8 entries that no other one takes"),
    rule("BRG-BUF-03", "bridge §7", "a write buffer is taken with the entry and free when its data have left"),
    rule(
        "BRG-QOS-01",
        "bridge §7",
        "DevLoad 2 and 3 halve the lines under way at their target, from 64 down to 4, 0 adds one a microsecond, 1 keeps them",
    ),
    rule("BRG-ERR-01", "bridge §8.1", "MemDataNXM ends with status 3"),
    rule("BRG-ERR-03", "bridge §8.1", "a right that is missing ends with status 6"),
    rule("BRG-ERR-04", "bridge §8.1", "a command, operation or size that is not supported ends with status 2"),
    rule("BRG-ERR-05", "bridge §8.1", "a request whose answer does not come in time ends with status 8"),
    rule("BRG-ERR-08", "bridge §8.1", "MC: a plain Cmp for MemInv Any ends with status 3, and no MemWr follows"),
    rule("BRG-ERR-09", "bridge §8.1", "MN: a write to memory that is not there is OKAY"),
    rule("BRG-ERR-10", "bridge §8.1", "MemDataNXM ends a line without NDR"),
    rule("BRG-PSN-01", "bridge §8.3", "a poisoned beat of a write poisons its line, whatever part of it is written"),
    rule("BRG-PSN-02", "bridge §8.3", "a poisoned line of a read poisons its beat, with status OKAY"),
    rule("BRG-PSN-07", "bridge §8.3", "a partial write leaves a poisoned line poisoned"),
    rule("BRG-PSN-08", "bridge §8.3", "byte enables are never poisoned"),
    rule(
        "BRG-RAC-01",
        "bridge §9.6",
        "R1: a snoop of a line that is asked for is a conflict with the Tag of the request",
    ),
    rule(
        "BRG-RAC-02",
        "bridge §9.6",
        "R2: between grant and write back the store comes first, then BIRspI, without a conflict",
    ),
    rule("BRG-RAC-03", "bridge §9.6", "R3: a snoop during a write back waits for its Cmp"),
    rule("BRG-LAT-01", "bridge §11", "an uncontended request takes the sum of the stages that it passes"),
    rule(
        "BRG-LAT-02",
        "bridge §11",
        "a cycle takes one request and one response; messages to CXL leave at the set rate",
    ),
    rule("BRG-LAT-03", "bridge §11", "n lines take n - 1 cycles more than one"),
    rule("BRG-INT-02", "bridge §4", "what is sent equals the tables of the sheet, for every request"),
];
