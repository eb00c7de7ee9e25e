//! What a host of HDM-DB may make of one step (`coherence` §3.1, §3.4, §3.5): write backs, answers to back-invalidates and
//! the rows of the conflict, seen from outside, before and after.

use crate::agent::AgentOutput;
use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::mem::host::block_lines;
use crate::mem::host_rows::Phase;
use crate::mem::tables::Copy4;
use crate::mem::{HostAccess, MemHost};
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaValue, NdrOpcode};

/// The host before and after a step, with what left it.
#[derive(Debug)]
pub struct MemHostWatch<'a, D> {
    /// Before.
    pub before: &'a MemHost<D>,
    /// What it sent and reported.
    pub out: &'a AgentOutput<D>,
    /// After.
    pub after: &'a MemHost<D>,
}

impl<D: LineContent> MemHostWatch<'_, D> {
    /// The rules that the step breaks; `took`: the message that came, `None` for what the core did.
    pub fn check(&self, took: Option<&Msg<D>>, events: &mut Vec<CoherenceEvent>) {
        let mut say = |rule, line: LineAddr, found: String, expected: &str| {
            events.push(CoherenceEvent::new(rule, line, "host", found, expected));
        };
        if !self.out.events.is_empty() {
            return;
        }
        self.check_writes(&mut say);
        self.check_answers(took, &mut say);
        match took {
            Some(Msg::S2mBisnp { opcode, line, .. }) => self.snooped(*opcode, *line, &mut say),
            Some(Msg::S2mNdr { opcode: NdrOpcode::BIConflictAck, tag, .. }) => self.acked(*tag, &mut say),
            Some(Msg::S2mNdr { tag, .. }) => {
                if let Some((line, true)) = self.before.tagged(*tag)
                    && self.before.phase(line) == Phase::WritingSnooped
                    && !self.is_block(line)
                    && !self.has_answered(line)
                {
                    let found = "a BISnp left open at the Cmp of the write".into();
                    say("COH-BIC-08", line, found, "the answer from the state that the write left");
                }
            }
            _ => {}
        }
    }

    fn is_block(&self, line: LineAddr) -> bool {
        self.before.snooped(line).is_some_and(|(opcode, _)| opcode.is_block())
    }

    /// Tags of the BIConflicts of a line.
    fn conflicts(&self, line: LineAddr) -> Vec<u16> {
        let tags = self.out.sends.iter().filter_map(|(_, m)| match m {
            Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, line: of, tag, .. } if *of == line => Some(*tag),
            _ => None,
        });
        tags.collect()
    }

    /// A plain BIRsp for the line, or the write back that comes before it, has left.
    fn has_answered(&self, line: LineAddr) -> bool {
        self.out.sends.iter().any(|(_, m)| match m {
            Msg::M2sBirsp { opcode, low_addr, .. } => !opcode.is_block() && u64::from(*low_addr) == line.0 & 3,
            Msg::M2sRwd { opcode, line: of, .. } => *opcode != M2sRwdOpcode::BIConflict && *of == line,
            _ => false,
        })
    }

    /// A MemWr says what the host keeps.
    fn check_writes(&self, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        for (_, m) in &self.out.sends {
            let Msg::M2sRwd { opcode, meta, line, .. } = *m else { continue };
            let most = match meta {
                _ if opcode == M2sRwdOpcode::BIConflict => continue,
                MetaValue::Invalid => Copy4::I,
                MetaValue::Shared => Copy4::S,
                _ => Copy4::M,
            };
            let kept = self.after.copy(line).state;
            if kept > most {
                let found = format!("{} kept although the MetaValue was {}", kept.letter(), meta.name().unwrap_or("?"));
                say("COH-MEM-01", line, found, "no more rights than MetaValue says");
            }
        }
    }

    /// What an answer to a back-invalidate says is true when it leaves.
    fn check_answers(&self, took: Option<&Msg<D>>, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        for (_, m) in &self.out.sends {
            let Msg::M2sBirsp { opcode, bi_tag, low_addr } = *m else { continue };
            let name = opcode.name().unwrap_or("?");
            let covered: Vec<LineAddr> = match took {
                Some(Msg::S2mBisnp { opcode, line, bi_tag: tag }) if *tag == bi_tag => lines_of(*opcode, *line),
                _ => self.before.lines().filter(|l| self.before.snooped(*l).is_some_and(|s| s.1 == bi_tag)).collect(),
            };
            if opcode.is_block() {
                let open = |l: &&LineAddr| self.after.snooped(**l).is_some() || self.after.is_writing(**l);
                if let Some(&line) = covered.iter().find(open) {
                    let found = format!("{name} although this line is not resolved");
                    say("COH-BLK-04", line, found, "every write-back ended and every conflict acknowledged first");
                }
                continue;
            }
            let Some(&line) = covered.iter().find(|l| l.0 & 3 == u64::from(low_addr)) else { continue };
            let dirty = self.before.copy(line).state == Copy4::M;
            if self.after.is_writing(line) || dirty {
                let found = format!("{name} before the Cmp of a write-back");
                say("COH-SFI-05", line, found.clone(), "MemWr, its Cmp, then BIRsp");
                say("COH-MEM-44", line, found, "a write is visible to later accesses when its Cmp has come");
            }
            let left = self.after.copy(line);
            if left.state == Copy4::I && left.data.is_some() {
                let found = format!("bytes kept of a copy that was lost to {name}");
                say("COH-SFI-10", line, found, "ownership without bytes");
            }
        }
    }

    fn snooped(
        &self,
        opcode: BisnpOpcode,
        first: LineAddr,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let lines = lines_of(opcode, first);
        let sent: usize = lines.iter().map(|l| self.conflicts(*l).len()).sum();
        for &line in &lines {
            let phase = self.before.phase(line);
            let conflicts = self.conflicts(line);
            let answered = self.has_answered(line);
            match phase {
                Phase::Asked | Phase::Evicting => {
                    let tag = self.before.asked(line).map(|a| a.0);
                    if conflicts.len() != 1 || conflicts.first().copied() != tag || answered {
                        let rule = if conflicts.is_empty() && sent > 0 { "COH-BIC-10" } else { "COH-BIC-01" };
                        let found = format!("{}, while {}", sent_conflicts(&conflicts), open_tag(tag));
                        say(
                            rule,
                            line,
                            found.clone(),
                            "one BIConflict on RwD with the Tag of the Req, and no answer yet",
                        );
                        if conflicts.first().copied().is_some_and(|own| Some(own) != tag) {
                            say("COH-IDS-03", line, found, "the Tag of the pending Req");
                        }
                    }
                }
                Phase::Idle | Phase::Granted => {
                    let waits = phase == Phase::Granted;
                    if !conflicts.is_empty() || waits && answered || !waits && !answered && !opcode.is_block() {
                        let found = format!(
                            "{} and {}",
                            sent_conflicts(&conflicts),
                            if answered { "an answer" } else { "no answer" }
                        );
                        say(
                            "COH-BIC-09",
                            line,
                            found,
                            "a plain answer after the fill, because the Cmp came before the BISnp",
                        );
                    }
                }
                Phase::Writing if !conflicts.is_empty() || answered => {
                    let found = format!(
                        "{} and {}",
                        sent_conflicts(&conflicts),
                        if answered { "an answer" } else { "no answer" }
                    );
                    say("COH-BIC-08", line, found, "the answer after the Cmp of the write, no handshake");
                }
                _ => {}
            }
        }
    }

    fn acked(&self, tag: u16, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        let Some(line) = self.before.disputed(tag) else { return };
        let must = !self.is_block(line);
        let answered = self.has_answered(line);
        let request = self.before.asked(line);
        if self.before.phase(line) == Phase::Conflict {
            let evict = request.is_some_and(|a| a.1 == M2sReqOpcode::MemClnEvct);
            let rule = if evict { "COH-BIC-06" } else { "COH-BIC-05" };
            if must && !answered {
                say(
                    rule,
                    line,
                    "no answer when BIConflictAck came before any Cmp".into(),
                    "the answer from the old state",
                );
            }
            if self.after.asked(line).is_none() {
                say(rule, line, "the request given up when BIConflictAck came".into(), "a request that goes on");
            }
        } else if request.is_some() || self.before.due(line) != HostAccess::Nothing {
            if answered {
                let found = "an answer from the old state after a completion".into();
                say("COH-BIC-04", line, found, "the fill, one access, then the answer from the new state");
            }
        } else if must && !answered {
            say(
                "COH-BIC-07",
                line,
                "no answer when BIConflictAck came after the request had ended".into(),
                "the answer at once",
            );
        }
    }
}

/// Lines that a BISnp covers.
fn lines_of(opcode: BisnpOpcode, line: LineAddr) -> Vec<LineAddr> {
    let (first, count) = if opcode.is_block() { block_lines(line).unwrap_or((line, 0)) } else { (line, 1) };
    (0..count).map(|i| LineAddr(first.0 + i)).collect()
}

/// Conflicts that were sent for a line, in words.
fn sent_conflicts(tags: &[u16]) -> String {
    match tags {
        [] => "no BIConflict".to_owned(),
        [tag] => format!("a BIConflict with tag {tag:#x}"),
        tags => format!(
            "BIConflicts with tags {}",
            tags.iter().map(|tag| format!("{tag:#x}")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The tag of the request of a line that is open, in words.
fn open_tag(tag: Option<u16>) -> String {
    tag.map_or_else(|| "no request is open".to_owned(), |tag| format!("the request with tag {tag:#x} is open"))
}
