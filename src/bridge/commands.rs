//! What becomes of a UPLI command at the bridge (`bridge` §4.2): the table. That of NVLink stands in [`nvlink`](super::outbound::nvlink).
//!
//! Modelled: every command with its message types; a command that stands in no row is refused. Left out: whether a request of a
//! command is well formed, see [`outbound`](super::outbound). A walk: AtomicR stands in its row, so it becomes an atomic on one line and
//! is answered where reads are.

use scalepool_protocols::ualink::code::ReqCmd;

/// What a request does to a line, and which right it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Reads it.
    Read,
    /// Writes all of it, or a part.
    Write,
    /// Reads it, computes, writes it.
    Atomic,
}

/// What becomes of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandAction {
    /// Its lines are accessed.
    Lines,
    /// It has reached its end here: security is a matter of one link.
    Ended,
    /// It waits for what was posted before it (`bridge` §6.3).
    Flush,
    /// It is refused with status 2.
    Refused,
}

/// The channel of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerChannel {
    /// Read responses.
    Read,
    /// Write responses.
    Write,
}

/// What becomes of a request by its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRow {
    /// What is done.
    pub action: CommandAction,
    /// Right that the source needs.
    pub access: AccessKind,
    /// Where it is answered.
    pub answer: AnswerChannel,
}

/// A command, its message types if these matter, and its row.
type CommandTableRow = (ReqCmd, Option<u8>, CommandAction, AccessKind, AnswerChannel);

/// Commands that are accepted.
const ROWS: [CommandTableRow; 9] = {
    use AccessKind::{Atomic, Read, Write};
    use AnswerChannel as On;
    use CommandAction::{Ended, Lines};
    [
        (ReqCmd::Read, None, Lines, Read, On::Read),
        (ReqCmd::Write, None, Lines, Write, On::Write),
        (ReqCmd::WriteFull, None, Lines, Write, On::Write),
        (ReqCmd::AtomicR, None, Lines, Atomic, On::Read),
        (ReqCmd::AtomicNR, None, Lines, Atomic, On::Write),
        // NOP, and key rolls of requests, of read responses and of write responses.
        (ReqCmd::WriteMessage, Some(0), Ended, Write, On::Write),
        (ReqCmd::WriteMessage, Some(1), Ended, Write, On::Write),
        (ReqCmd::WriteMessage, Some(2), Ended, Write, On::Read),
        (ReqCmd::WriteMessage, Some(3), Ended, Write, On::Write),
    ]
};

/// The row of a command; `message_type` is the metadata of a Write Message.
pub fn row(cmd: ReqCmd, message_type: u8) -> CommandRow {
    let fits = |row: &&CommandTableRow| row.0 == cmd && row.1.is_none_or(|only| only == message_type);
    match ROWS.iter().find(fits) {
        Some(&(_, _, action, access, answer)) => CommandRow { action, access, answer },
        None => refused(cmd),
    }
}

/// A command that is refused is answered on the channel of its class: CMD\[5:4\] = 00 where reads are, else where writes are.
fn refused(cmd: ReqCmd) -> CommandRow {
    let (access, answer) = match cmd.0 >> 4 & 3 {
        0 => (AccessKind::Read, AnswerChannel::Read),
        3 => (AccessKind::Atomic, AnswerChannel::Write),
        _ => (AccessKind::Write, AnswerChannel::Write),
    };
    CommandRow { action: CommandAction::Refused, access, answer }
}
