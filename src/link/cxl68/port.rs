//! A 68B [`Cxl68End`] behind a port of the kernel: messages of agents in its own spelling, its signals, its open work.

use super::end::{Cxl68End, Stats};
use super::event::{LinkEvent, finding};
use super::form::Flit68;
use super::halves::is_half;
use super::retry::{LRSM, Local};
use crate::classes::ByClass;
use crate::coverage::Met;
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, channel_key, channel_name, figures, states};
use crate::hook::{Direction, Hooks};
use crate::line_time::{LineTime, LineTimeParts};
use crate::port::{Carries, CxlEnd, LinkEnd, PACKER_DEPTH, Reports};
use crate::protocol::LinkProtocol;
use scalepool_forms::FormError;
use scalepool_protocols::cxl::cxl68::message::Class as Class68;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Violation;

/// What the report of a run needs of an end.
#[derive(Debug, Clone)]
pub struct EndReport {
    /// Counters.
    pub stats: Stats,
    /// Messages that it may send, by [`Class68::index`].
    pub spend: [u16; 10],
    /// Credits granted to the peer that the peer has not used, by [`Class68::index`].
    pub granted: [u16; 10],
    /// Buffers with messages that nobody has taken, by [`Class68::index`].
    pub held: [u16; 10],
    /// Flits in the retry buffer.
    pub unacknowledged: u16,
    /// Flits received and not acknowledged.
    pub num_ack: u16,
    /// Bins and rows of the local retry machine that were met.
    pub coverage: Vec<Met>,
    /// The rule that stopped the link.
    pub halted: Option<&'static str>,
}

/// Group of coverage of the rows of the local retry state machine.
pub const LRSM_ROWS: &str = "LRSM row";

impl<U: Flit68> Reports for Cxl68End<U> {
    type Report = EndReport;

    fn report(&self) -> EndReport {
        let mut coverage = self.coverage().met();
        let bins = self.local().rows_taken.iter().enumerate().map(|(n, &taken)| (LRSM[n].name(), taken));
        coverage.push(Met { protocol: LinkProtocol::Cxl68.name(), group: LRSM_ROWS, bins: bins.collect() });
        EndReport {
            stats: *self.stats(),
            spend: self.credits().spend,
            granted: Class68::ALL.map(|class| self.credits().granted(class)),
            held: Class68::ALL.map(|class| self.credits().held(class)),
            unacknowledged: self.buffer().unacknowledged(),
            num_ack: self.num_ack(),
            coverage,
            halted: self.halted(),
        }
    }
}

/// Flits that may stay without an acknowledgement: one Ak is that of eight (`cxl-68b` §1.5).
pub(super) const OWED_FLITS: u16 = 8;

impl<U: Flit68> Cxl68End<U> {
    /// Places of its states in [`states::CXL68`].
    fn health_states(&self) -> [usize; 2] {
        if self.is_settled() {
            return [states::LINK_UP, Local::Normal as usize];
        }
        let retry = self.local().state;
        let link = match (self.halted(), retry) {
            (Some(_), _) => states::LINK_STOPPED,
            (None, Local::PhyReinit) => states::LINK_TRAINING,
            (None, _) if !self.is_up() => states::LINK_INIT,
            (None, _) => states::LINK_UP,
        };
        [link, retry as usize]
    }
}

impl<U: Flit68> LinkEnd for Cxl68End<U> {
    type Unit = U;

