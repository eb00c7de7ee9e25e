//! Ends of links that judge what comes to them over many flits, and an interface without a link layer.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `plain68` | of 68B flits without a link layer: `llcrd`, `retry` or `init`, a control flit of that kind, or `ack`, a flit that acknowledges |
//! | `end256` | a device of 256B flits that is up: `wants CLASS`, it gets a message to send; `credit CLASS TIMES`, so many flits that return a credit of the class each |
//! | `layer_ual` | the transaction layer of an accelerator of UALink before its credits: `credits`, response data credits of the pool; `done` or `done_shared`, the end of first credits, of separate data buffers or of a shared one; `up`, it gets and has given all; `requests`, a TL flit with two requests |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_forms::options::Options;
use scalepool_link::cxl256::{Cachemem, CachememConfig, Cxl256End, LinkConfig};
use scalepool_link::hook::Direction;
use scalepool_link::plain::{PlainForm, PlainWatch};
use scalepool_link::ualink::client::Client as _;
use scalepool_link::ualink::tl::{Tl, TlConfig, TlCreditCounts, TlCreditKind, TlCreditTarget};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam as InitParam68, Llcrd, Retry};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::control::InitParam;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::LAST;
use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::cxl256::{Class, Mode, Routing};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::{ControlField, Writer};
use scalepool_protocols::ualink::field::{TlFc, TlReq};
use scalepool_protocols::ualink::half::{MessageHalf, TlFlit};
use scalepool_protocols::ualink::pack::TlPacker;
use scalepool_protocols::wire::{Violation, Wire};

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("plain68", || {
        let watch = PlainWatch::new(PlainForm::Cxl68, Dir::Up, &Options::default());
        Some(Box::new(Plain68 { watch, came: 0 }))
    }),
    ("end256", || Some(Box::new(End256::up()?))),
    ("layer_ual", || {
        let mut buffers = TlCreditCounts::default();
        TlCreditKind::ALL.into_iter().for_each(|kind| *buffers.at(kind, TlCreditTarget::Vc(0)) = ROOM);
        let config = TlConfig { buffers, ..TlConfig::accelerator() };
        Some(Box::new(LayerUal { tl: Tl::new(config), packer: TlPacker::new(config.codec), asked: 0 }))
    }),
];

/// Messages and beats that the layer of UALink has room for.
const ROOM: u16 = 64;

/// Flits in which the layer of UALink has given its credits, and more.
const CREDIT_FLITS: u64 = 400;

/// Flits in which an end of 256B flits has agreed on numbers, and more.
const HANDSHAKE_FLITS: usize = 20;

/// Watches flits without a link layer.
struct Plain68 {
    watch: PlainWatch,
    came: u64,
}

impl CaseWatcher for Plain68 {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let (slot, kind) = match words {
            ["llcrd"] => (Control::LlcrdAcknowledge(Llcrd::default()).to_slot().ok()?, "an LLCRD"),
            ["retry"] => (Control::RetryIdle(Retry::default()).to_slot().ok()?, "a RETRY.Idle"),
            ["init"] => (Control::InitParam(InitParam68::default()).to_slot().ok()?, "an INIT.Param"),
            // Bit 2 of a header (`cxl-68b` §1.5).
            ["ack"] => (1 << 2, "a protocol flit with an acknowledgement"),
            _ => return None,
        };
        self.came += 1;
        let unit = Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0]);
        let flit = self.watch.unit(Direction::Rx, &unit.0).ok()?;
        let found = flit.events.into_iter().next().map(|event| event.violation);
        LineOutcome::judged(format!("{kind} comes"), self.came, found)
    }
}

/// A device with 256B flits, to which its host sends.
struct End256 {
    end: Cxl256End<Cachemem>,
    now: u64,
    fed: u64,
    seq: u16,
    prior: bool,
}

impl End256 {
    /// Numbers and parameters are exchanged.
    fn up() -> Option<End256> {
        let link = LinkConfig::default();
        let config = CachememConfig::cachemem(Dir::Up, link.mode, 32);
        let mut end = End256 { end: Cxl256End::cachemem(link, config), now: 0, fed: 0, seq: 1, prior: false };
        for _ in 0..3 {
            end.feed(FlitType::Nop, ReplayCommand::Explicit, LAST, 0, &Crd::default())?;
            end.feed(FlitType::Nop, ReplayCommand::Ack, LAST, 0, &Crd::default())?;
        }
        for _ in 0..HANDSHAKE_FLITS {
            if end.end.transmitter().unacknowledged() > 0 {
                break;
            }
            end.transmit();
        }
        let init = InitParam::default().to_bits().ok()?;
        end.feed(FlitType::Cachemem, ReplayCommand::Explicit, 1, init, &Crd::default())?;
        end.feed(FlitType::Nop, ReplayCommand::Ack, 1, 0, &Crd::default())?;
        end.end.client.is_up().then_some(end)
    }

