//! Credits of the transaction layer (`ualink` §11).
//!
//! Modelled: four kinds of credit, each for the pool and for the four virtual channels; the sender's credit pool and
//! the receive buffers; what makes a flow-control field. A walk: the receiver owes credits for all its buffers at the start
//! and returns them in fields; the sender's pool fills; a transaction is paid with one command credit and one data credit a
//! beat, all of one target; whoever takes the transaction out of its buffers hands its [`TlHeldBuffers`] back, and the
//! receiver owes these credits again.

use scalepool_protocols::ualink::code::CreditTarget;
use scalepool_protocols::ualink::field::TlFc;
use scalepool_protocols::wire::Violation;

/// Requests or responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlClass {
    /// Originator to completer.
    Request,
    /// Completer to originator.
    Response,
}

impl TlClass {
    /// Both.
    pub const ALL: [TlClass; 2] = [TlClass::Request, TlClass::Response];

    /// Name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            TlClass::Request => "Request",
            TlClass::Response => "Response",
        }
    }

    /// 0 for requests, 1 for responses.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Where a credit belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlCreditTarget {
    /// Any virtual channel may use it.
    Pool,
    /// A virtual channel, 0 to 3.
    Vc(u8),
}

/// Pool and virtual channels.
pub const TARGETS: usize = 5;

impl TlCreditTarget {
    /// All: the pool, then the virtual channels.
    pub const ALL: [TlCreditTarget; TARGETS] = [
        TlCreditTarget::Pool,
        TlCreditTarget::Vc(0),
        TlCreditTarget::Vc(1),
        TlCreditTarget::Vc(2),
        TlCreditTarget::Vc(3),
    ];

    /// Place in a table of counts.
    pub const fn index(self) -> usize {
        match self {
            TlCreditTarget::Pool => 0,
            TlCreditTarget::Vc(vc) => 1 + (vc & 3) as usize,
        }
    }

    /// What the POOL and VCHAN fields of a request or response say.
    pub const fn of(pool: bool, vchan: u8) -> TlCreditTarget {
        if pool { TlCreditTarget::Pool } else { TlCreditTarget::Vc(vchan & 3) }
    }

    /// What a flow-control field says.
    const fn of_field(t: CreditTarget, vc: u8) -> TlCreditTarget {
        TlCreditTarget::of(t.0 == CreditTarget::Pool.0, vc)
    }

    fn field(self) -> (CreditTarget, u8) {
        match self {
            TlCreditTarget::Pool => (CreditTarget::Pool, 0),
            TlCreditTarget::Vc(vc) => (CreditTarget::Vc, vc),
        }
    }
}

/// Kinds of credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlCreditKind {
    /// One request.
    ReqCmd,
    /// One response.
    RspCmd,
    /// 64 bytes of originator data.
    ReqData,
    /// 64 bytes of read data.
    RspData,
}

impl TlCreditKind {
    /// All, in the order of the flow-control field.
    pub const ALL: [TlCreditKind; 4] =
        [TlCreditKind::ReqCmd, TlCreditKind::RspCmd, TlCreditKind::ReqData, TlCreditKind::RspData];

    /// Command credits of a class.
    pub const fn command(class: TlClass) -> TlCreditKind {
        match class {
            TlClass::Request => TlCreditKind::ReqCmd,
            TlClass::Response => TlCreditKind::RspCmd,
        }
    }

    /// Data credits of a class.
    pub const fn data(class: TlClass) -> TlCreditKind {
        match class {
            TlClass::Request => TlCreditKind::ReqData,
            TlClass::Response => TlCreditKind::RspData,
        }
    }

    /// Whether it pays for data.
    pub const fn is_data(self) -> bool {
        matches!(self, TlCreditKind::ReqData | TlCreditKind::RspData)
    }

    /// Most that one field returns: three bits for commands, five for data.
    pub const fn most(self) -> u16 {
        if self.is_data() { 31 } else { 7 }
    }

