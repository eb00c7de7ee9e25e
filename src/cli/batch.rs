//! Many inputs, one answer line each: a bad one is answered with `{"line":N,"error":{..}}` and the rest goes on. An input
//! is a line, except where a [`Responder`] says otherwise; errors of such a one name their line themselves.
//!
//! Lines are read and answered one by one. Answers are buffered, and written out before the program waits for more
//! input, so that a peer that asks one line at a time gets its answer at once. A [`Responder`] may keep an answer back
//! that depends on later lines; answers keep the order of the lines.

use super::{CommandStatus, print_json, report};
use scalepool_forms::FormError;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};

/// Longest line that is read; the longest legal ones are flit objects of a few kilobytes.
const MAX_LINE_BYTES: usize = 1 << 20;

/// An answer, and whether a rule was found broken.
pub(super) struct BatchAnswer {
    pub form: Value,
    pub status: CommandStatus,
}

/// Answers lines in their order.
pub(super) trait Responder {
    /// Takes a line, or why it could not be read; the answers that are due now.
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<BatchAnswer, FormError>>;

    /// The answers that are left at the end.
    fn end(&mut self) -> Vec<Result<BatchAnswer, FormError>>;
}

impl<F: FnMut(&str) -> Result<BatchAnswer, FormError>> Responder for F {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<BatchAnswer, FormError>> {
        vec![line.and_then(self)]
    }

    fn end(&mut self) -> Vec<Result<BatchAnswer, FormError>> {
        Vec::new()
    }
}

/// Answers of a batch so far; without a line in the error, inputs are lines.
struct BatchProgress<'a> {
    out: &'a mut dyn Write,
    status: CommandStatus,
    inputs: u64,
    refused: u64,
    first: String,
}

impl<'a> BatchProgress<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        BatchProgress { out, status: CommandStatus::Good, inputs: 0, refused: 0, first: String::new() }
    }

    fn answers(&mut self, answers: Vec<Result<BatchAnswer, FormError>>) -> io::Result<()> {
        answers.into_iter().try_for_each(|answer| self.answer(answer))
    }

    fn answer(&mut self, answer: Result<BatchAnswer, FormError>) -> io::Result<()> {
        self.inputs += 1;
        match answer {
            Ok(BatchAnswer { form, status }) => {
                if status == CommandStatus::Finding {
                    self.status = CommandStatus::Finding;
                }
                print_json(self.out, &form)
            }
            Err(e) => {
                let line = e.line.unwrap_or(self.inputs);
                if self.refused == 0 {
                    self.first = format!("line {line}: {e}");
                }
                self.refused += 1;
                print_json(self.out, &json!({"line": line, "error": e.to_json()}))
            }
        }
    }

    fn end(self) -> CommandStatus {
        if self.refused == 0 {
            return self.status;
        }
        match self.refused {
            1 => report(&self.first),
            n => report(format_args!("{}; {n} of {} inputs cannot be read", self.first, self.inputs)),
        }
        CommandStatus::Refused
    }
}

/// Answers arguments; the first one is line 1.
pub(super) fn arguments(
    args: &[String],
    out: &mut dyn Write,
    mut responder: impl Responder,
) -> io::Result<CommandStatus> {
    let mut batch = BatchProgress::new(out);
    for arg in args {
        batch.answers(responder.ask(Ok(arg)))?;
    }
    batch.answers(responder.end())?;
    Ok(batch.end())
}

/// Answers every line of stdin.
pub(super) fn stdin(out: &mut dyn Write, responder: impl Responder) -> io::Result<CommandStatus> {
    lines(io::stdin().lock(), out, responder)
}

