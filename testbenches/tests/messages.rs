//! Components that stand outside by their messages: two systems side by side, each with what the other one lacks.

use scalepool::link::mailbox::{MAX_MESSAGES, MailboxChannel};
use scalepool::scenario::ScenarioRequest;
use scalepool::scenario::drive::Live;
use scalepool::scenario::report::ScenarioReport;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField};
use scalepool_protocols::cxl::message::{Class, Data, M2sReq, M2sRwd, Message, MessageForm, S2mDrs, S2mNdr};

/// A host and a memory; the names of two of its parts are put in.
const PAIR: &str = r#"format = 1
[clock]
host = { period = "500 ps" }
slow = { num = 15_625_000, den = 16, phase = "250 ps" }
[component.host]
kind = "cxl.host"
clock = "host"
outstanding = 32
stimulus = { pattern = "mix", accesses = 300, region_lines = 40 }
[component.memory]
kind = "cxl.memory"
clock = "slow"
size = "1 MiB"
[link.cxl]
kind = "cxl-68b"
between = ["host.cxl", "memory.cxl"]
"#;

const KINDS: [(&str, MessageForm); 4] = [
    ("cxl-68b", MessageForm::Cxl68),
    ("cxl-256b", MessageForm::Hbr),
    ("cxl-256b-lopt", MessageForm::Hbr),
    ("cxl-256b-pbr", MessageForm::Pbr),
];
const DOWN: [&str; 2] = ["m2s_req", "m2s_rwd"];
const UP: [&str; 2] = ["s2m_ndr", "s2m_drs"];

/// The pair with a kind of link and settings, without a component.
fn without(component: &str, set: &[&str], threads: usize) -> Live {
    let mut set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    set.push(format!("component.{component}.external=messages"));
    Live::new(&ScenarioRequest {
        description: Some(PAIR.to_owned()),
        seed: 1,
        threads,
        set,
        ..ScenarioRequest::default()
    })
    .unwrap_or_else(|e| panic!("{e}"))
}

fn step(live: &mut Live, cycles: u64) {
    let to = live.cycle() + cycles;
    live.run_until(Some(to), &mut |_| ()).expect("it runs");
}

fn channel<'a>(live: &'a Live, name: &str) -> &'a MailboxChannel {
    live.port(name).expect("a port").channel.as_ref().expect("a channel of messages")
}

/// A read of line 0.
fn read(tag: u16) -> M2sReq {
    M2sReq { opcode: M2sReqOpcode::MemRd, meta_field: MetaField::NoOp, tag, ..M2sReq::default() }
}

/// Carries what waits as far as there is room.
fn carry(from: &MailboxChannel, to: &MailboxChannel) {
    while let Some(message) = from.first() {
        if !to.post(&message.unit).expect("what one end gives, the other one takes") {
            break;
        }
        assert_eq!(from.take(), Some(message));
    }
}

/// Two systems with one of the components each, and who carries messages between them.
struct Both {
    /// Its memory stands outside.
    asks: Live,
    /// Its host stands outside.
    answers: Live,
}

impl Both {
    fn new(set: &[&str], threads: usize) -> Both {
        Both { asks: without("memory", set, threads), answers: without("host", set, threads) }
    }

    fn advance(&mut self, cycles: u64) {
        step(&mut self.asks, cycles);
        step(&mut self.answers, cycles);
        for class in DOWN {
            carry(
                channel(&self.asks, &format!("memory.cxl.{class}")),
                channel(&self.answers, &format!("host.cxl.{class}")),
            );
        }
        for class in UP {
            carry(
                channel(&self.answers, &format!("host.cxl.{class}")),
                channel(&self.asks, &format!("memory.cxl.{class}")),
            );
        }
    }

    fn reports(&mut self) -> [ScenarioReport; 2] {
        [&mut self.asks, &mut self.answers].map(|live| live.report().expect("a report"))
    }
}

/// Lines that the host has read and written.
fn answered(report: &ScenarioReport) -> u64 {
    report.json()["components"]["host"]["bytes"].as_u64().map_or(0, |n| n / 64)
}

#[test]
fn a_host_and_a_memory_of_two_systems_work_together() {
    for (kind, _) in KINDS {
        for noise in ["0", "1e-5"] {
            let set = [format!("link.cxl.kind={kind}"), format!("link.cxl.ber={noise}")];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            // Each step is handed over between threads, so one of the kinds has to do.
            let threads: &[usize] = if kind == "cxl-256b-lopt" && noise != "0" { &[1, 2] } else { &[1] };
            let outcomes: Vec<_> = threads
                .iter()
                .map(|&threads| {
                    let mut both = Both::new(&set, threads);
                    (0..250).for_each(|_| both.advance(50));
                    let [asks, answers] = both.reports();
                    assert_eq!((&asks.violations[..], &answers.violations[..]), (&[][..], &[][..]), "{kind} {noise}");
                    assert_eq!(answered(&asks), 300, "{kind} {noise}: every access is answered with the right data");
                    let (asks, answers) = (asks.json(), answers.json());
                    let (memory, host) = (&asks["components"]["memory"], &answers["components"]["host"]);
                    assert_eq!((&memory["messages arrived"], &memory["messages sent"]), (&300.into(), &300.into()));
                    assert_eq!((&host["messages sent"], &host["messages arrived"]), (&300.into(), &300.into()));
                    (serde_json::to_string(&asks).expect("JSON"), serde_json::to_string(&answers).expect("JSON"))
                })
                .collect();
            assert!(
                outcomes.iter().all(|outcome| *outcome == outcomes[0]),
                "{kind} {noise}: the same for any number of threads"
            );
        }
    }
}