    fn transmit(&mut self) {
        self.now += 1;
        self.end.transmit(self.now);
    }

    /// A flit of the host.
    fn feed(&mut self, flit_type: FlitType, command: ReplayCommand, seq: u16, slot: u128, crd: &Crd) -> Option<()> {
        let mut flit = Cxl256Flit::ZERO;
        flit.set_header(&FlitHeader { flit_type, prior: self.prior, dllp_type: false, command, seq }).ok()?;
        flit.set_slot(Mode::Standard, 0, slot);
        flit.set_crd(crd).ok()?;
        flit.seal(Mode::Standard);
        self.prior = flit_type != FlitType::Nop;
        self.fed += 1;
        self.end.receive(&flit, self.fed);
        Some(())
    }

    /// The first event.
    fn found(&mut self) -> Option<Violation> {
        self.end.take_events().into_iter().next().map(|event| event.violation)
    }
}

impl CaseWatcher for End256 {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let class_of = |name: &str| {
            Class::ALL.into_iter().find(|class| class.def(Routing::Hbr).name.strip_prefix("cxl256.") == Some(name))
        };
        match words {
            ["wants", name] => {
                let class = class_of(name)?;
                self.end.client.send(Cxl256Message { class, bits: 1, data: None }).ok()?;
                LineOutcome::judged(format!("it wants to send a {}", class.name()), self.fed, self.found())
            }
            ["credit", name, times] => {
                let class = class_of(name)?;
                let mut crd = Crd::default();
                crd.give(class, 1);
                for n in 1..=times.parse::<u64>().ok()? {
                    self.seq += 1;
                    self.feed(FlitType::Cachemem, ReplayCommand::Explicit, self.seq, 0, &crd)?;
                    self.transmit();
                    if let Some(found) = self.found() {
                        let said = format!("flit {n} in a row that returns a credit for {}", class.name());
                        return LineOutcome::judged(said, self.fed, Some(found));
                    }
                }
                let said = format!("{times} flits return a credit for {} each", class.name());
                LineOutcome::judged(said, self.fed, None)
            }
            _ => None,
        }
    }
}

/// The transaction layer of an accelerator.
struct LayerUal {
    tl: Tl,
    packer: TlPacker,
    asked: u16,
}

impl LayerUal {
    /// A TL flit with fields in its Control half.
    fn fields(&mut self, fields: &[ControlField]) -> Option<()> {
        let mut writer = Writer::default();
        for field in fields {
            writer.put(field).ok().filter(|has_room| *has_room)?;
        }
        self.tl.receive(&TlFlit { halves: [writer.half(), [0; 32]], ..TlFlit::default() }, 0);
        Some(())
    }

    fn credits(&mut self) -> Option<()> {
        self.fields(&[ControlField::FlowControl(TlFc { rsp_data_cnt: 3, ..TlFc::default() })])
    }

    fn done(&mut self, is_shared: bool) {
        self.packer.push_message(MessageHalf::initial_credits_done(is_shared));
        while let Some(flit) = self.packer.pack() {
            self.tl.receive(&flit, 0);
        }
    }
}

impl CaseWatcher for LayerUal {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let said = match words {
            ["credits"] => {
                self.credits()?;
                "credits for response data come"
            }
            ["done"] => {
                self.done(false);
                "first credits are over, of separate data buffers"
            }
            ["done_shared"] => {
                self.done(true);
                "first credits are over, of a shared data buffer"
            }
            ["up"] => {
                let all =
                    TlFc { req_cmd_cnt: 7, rsp_cmd_cnt: 7, req_data_cnt: 31, rsp_data_cnt: 31, ..TlFc::default() };
                self.fields(&[ControlField::FlowControl(all)])?;
                self.done(false);
                for now in 0..CREDIT_FLITS {
                    let _ = self.tl.transmit(now);
                }
                "both have exchanged their first credits"
            }
            ["requests"] => {
                let request = |tag: u16| {
                    let cmd = ReqCmd::Read;
                    let address = 256 * u64::from(tag);
                    let whole = TlReq { cmd, src: 3, dst: 5, address, len: 15, attr: 0xff, tag, ..TlReq::default() };
                    ControlField::Request(whole)
                };
                let two = [request(self.asked), request(self.asked + 1)];
                self.asked += 2;
                self.fields(&two)?;
                "a TL flit with two requests"
            }
            _ => return None,
        };
        let found = self.tl.take_events().into_iter().next().map(|event| event.violation);
        LineOutcome::judged(said, self.asked.into(), found)
    }
}