fn lines(input: impl Read, out: &mut dyn Write, mut responder: impl Responder) -> io::Result<CommandStatus> {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut batch = BatchProgress::new(out);
    let mut line = Vec::new();
    while let Some(length) = next_line(&mut input, &mut line, batch.out)? {
        let text = if length > MAX_LINE_BYTES {
            Err(FormError::new("line", format!("{length} bytes"), format!("at most {MAX_LINE_BYTES} bytes")))
        } else {
            std::str::from_utf8(&line).map_err(|e| {
                let at = e.valid_up_to();
                FormError::new(format!("byte {at} of the line"), format!("{:#04x}", line[at]), "UTF-8 text")
            })
        };
        batch.answers(responder.ask(text))?;
    }
    batch.answers(responder.end())?;
    Ok(batch.end())
}

/// Reads the next line without its end and gives its length; `None` at the end of the input. Of a line that is too long
/// only a part is kept.
fn next_line(input: &mut BufReader<impl Read>, line: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<Option<usize>> {
    line.clear();
    let (mut length, mut ended) = (0, false);
    while !ended {
        if input.buffer().is_empty() {
            out.flush()?;
        }
        let part = match input.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(io::Error::other(format!("stdin cannot be read: {e}"))),
            Ok(part) => part,
        };
        if part.is_empty() {
            if length == 0 {
                return Ok(None);
            }
            break;
        }
        let end = part.iter().position(|&b| b == b'\n');
        let part = &part[..end.unwrap_or(part.len())];
        ended = end.is_some();
        if length + part.len() <= MAX_LINE_BYTES {
            line.extend_from_slice(part);
        }
        length += part.len();
        let used = part.len() + usize::from(ended);
        input.consume(used);
    }
    if line.last() == Some(&b'\r') && line.len() == length {
        line.pop();
        length -= 1;
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(input: &[u8]) -> (CommandStatus, String) {
        let mut out = Vec::new();
        let echo = |line: &str| Ok(BatchAnswer { form: line.into(), status: CommandStatus::Good });
        let status = lines(input, &mut out, echo).unwrap();
        (status, String::from_utf8(out).unwrap())
    }

    #[test]
    fn every_line_is_answered() {
        assert_eq!(run(b""), (CommandStatus::Good, String::new()));
        assert_eq!(run(b"a\r\n\nb"), (CommandStatus::Good, "\"a\"\n\"\"\n\"b\"\n".into()));
        assert_eq!(run(b"\n\n").1, "\"\"\n\"\"\n");
    }

    #[test]
    fn a_bad_line_does_not_end_the_batch() {
        let mut input = vec![b'x'; MAX_LINE_BYTES + 1];
        input.extend(b"\n\xff\nb\n");
        let (status, text) = run(&input);
        assert_eq!(status, CommandStatus::Refused);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("{\"line\":1,\"error\":{\"at\":\"line\",\"found\":\"1048577 bytes\""), "{text}");
        assert!(lines[1].starts_with("{\"line\":2,\"error\":{\"at\":\"byte 0 of the line\""), "{text}");
        assert_eq!(lines[2..], ["\"b\""]);
    }

    /// A peer that asks one line at a time must not wait for its answer.
    #[test]
    fn answers_are_written_before_the_next_read() {
        use std::cell::Cell;
        struct Peer<'a>(Vec<&'static [u8]>, &'a Cell<usize>);
        impl Read for Peer<'_> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                assert_eq!(self.1.get(), 2 - self.0.len(), "all lines so far are answered");
                let Some(line) = self.0.pop() else { return Ok(0) };
                buf[..line.len()].copy_from_slice(line);
                Ok(line.len())
            }
        }
        struct Seen<'a>(Vec<u8>, &'a Cell<usize>);
        impl Write for Seen<'_> {
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                self.0.extend(buf);
                Ok(buf.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                self.1.set(self.0.iter().filter(|&&b| b == b'\n').count());
                Ok(())
            }
        }
        let answered = Cell::new(0);
        let mut out = Seen(Vec::new(), &answered);
        let echo = |line: &str| Ok(BatchAnswer { form: line.into(), status: CommandStatus::Good });
        lines(Peer(vec![b"b\n", b"a\n"], &answered), &mut out, echo).unwrap();
        assert_eq!(out.0, b"\"a\"\n\"b\"\n");
    }
}
