//! Credits of both directions beside a link (`ualink` §11), for a watcher of one end.
//!
//! Modelled: what each side has given to the other one and what that has spent, message 0x01, catch buffers. Left out: when a
//! buffer is free again. A walk through one flit: [`Books::received`] and [`Books::sent`] take the TL flits that are whole; a
//! flow-control field gives credits to the other side, a request or response is paid with the credits of its own side.

use super::CATCH;
use super::credit::{TARGETS, TlClass, TlCreditCounts, TlCreditKind, TlCreditTarget, UalCreditPool, returned};
use super::transfer::held;
use scalepool_protocols::ualink::code::HalfType;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::{Control, ControlField};
use scalepool_protocols::ualink::half::HALF_BYTES;
use scalepool_protocols::ualink::stream::UalDecodedFlit;
use scalepool_protocols::ualink::unpack::{HalfRole, TlRead};
use scalepool_protocols::wire::{At, Violation};

/// One side as a sender.
#[derive(Debug, Clone, Default)]
struct TlSender {
    /// Credits that it may spend.
    credits: UalCreditPool,
    /// It has sent message 0x01.
    done: bool,
    /// Levels of the other side's catch buffers.
    catch: [u16; 2],
    /// Transactions that it has sent, by [`TlClass::index`].
    transactions: [u64; 2],
    /// Targets that have paid for some of a class, and whether with data.
    payers: [[bool; TARGETS]; 2],
    data_payers: [[bool; TARGETS]; 2],
}

/// Both sides: the peer, the end that is watched.
#[derive(Debug, Clone)]
pub struct Books {
    codec: UalConfig,
    sides: [TlSender; 2],
}

const PEER: usize = 0;
const END: usize = 1;

impl Books {
    /// Both sides have nothing.
    pub fn new(codec: UalConfig) -> Books {
        Books { codec, sides: Default::default() }
    }

    /// The next flit of the stream that comes to the end; what it breaks, with places in the flit.
    pub fn received(&mut self, decoded: &UalDecodedFlit) -> Vec<Violation> {
        self.flit(PEER, decoded)
    }

    /// The next flit of the stream that the end sends; what it breaks, with places in the flit.
    pub fn sent(&mut self, decoded: &UalDecodedFlit) -> Vec<Violation> {
        self.flit(END, decoded)
    }

    /// Credits that the end may spend, and those that it has given and its peer has not spent.
    pub fn credits(&self) -> [&TlCreditCounts; 2] {
        [END, PEER].map(|side| self.sides[side].credits.has())
    }

    /// Whether none of the targets that have paid for transactions of a class, of the peer (0) or of the end (1), can pay for
    /// another one with these credits.
    pub fn is_dry(&self, class: TlClass, side: usize, has: &TlCreditCounts) -> bool {
        let (payers, data_payers) =
            (self.sides[side].payers[class.index()], self.sides[side].data_payers[class.index()]);
        TlCreditTarget::ALL.into_iter().filter(|target| payers[target.index()]).all(|target| {
            let lacks_data = data_payers[target.index()] && has.of(TlCreditKind::data(class), target) == 0;
            has.of(TlCreditKind::command(class), target) == 0 || lacks_data
        })
    }

    /// Transactions of a class that the peer and the end have sent.
    pub fn transactions(&self, class: TlClass) -> [u64; 2] {
        [PEER, END].map(|side| self.sides[side].transactions[class.index()])
    }

    fn flit(&mut self, from: usize, decoded: &UalDecodedFlit) -> Vec<Violation> {
        let mut all = Vec::new();
        for (item, here) in decoded.finished.iter().map(|tl| (tl, false)).chain(decoded.tl.iter().map(|tl| (tl, true)))
        {
            let Some(read) = &item.read else { continue };
            // A place in a TL flit that began earlier is none of this flit.
            let byte = |byte| if here { item.piece.flit_byte(byte) } else { 0 };
            all.extend(self.tl_flit(from, read).into_iter().map(|(at, v)| Violation { at: At::Byte(byte(at)), ..v }));
        }
        all
    }

    fn tl_flit(&mut self, from: usize, read: &TlRead) -> Vec<(usize, Violation)> {
        let mut found = Vec::new();
        let fields = read.control.as_ref().map_or([0; 2], |control| self.control(from, control, &mut found));
        for class in TlClass::ALL.map(TlClass::index) {
            let catch = &mut self.sides[from].catch[class];
            let level = *catch + fields[class];
            if level > CATCH[class] {
                let expected = format!("at most {}", CATCH[class]);
                let text = format!("too many {:?}s are sent for the catch buffer", TlClass::ALL[class]);
                found.push((0, Violation::at_byte("UAL-CRD-07", 0, level, expected, text)));
            }
            *catch = level.min(CATCH[class]).saturating_sub(1);
        }
        for (half, role) in read.roles.iter().enumerate() {
            let HalfRole::Message(message) = role else { continue };
            if message.kind == HalfType::InitialCreditsDone {
                let again = std::mem::replace(&mut self.sides[from].done, true);
                let text = "message 0x01 ends the initial credits a second time";
                let twice = again.then(|| Violation::at_byte("UAL-CRD-05", 0, "message 0x01 again", "once", text));
                let opened = (!again).then(|| self.sides[1 - from].credits.open(message.payload[0] & 1 == 1)).flatten();
                found.extend(twice.into_iter().chain(opened).map(|v| (half * HALF_BYTES, v)));
            }
        }
        found
    }

    /// Credits and payments of a Control half; transactions by class.
    fn control(&mut self, from: usize, control: &Control, found: &mut Vec<(usize, Violation)>) -> [u16; 2] {
        let mut transactions = [0; 2];
        let mut seen: Vec<(TlCreditKind, TlCreditTarget)> = Vec::new();
        for placed in &control.fields {
            let at = 4 * placed.sector;
            let mut broken = Vec::new();
            if let ControlField::FlowControl(fc) = &placed.field {
                for (kind, target, n) in returned(fc) {
                    if seen.contains(&(kind, target)) {
                        let text = format!("{} credits of {target:?} stand twice in one Control half", kind.name());
                        broken.push(Violation::at_byte("UAL-CRD-04", 0, "two fields", "one field", text));
                    }
                    seen.push((kind, target));
                    broken.extend(self.sides[1 - from].credits.receive(kind, target, n));
                }
            } else if let Some(held) = held(&placed.field, &self.codec, 0) {
                transactions[held.class.index()] += 1;
                let side = &mut self.sides[from];
                let class = held.class.index();
                side.transactions[class] += 1;
                side.payers[class][held.target.index()] = true;
                side.data_payers[class][held.target.index()] |= held.beats > 0;
                if !side.credits.is_open() || !side.done {
                    let text = "a transaction is sent before message 0x01 has gone both ways";
                    let layout = placed.field.def().name;
                    broken.push(Violation::at_byte("UAL-CRD-05", 0, layout, "credits, then message 0x01", text));
                }
                broken.extend(side.credits.lacks(held.class, held.target, held.beats.into()));
                side.credits.spend(held.class, held.target, held.beats.into());
            }
            found.extend(broken.into_iter().map(|v| (at, v)));
        }
        transactions
    }
}
