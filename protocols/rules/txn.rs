//! Rules of transactions as both ends of a link see them: tags, answers and data, whatever the agents behind the ends are.

use super::Rule;

const fn row(id: &'static str, source: &'static str, choice: bool, text: &'static str) -> Rule {
    Rule { id, source, choice, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    row("TXN-REQ-01", "coherence §3.2", false, "a request is one that the kind of memory behind the link may be sent"),
    row(
        "TXN-TAG-01",
        "coherence §1",
        true,
        "a tag is not used again before the last answer of its request, where the protocol or the requester keeps tags unique",
    ),
    row("TXN-TAG-02", "coherence §1", false, "an answer repeats the tag of a request that has passed before it"),
    row("TXN-TAG-03", "coherence §4", false, "a request gets each of its answers once"),
    row(
        "TXN-TAG-04",
        "coherence §1",
        false,
        "a CQID is not used again before the last answer of its request, a UQID or a BITag not before that of its snoop or pull",
    ),
    row("TXN-ANS-01", "coherence §3.2", false, "data comes only for a request that is owed data, and no more of it"),
    row("TXN-ANS-02", "coherence §3.2", false, "a completion comes only for a request that is owed one"),
    row("TXN-ANS-03", "coherence §3.2", false, "the opcode of a completion is one that its request allows"),
    row("TXN-ANS-04", "coherence §3.4", false, "the opcode of a BIRsp is one that its BISnp allows"),
    row("TXN-ANS-05", "ualink §12", false, "Last stands with the beat that ends a read, and with no other"),
    row("TXN-ANS-06", "coherence §2.3", false, "the opcode of a D2H Rsp is one that its snoop allows"),
    row(
        "TXN-ANS-07",
        "cxl-io §1.3, §3.5",
        false,
        "Byte Count of a completion of a memory read is what is still to come, itself included, and Lower Address is where it begins",
    ),
    row(
        "TXN-ORD-01",
        "coherence §3.5",
        false,
        "a request whose BIConflict was acknowledged is completed only after the BIRsp to its line",
    ),
    row(
        "TXN-ORD-02",
        "ualink §12",
        false,
        "in strict order the read responses of a source and a destination keep the order of their requests, and so do the write responses",
    ),
    row("TXN-ORD-03", "coherence §2.2", false, "the GO of a WrInv comes after its WritePull and the data of the write"),
    row(
        "TXN-ORD-04",
        "cxl-io §1.3, §3.5",
        false,
        "the completions of a memory read come in the order of their addresses",
    ),
    row(
        "TXN-DAT-01",
        "coherence §3.2",
        false,
        "a read returns the bytes of the last write, or, where none was seen, those of the previous read",
    ),
    row("TXN-DAT-02", "coherence §3.2", false, "a read of bytes that were written with poison brings poison"),
    row(
        "TXN-DAT-03",
        "cxl-io §1.3",
        true,
        "a register of configuration space that no request has changed is read as before: identity, class, capabilities, base addresses",
    ),
    row("TXN-END-01", "coherence §4", false, "a request has had all its answers when the run ends at rest"),
    row("TXN-END-02", "coherence §4", true, "a request has all its answers within the time that was stated"),
];
