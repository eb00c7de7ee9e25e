//! Back-invalidate snoops of CXL.mem and their answers.

use super::requests::{Conflict, OpenRequest, Request};
use super::{CxlMemTransactions, FlitPlace, Waiting, flit};
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::mem::host::block_lines;
use scalepool_coherence::mem::tables;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::BirspOpcode;
use scalepool_protocols::cxl::message::{M2sBirsp, S2mBisnp};
use scalepool_protocols::rules;

/// What both ends know a snoop by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BackInvalidateSnoop {
    pub link: usize,
    /// Ports of a fabric of the device that asks and of the host, 0 without one.
    pub device: u16,
    pub host: u16,
    pub bi_id: u16,
    pub bi_tag: u16,
}

/// A snoop with the lines that are not answered.
#[derive(Debug, Clone)]
pub(super) struct UnansweredSnoop {
    pub number: u64,
    pub message: S2mBisnp,
    pub unit: u64,
    pub lines: OrderedSet<LineAddr>,
    /// Lines with an answer of their own.
    pub answered: usize,
}

impl UnansweredSnoop {
    /// `BISnpInv of 0x1000 in flit 3 up`.
    fn in_words(&self) -> String {
        let name = self.message.opcode.name().unwrap_or("?");
        format!("{name} of {:#x} in {}", self.message.address, flit(self.unit, Dir::Up))
    }
}

impl BackInvalidateSnoop {
    pub(super) fn in_words(self) -> String {
        format!("BITag {:#x} of BI-ID {:#x}", self.bi_tag, self.bi_id)
    }
}

/// `1 line`, `3 lines`.
pub(super) fn counted(lines: usize) -> String {
    format!("{lines} line{}", if lines == 1 { "" } else { "s" })
}

impl CxlMemTransactions {
    pub(super) fn snoop(&mut self, link: usize, unit: u64, message: &S2mBisnp) {
        let &S2mBisnp { opcode, bi_id, bi_tag, address, spid, dpid, .. } = message;
        let line = LineAddr::of_address(address);
        let covered = if opcode.is_block() { block_lines(line) } else { Some((line, 1)) };
        // The link has told of a block that covers nothing.
        let Some((first, count)) = covered else { return };
        let snoop = BackInvalidateSnoop { link, device: spid, host: dpid, bi_id, bi_tag };
        let lines = (first.0..first.0 + count).map(LineAddr).collect();
        let open = UnansweredSnoop { number: self.ledger.number(), message: *message, unit, lines, answered: 0 };
        let of_tag = self.snoops.entry(snoop).or_default();
        let older = of_tag.first().map(|older| (older.in_words(), counted(older.lines.len())));
        of_tag.push(open);
        if let Some((older, left)) = older {
            let found = format!("{} with {}", opcode.name().unwrap_or("?"), snoop.in_words());
            let expected = format!("a BITag that is free: {older} waits for BIRsp to {left}");
            self.say("TXN-TAG-04", (link, Dir::Up, unit), Some(address), found, expected);
        }
        self.ledger.wait(Waiting::Snoop(snoop));
    }