    /// Name in events and reports.
    pub const fn name(self) -> &'static str {
        match self {
            TlCreditKind::ReqCmd => "request",
            TlCreditKind::RspCmd => "response",
            TlCreditKind::ReqData => "request data",
            TlCreditKind::RspData => "response data",
        }
    }
}

/// A count for each kind and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TlCreditCounts(pub [[u16; TARGETS]; 4]);

impl TlCreditCounts {
    /// The same for every virtual channel; commands and data, for the pool and for each channel.
    pub fn even(pool: [u16; 2], each_vc: [u16; 2]) -> TlCreditCounts {
        let row = |what: usize| [pool[what], each_vc[what], each_vc[what], each_vc[what], each_vc[what]];
        TlCreditCounts([row(0), row(0), row(1), row(1)])
    }

    /// One count.
    pub fn of(&self, kind: TlCreditKind, target: TlCreditTarget) -> u16 {
        self.0[kind as usize][target.index()]
    }

    /// Changes one count.
    pub fn at(&mut self, kind: TlCreditKind, target: TlCreditTarget) -> &mut u16 {
        &mut self.0[kind as usize][target.index()]
    }

    /// Whether all are 0.
    pub fn is_zero(&self) -> bool {
        *self == TlCreditCounts::default()
    }

    /// Sum over all targets of each kind, as figures name them.
    pub fn by_kind(&self) -> [(String, u64); 4] {
        TlCreditKind::ALL.map(|kind| {
            let all = self.0[kind as usize].iter().map(|&n| u64::from(n)).sum();
            (kind.name().replace(' ', "_"), all)
        })
    }

    /// Sum of all.
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().map(|&n| u64::from(n)).sum()
    }
}

/// What a flow-control field returns.
pub fn returned(field: &TlFc) -> impl Iterator<Item = (TlCreditKind, TlCreditTarget, u16)> {
    let each = [
        (TlCreditKind::ReqCmd, TlCreditTarget::of_field(field.req_cmd_t, field.req_cmd_vc), field.req_cmd_cnt),
        (TlCreditKind::RspCmd, TlCreditTarget::of_field(field.rsp_cmd_t, field.rsp_cmd_vc), field.rsp_cmd_cnt),
        (TlCreditKind::ReqData, TlCreditTarget::of_field(field.req_data_t, field.req_data_vc), field.req_data_cnt),
        (TlCreditKind::RspData, TlCreditTarget::of_field(field.rsp_data_t, field.rsp_data_vc), field.rsp_data_cnt),
    ];
    each.into_iter().filter(|&(_, _, n)| n > 0).map(|(kind, target, n)| (kind, target, u16::from(n)))
}

/// Buffers that a received transaction takes: what they were paid with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlHeldBuffers {
    /// Request or response.
    pub class: TlClass,
    /// Pool or virtual channel.
    pub target: TlCreditTarget,
    /// Buffers of 64 bytes, four at most.
    pub beats: u8,
    /// How often the link had been down.
    pub(super) epoch: u32,
}

/// Text of a count.
fn credits(n: u16, kind: TlCreditKind, target: TlCreditTarget) -> String {
    format!("{n} {} credits of {target:?}", kind.name())
}

fn event(rule: &'static str, found: String, expected: String, text: &str) -> Violation {
    Violation::at_byte(rule, 0, found, expected, text)
}

/// Data credits of the largest transaction, 256 bytes.
const MOST_BEATS: u16 = 4;

/// Data credits of a shared buffer that requests leave to responses, so that responses are never blocked by them: one
/// response of 256 bytes \[D\].
pub const SHARED_RESERVE_BEATS: u16 = MOST_BEATS;

/// Credits that the peer has given and that are not spent.
#[derive(Debug, Clone, Default)]
pub struct UalCreditPool {
    has: TlCreditCounts,
    /// What the peer gave before its message 0x01: all that there is.
    total: TlCreditCounts,
    /// Credits that the peer has given, by kind, all from the start.
    received: [u64; 4],
    open: bool,
    shared: bool,
}

impl UalCreditPool {
    /// Credits to spend.
    pub fn has(&self) -> &TlCreditCounts {
        &self.has
    }

