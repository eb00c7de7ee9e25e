//! Programs of packets from a file: one JSON object a line.
//!
//! ```json
//! {"id": 1, "source": 0, "target": 5, "bytes": 64, "kind": "read"}
//! {"id": 2, "source": 5, "target": 0, "bytes": 256, "kind": "answer", "after": [1], "time_ns": 120}
//! ```
//!
//! Modelled: what the text means, line by line. Left out: compression. Lines that are empty, or begin with `#`, say nothing.

use super::packet_program::{MOST_PACKETS, PACKET_KINDS, PacketProgram, PacketProgramError, ProgramPacket};
use serde::Deserialize;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Latest time of a packet \[ns\], about a quarter of an hour; 2^64 fs are five hours.
const LATEST_NS: f64 = 1e12;

/// Most bytes of a packet (basis: model).
const MOST_BYTES: u32 = 1 << 20;

/// Longest line \[bytes\].
const LONGEST_LINE: usize = 1 << 20;

/// Why a file is no program.
#[derive(Debug, Error)]
pub enum ProgramFileError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A line means nothing.
    #[error("{}:{line}: {text}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// What was found and what was expected.
        text: String,
    },
    /// The packets are no program.
    #[error("{}: {error}", path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// Why.
        error: PacketProgramError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with the fields of a packet")]
struct ProgramLine {
    id: u64,
    #[serde(default)]
    time_ns: f64,
    source: u16,
    target: u16,
    bytes: u32,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    after: Vec<u64>,
}

impl ProgramLine {
    fn packet(self, flit_bytes: u32) -> Result<ProgramPacket, String> {
        if !(0.0..=LATEST_NS).contains(&self.time_ns) {
            return Err(format!("found a time_ns of {}, expected 0 to {LATEST_NS}", self.time_ns));
        }
        if !(1..=MOST_BYTES).contains(&self.bytes) {
            return Err(format!("found {} bytes, expected 1 to {MOST_BYTES}", self.bytes));
        }
        let kind = self.kind.as_deref().unwrap_or(PACKET_KINDS[0]);
        let Some(kind) = PACKET_KINDS.iter().find(|known| **known == kind) else {
            return Err(format!("found the kind `{kind}`, expected one of {}", PACKET_KINDS.join(", ")));
        };
        Ok(ProgramPacket {
            id: self.id,
            // A product of two numbers that every machine rounds the same way, far below 2^64.
            time_fs: (self.time_ns * 1e6).round() as u64,
            source: self.source,
            target: self.target,
            flits: self.bytes.div_ceil(flit_bytes.max(1)),
            kind,
            after: self.after,
        })
    }
}

/// Reads the program of a file for so many nodes, whose flits have so many bytes.
///
/// # Errors
/// [`ProgramFileError`].
pub fn read_program(path: &Path, nodes: u16, flit_bytes: u32) -> Result<PacketProgram, ProgramFileError> {
    let file = std::fs::File::open(path).map_err(|error| ProgramFileError::Read { path: path.into(), error })?;
    read_lines(BufReader::new(file), path, nodes, flit_bytes)
}

/// Reads the program from its lines; `path` is where findings say that they stand.
fn read_lines(
    mut reader: impl BufRead,
    path: &Path,
    nodes: u16,
    flit_bytes: u32,
) -> Result<PacketProgram, ProgramFileError> {
    let unread = |error| ProgramFileError::Read { path: path.into(), error };
    let (mut text, mut packets) = (Vec::new(), Vec::new());
    for line in 1.. {
        text.clear();
        let wrong = |text: String| ProgramFileError::Line { path: path.into(), line, text };
        let limit = LONGEST_LINE as u64 + 1;
        if std::io::Read::take(&mut reader, limit).read_until(b'\n', &mut text).map_err(unread)? == 0 {
            break;
        }
        if text.len() > LONGEST_LINE {
            return Err(wrong(format!("found a line of more than {LONGEST_LINE} bytes, expected no more")));
        }
        let content = text.trim_ascii();
        if content.is_empty() || content.starts_with(b"#") {
            continue;
        }
        if packets.len() == MOST_PACKETS {
            return Err(ProgramFileError::Program { path: path.into(), error: PacketProgramError::Length });
        }
        let read: ProgramLine = serde_json::from_slice(content).map_err(|error| {
            // The place within the line; the line is named already.
            let text = error.to_string().replace(" at line 1 column ", " at column ");
            wrong(format!(
                "{text}, expected a packet such as {{\"id\": 1, \"source\": 0, \"target\": 5, \"bytes\": 64}}"
            ))
        })?;
        packets.push(read.packet(flit_bytes).map_err(wrong)?);
    }
    PacketProgram::new(packets, nodes).map_err(|error| ProgramFileError::Program { path: path.into(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PacketProgram, String> {
        read_lines(text.as_bytes(), Path::new("FILE"), 6, 16).map_err(|error| error.to_string())
    }

    #[test]
    fn the_example_is_read() {
        let text = include_str!("program_file.rs");
        let example: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//! {")).collect();
        let text: String = example.iter().map(|line| format!("{{{line}\n")).collect();
        let program = read(&format!("# two packets\n\n{text}")).expect("it is one");
        let second = ProgramPacket {
            id: 2,
            time_fs: 120_000_000,
            source: 5,
            target: 0,
            flits: 16,
            kind: "answer",
            after: vec![1],
        };
        assert_eq!((program.packets().len(), &program.packets()[1]), (2, &second));
    }

    #[test]
    fn wrong_lines_are_named() {
        let good = "{\"id\": 1, \"source\": 0, \"target\": 5, \"bytes\": 64}\n";
        for (line, text) in [
            ("{\"id\": 2}", "FILE:2: missing field `source` at column 9, expected a packet such as "),
            (
                "{\"id\": -2}",
                "FILE:2: invalid value: integer `-2`, expected u64 at column 9, expected a packet such as ",
            ),
            ("{\"idd\": 2}", "FILE:2: unknown field `idd`, expected one of `id`, `time_ns`, "),
            ("7", "FILE:2: invalid type: integer `7`, expected an object with the fields of a packet at column 1, "),
            ("{\"id\": 2, \"source\": 0, \"target\": 1, \"bytes\": 0}", "FILE:2: found 0 bytes, expected 1 to 1048576"),
            (
                "{\"id\": 2, \"source\": 0, \"target\": 1, \"bytes\": 1, \"time_ns\": -1}",
                "FILE:2: found a time_ns of -1, expected 0 to 1000000000000",
            ),
            (
                "{\"id\": 2, \"source\": 0, \"target\": 1, \"bytes\": 1, \"kind\": \"gather\"}",
                "FILE:2: found the kind `gather`, expected one of packet, read, write, answer, message, reduce, broadcast",
            ),
            (
                "{\"id\": 2, \"source\": 0, \"target\": 6, \"bytes\": 1}",
                "FILE: packet 2: found node 6, expected a node from 0 to 5",
            ),
        ] {
            let error = read(&format!("{good}{line}\n")).expect_err(line);
            assert!(error.starts_with(text), "{error}");
        }
    }
}
