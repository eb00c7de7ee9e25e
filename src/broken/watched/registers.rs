//! A watcher of configuration space: what completions of CXL.io say of registers.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `registers` | `read REGISTER VALUE`, a read of a register of the function 01:00.0 and its completion; registers are places in bytes |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::tlp::IoTlpForm;
use scalepool_transactions::cxl_io::{CxlIoConfig, CxlIoTransactions};

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[("registers", || Some(Box::new(RegisterWatcher::new())))];

/// The root port that asks.
const ROOT: u16 = 0x0008;
/// The function 01:00.0.
const FUNCTION: u16 = 0x0100;
/// Bytes of a register.
const BYTES: usize = 4;

fn number(text: &str) -> Option<u32> {
    scalepool_forms::number::parse(text).and_then(|value| u32::try_from(value).ok())
}

/// The checker of a link, and how many reads have passed.
struct RegisterWatcher(CxlIoTransactions, u64);

impl RegisterWatcher {
    fn new() -> RegisterWatcher {
        let config = CxlIoConfig { all_writers_seen: true, limit: None };
        RegisterWatcher(CxlIoTransactions::new(config, vec!["link".to_owned()]), 0)
    }
}

impl CaseWatcher for RegisterWatcher {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let ["read", register, value] = words else { return None };
        let (place, word) = (u16::try_from(number(register)?).ok()?, number(value)?);
        let asks = TlpKind::ConfigRead { level: 0, target: FUNCTION, register: place, enables: 0xf };
        let answers =
            TlpKind::Completion { completer: FUNCTION, status: CplStatus::SC, byte_count: BYTES, lower_address: 0 };
        let tlps = [(Dir::Down, asks, Vec::new()), (Dir::Up, answers, word.to_le_bytes().to_vec())];
        let mut found = Vec::new();
        for (dir, kind, data) in tlps {
            let bytes = Tlp::new(kind, ROOT, data).encode(TlpForm::Flit).ok()?;
            found.extend(self.0.see(0, dir, self.1, &bytes, IoTlpForm::Flit { pbr: false }));
        }
        self.1 += 1;
        let said = format!("CfgRd of register {register} is completed with {value}");
        LineOutcome::judged(said, word.into(), found.into_iter().map(|finding| finding.violation).next())
    }
}