    /// `host`: the one that answers, among those of the link.
    pub(super) fn snoop_answer(&mut self, (link, host): (usize, u16), unit: u64, message: &M2sBirsp) {
        let &M2sBirsp { opcode, bi_id, bi_tag, low_addr, spid, dpid, .. } = message;
        let snoop = BackInvalidateSnoop { link, device: dpid, host: spid, bi_id, bi_tag };
        let at = (link, Dir::Down, unit);
        let name = opcode.name().unwrap_or("a reserved opcode");
        let found = format!("{name} with {}", snoop.in_words());
        let meant = |line: &LineAddr| line.0 & 3 == u64::from(low_addr);
        let Some(of_tag) = self.snoops.get_mut(&snoop) else {
            return self.say("TXN-TAG-02", at, None, found, "the BITag of a BISnp without its BIRsp");
        };
        let answered = |open: &UnansweredSnoop| {
            let part = open.message.opcode.is_block() && !opcode.is_block();
            open.lines.iter().copied().filter(|line| !part || meant(line)).collect::<Vec<_>>()
        };
        // Under a BITag that is open twice the line tells which one is answered.
        let is_meant = |open: &UnansweredSnoop| {
            open.message.opcode.is_block() || opcode.is_block() || open.lines.iter().any(meant)
        };
        let owes = |open: &UnansweredSnoop| !answered(open).is_empty();
        let first = of_tag.iter().position(|open| owes(open) && is_meant(open));
        let Some(n) = first.or_else(|| of_tag.iter().position(owes)) else {
            let (address, left) = (of_tag[0].message.address, of_tag[0].lines.len());
            let found = format!("{found} for line {low_addr} of the block");
            let expected = format!("BIRsp to {} of it", counted(left));
            return self.say("TXN-TAG-03", at, Some(address), found, expected);
        };
        let open = &mut of_tag[n];
        let lines = answered(open);
        let said = open.in_words();
        let (had, left) = (open.answered, open.lines.len());
        if !opcode.is_block() {
            open.answered += lines.len();
        }
        lines.iter().for_each(|line| {
            open.lines.remove(line);
        });
        let (asked, number, is_over) = (open.message, open.number, open.lines.is_empty());
        if is_over {
            of_tag.remove(n);
            self.ledger.end(number);
            self.snoops.retain(|_, all| !all.is_empty());
        }
        let is_of_host = |of: &Request| of.link == link && (of.port, of.ld_id.into()) == (spid, host);
        for open in self.open.iter_mut().filter(|(of, _)| is_of_host(of)).flat_map(|(_, all)| all) {
            if lines.contains(&LineAddr::of_address(open.address)) {
                open.acknowledged = None;
            }
        }
        let address = Some(asked.address);
        if !asked.opcode.is_block() && !opcode.is_block() && !lines.iter().any(meant) {
            let low = LineAddr::of_address(asked.address).0 & 3;
            let found = format!("{found} and LowAddr {low_addr}");
            self.say("COH-IDS-04", at, address, found, format!("LowAddr {low}, Addr[7:6] of {said}"));
        }
        if opcode.is_block() && had > 0 {
            let expected = format!("a plain BIRsp for each line, {} without one, for {said}", counted(left));
            self.say("COH-BLK-02", at, address, found.clone(), expected);
        }
        self.check_order(at, (spid, host), &lines, opcode, &found);
        if let Err(rule) = tables::check_answer(asked.opcode, opcode) {
            let why = rules::find(rule).map_or("", |rule| rule.text);
            let asked_name = asked.opcode.name().unwrap_or("?");
            let expected = format!("an answer to {asked_name}; {rule}: {why}");
            self.say("TXN-ANS-04", at, address, found, expected);
        }
    }

    /// What a host has to wait for before it answers: the acknowledgement of its BIConflict (`coherence` §3.5 step 1), and the Cmp of
    /// what it writes back (§3.4). Both pass in front of the answer everywhere. Behind BIRspE the host may write the line anew,
    /// and that write may pass the answer, so such an answer is not judged against writes.
    fn check_order(&mut self, at: FlitPlace, host: (u16, u16), lines: &[LineAddr], opcode: BirspOpcode, found: &str) {
        let is_of_host = |of: &Request| of.link == at.0 && (of.port, of.ld_id.into()) == host;
        let of_host = self.conflicts.iter_mut().filter(|(of, _)| is_of_host(of));
        let early = { of_host }.find_map(|(of, all)| {
            let is_of_line = |conflict: &&mut Conflict| lines.contains(&LineAddr::of_address(conflict.address));
            let conflict = all.iter_mut().find(is_of_line)?;
            conflict.is_passed = true;
            Some((conflict.address, format!("BIConflict in {} with {}", flit(conflict.unit, Dir::Down), of.in_words())))
        });
        if let Some((address, said)) = early {
            let expected = format!("BIConflictAck before it, for {said}");
            self.say("COH-BIC-01", at, Some(address), found.to_owned(), expected);
        }
        if tables::plain_answer(opcode) == BirspOpcode::BIRspE {
            return;
        }
        let of_host = self.open.iter().filter(|(of, _)| is_of_host(of));
        let open = { of_host }.find_map(|(of, all)| {
            let is_of_line = |open: &&OpenRequest| lines.contains(&LineAddr::of_address(open.address));
            let mut writes = all.iter().filter(|open| open.is_write_back && !open.completions().is_empty());
            let open = writes.find(is_of_line)?;
            Some((open.address, format!("Cmp before it, for {} with {}", open.in_words(), of.in_words())))
        });
        if let Some((address, expected)) = open {
            self.say("COH-SFI-05", at, Some(address), found.to_owned(), expected);
        }
    }
}
