//! A switch that lets one message pass otherwise than its tables say: judged by the messages at its ports.
//!
//! Modelled: a switch of `switches/examples.rs`; messages that come at its ports and leave as they have to, and one that leaves changed, at
//! another port, twice, not at all, in front of one that came before, or although it had to be dropped. The cases stand in `switches.txt`, a
//! message each nanosecond. The wave has a scope for each port and way. Left out: what the other ends of the links would do then.
//!
//! A walk: a read of host 0 comes at `usp[0]`, and the line `at dsp[1]` has it leave there. The watcher of the ports
//! ([`PassageWatch`]) expected it at `dsp[0]`, which is FAB-CMR-01.

mod examples;

use super::case_file::CaseFile;
use super::message_wave::{MessageWave, STEP_FS};
use super::timeline::told;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_fabric::cxl_switch::{PassageRoutes, PassageWatch};
use scalepool_forms::message::{message_from_json, message_to_json};
use scalepool_inspect::told::fields;
use scalepool_protocols::cxl::cxl256::routing::Routing;
use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::message::{Class, Data, Message};
use scalepool_protocols::wire::Violation;
use scalepool_trace::TimeAxis;
use serde_json::{Map, Value, json};

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "switches.txt", text: include_str!("switches.txt"), judged };

/// Bytes of the data of every message that has some.
const DATA: [u8; 64] = [0x5a; 64];

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let mut run = SwitchedMessages::new(examples::of_name(lines.next().unwrap_or_default())?);
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let found = match word {
            "right" => run.leaves_as_owed(|_| Ok(()))?,
            "as" => run.leaves_as_owed(|form| set_fields(form, rest))?,
            "at" => run.leaves_at(rest)?,
            "twice" => run.leaves_as_owed(|_| Ok(()))?.or(run.leaves_again()?),
            "sends" => run.sends(rest)?,
            "end" => run.end(),
            _ => run.comes(word, rest)?,
        };
        let Some(violation) = found else { continue };
        if violation.rule != rule {
            return Err(CaseError::of(format!("found {violation}, expected {rule} first")));
        }
        let SwitchedMessages { steps, wave, t_fs, .. } = run;
        return Ok(BrokenCase {
            what: what.to_owned(),
            t_fs,
            found: told(&violation),
            steps,
            records: Some(wave.records(t_fs, violation)),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        });
    }
    Err(CaseError::breaks_nothing(rule, "message"))
}

/// Puts fields, `NAME=VALUE` each, into a message object.
fn set_fields(form: &mut Map<String, Value>, words: &str) -> Result<(), CaseError> {
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        let (name, value) =
            word.split_once('=').ok_or_else(|| CaseError::of(format!("found `{word}`, expected NAME=VALUE")))?;
        let value = value.parse::<u64>().map_or_else(|_| Value::from(value), Value::from);
        form.insert(name.to_owned(), value);
    }
    Ok(())
}

/// Messages through a switch.
struct SwitchedMessages {
    watch: PassageWatch,
    /// What left last.
    left: Option<(usize, Message)>,
    steps: Vec<CaseStep>,
    wave: MessageWave,
    t_fs: u64,
}

impl SwitchedMessages {
    fn new(routes: PassageRoutes) -> SwitchedMessages {
        let wave = MessageWave::new("switch");
        SwitchedMessages { watch: PassageWatch::new(routes), left: None, steps: Vec::new(), wave, t_fs: 0 }
    }

