//! Bridges that stand outside by their messages: in `supercluster-small` the reference model takes the place of both.

use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::{BridgeMessage, CxlMessage};
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge, ReferenceError};
use scalepool::link::mailbox::MailboxDirection;
use scalepool::link::nvlink::NvlMessage;
use scalepool::link::nvlink::port::channel_of;
use scalepool::scenario::ScenarioRequest;
use scalepool::scenario::drive::Live;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm, PeerRoute};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::packed::PackedTransfer;
use serde_json::{Value, json};
use std::collections::VecDeque;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const SETTINGS: [&str; 3] = ["traffic.operations=40", "gpu.requests=40", "host.accesses=20"];

fn live(set: &[&str]) -> Live {
    Live::new(&ScenarioRequest {
        scenario: "supercluster-small".to_owned(),
        seed: 1,
        threads: 1,
        set: SETTINGS.iter().chain(set).map(|set| (*set).to_owned()).collect(),
        ..ScenarioRequest::default()
    })
    .unwrap_or_else(|e| panic!("{e}"))
}

/// Identifiers of who asks and who is asked on a link of port based routing without a switch.
const ASKS: u16 = 1;
const ASKED: u16 = 2;

/// The message of bytes at a port of UALink.
fn upli(class: PackedTransfer, unit: &[u8]) -> BridgeMessage {
    BridgeMessage::Upli(Box::new(class.unpack(unit, &UalConfig::SHEET).expect("UALink")))
}

/// One of the bridges: a half of the model for each direction, and its messages.
struct Outside {
    name: &'static str,
    outbound: ReferenceBridge,
    inbound: ReferenceBridge,
    /// Requests that wait for an entry: whether they are from accelerators, the port, the message.
    waiting: VecDeque<(bool, usize, BridgeMessage)>,
    /// Messages that wait for room in a channel.
    leaving: VecDeque<(String, Vec<u8>)>,
    taken: usize,
}

impl Outside {
    fn new(name: &'static str, protocol: &str, outbound: Value, inbound: Value) -> Outside {
        let half = |direction: &str, windows: Value| {
            let form = json!({"protocol": protocol, "direction": direction, "own": 4, "windows": windows});
            ReferenceBridge::new(ReferenceConfig::from_json(&form).unwrap_or_else(|e| panic!("{e}")))
        };
        let (outbound, inbound) = (half("outbound", outbound), half("inbound", inbound));
        Outside { name, outbound, inbound, waiting: VecDeque::new(), leaving: VecDeque::new(), taken: 0 }
    }

    /// The two bridges of the description, with its windows.
    fn both() -> [Outside; 2] {
        let inbound = |base: u64, size: u64, out_base: u64| json!([{"class": "NH", "base": base, "size": size, "out_base": out_base, "targets": [0, 1, 2, 3], "granule": 4096}]);
        let window = |base: u64, size: u64, out_base: u64, port: u64| json!({"class": "MN", "base": base, "size": size, "out_base": out_base, "targets": [port]});
        let of_ualink = json!([window(0, 5 * MIB, 64 * MIB, 0), window(5 * MIB, 5 * MIB, 16 * GIB, 1)]);
        let of_nvlink = json!([window(0, 40 * MIB, 32 * GIB, 0), window(40 * MIB, 40 * MIB, 512 * MIB, 1)]);
        [
            Outside::new("ubridge", "ualink", of_ualink, inbound(32 * GIB, GIB, 8 * GIB)),
            Outside::new("nbridge", "nvlink", of_nvlink, inbound(16 * GIB, 2 * GIB, 16 * GIB)),
        ]
    }

    /// Form of messages at a port, by its name.
    fn form(&self, port: &str) -> MessageForm {
        if (self.name, port) == ("nbridge", "target[1]") { MessageForm::Hbr } else { MessageForm::Pbr }
    }

    fn take(&mut self, port: &str, channel: &str, unit: &[u8]) {
        self.taken += 1;
        let (kind, number) = port.trim_end_matches(']').split_once('[').expect("an array of ports");
        let number: usize = number.parse().expect("a number");
        let is_request = match channel {
            "rx_request" | "rx_creq0" | "rx_creq1" => kind == "x",
            "rx_response" | "rx_rsp0" => false,
            _ => kind == "target",
        };
        let message = match channel {
            "rx_request" => upli(PackedTransfer::Request, unit),
            "rx_response" => upli(PackedTransfer::Response, unit),
            _ if kind == "x" => BridgeMessage::Nvlink(Box::new(NvlMessage::from_packed(unit).expect("NVLink"))),
            _ => {
                let class = match channel {
                    "m2s_req" => Class::M2sReq,
                    "m2s_rwd" => Class::M2sRwd,
                    "s2m_ndr" => Class::S2mNdr,
                    _ => Class::S2mDrs,
                };
                let link = Message::from_packed(self.form(port), class, unit).expect("CXL.mem");
                BridgeMessage::Cxl(CxlMessage::of_link(&link))
            }
        };
        if is_request {
            self.waiting.push_back((kind == "x", number, message));
            return;
        }
        // Answers of accelerators are for what comes from CXL.
        let half = if kind == "x" { &mut self.inbound } else { &mut self.outbound };
        let made = half.answer(number, &message).expect("an answer to what it has asked");
        self.made(kind != "x", made);
    }

