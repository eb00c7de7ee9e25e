//! Ports of a running switch that come and go (`fabric` §1.2, MLD-3, MLD-10), and the watcher that judges them: each finding is seen
//! to come where the manager of the switch leaves a step out or does one too many.

use super::module::{Bench, bench, read, run, write};
use super::relayed::Relay;
use scalepool::fabric::cxl_switch::hot_plug::PortStep;
use scalepool::fabric::cxl_switch::switching::Managed;
use scalepool::fabric::cxl_switch::{
    ManagerCommand, ManagerEvent, PlugAction, PlugDelays, PlugStep, SwitchResult, TimedCommand, UnbindOption,
    VppbBinding,
};
use scalepool_protocols::cxl::message::Message;

type Vppb = (usize, usize);
/// What a host gets from its device, in the bench.
const OWN_BYTE: u8 = 3;
const DELAYS: PlugDelays = PlugDelays { release_cycles: 30, training_cycles: 40 };

fn at(at_cycle: u64, command: ManagerCommand) -> TimedCommand {
    TimedCommand { at_cycle, command }
}

const fn plug(port: usize, action: PlugAction) -> ManagerCommand {
    ManagerCommand::Plug(port, action)
}

const fn unbind(vppb: Vppb, option: UnbindOption) -> ManagerCommand {
    ManagerCommand::Unbind { vppb, option }
}

const fn bind(vcs: usize, port: usize, ld: Option<u8>) -> ManagerCommand {
    ManagerCommand::Bind(VppbBinding { vcs, vppb: 0, port, ld })
}

/// Hosts that read and write all the time, and what happens to their ports.
fn busy(hosts: usize, is_shared: bool, commands: &[TimedCommand], relay: Relay) -> Bench {
    let mut all = bench(hosts);
    (all.commands, all.relay, all.is_shared, all.delays) = (commands.to_vec(), relay, is_shared, DELAYS);
    for n in 0..200 {
        for host in 0..hosts {
            all.sends[host].extend([(10 + 4 * u64::from(n), read(n, 0)), (12 + 4 * u64::from(n), write(300 + n))]);
        }
    }
    all
}

const HONEST: Relay = |managed| vec![managed];

/// Rules of the findings of a run, each once.
fn rules(hosts: usize, is_shared: bool, commands: &[TimedCommand], relay: Relay) -> Vec<&'static str> {
    let (_, result) = run(busy(hosts, is_shared, commands, relay));
    let mut rules: Vec<&'static str> = result.broken.iter().map(|one| one.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// An honest run: what came at the hosts, and what the switch has recorded, without a finding.
fn honest(hosts: usize, is_shared: bool, commands: &[TimedCommand]) -> (Vec<Vec<(u64, Message)>>, SwitchResult) {
    let (seen, result) = run(busy(hosts, is_shared, commands, HONEST));
    assert_eq!(result.broken, [], "{commands:?}");
    (seen, result)
}

/// Steps of a run with their cycles.
fn steps(result: &SwitchResult) -> Vec<(u64, PortStep)> {
    result.steps.iter().map(|(fs, one)| (fs / 1_000_000, one.step)).collect()
}

/// Cycles in which bytes of the device came to a host.
fn served(seen: &[(u64, Message)]) -> Vec<u64> {
    let is_own = |(_, message): &&(u64, Message)| message.data().is_some_and(|data| data.line[0] == OWN_BYTE);
    seen.iter().filter(is_own).map(|(cycle, _)| *cycle).collect()
}

/// Without the steps that a function picks.
macro_rules! without {
    ($step:pat) => {
        |managed| match managed {
            Managed::Step(PlugStep { step: $step, .. }) => Vec::new(),
            other => vec![other],
        }
    };
}

const REBIND: [TimedCommand; 2] = [
    TimedCommand { at_cycle: 100, command: unbind((0, 0), UnbindOption::ManagedRemove) },
    TimedCommand { at_cycle: 300, command: bind(0, 0, None) },
];

