//! The watcher of a UALink switch.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `ual_switch` | of four ports, of which port 1 may not send to accelerator 2: `takes PORT KIND SRC DST TAG VC` and `sends ..`, kinds being `request` and `response`; `end` |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_fabric::ualink_switch::{UalPassageWatch, UalRoutes};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;

/// Ports of the switch, and lanes of each.
const PORTS: u16 = 4;
const LANES: u16 = 4;
/// The port that may not send, and to whom.
const DENIED: (u16, u16) = (1, 2);

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[("ual_switch", || {
    let mut routes = UalRoutes::new(PORTS, LANES);
    routes.allow_all();
    routes.set_denied(DENIED.0, DENIED.1, true);
    Some(Box::new(UalPassageWatch::new(routes)))
})];

impl CaseWatcher for UalPassageWatch {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        if words == ["end"] {
            return LineOutcome::judged("nothing more passes", 0, self.finish().into_iter().next());
        }
        let [way, port, kind, src, dst, tag, vchan] = words else { return None };
        let number = |text: &str| scalepool_forms::number::parse(text).and_then(|value| u16::try_from(value).ok());
        let (port, src, dst, tag) = (number(port)?, number(src)?, number(dst)?, number(tag)?);
        let vchan = u8::try_from(number(vchan)?).ok()?;
        let field = match *kind {
            "request" => ControlField::Request(TlReq { src, dst, tag, vchan, ..TlReq::default() }),
            "response" => ControlField::Response(TlRsp { src, dst, tag, vchan, ..TlRsp::default() }),
            _ => return None,
        };
        let transfer = Transfer::new(field);
        let said = format!("port {port} {way} {kind} {tag} from {src} to {dst}, channel {vchan}");
        match *way {
            "takes" => {
                self.comes(port, &transfer);
                LineOutcome::judged(said, tag.into(), None)
            }
            "sends" => LineOutcome::judged(said, tag.into(), self.leaves(port, &transfer)),
            _ => None,
        }
    }
}