    /// What the peer gave at the start.
    pub fn total(&self) -> &TlCreditCounts {
        &self.total
    }

    /// Credits that the peer has given and that pay for a class, of commands and data, all from the start.
    pub fn received(&self, class: TlClass) -> u64 {
        let kinds = [TlCreditKind::command(class), self.account(TlCreditKind::data(class))];
        kinds.into_iter().map(|kind| self.received[kind as usize]).sum()
    }

    /// The peer has said that its initial credits are all there.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The peer keeps data of both classes in one buffer.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Message 0x01.
    pub fn open(&mut self, shared: bool) -> Option<Violation> {
        (self.open, self.shared) = (true, shared);
        let separate: u64 = self.total.0[TlCreditKind::RspData as usize].iter().map(|&n| u64::from(n)).sum();
        (shared && separate > 0).then(|| {
            let text = "initial response data credits are given although the data buffer is shared";
            event("UAL-CRD-08", format!("{separate} response data credits"), "0".into(), text)
        })
    }

    fn account(&self, kind: TlCreditKind) -> TlCreditKind {
        if self.shared && kind.is_data() { TlCreditKind::ReqData } else { kind }
    }

    /// A flow-control field returns credits.
    pub fn receive(&mut self, kind: TlCreditKind, target: TlCreditTarget, n: u16) -> Option<Violation> {
        if self.shared && kind == TlCreditKind::RspData {
            let text = "response data credits are returned although the data buffer is shared";
            return Some(event("UAL-CRD-08", credits(n, kind, target), "0".into(), text));
        }
        *self.has.at(kind, target) = self.has.of(kind, target).saturating_add(n);
        self.received[kind as usize] += u64::from(n);
        if !self.open {
            *self.total.at(kind, target) = self.total.of(kind, target).saturating_add(n);
            return None;
        }
        let (has, total) = (self.has.of(kind, target), self.total.of(kind, target));
        (has > total).then(|| {
            *self.has.at(kind, target) = total;
            let (rule, text) = match kind.is_data() {
                true => ("UAL-CRD-03", "data credits are returned to another target than those of their command"),
                false => ("UAL-CRD-01", "more credits are returned than were spent"),
            };
            event(rule, credits(has, kind, target), credits(total, kind, target), text)
        })
    }

    /// The target that can pay for a transaction: its virtual channel, else the pool.
    pub fn payer(&self, class: TlClass, vchan: u8, beats: u16) -> Option<TlCreditTarget> {
        let reserve = match class {
            TlClass::Request if self.shared && beats > 0 => SHARED_RESERVE_BEATS,
            _ => 0,
        };
        let data = self.account(TlCreditKind::data(class));
        [TlCreditTarget::Vc(vchan & 3), TlCreditTarget::Pool].into_iter().find(|&target| {
            self.has.of(TlCreditKind::command(class), target) > 0
                && (beats == 0 || self.has.of(data, target) >= beats + reserve)
        })
    }

    /// What is missing to pay for a transaction.
    pub fn lacks(&self, class: TlClass, target: TlCreditTarget, beats: u16) -> Vec<Violation> {
        let price = [(TlCreditKind::command(class), 1), (self.account(TlCreditKind::data(class)), beats)];
        let missing = price.into_iter().filter(|&(kind, n)| self.has.of(kind, target) < n);
        let told = missing.map(|(kind, n)| {
            let has = credits(self.has.of(kind, target), kind, target);
            event("UAL-CRD-06", credits(n, kind, target), has, "a transaction is sent without credits")
        });
        told.collect()
    }

    /// Pays.
    pub fn spend(&mut self, class: TlClass, target: TlCreditTarget, beats: u16) {
        let data = self.account(TlCreditKind::data(class));
        for (kind, n) in [(TlCreditKind::command(class), 1), (data, beats)] {
            *self.has.at(kind, target) = self.has.of(kind, target).saturating_sub(n);
        }
    }
}