    fn port(&self, name: &str) -> Result<usize, CaseError> {
        let routes = self.watch.routes();
        let found = (0..routes.ports()).find(|port| routes.name(*port) == name);
        let known = || (0..routes.ports()).map(|port| routes.name(port)).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| CaseError::of(format!("found `{name}`, expected one of {}", known())))
    }

    fn routing(&self, port: usize) -> Routing {
        self.watch.routes().routing(port)
    }

    /// A message passes a port: a step, and what the wave shows.
    fn passes(&mut self, way: &str, port: usize, message: &Message) -> Result<(), CaseError> {
        self.t_fs += STEP_FS;
        let (layout, bits) = message.spell(self.routing(port).into()).map_err(CaseError::of)?;
        let form = message_to_json(layout, bits);
        let name = self.watch.routes().name(port);
        self.wave.message(self.t_fs, &format!("{}_{way}", name.replace(['[', ']'], "")), &form)?;
        let data = if message.data().is_some() { ", with data" } else { "" };
        // What is 0 says nothing here, and PIDs are spelled as in the sheet.
        let shown: Map<String, Value> = layout
            .fields
            .iter()
            .filter(|field| field.name == "opcode" || field.name != "valid" && field.extract(bits) != 0)
            .map(|field| match field.name {
                "spid" | "dpid" | "bi_id" => (field.name.to_owned(), format!("{:#x}", field.extract(bits)).into()),
                name => (name.to_owned(), form["fields"][name].clone()),
            })
            .collect();
        let said = format!("{way} {}{}{data}", message.class().name(), fields(Some(&shown)));
        self.steps.push(CaseStep { t_fs: self.t_fs, place: name, said });
        Ok(())
    }

    /// A message of these words at a port.
    fn read(&self, port: usize, words: &str) -> Result<Message, CaseError> {
        let (layout, words) = words.split_once(' ').unwrap_or((words, ""));
        let routing = self.routing(port);
        let family = if routing == Routing::Pbr { "cxlpbr" } else { "cxl256" };
        let mut form = Map::new();
        set_fields(&mut form, words)?;
        self.of_form(port, &json!({"layout": format!("{family}.{layout}"), "fields": form}), Data::line(DATA))
    }

    fn of_form(&self, port: usize, form: &Value, data: Data) -> Result<Message, CaseError> {
        let routing = self.routing(port);
        let (def, bits) = message_from_json(form).map_err(CaseError::of)?;
        let class = Class::of(def, routing);
        let class =
            class.ok_or_else(|| CaseError::of(format!("found {}, expected a message of the port", def.name)))?;
        let data = class.has_data().then_some(data);
        Ok(Message::from_cxl256(&Cxl256Message { class, bits, data }, routing))
    }

    fn comes(&mut self, port: &str, words: &str) -> Result<Option<Violation>, CaseError> {
        let port = self.port(port)?;
        let message = self.read(port, words)?;
        self.passes("takes", port, &message)?;
        Ok(self.watch.comes(port, message))
    }

    /// What is owed for the message that came last leaves, changed.
    fn leaves_as_owed(
        &mut self,
        change: impl Fn(&mut Map<String, Value>) -> Result<(), CaseError>,
    ) -> Result<Option<Violation>, CaseError> {
        let owed = self.watch.owes();
        let (port, owed) = owed.ok_or_else(|| CaseError::of("found nothing that has to leave, expected a message"))?;
        let (layout, bits) = owed.spell(self.routing(port).into()).map_err(CaseError::of)?;
        let mut form = message_to_json(layout, bits);
        form["fields"].as_object_mut().map_or(Ok(()), change)?;
        let data = owed.data().copied().unwrap_or(Data::line(DATA));
        let message = self.of_form(port, &form, data)?;
        self.leaves(port, message)
    }

    /// What is owed for the message that came last leaves at another port; the message itself where nothing is owed.
    fn leaves_at(&mut self, port: &str) -> Result<Option<Violation>, CaseError> {
        let port = self.port(port)?;
        let message = self.watch.owes().map(|(_, message)| message).or_else(|| self.watch.came());
        let message = message.ok_or_else(|| CaseError::of("found no message, expected one that came"))?;
        self.leaves(port, message)
    }

    fn leaves_again(&mut self) -> Result<Option<Violation>, CaseError> {
        match self.left {
            Some((port, message)) => self.leaves(port, message),
            None => Ok(None),
        }
    }

    /// A message leaves as it stands in the case: `PORT MESSAGE`.
    fn sends(&mut self, words: &str) -> Result<Option<Violation>, CaseError> {
        let (port, words) = words.split_once(' ').unwrap_or((words, ""));
        let port = self.port(port)?;
        let message = self.read(port, words)?;
        self.leaves(port, message)
    }

    fn leaves(&mut self, port: usize, message: Message) -> Result<Option<Violation>, CaseError> {
        self.passes("sends", port, &message)?;
        self.left = Some((port, message));
        Ok(self.watch.leaves(port, message))
    }

    fn end(&mut self) -> Option<Violation> {
        self.t_fs += STEP_FS;
        let said = "nothing more passes".to_owned();
        self.steps.push(CaseStep { t_fs: self.t_fs, place: "end".to_owned(), said });
        self.watch.finish().into_iter().next()
    }
}
