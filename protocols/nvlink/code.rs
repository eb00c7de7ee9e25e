//! Codes of the header and what each operation is (`nvlink` §3, §6.1). Basis: model.

use crate::wire_enum;

wire_enum! {
    /// Operation of a packet.
    pub Op: 6 bits, rule "NVL-OPC-01", source "nvlink §6.1 (D)" {
        /// Nothing; carries acknowledgement and credits.
        IDLE = 0x00,
        /// Read.
        READ = 0x01,
        /// Write without answer.
        WRITE_POSTED = 0x02,
        /// Write with answer.
        WRITE_NONPOSTED = 0x03,
        /// Atomic operation that returns the old value.
        ATOMIC_RETURN = 0x04,
        /// Atomic operation without answer.
        ATOMIC_POSTED = 0x05,
        /// Answered once earlier posted writes are done.
        FLUSH = 0x06,
        /// Posted write that a switch copies to a group.
        MULTICAST_WRITE = 0x07,
        /// Read that a switch reduces over a group.
        REDUCE_READ = 0x08,
        /// Answer with data.
        RSP_DATA = 0x10,
        /// Answer without data.
        RSP_DONE = 0x11,
        /// Answer that reports an error; its code stands in `size`.
        RSP_ERROR = 0x12,
        /// Beginning of a replay; `ackid` is the first identifier. Not numbered.
        REPLAY_INIT = 0x3e,
        /// First credits of a channel. Not numbered.
        CREDIT_INIT = 0x3f,
    }
}

wire_enum! {
    /// Virtual channel.
    pub Vc: 3 bits, rule "NVL-OPC-02", source "nvlink §3 (A)" {
        /// Requests with answer.
        CREQ0 = 0,
        /// Downgrades; coherent processor links alone.
        DNGRD = 1,
        /// Translation requests; coherent processor links alone.
        ATR = 2,
        /// Translation answers; coherent processor links alone.
        ATSD = 3,
        /// Probes; coherent processor links alone.
        PROBE = 4,
        /// Responses.
        RSP0 = 5,
        /// Requests without answer.
        CREQ1 = 6,
        /// Further responses.
        RSP1 = 7,
    }
}

impl Vc {
    /// Number of channels.
    pub const COUNT: usize = 8;
}

/// What an operation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Between the two ends of the link; takes no identifier and no credit.
    Link,
    /// Request that is answered.
    NonPosted,
    /// Request that is not answered.
    Posted,
    /// Answer.
    Response,
}

/// Each operation with its class and whether data follows.
const OPERATIONS: [(Op, Class, bool); 14] = [
    (Op::IDLE, Class::Link, false),
    (Op::READ, Class::NonPosted, false),
    (Op::WRITE_POSTED, Class::Posted, true),
    (Op::WRITE_NONPOSTED, Class::NonPosted, true),
    (Op::ATOMIC_RETURN, Class::NonPosted, true),
    (Op::ATOMIC_POSTED, Class::Posted, true),
    (Op::FLUSH, Class::NonPosted, false),
    (Op::MULTICAST_WRITE, Class::Posted, true),
    (Op::REDUCE_READ, Class::NonPosted, false),
    (Op::RSP_DATA, Class::Response, true),
    (Op::RSP_DONE, Class::Response, false),
    (Op::RSP_ERROR, Class::Response, false),
    (Op::REPLAY_INIT, Class::Link, false),
    (Op::CREDIT_INIT, Class::Link, false),
];

impl Op {
    fn row(self) -> Option<&'static (Op, Class, bool)> {
        OPERATIONS.iter().find(|(op, ..)| *op == self)
    }

    /// What it is for, `None` for a reserved code.
    pub fn class(self) -> Option<Class> {
        self.row().map(|(_, class, _)| *class)
    }

    /// Whether data flits follow; `None` for a reserved code.
    pub fn has_data(self) -> Option<bool> {
        self.row().map(|(.., data)| *data)
    }

    /// Whether its flits take identifiers and credits (`nvlink` §6.3): all but the three of the link itself.
    pub fn is_numbered(self) -> bool {
        self.class() != Some(Class::Link)
    }
}