/// The receiver's buffers.
#[derive(Debug, Clone)]
pub struct UalReceiveBuffers {
    buffers: TlCreditCounts,
    shared: bool,
    /// What the peer may spend.
    granted: TlCreditCounts,
    /// What has to be given to the peer.
    due: TlCreditCounts,
    /// Where the search for a target goes on, by kind.
    next: [usize; 4],
}

impl UalReceiveBuffers {
    /// Empty buffers, all of them owed to the peer. A shared data buffer has the size of both together.
    pub fn new(buffers: TlCreditCounts, shared: bool) -> UalReceiveBuffers {
        let mut buffers = buffers;
        if shared {
            for target in TlCreditTarget::ALL {
                *buffers.at(TlCreditKind::ReqData, target) += std::mem::take(buffers.at(TlCreditKind::RspData, target));
            }
        }
        UalReceiveBuffers { buffers, shared, granted: TlCreditCounts::default(), due: buffers, next: [0; 4] }
    }

    /// What the peer may spend, as far as this end knows.
    pub fn granted(&self) -> &TlCreditCounts {
        &self.granted
    }

    /// What has to be given to the peer.
    pub fn due(&self) -> &TlCreditCounts {
        &self.due
    }

    fn account(&self, kind: TlCreditKind) -> TlCreditKind {
        if self.shared && kind.is_data() { TlCreditKind::ReqData } else { kind }
    }

    /// A transaction arrives.
    pub fn accept(&mut self, class: TlClass, target: TlCreditTarget, beats: u16) -> Vec<Violation> {
        let mut found = Vec::new();
        for (kind, n) in [(TlCreditKind::command(class), 1), (self.account(TlCreditKind::data(class)), beats)] {
            let granted = self.granted.of(kind, target);
            if n > granted {
                let (rule, text) = match self.buffers.of(kind, target) {
                    0 => ("UAL-CRD-01", "a transaction is received on credits of a pool or channel that has none"),
                    _ => ("UAL-CRD-06", "a transaction is received although its sender has no credits"),
                };
                found.push(event(rule, credits(n, kind, target), credits(granted, kind, target), text));
            }
            *self.granted.at(kind, target) = granted.saturating_sub(n);
        }
        found
    }

    /// A transaction has left its buffers.
    pub fn release(&mut self, held: &TlHeldBuffers) {
        let data = self.account(TlCreditKind::data(held.class));
        for (kind, n) in [(TlCreditKind::command(held.class), 1), (data, held.beats.into())] {
            // A transaction that came without credit gives none back.
            let room = self.buffers.of(kind, held.target)
                - self.granted.of(kind, held.target)
                - self.due.of(kind, held.target);
            *self.due.at(kind, held.target) += n.min(room);
        }
    }

    /// Something that the peer could wait for is owed: more than a field returns, or a channel with little left, in the pool
    /// too. The buffers of a channel are spent before those of the pool: that they are spent makes nobody wait.
    pub fn is_urgent(&self) -> bool {
        // Most TL flits find nothing owed.
        !self.due.is_zero() && self.has_urgent()
    }

    fn has_urgent(&self) -> bool {
        // Of most kinds nothing is owed.
        let mut owed = TlCreditKind::ALL.into_iter().filter(|&kind| self.due.0[kind as usize] != [0; TARGETS]);
        owed.any(|kind| {
            let is_due = |target: TlCreditTarget| self.due.of(kind, target) > 0;
            let is_low = |target: TlCreditTarget| self.granted.of(kind, target) < self.low_water(kind, target);
            let dry = |payers: [TlCreditTarget; 2]| payers.into_iter().all(is_low) && payers.into_iter().any(is_due);
            TlCreditTarget::ALL
                .into_iter()
                .any(|target| self.due.of(kind, target) > kind.most() || dry([target, TlCreditTarget::Pool]))
        })
    }

    /// Fewer credits are little: a quarter of the buffers, and what the largest transaction takes.
    fn low_water(&self, kind: TlCreditKind, target: TlCreditTarget) -> u16 {
        let largest = match kind.is_data() {
            true if self.shared => MOST_BEATS + SHARED_RESERVE_BEATS,
            true => MOST_BEATS,
            false => 1,
        };
        (self.buffers.of(kind, target) / 4).max(largest)
    }