/// Nobody takes a message for a long time: the host gets no credits back and waits, and nothing is lost.
#[test]
fn what_is_not_taken_holds_the_peer_back() {
    let mut both = Both::new(&["link.cxl.buffers=4", "component.host.outstanding=200"], 1);
    step(&mut both.asks, 30_000);
    let waiting = |both: &Both| DOWN.map(|class| channel(&both.asks, &format!("memory.cxl.{class}")).arrived());
    // Reads are two of three accesses, and the host sends in order.
    let [reads, writes] = waiting(&both);
    assert!(reads == MAX_MESSAGES && (1..=MAX_MESSAGES).contains(&writes), "{reads} {writes}");
    let sent = |report: &ScenarioReport| {
        let json = report.json();
        ["reads", "writes"].map(|key| json["components"]["host"][key].as_u64().unwrap_or(0)).iter().sum::<u64>()
    };
    let before = both.asks.report().expect("a report");
    step(&mut both.asks, 30_000);
    let after = both.asks.report().expect("a report");
    assert_eq!((sent(&before), &after.violations[..]), (sent(&after), &[][..]), "the host waits");
    assert!(after.credit_stalls > 100, "{}", after.credit_stalls);
    // The other system stood still meanwhile.
    (0..800).for_each(|_| both.advance(50));
    let [asks, answers] = both.reports();
    assert_eq!((answered(&asks), &asks.violations[..], &answers.violations[..]), (300, &[][..], &[][..]));
}