    const SIGNALS: &'static [(&'static str, u32)] = &[
        ("lrsm", 3),
        ("eseq", 8),
        ("num_ack", 9),
        ("num_free_buf", 9),
        ("wr_ptr", 8),
        ("rd_ptr", 8),
        ("credits_waiting", 16),
        ("rollover", 6),
    ];

    fn protocol(&self) -> &'static str {
        "cxl-68b"
    }

    fn unit(&self, bytes: &[u8]) -> Result<U, FormError> {
        U::from_bytes(bytes)
    }

    fn receive(&mut self, unit: &U, now_flits: u64) {
        U::receive(self, unit, now_flits);
    }

    fn take_in(&mut self, unit: &mut U, now_flits: u64) {
        U::receive(self, unit, now_flits);
        self.keep_spare(unit);
    }

    fn transmit(&mut self, now_flits: u64) -> Option<U> {
        Cxl68End::transmit(self, now_flits)
    }

    fn uses(&self) -> LineTimeParts {
        Cxl68End::uses(self)
    }

    #[inline]
    fn account(&self, unit_bits: u64, time: &mut LineTime) {
        time.add_plain(unit_bits, self.plain_uses());
    }

    fn fruitless(&self) -> u32 {
        Cxl68End::fruitless(self)
    }

    fn is_done(&self) -> bool {
        Cxl68End::is_done(self)
    }

    fn phy_down(&mut self) {
        Cxl68End::phy_down(self);
    }

    fn phy_up(&mut self) {
        Cxl68End::phy_up(self);
    }

    fn take_retrain_request(&mut self) -> bool {
        Cxl68End::take_retrain_request(self)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Cxl68End::take_events(self)
    }

    fn has_events(&self) -> bool {
        Cxl68End::has_events(self)
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        Cxl68End::attach_hooks(self, hooks);
    }

    fn hooks(&self) -> &Hooks {
        Cxl68End::hooks(self)
    }

    fn halted(&self) -> Option<&'static str> {
        Cxl68End::halted(self)
    }

    fn is_quiet(&self) -> bool {
        Cxl68End::is_quiet(self)
    }

    fn values(&self) -> Vec<u64> {
        let buffer = self.buffer();
        let lrsm = Local::ALL.iter().position(|&s| s == self.local().state).unwrap_or(0) as u64;
        vec![
            lrsm,
            self.eseq().into(),
            self.num_ack().into(),
            buffer.num_free().into(),
            buffer.wr_ptr().into(),
            buffer.rd_ptr().into(),
            self.credits().pending().into(),
            self.rollover() as u64,
        ]
    }

    fn pass_time(&mut self, now_flits: u64) {
        let [link, retry] = self.health_states();
        self.times.pass(now_flits, link, retry);
    }

    fn health(&self, now_flits: u64) -> LinkHealth {
        let (stats, buffer) = (self.stats(), self.buffer());
        let mut health = LinkHealth::default();
        let [link, retry] = self.health_states();
        self.times.fill(&mut health, now_flits, link, retry);
        health.number(&figures::RETRY_TRIES, self.local().num_retry);
        health.number(&figures::SENT_FLITS, stats.sent);
        health.number(&figures::RECEIVED_FLITS, self.received());
        health.number(&figures::NEXT_NUMBER, buffer.wr_ptr());
        health.number(&figures::EXPECTED_NUMBER, self.eseq());
        health.number(&figures::UNACKNOWLEDGED_FLITS, buffer.unacknowledged());
        health.number(&figures::REPLAYS, stats.replays);
        health.number(&figures::REPLAYED_FLITS, stats.replayed);
        health.number(&figures::NAKS_SENT, stats.retries);
        health.number(&figures::NAKS_RECEIVED, stats.reqs_heard);
        health.number(&figures::CRC_ERRORS, stats.crc_errors);
        health.number(&figures::FRAMING_ERRORS, stats.pid_errors);
        health.number(&figures::DISCARDED_FLITS, stats.discarded);
        health.number(&figures::TRAININGS, stats.trainings);
        health.number(&figures::CREDIT_STALLS, stats.credit_stalls);
        let down = self.config().dir;
        let of = |is_sent: bool, count: &dyn Fn(Class68) -> u64| {
            let classes = Class68::ALL.into_iter().filter(|class| (class.dir() == down) == is_sent);
            classes.map(|class| (channel_key(class.def().name).to_owned(), count(class))).collect::<Vec<_>>()
        };
        health.each(&figures::MESSAGES_WAITING, of(true, &|class| Cxl68End::waiting(self, class) as u64));
        health.each(&figures::CREDITS, of(true, &|class| self.credits().spend[class.index()].into()));
        health.each(&figures::CREDITS_GIVEN, of(false, &|class| self.credits().granted(class).into()));
        health
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, channel: &str, waiting: u64, progress: u64| {
            each(LinkWait { kind, by: Direction::Rx, channel, waiting, is_passed: false, progress });
        };
        if self.halted().is_some() {
            return;
        }
        if !self.is_up() {
            wait(WaitKind::Up, "", 0, 0);
        }
        let (buffer, open) = (self.buffer(), self.buffer().unacknowledged());
        if open >= OWED_FLITS {
            wait(
                WaitKind::Acknowledgement,
                "",
                open.into(),
                buffer.after(buffer.wr_ptr(), buffer.modulus() - open).into(),
            );
        }
        // Until its own timer has run out, the end waits for what the line may have lost: a RETRY.Req or its RETRY.Ack. From
        // the second request on it waits for the peer.
        if matches!(self.local().state, Local::LlrReq | Local::LocalIdle) && self.local().num_retry >= 2 {
            wait(WaitKind::Replay, "", self.eseq().into(), self.eseq().into());
        }
        for class in Class68::ALL {
            let waiting = Cxl68End::waiting(self, class) as u64;
            if waiting > 0 && self.credits().spend[class.index()] == 0 {
                let progress = self.credits().received(class);
                wait(WaitKind::Credit, &channel_name(class.def().name), waiting, progress);
            }
        }
    }

    fn report_repairs(&mut self) {
        self.reports_repairs = true;
    }

    fn open_work(&self) -> String {
        let waiting: usize = Class68::ALL.iter().map(|&c| Cxl68End::waiting(self, c)).sum();
        format!(
            "{waiting} messages to send, {} received and not taken, LRSM {}, {} credits to return",
            self.inbox_len(),
            self.local().state.name(),
            self.credits().pending()
        )
    }
}