    /// The next flow-control field: one target a kind, those of a kind in turn.
    pub fn next_field(&mut self) -> Option<TlFc> {
        if self.due.is_zero() {
            return None;
        }
        let mut fc = TlFc::default();
        for kind in TlCreditKind::ALL {
            let (start, due) = (self.next[kind as usize], &self.due.0[kind as usize]);
            let behind = (start..TARGETS).find(|&n| due[n] > 0);
            let Some(at) = behind.or_else(|| (0..start).find(|&n| due[n] > 0)) else { continue };
            let target = TlCreditTarget::ALL[at];
            self.next[kind as usize] = (at + 1) % TARGETS;
            let n = self.due.of(kind, target).min(kind.most());
            *self.due.at(kind, target) -= n;
            *self.granted.at(kind, target) += n;
            let ((t, vc), n) = (target.field(), n as u8);
            match kind {
                TlCreditKind::ReqCmd => (fc.req_cmd_t, fc.req_cmd_vc, fc.req_cmd_cnt) = (t, vc, n),
                TlCreditKind::RspCmd => (fc.rsp_cmd_t, fc.rsp_cmd_vc, fc.rsp_cmd_cnt) = (t, vc, n),
                TlCreditKind::ReqData => (fc.req_data_t, fc.req_data_vc, fc.req_data_cnt) = (t, vc, n),
                TlCreditKind::RspData => (fc.rsp_data_t, fc.rsp_data_vc, fc.rsp_data_cnt) = (t, vc, n),
            }
        }
        (!fc.is_empty()).then_some(fc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paid(buffers: &mut UalReceiveBuffers, target: TlCreditTarget, requests: u16) {
        for _ in 0..requests {
            assert_eq!(buffers.accept(TlClass::Request, target, 4), []);
            buffers.release(&TlHeldBuffers { class: TlClass::Request, target, beats: 4, epoch: 0 });
        }
    }

    /// A place for credits is taken from requests and responses only for what the peer could wait for.
    #[test]
    fn credits_of_a_spent_channel_are_not_urgent_while_the_pool_pays() {
        let mut buffers = UalReceiveBuffers::new(TlCreditCounts::even([64, 256], [4, 16]), false);
        while buffers.next_field().is_some() {}
        assert!(!buffers.is_urgent(), "all are given");
        paid(&mut buffers, TlCreditTarget::Vc(0), 4);
        assert!(!buffers.is_urgent(), "channel 0 has none, the pool has all");
        paid(&mut buffers, TlCreditTarget::Pool, 4);
        assert!(!buffers.is_urgent(), "what is due fits in one field of each");
        paid(&mut buffers, TlCreditTarget::Pool, 4);
        assert!(buffers.is_urgent(), "32 data credits are more than a field returns");

        let mut buffers = UalReceiveBuffers::new(TlCreditCounts::even([0, 0], [4, 16]), false);
        while buffers.next_field().is_some() {}
        paid(&mut buffers, TlCreditTarget::Vc(0), 4);
        assert!(buffers.is_urgent(), "nothing else pays");

        // What is left is no quarter, but not enough for a transaction of 4 beats either.
        let mut buffers = UalReceiveBuffers::new(TlCreditCounts::even([8, 7], [0, 0]), false);
        while buffers.next_field().is_some() {}
        paid(&mut buffers, TlCreditTarget::Pool, 1);
        assert!(buffers.is_urgent());
    }

    /// Four virtual channels of the most buffers are more than 16 bits count.
    #[test]
    fn credits_of_all_targets_are_counted() {
        let mut pool = UalCreditPool::default();
        for target in TlCreditTarget::ALL {
            for _ in 0..1024 {
                assert_eq!(pool.receive(TlCreditKind::RspData, target, 16), None);
            }
        }
        let event = pool.open(true).expect("a shared buffer has one account");
        assert_eq!((event.rule, event.found.as_str()), ("UAL-CRD-08", "81920 response data credits"));
        assert!(pool.payer(TlClass::Response, 0, 1).is_none(), "no response commands were given");
    }
}