    fn serve(&mut self) {
        for _ in 0..self.waiting.len() {
            let Some((is_outbound, port, message)) = self.waiting.pop_front() else { break };
            let half = if is_outbound { &mut self.outbound } else { &mut self.inbound };
            match half.request(port, &message) {
                Ok(made) => self.made(is_outbound, made),
                Err(ReferenceError::Misplaced { found, expected, .. }) => panic!("{found}, {expected}"),
                Err(_) => self.waiting.push_back((is_outbound, port, message)),
            }
        }
    }

    fn made(&mut self, is_outbound: bool, events: Vec<BridgeEvent>) {
        for BridgeEvent { point, port, message } in events {
            let (port, channel, unit) = match &message {
                BridgeMessage::Upli(transfer) => {
                    let (class, channel) = match message.layout() {
                        "ualink.tl_req" => (PackedTransfer::Request, "tx_request"),
                        _ => (PackedTransfer::Response, "tx_response"),
                    };
                    let unit = class.pack(transfer, &UalConfig::SHEET).expect("UALink");
                    (format!("x[{port}]"), channel, unit)
                }
                BridgeMessage::Nvlink(asked) => {
                    let channel = ["tx_creq0", "tx_creq1", "tx_rsp0"][channel_of(asked.vc)];
                    (format!("x[{port}]"), channel, asked.to_packed().expect("NVLink"))
                }
                BridgeMessage::Cxl(message) => {
                    let asks = is_outbound && point == BridgePoint::Sent;
                    let at = format!("{}[{port}]", if asks { "cxl" } else { "target" });
                    let (spid, dpid) = if asks { (ASKS, ASKED) } else { (ASKED, ASKS) };
                    let link = message.to_link(match self.form(&at) {
                        MessageForm::Pbr => PeerRoute { spid, dpid, ..PeerRoute::default() },
                        _ => PeerRoute::default(),
                    });
                    let channel = match link.class() {
                        Class::M2sReq => "m2s_req",
                        Class::M2sRwd => "m2s_rwd",
                        Class::S2mNdr => "s2m_ndr",
                        _ => "s2m_drs",
                    };
                    let unit = link.to_packed(self.form(&at)).expect("CXL.mem");
                    (at, channel, unit)
                }
                BridgeMessage::Tlp(_) => panic!("no port of it leads to CXL.io"),
            };
            self.leaving.push_back((format!("{}.{port}.{channel}", self.name), unit));
        }
    }

    /// Takes all that arrived, and gives what there is room for.
    fn exchange(&mut self, live: &Live) {
        let prefix = format!("{}.", self.name);
        let ports: Vec<_> = live.ports().iter().filter(|port| port.name.starts_with(&prefix)).collect();
        for port in &ports {
            let Some(channel) = port.channel.as_ref().filter(|of| of.flow == MailboxDirection::Arriving) else {
                continue;
            };
            let (end, name) = port.name[prefix.len()..].rsplit_once('.').expect("a channel of a port");
            while let Some(sample) = channel.take() {
                self.take(end, name, &sample.unit);
            }
        }
        self.serve();
        for _ in 0..self.leaving.len() {
            let Some((name, unit)) = self.leaving.pop_front() else { break };
            let port = live.port(&name).unwrap_or_else(|e| panic!("{name}: {e}"));
            let channel = port.channel.as_ref().expect("a channel of messages");
            if !channel.post(&unit).unwrap_or_else(|e| panic!("{name}: {e}")) {
                self.leaving.push_back((name, unit));
            }
        }
    }
}

#[test]
fn the_model_takes_the_place_of_both_bridges_by_messages() {
    let mut live = live(&["component.ubridge.external=messages", "component.nbridge.external=messages"]);
    let mut bridges = Outside::both();
    for _ in 0..6_000 {
        let to = live.cycle() + 2;
        live.run_until(Some(to), &mut |_| ()).expect("it runs");
        bridges.iter_mut().for_each(|bridge| bridge.exchange(&live));
    }
    let found = live.report().expect("a report");
    let mut whole = self::live(&[]);
    whole.run_until(None, &mut |_| ()).expect("it runs");
    let expected = whole.report().expect("a report");
    assert_eq!((&found.violations[..], &expected.violations[..]), (&[][..], &[][..]));
    let (found, expected) = (found.json(), expected.json());
    // What accelerators, GPUs and the host have done is what they do beside bridges of the system itself.
    for name in ["operations", "line accesses", "READ", "WRITE_POSTED", "FLUSH", "answers"] {
        assert_eq!(found["counts"][name], expected["counts"][name], "{name}");
    }
    for bridge in &bridges {
        let (arrived, sent) =
            (&found["components"][bridge.name]["messages arrived"], &found["components"][bridge.name]["messages sent"]);
        assert_eq!(arrived.as_u64(), Some(bridge.taken as u64), "{}", bridge.name);
        assert!(sent.as_u64() > Some(200), "{}: {sent}", bridge.name);
        assert_eq!((bridge.waiting.len(), bridge.leaving.len()), (0, 0));
        assert_eq!((bridge.outbound.open(), bridge.inbound.open()), (0, 0));
    }
}

#[test]
fn a_bridge_with_ports_of_cxl_io_is_external_by_flits_alone() {
    let text = include_str!("../../systems/bridge_io.toml");
    let request = ScenarioRequest {
        description: Some(text.to_owned()),
        set: vec!["component.bridge.external=messages".to_owned()],
        ..ScenarioRequest::default()
    };
    let refused = Live::new(&request).err().expect("no channels for TLPs").to_string();
    assert!(refused.contains("component.bridge.external: found messages, expected flits: bridge.io[0]"), "{refused}");
}
