//! Back-invalidate snoops of CXL.mem and their answers.

use super::{CxlMemTransactions, Waiting};
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::mem::host::block_lines;
use scalepool_coherence::mem::tables;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::{M2sBirsp, S2mBisnp};
use scalepool_protocols::rules;

/// What both ends know a snoop by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Snoop {
    pub link: usize,
    /// Ports of a fabric of the device that asks and of the host, 0 without one.
    pub device: u16,
    pub host: u16,
    pub bi_id: u16,
    pub bi_tag: u16,
}

/// A snoop with the lines that are not answered.
#[derive(Debug, Clone)]
pub(super) struct OpenSnoop {
    pub number: u64,
    pub message: S2mBisnp,
    pub unit: u64,
    pub lines: OrderedSet<LineAddr>,
}

impl Snoop {
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
        let snoop = Snoop { link, device: spid, host: dpid, bi_id, bi_tag };
        let lines = (first.0..first.0 + count).map(LineAddr).collect();
        let open = OpenSnoop { number: self.ledger.number(), message: *message, unit, lines };
        self.snoops.entry(snoop).or_default().push(open);
        self.ledger.wait(Waiting::Snoop(snoop));
    }

    pub(super) fn snoop_answer(&mut self, link: usize, unit: u64, message: &M2sBirsp) {
        let &M2sBirsp { opcode, bi_id, bi_tag, low_addr, spid, dpid, .. } = message;
        let snoop = Snoop { link, device: dpid, host: spid, bi_id, bi_tag };
        let at = (link, Dir::Down, unit);
        let name = opcode.name().unwrap_or("a reserved opcode");
        let found = format!("{name} with {}", snoop.in_words());
        let meant = |line: &LineAddr| line.0 & 3 == u64::from(low_addr);
        let Some(of_tag) = self.snoops.get_mut(&snoop) else {
            return self.say("TXN-TAG-02", at, None, found, "the BITag of a BISnp without its BIRsp");
        };
        let answered = |open: &OpenSnoop| {
            let part = open.message.opcode.is_block() && !opcode.is_block();
            open.lines.iter().copied().filter(|line| !part || meant(line)).collect::<Vec<_>>()
        };
        let Some(n) = of_tag.iter().position(|open| !answered(open).is_empty()) else {
            let (address, left) = (of_tag[0].message.address, of_tag[0].lines.len());
            let found = format!("{found} for line {low_addr} of the block");
            let expected = format!("BIRsp to {} of it", counted(left));
            return self.say("TXN-TAG-03", at, Some(address), found, expected);
        };
        let open = &mut of_tag[n];
        let lines = answered(open);
        lines.iter().for_each(|line| {
            open.lines.remove(line);
        });
        let (asked, number, is_over) = (open.message, open.number, open.lines.is_empty());
        if is_over {
            of_tag.remove(n);
            self.ledger.end(number);
            self.snoops.retain(|_, all| !all.is_empty());
        }
        for open in self.open.values_mut().flatten() {
            if lines.contains(&LineAddr::of_address(open.address)) {
                open.acknowledged = None;
            }
        }
        if let Err(rule) = tables::check_answer(asked.opcode, opcode) {
            let why = rules::find(rule).map_or("", |rule| rule.text);
            let asked_name = asked.opcode.name().unwrap_or("?");
            let expected = format!("an answer to {asked_name}; {rule}: {why}");
            self.say("TXN-ANS-04", at, Some(asked.address), found, expected);
        }
    }
}