impl<U: Flit68> CxlEnd for Cxl68End<U> {
    fn expects(&self) -> u8 {
        self.eseq()
    }

    fn peer_expects(&mut self, number: u8) {
        Cxl68End::peer_expects(self, number);
    }

    fn hold_credits(&mut self, hold: bool) {
        Cxl68End::hold_credits(self, hold);
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        Cxl68End::wakes_at(self, now_flits)
    }

    fn take_hot_reset(&mut self) -> bool {
        self.statuses_mut().take_hot_reset()
    }

    fn peer_resets(&mut self) {
        self.hot_reset();
    }
}

impl<U: Flit68> ByClass for Cxl68End<U> {
    fn has_received(&self) -> bool {
        self.inbox_len() > 0
    }

    fn take_class(&mut self, class: Class) -> Option<Message> {
        // A snoop stays behind responses that came before it (`coherence` §2.6 O1).
        if class == Class::H2dReq && self.arrived_before(Class68::H2dRsp, Class68::H2dReq) {
            return None;
        }
        let class = class.on_cxl68()?;
        loop {
            let message = Cxl68End::take_class(self, class)?;
            let item = U::message(&message);
            let whole = if is_half(&message) { self.halves.join(item) } else { Some(item) };
            if whole.is_some() {
                return whole;
            }
        }
    }

    fn waits(&self, class: Class) -> usize {
        class.on_cxl68().map_or(0, |class| Cxl68End::waiting(self, class))
    }

    fn damaged(&self) -> u64 {
        let stats = self.stats();
        stats.crc_errors + stats.pid_errors
    }

    fn tell(&mut self, status: LinkStatus) {
        match status {
            LinkStatus::Viral(logical_devices) => self.set_viral(logical_devices),
            LinkStatus::ViralOver => self.clear_viral(),
            LinkStatus::HotReset => self.statuses_mut().ask_hot_reset(),
        }
    }

    fn take_heard(&mut self) -> Option<LinkStatus> {
        self.statuses_mut().take_heard()
    }
}

#[cold]
fn not_sent(text: &str) -> Violation {
    finding("CXL68-MSG-13", "an illegal message", "a legal one", text)
}

impl<U: Flit68> Carries<Message> for Cxl68End<U> {
    fn has_room(&self, message: &Message) -> bool {
        message.class().on_cxl68().map_or(0, |class| Cxl68End::waiting(self, class)) < PACKER_DEPTH
    }

    fn has_room_for_any(&self) -> bool {
        self.queued() < PACKER_DEPTH
    }

    #[inline]
    fn send(&mut self, message: Message) -> Result<(), Violation> {
        U::queue(self, message).map_err(|text| not_sent(&text))
    }

    #[inline]
    fn send_taken(&mut self, item: &mut Option<Message>) -> Result<(), Violation> {
        item.as_mut().map_or(Ok(()), |message| U::queue_in_place(self, message).map_err(|text| not_sent(&text)))
    }

    #[inline]
    fn has_arrivals(&self) -> bool {
        self.inbox_len() > 0
    }

    #[inline]
    fn take(&mut self) -> Option<Message> {
        self.take_as(U::message)
    }

    #[inline]
    fn take_whole(&mut self) -> Option<Message> {
        while self.is_half_next() {
            let half = self.take_as(U::message)?;
            let whole = self.halves.join(half);
            if whole.is_some() {
                return whole;
            }
        }
        self.take_as(U::message)
    }

    #[inline]
    fn give_whole(&mut self, give: impl FnOnce(Message)) -> bool {
        if self.is_half_next() {
            return self.take_whole().map(give).is_some();
        }
        self.take_as(|message| give(U::message(message))).is_some()
    }
}
