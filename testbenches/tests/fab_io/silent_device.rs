//! A device that never answers a reset or a flush does not hold up the hierarchy that it is in.

use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::pm::{Happened, PmAgent, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool::endpoint::tlp::{Tlp, TlpForm};
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::link::io_ends::IoItem;
use scalepool::nodes::io::mode::FlexPort;
use scalepool::nodes::io::switch::hierarchy::{IoHierarchy, IoSide};
use scalepool::nodes::io::switch::{IoSeat, IoSwitch, IoSwitchConfig, IoSwitchPort, IoSwitchResult};
use scalepool::trace::Tap;
use std::sync::{Arc, Mutex};

const FORM: TlpForm = TlpForm::NonFlit;
/// When the host asks, once all agents have met, and when the switch gives a device up after that \[cycles\].
const ASKED: u64 = 200;
const TIMEOUT: u64 = 500;

/// What stands at a port: its agent, which is not told of anything from the cycle on in which it falls silent.
struct End {
    agent: PmAgent,
    asks: Option<PmRequest>,
    silent_from: u64,
    tx: Out<IoItem>,
    rx: In<IoItem>,
    /// Times at which the host was told that its request was carried out \[cycles\].
    answered: Arc<Mutex<Vec<u64>>>,
}

impl Module for End {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let cycle = cx.cycle();
        while let Some(item) = self.rx.pop(cx) {
            let IoItem::Tlp(bytes) = item else { continue };
            if cycle < self.silent_from {
                assert!(self.agent.receive(&Tlp::decode(&bytes, FORM).expect("it is a TLP"), cycle));
            }
        }
        if cycle >= ASKED
            && let Some(ask) = self.asks.take()
        {
            self.agent.ask(ask, cycle);
        }
        let is_answer = |one: &Happened| matches!(one, Happened::ResetAcknowledged | Happened::FlushAnswered(_));
        let count = self.agent.take_happened().iter().filter(|one| is_answer(one)).count();
        self.answered.lock().expect("no panic").extend(vec![cycle; count]);
        while self.tx.has_room(cx, 1)
            && let Some(message) = self.agent.next_message()
        {
            let _ = self.tx.push(cx, IoItem::Tlp(message.encode(FORM).expect("it is legal")));
        }
        Next::Busy
    }
}

/// Times at which the host had its answers, and what the switch reports; the devices of `silent` answer nothing once they have met
/// the switch.
fn run(ask: PmRequest, silent: [bool; 2]) -> (Vec<u64>, IoSwitchResult) {
    let (result, answered): (Arc<Mutex<IoSwitchResult>>, Arc<Mutex<Vec<u64>>>) = Default::default();
    let (shared, of_host) = (result.clone(), answered.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = p.clock("clock", Clock::with_period_fs(1_000_000)?)?;
        let mut ports = Vec::new();
        for n in 0..3 {
            let (tx, switch_rx) = p.channel::<IoItem>(&format!("p{n}.to_switch"), 8, 1)?;
            let (switch_tx, rx) = p.channel::<IoItem>(&format!("p{n}.from_switch"), 8, 1)?;
            let side = if n == 0 { PmSide::Host } else { PmSide::Device };
            let silent_from = if n > 0 && silent[n - 1] { ASKED } else { u64::MAX };
            let answered = if n == 0 { of_host.clone() } else { Arc::default() };
            p.module(&format!("p{n}"), clock, |bind| End {
                agent: PmAgent::new(PmConfig::new(side)),
                asks: (n == 0).then_some(ask),
                silent_from,
                tx: bind.attach(tx),
                rx: bind.attach(rx),
                answered,
            })?;
            ports.push((n, side, switch_rx, switch_tx));
        }
        let can = FlexPort::root("cxl-68b").can;
        let hierarchy = IoHierarchy::new(&[true, true], 32, can, 512);
        p.module("switch", clock, |bind| {
            let port = |(n, side, rx, tx)| {
                let own_side = if side == PmSide::Host { PmSide::Device } else { PmSide::Host };
                let config = PmConfig { is_of_switch: true, timeout: TIMEOUT, ..PmConfig::new(own_side) };
                let place = if n == 0 { IoSide::Up } else { IoSide::Down(n - 1) };
                let agent = PmAgent::new(config);
                let seats = vec![IoSeat { ld: None, place: Some((0, place)), agent }];
                let own = IoSwitchPort { seats, form: FORM, has_uio: false, link: n as u32, tap: Tap::off() };
                (own, bind.attach(rx), bind.attach(tx))
            };
            let ports = ports.into_iter().map(port).collect();
            let config = IoSwitchConfig { latency_cycles: 10, queue: 4, width_bytes: 128 };
            IoSwitch::new(config, vec![hierarchy], ports, shared)
        })
    });
    let limit = Some(Time::from_fs(4 * TIMEOUT * 1_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let (answered, result) = (answered.lock().expect("no panic").clone(), result.lock().expect("no panic").clone());
    (answered, result)
}

/// The rules of what was reported.
fn rules(result: &IoSwitchResult) -> Vec<&'static str> {
    let rule = |event: &EndpointEvent| if let EndpointEvent::Rule(broken) = event { Some(broken.rule) } else { None };
    result.events.iter().filter_map(rule).collect()
}

#[test]
fn a_reset_is_answered_although_a_device_is_silent() {
    let ask = PmRequest::ResetPrep(ResetKind::Reset);
    let (at, result) = run(ask, [false; 2]);
    assert!(matches!(at[..], [at] if at < ASKED + 100), "{at:?}");
    assert_eq!(rules(&result), [""; 0]);
    for silent in [[true, false], [false, true], [true, true]] {
        let (at, result) = run(ask, silent);
        let waited = ASKED + TIMEOUT..ASKED + TIMEOUT + 100;
        assert!(matches!(at[..], [at] if waited.contains(&at)), "{silent:?}: {at:?}");
        let count = silent.into_iter().filter(|is| *is).count();
        assert_eq!(rules(&result), vec!["CXLIO-VDM-05"; count], "each silent device is reported");
        assert_eq!(result.power_answered, 1);
    }
}

/// The second phase is begun although the first one was not answered everywhere, and is given up too.
#[test]
fn a_flush_goes_on_although_a_device_is_silent() {
    let (at, result) = run(PmRequest::Flush, [true, false]);
    assert_eq!((at.len(), result.power_answered), (2, 2), "{at:?}");
    assert!(at[0] >= ASKED + TIMEOUT && at[1] >= at[0] + TIMEOUT, "{at:?}");
    assert_eq!(rules(&result), ["CXLIO-VDM-07"; 2]);
}