/// An unbind and a bind in traffic: the steps of both in their order with the times of host and link, and nothing is served in between.
#[test]
fn a_bind_in_traffic_takes_its_steps() {
    let (seen, result) = honest(1, false, &REBIND);
    let all = steps(&result);
    let unbound_at = all[0].0;
    let expected = [
        (unbound_at, PortStep::LinkDownSeen),
        (unbound_at, PortStep::AbsenceSeen),
        (unbound_at, PortStep::LinkDisabled),
        (unbound_at, PortStep::ManagerOwned),
        (300, PortStep::Mapped((0, 0))),
        (300, PortStep::LinesMoved),
        (300, PortStep::LinkDisabled),
        (300, PortStep::FunctionsMoved),
        (300, PortStep::ManagerBridgeGone),
        (300, PortStep::PresenceSeen),
        (300, PortStep::HotPlugEvent),
        (330, PortStep::LinkReleased),
        (370, PortStep::LinkUp),
        (370, PortStep::LinkUpSeen),
    ];
    assert_eq!(all, expected);
    assert!((100..160).contains(&unbound_at), "{unbound_at}");
    let cycles = served(&seen[0]);
    assert!(!cycles.iter().any(|cycle| (unbound_at + 15..370 + 40).contains(cycle)), "{cycles:?}");
    assert!(cycles.iter().filter(|cycle| **cycle > 410).count() > 80, "it serves again");
    assert_eq!(seen[0].len(), 400, "all are answered, by the device or by the switch");
}

#[test]
fn a_bind_out_of_order_is_found() {
    assert_eq!(rules(1, false, &REBIND, without!(PortStep::LinesMoved)), ["FAB-BND-01"]);
    assert_eq!(rules(1, false, &REBIND, without!(PortStep::LinkReleased)), ["FAB-BND-01"]);
    assert_eq!(rules(1, false, &REBIND, without!(PortStep::PresenceSeen)), ["FAB-BND-02"]);
    assert_eq!(rules(1, false, &REBIND, without!(PortStep::HotPlugEvent)), ["FAB-BND-02"]);
}

/// A switch that passes requests on before the link is up, here because it never says that it is.
#[test]
fn traffic_over_a_link_that_is_down_is_found() {
    assert_eq!(rules(1, false, &REBIND, without!(PortStep::LinkUp)), ["FAB-BND-02", "FAB-BND-06"]);
}

#[test]
fn an_unbind_that_is_not_seen_is_found() {
    let never_again = &REBIND[..1];
    assert_eq!(rules(1, false, never_again, without!(PortStep::LinkDownSeen)), ["FAB-BND-03"]);
    assert_eq!(rules(1, false, never_again, without!(PortStep::AbsenceSeen)), ["FAB-BND-03"]);
    assert_eq!(rules(1, false, never_again, without!(PortStep::LinkDisabled)), ["FAB-BND-03"]);
    assert_eq!(rules(1, false, never_again, without!(PortStep::ManagerOwned)), ["FAB-BND-03"]);
    let trains: Relay = |managed| match managed {
        Managed::Step(own @ PlugStep { step: PortStep::ManagerOwned, .. }) => {
            vec![managed, Managed::Step(PlugStep { vppb: None, step: PortStep::LinkUp, ..own })]
        }
        other => vec![other],
    };
    assert_eq!(rules(1, false, never_again, trains), ["FAB-BND-03"]);
}

const LINK_DOWN: TimedCommand = TimedCommand { at_cycle: 100, command: plug(0, PlugAction::LinkDown) };
const REMOVE: TimedCommand = TimedCommand { at_cycle: 100, command: plug(0, PlugAction::Remove) };
const INSERT: TimedCommand = TimedCommand { at_cycle: 300, command: plug(0, PlugAction::Insert) };

/// A link that goes down is trained again, and leaves presence; nothing that was open is answered, and what follows is.
#[test]
fn a_link_that_goes_down_comes_back() {
    let (seen, result) = honest(1, false, &[LINK_DOWN]);
    let expected =
        [PortStep::LinkLost, PortStep::LinkDownSeen, PortStep::HotPlugEvent, PortStep::LinkUp, PortStep::LinkUpSeen];
    assert_eq!(steps(&result).iter().map(|(_, step)| *step).collect::<Vec<_>>(), expected);
    let up_at = steps(&result)[3].0;
    assert!(up_at >= 140, "{up_at}");
    let [(_, ManagerEvent::Lost(binding, flushed))] = result.events[..] else { panic!("{:?}", result.events) };
    assert_eq!(binding, VppbBinding { vcs: 0, vppb: 0, port: 0, ld: None });
    let late: u64 =
        result.undelivered.get(&scalepool::fabric::cxl_switch::Undelivered::UnknownLd).copied().unwrap_or(0);
    assert_eq!(400 - seen[0].len() as u64, flushed + late, "each is flushed, or its answer comes too late");
    assert!(flushed > 0 && late > 0, "{flushed} {late}");
    assert!(served(&seen[0]).iter().filter(|cycle| **cycle > up_at).count() > 100);
}