/// A caller who sends faster than the link is told so; what was taken arrives in order.
#[test]
fn a_full_channel_takes_nothing_and_loses_nothing() {
    for (kind, form) in KINDS {
        let mut live = without("host", &[&format!("link.cxl.kind={kind}"), "component.memory.queue=4"], 1);
        let spid = if form == MessageForm::Pbr { 1 } else { 0 };
        let request = |tag| {
            let header = M2sReq { address: 64 * u64::from(tag), spid, dpid: 2 * spid, ..read(tag) };
            Message::M2sReq(header).to_packed(form).expect("it fits")
        };
        let (mut posted, mut refused, mut answers) = (0, 0, Vec::new());
        while answers.len() < 400 {
            while posted < 400 && channel(&live, "host.cxl.m2s_req").post(&request(posted)).expect("a request") {
                posted += 1;
            }
            let requests = channel(&live, "host.cxl.m2s_req");
            refused += usize::from(posted < 400);
            assert!(requests.posted() <= MAX_MESSAGES);
            step(&mut live, 50);
            while let Some(answer) = channel(&live, "host.cxl.s2m_drs").take() {
                match Message::from_packed(form, Class::S2mDrs, &answer.unit).expect("an answer") {
                    Message::S2mDrs(S2mDrs { tag, .. }, data) => {
                        assert_eq!(
                            data.line[..8],
                            (64 * u64::from(tag)).to_le_bytes(),
                            "memory holds its own addresses"
                        );
                        answers.push(tag);
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert!(live.cycle() < 1_000_000, "{kind}: {} answers", answers.len());
        }
        assert_eq!(answers, (0..400).collect::<Vec<_>>(), "{kind}");
        assert!(refused > 10, "{kind}: {refused}");
        assert_eq!(live.report().expect("a report").violations, []);
    }
}

/// The shortest way through the cut: one cycle of the component's clock, whatever the caller does between steps.
#[test]
fn a_message_needs_a_cycle_at_the_cut() {
    let mut live = without("host", &[], 1);
    step(&mut live, 2_000);
    let request = Message::M2sReq(read(1)).to_packed(MessageForm::Cxl68).expect("it fits");
    let requests = channel(&live, "host.cxl.m2s_req").clone();
    assert_eq!((requests.post(&request), requests.posted()), (Ok(true), 1));
    step(&mut live, 1);
    assert_eq!(requests.posted(), 0);
}

/// Each side of a link is another system's business: messages here, flits there.
#[test]
fn messages_and_flits_stand_side_by_side() {
    let set = ["component.host.external=messages", "component.memory.external=flits"].map(str::to_owned).to_vec();
    let mut outside = Live::new(&ScenarioRequest {
        description: Some(PAIR.to_owned()),
        threads: 1,
        set,
        ..ScenarioRequest::default()
    })
    .expect("built");
    let set = vec!["component.host.external=flits".to_owned()];
    let mut memory = Live::new(&ScenarioRequest {
        description: Some(PAIR.to_owned()),
        threads: 1,
        set,
        ..ScenarioRequest::default()
    })
    .expect("built");
    let ends = ["memory.cxl", "host.cxl"];
    use scalepool::link::hook::Direction;
    for (live, end) in [(&outside, ends[0]), (&memory, ends[1])] {
        live.port(end).expect("a port").hooks.sample(Direction::Rx, true).expect("watched");
    }
    let line = Data::line([0x5a; 64]);
    let write = Message::M2sRwd(
        M2sRwd {
            opcode: M2sRwdOpcode::MemWr,
            meta_field: MetaField::Meta0State,
            tag: 7,
            address: 0x1000,
            ..M2sRwd::default()
        },
        line,
    );
    let write = write.to_packed(MessageForm::Cxl68).expect("it fits");
    assert_eq!(channel(&outside, "host.cxl.m2s_rwd").post(&write), Ok(true));
    let mut answer = None;
    for _ in 0..4000 {
        step(&mut outside, 1);
        step(&mut memory, 1);
        for (from, to, at) in [(&outside, &memory, 0), (&memory, &outside, 1)] {
            let hooks = &from.port(ends[at]).expect("a port").hooks;
            let feed = to.port(ends[1 - at]).expect("a port").feed.as_ref().expect("the caller's end");
            while let Some(sample) = hooks.samples(Direction::Rx, |samples| samples.take()).expect("watched") {
                assert!(feed.drive(sample.unit));
            }
        }
        answer = answer.or_else(|| channel(&outside, "host.cxl.s2m_ndr").take());
    }
    let answer = Message::from_packed(MessageForm::Cxl68, Class::S2mNdr, &answer.expect("an answer").unit);
    assert!(matches!(answer, Ok(Message::S2mNdr(S2mNdr { tag: 7, .. }))), "{answer:?}");
    assert_eq!(outside.report().expect("a report").violations, []);
}

/// The message as it is behind the switch.
fn with_ld(message: Message, ld_id: u8) -> Message {
    match message {
        Message::M2sReq(m) => Message::M2sReq(M2sReq { ld_id, ..m }),
        Message::M2sRwd(m, data) => Message::M2sRwd(M2sRwd { ld_id, ..m }, data),
        Message::S2mNdr(m) => Message::S2mNdr(S2mNdr { ld_id, ..m }),
        Message::S2mDrs(m, data) => Message::S2mDrs(S2mDrs { ld_id, ..m }, data),
        other => other,
    }
}

/// Passes what waits in a channel of the switch on: requests get the LD-ID of their host, answers go to the host that theirs names.
fn switch(live: &Live, from: &str, name: &str) {
    let from_channel = channel(live, &format!("{from}.{name}"));
    let is_it = |class: &Class| MessageForm::Hbr.layout(*class).is_some_and(|one| one.name == from_channel.layout);
    let class = Class::ALL.into_iter().find(is_it).expect("a class of the link");
    while let Some(sample) = from_channel.first() {
        let message = Message::from_packed(MessageForm::Hbr, class, &sample.unit).expect("it is legal");
        let (to, ld) = match from.strip_prefix("switch.usp[") {
            Some(host) => ("switch.dsp[0]".to_owned(), host[..1].parse().expect("a digit")),
            None => (format!("switch.usp[{}]", message.route().ld_id), 0),
        };
        let unit = with_ld(message, ld).to_packed(MessageForm::Hbr).expect("it is legal");
        if !channel(live, &format!("{to}.{name}")).post(&unit).expect("what one end gives, the other one takes") {
            break;
        }
        assert_eq!(from_channel.take(), Some(sample));
    }
}

/// A switch stands outside with all classes of its links; hosts reach their logical devices through the one that stands there.
#[test]
fn a_switch_is_outside_with_all_its_classes() {
    let mut live = Live::new(&ScenarioRequest {
        scenario: "pooled-pair".to_owned(),
        seed: 1,
        threads: 1,
        set: ["component.switch.external=messages", "host.accesses=50"].map(str::to_owned).to_vec(),
        ..ScenarioRequest::default()
    })
    .unwrap_or_else(|e| panic!("{e}"));
    let ports = ["switch.usp[0]", "switch.usp[1]", "switch.dsp[0]"];
    for port in ports {
        let layouts = Class::ALL.into_iter().filter_map(|class| MessageForm::Hbr.layout(class));
        let names: Vec<String> = layouts.map(|layout| layout.name.replace("cxl256", port)).collect();
        assert!(names.len() > 6 && names.iter().all(|name| live.port(name).is_ok()), "{names:?}");
    }
    for _ in 0..4000 {
        step(&mut live, 4);
        for (port, names) in ports.into_iter().zip([DOWN, DOWN, UP]) {
            names.into_iter().for_each(|name| switch(&live, port, name));
        }
    }
    let report = live.report().expect("a report");
    assert_eq!(report.violations, []);
    let bytes = |host: &str| report.json()["components"][host]["bytes"].as_u64();
    assert!(["host[0]", "host[1]"].iter().all(|host| bytes(host) > Some(0)), "{:?}", report.json()["components"]);
}
