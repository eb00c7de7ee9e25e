//! Vectors of every conversion of a bridge, both ways.
//!
//! Modelled: files of cases. A case begins with an idle bridge and lists in their order all messages at its four points: requests, what is
//! sent for them, the answers to that, responses. The cases walk commands, sizes and places, masks, windows and rights, every status of
//! accelerators, lines that are not there, poison both ways, the states of a cached line, and the records of lines that the bridge keeps
//! coherent. Left out: time and what follows from it alone, such as status 8 of a time-out; back-invalidate snoops of cached lines; strict
//! order. Tags are those of the model, which a bridge may choose otherwise.
//!
//! A walk through one case: a partial write is given to a model with one window; it sends MemRd; the memory of the case answers by data
//! and Cmp-E, in either order; MemWr is sent and answered; the response ends the case.

mod bar;
mod beats;
mod cached;
mod exported;
mod holders;
mod host;
mod host_lines;
mod inbound;
mod io;
mod nvlink;
mod peer;
mod stores;
mod ualink;

use super::config::ReferenceConfig;
use super::message::BridgeMessage;
use super::model::{BridgeEvent, BridgePoint, ReferenceBridge};
use peer::{Peer, WindowBacking};
use scalepool_forms::Object;
use scalepool_kernel::Rng;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Version of the form of these files.
pub const FORMAT_VERSION: u32 = 1;
/// Seed of data and masks.
const SEED: u64 = 1;

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionCase {
    /// What it shows.
    pub what: String,
    /// Its messages.
    pub events: Vec<BridgeEvent>,
}

/// A file of cases with one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversionVectors {
    /// Name of the file without its extension.
    pub name: &'static str,
    /// What it shows.
    pub about: String,
    /// The configuration of the model, as [`ReferenceConfig::from_json`] reads it.
    pub config: Value,
    /// Its cases.
    pub cases: Vec<ConversionCase>,
}

/// All files.
pub fn all() -> Vec<ConversionVectors> {
    let mut files = Vec::new();
    files.extend(ualink::files());
    files.extend(beats::files());
    files.extend(nvlink::files());
    files.extend(cached::files());
    files.extend(host_lines::files());
    files.extend(inbound::files());
    files.extend(io::files());
    files.extend(bar::files());
    files.extend(exported::files());
    files.extend(stores::files());
    files
}

impl ConversionVectors {
    /// The file: a line of what it is, then one line for each case.
    pub fn text(&self, model_version: &str) -> String {
        let head = json!({
            "format": FORMAT_VERSION, "model": model_version, "about": self.about, "config": self.config,
            "cases": self.cases.len(),
        });
        let mut text = format!("{head}\n");
        for (n, case) in self.cases.iter().enumerate() {
            let events: Vec<Value> = case.events.iter().map(event_to_json).collect();
            let case = json!({ "case": n, "what": case.what, "events": events });
            text += &format!("{case}\n");
        }
        text
    }
}

/// An event as JSON.
fn event_to_json(event: &BridgeEvent) -> Value {
    let mut form = Object::new();
    form.insert("point".into(), event.point.name().into());
    form.insert("port".into(), event.port.into());
    form.insert("message".into(), event.message.to_json());
    Value::Object(form)
}

/// Cases that are made one by one.
struct CaseWriter {
    vectors: ConversionVectors,
    config: Option<ReferenceConfig>,
    /// Who is behind the windows of an outbound half.
    below: WindowBacking,
    rng: Rng,
}

impl CaseWriter {
    fn new(name: &'static str, about: impl Into<String>, config: Value) -> CaseWriter {
        // The configurations of this module can be read; one that could not would have no cases, which a test sees.
        let read = ReferenceConfig::from_json(&config).ok();
        let below = if config["windows"][0]["class"] == "CC" { WindowBacking::Host } else { WindowBacking::Memory };
        let vectors = ConversionVectors { name, about: about.into(), config, cases: Vec::new() };
        CaseWriter { vectors, config: read, below, rng: Rng::for_name(SEED, name) }
    }

    /// Requests one after the other, each from its arrival to its last answer.
    fn case(&mut self, what: impl Into<String>, requests: &[BridgeMessage], peer: &mut dyn Peer) {
        let requests: Vec<&[BridgeMessage]> = requests.chunks(1).collect();
        self.rounds(what, &requests, peer);
    }

    /// Requests that come together, round by round, before anything is answered.
    fn rounds(&mut self, what: impl Into<String>, rounds: &[&[BridgeMessage]], peer: &mut dyn Peer) {
        let of =
            |message: &BridgeMessage| BridgeEvent { point: BridgePoint::Request, port: 0, message: message.clone() };
        let rounds = rounds.iter().map(|requests| requests.iter().map(of).collect()).collect();
        self.events(what, rounds, peer);
    }

    /// Requests at any port one after the other.
    fn one_by_one(&mut self, what: String, requests: Vec<BridgeEvent>, peer: &mut dyn Peer) {
        self.events(what, requests.into_iter().map(|request| vec![request]).collect(), peer);
    }

    /// The same of requests at any port.
    fn events(&mut self, what: impl Into<String>, rounds: Vec<Vec<BridgeEvent>>, peer: &mut dyn Peer) {
        let Some(config) = self.config.clone() else { return };
        let mut model = ReferenceBridge::new(config);
        let mut events = Vec::new();
        for requests in rounds {
            let mut left = VecDeque::new();
            for request in requests {
                peer.asks(&request);
                // A case has fewer requests than the bridge has entries.
                let followed = model.request(request.port, &request.message).unwrap_or_default();
                events.push(request);
                note(followed, &mut events, &mut left);
            }
            while let Some(event) = left.pop_front() {
                for came in peer.hears(&event) {
                    let followed = match came.point {
                        BridgePoint::Request => model.request(came.port, &came.message),
                        _ => model.answer(came.port, &came.message),
                    };
                    events.push(came);
                    note(followed.unwrap_or_default(), &mut events, &mut left);
                }
            }
        }
        self.vectors.cases.push(ConversionCase { what: what.into(), events });
    }
}

/// Keeps what has followed: somebody hears all of it.
fn note(followed: Vec<BridgeEvent>, events: &mut Vec<BridgeEvent>, left: &mut VecDeque<BridgeEvent>) {
    left.extend(followed.iter().cloned());
    events.extend(followed);
}