/// A device that is taken out and plugged in again: what its host sees, and the same of one that nothing is bound to.
#[test]
fn a_device_goes_and_comes() {
    let (seen, result) = honest(1, false, &[REMOVE, INSERT]);
    let expected = [
        (100, PortStep::DeviceRemoved),
        (100, PortStep::LinkDownSeen),
        (100, PortStep::AbsenceSeen),
        (100, PortStep::HotPlugEvent),
        (300, PortStep::DeviceInserted),
        (300, PortStep::PresenceSeen),
        (300, PortStep::HotPlugEvent),
        (370, PortStep::LinkUp),
        (370, PortStep::LinkUpSeen),
    ];
    assert_eq!(steps(&result), expected);
    assert!(!served(&seen[0]).iter().any(|cycle| (115..410).contains(cycle)));
    assert!(served(&seen[0]).iter().filter(|cycle| **cycle > 410).count() > 80);
    let unbound = [REBIND[0], at(200, plug(0, PlugAction::Remove)), INSERT];
    let (_, result) = honest(1, false, &unbound);
    let expected =
        [PortStep::DeviceRemoved, PortStep::PhysicalRecord, PortStep::DeviceInserted, PortStep::PhysicalRecord];
    assert_eq!(steps(&result)[4..].iter().map(|(_, step)| *step).collect::<Vec<_>>(), expected);
}

/// Presence that goes with the link, and a removal that a host or the manager does not hear of.
#[test]
fn a_wrong_removal_is_found() {
    let absent: Relay = |managed| match managed {
        Managed::Step(own @ PlugStep { step: PortStep::LinkDownSeen, .. }) => {
            vec![managed, Managed::Step(PlugStep { step: PortStep::AbsenceSeen, ..own })]
        }
        other => vec![other],
    };
    assert_eq!(rules(1, false, &[LINK_DOWN], absent), ["FAB-BND-08"]);
    for relay in [without!(PortStep::AbsenceSeen) as Relay, without!(PortStep::HotPlugEvent)] {
        assert_eq!(rules(1, false, &[REMOVE], relay), ["FAB-BND-08"]);
    }
    let unbound = [REBIND[0], at(200, plug(0, PlugAction::Remove))];
    assert_eq!(rules(1, false, &unbound, without!(PortStep::PhysicalRecord)), ["FAB-BND-08"]);
}

/// What is not flushed with a link that goes down still leaves for it, and answers of the device still reach the host.
#[test]
fn a_flush_that_is_left_out_is_found() {
    let kept: Relay = |managed| if matches!(managed, Managed::Flush(_)) { Vec::new() } else { vec![managed] };
    assert_eq!(rules(1, false, &[REMOVE], kept), ["FAB-BND-02", "FAB-BND-06"]);
}

/// Logical devices come and go while the link stays as it is; the other host is served all the time.
#[test]
fn a_logical_device_is_bound_without_the_link() {
    let moves = [at(100, unbind((0, 0), UnbindOption::SurpriseRemove)), at(300, bind(0, 0, Some(0)))];
    let (seen, result) = honest(2, true, &moves);
    let expected = [
        (100, PortStep::LinkDownSeen),
        (100, PortStep::AbsenceSeen),
        (300, PortStep::Mapped((0, 0))),
        (300, PortStep::LinesMoved),
        (300, PortStep::PresenceSeen),
        (300, PortStep::HotPlugEvent),
    ];
    assert_eq!(steps(&result), expected);
    assert_eq!(served(&seen[1]).len(), 200);
    let disables: Relay = |managed| match managed {
        Managed::Step(own @ PlugStep { step: PortStep::AbsenceSeen, .. }) => {
            vec![managed, Managed::Step(PlugStep { vppb: None, step: PortStep::LinkDisabled, ..own })]
        }
        other => vec![other],
    };
    assert!(rules(2, true, &moves, disables).contains(&"FAB-MLD-03"));
}

/// A shared device is removed when the last host has agreed, whichever that is.
#[test]
fn a_removal_awaits_every_host() {
    for hosts in 1..=4 {
        let mut commands = vec![at(100, plug(0, PlugAction::Attention))];
        commands
            .extend((0..hosts).rev().map(|vcs| at(200 + 50 * (hosts - vcs) as u64, ManagerCommand::Ready((vcs, 0)))));
        let (_, result) = honest(hosts, true, &commands);
        let last = 200 + 50 * hosts as u64;
        assert_eq!(result.events.len(), hosts, "{:?}", result.events);
        for (at_fs, event) in &result.events {
            assert!(matches!(event, ManagerEvent::Unbound(_, 0)) && *at_fs >= last * 1_000_000, "{event:?} at {at_fs}");
        }
        let seen = |step| steps(&result).iter().filter(|(_, one)| *one == step).count();
        assert_eq!([PortStep::AttentionSeen, PortStep::ReadySignalled].map(seen), [hosts; 2]);
        // Without the last of them nothing is unbound.
        let (_, result) = honest(hosts, true, &commands[..hosts]);
        assert_eq!(result.events, [], "{hosts}");
    }
}

/// A manager that does not wait, and a switch that leaves a binding to a device that is gone.
#[test]
fn a_removal_that_awaits_nobody_is_found() {
    let early = [at(100, plug(0, PlugAction::Attention)), at(200, unbind((0, 0), UnbindOption::ManagedRemove))];
    assert_eq!(rules(2, true, &early, HONEST), ["FAB-MLD-10"]);
    let unready = [
        at(100, plug(0, PlugAction::Attention)),
        at(200, ManagerCommand::Ready((0, 0))),
        at(210, ManagerCommand::Ready((1, 0))),
    ];
    assert_eq!(rules(2, true, &unready, without!(PortStep::ReadySignalled)), ["FAB-MLD-10"]);
    let (_, result) = honest(2, true, &[REMOVE]);
    let unbound = |(_, event): &&(u64, ManagerEvent)| matches!(event, ManagerEvent::Unbound(..));
    assert_eq!(result.events.iter().filter(unbound).count(), 2, "{:?}", result.events);
    let kept: Relay = |managed| if matches!(managed, Managed::Flush(_)) { Vec::new() } else { vec![managed] };
    assert!(rules(2, true, &[REMOVE], kept).contains(&"FAB-MLD-10"));
}

/// What cannot happen is refused and changes nothing.
#[test]
fn what_cannot_happen_at_a_port_is_refused() {
    let cases = [
        (vec![INSERT], "a device at port 0"),
        (vec![REMOVE, at(120, plug(0, PlugAction::Remove))], "no device at port 0"),
        (vec![REMOVE, at(120, plug(0, PlugAction::LinkDown))], "a link at port 0 that is down"),
        (vec![at(50, plug(7, PlugAction::Remove))], "port 7"),
        (
            vec![at(50, plug(0, PlugAction::Attention)), at(51, plug(0, PlugAction::Attention))],
            "a removal at port 0 that awaits its hosts",
        ),
        (vec![at(50, ManagerCommand::Ready((0, 0)))], "vPPB 0 of VCS 0, whose host no removal awaits"),
        (vec![REBIND[0], at(200, plug(0, PlugAction::Attention))], "no vPPB that is bound to port 0"),
        (vec![REMOVE, at(120, bind(0, 0, None))], "vPPB 0 of VCS 0, which is bound to port 0"),
    ];
    for (commands, expected) in cases {
        let (_, result) = run(busy(1, false, &commands, HONEST));
        let [one] = &result.broken[..] else { panic!("{expected}: {:?}", result.broken) };
        assert_eq!((one.rule, one.found.as_str()), ("FAB-BND-07", expected));
    }
}

/// A vPPB whose device is gone can be unbound, and then another host gets what is plugged in next.
#[test]
fn an_empty_port_is_given_to_another_host() {
    let commands = [
        REMOVE,
        at(150, unbind((0, 0), UnbindOption::ManagedRemove)),
        at(200, unbind((1, 0), UnbindOption::ManagedRemove)),
        at(260, bind(1, 0, None)),
        at(300, plug(0, PlugAction::Insert)),
    ];
    let (seen, result) = honest(2, false, &commands);
    let binding = VppbBinding { vcs: 1, vppb: 0, port: 0, ld: None };
    assert!(result.events.iter().any(|(_, event)| *event == ManagerEvent::Bound(binding)), "{:?}", result.events);
    assert!(!served(&seen[0]).iter().any(|cycle| *cycle > 115));
    assert!(served(&seen[1]).iter().filter(|cycle| **cycle > 410).count() > 80);
}
