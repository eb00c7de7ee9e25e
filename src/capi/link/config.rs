//! What an end is made of: the protocol, and the object that a caller gives.

use super::super::status::Failure;
use super::protocol::CapiProtocol;
use scalepool::coherence::mem::tables::HdmRegion;
use scalepool::forms::{self, FormError, number};
use scalepool::link::cxl68::Known;
use scalepool::link::health::liveness::{LIVENESS_FLITS, LivenessLimits, MOST_LIVENESS_FLITS};
use scalepool::link::plain::PlainForm;
use scalepool::link::protocol::{CXL_IO, LinkProtocol};
use scalepool::link::ualink::CONTROL_BYTES;
use scalepool::link::ualink::line::INTERLEAVES;
use scalepool::link::watch::WatchConfig;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use serde_json::Value;

/// Refuses what is no wire unit by its length.
pub fn check_unit(protocol: CapiProtocol, unit: &[u8]) -> Result<(), Failure> {
    let expected = match protocol {
        CapiProtocol::Link(LinkProtocol::Ualink) if unit.len() == CONTROL_BYTES => CONTROL_BYTES,
        _ => protocol.unit_bytes(),
    };
    if unit.len() != expected {
        return Err(Failure::range("unit", format!("{} bytes", unit.len()), format!("{expected}")));
    }
    Ok(())
}

/// Keys of an interface of plain flits.
const OF_PLAIN_FLITS: [&str; 7] =
    ["transactions", "all_writers_seen", "unique_tags", "answer_flits", "coherence", "messages", "coverage"];

/// Everything that was said when the end was made.
#[derive(Debug, Clone)]
pub struct CapiEndConfig {
    pub protocol: CapiProtocol,
    pub dir: Dir,
    pub passive: bool,
    pub buffers: Option<u16>,
    pub data_flits: Option<u16>,
    pub mem_alone: bool,
    pub retry_entries: Option<u16>,
    pub timeout_flits: Option<u32>,
    pub max_num_retry: Option<u8>,
    pub max_num_phy_reinit: Option<u8>,
    pub flush_flits: Option<u16>,
    pub selective_nak: bool,
    pub reaction_flits: Option<u64>,
    pub interleave: u8,
    /// The interface has protocol flits of CXL and no link layer.
    pub plain_flits: bool,
    /// What the messages of an active end of UALink are: requests and responses, or TL flits.
    pub has_transaction_layer: bool,
    /// Flit clocks that anything may be waited for; `None`: no limit.
    pub liveness_flits: Option<u64>,
    /// What a passive end judges beside its link: coherence of the messages.
    pub coherence: Option<HdmRegion>,
    /// What an end of CXL, UALink or NVLink judges beside its link, if it sees messages: tags, answers and data.
    pub transactions: Option<JudgedTransactions>,
    /// Whether a passive end keeps the messages that it sees, to be taken.
    pub messages: bool,
    /// Whether it counts which codes of the protocol have passed.
    pub coverage: bool,
    /// Of both.
    pub all_writers_seen: bool,
    /// Of transactions, as the next one.
    pub unique_tags: bool,
    pub strict: bool,
    pub answer_flits: Option<u64>,
}

/// Transactions that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedTransactions {
    /// Those of CXL.mem with this kind of memory.
    CxlMem(HdmRegion),
    /// Those of CXL.cache, copies of lines and their bytes among them.
    CxlCache,
    /// Those of CXL.io.
    CxlIo,
    /// Those of UALink.
    Ualink,
    /// Those of the NVLink model.
    Nvlink,
}

impl JudgedTransactions {
    /// As the configuration spells it.
    pub const fn key(self) -> &'static str {
        match self {
            JudgedTransactions::CxlMem(region) => region.key(),
            JudgedTransactions::CxlCache => "cxl-cache",
            JudgedTransactions::CxlIo => CXL_IO,
            JudgedTransactions::Ualink => "ualink",
            JudgedTransactions::Nvlink => "nvlink",
        }
    }
}

/// A number of a key, in a range.
fn number<T: TryFrom<u128>>(value: &Value, key: &str, lowest: u128, highest: u128) -> Result<Option<T>, FormError> {
    let found = number::from_json(value, key)?;
    let fits = Some(found).filter(|n| (lowest..=highest).contains(n)).and_then(|n| T::try_from(n).ok());
    let wrong = || FormError::new(format!("config.{key}"), found.to_string(), format!("{lowest} to {highest}"));
    fits.map(Some).ok_or_else(wrong)
}

fn yes_or_no(value: &Value, key: &str) -> Result<bool, FormError> {
    let wrong = || FormError::new(format!("config.{key}"), forms::shown(value), "true or false");
    value.as_bool().ok_or_else(wrong)
}

/// Transactions of a link of CXL.
fn cxl_transactions(value: &Value) -> Result<JudgedTransactions, FormError> {
    let named = [JudgedTransactions::CxlCache, JudgedTransactions::CxlIo];
    if let Some(found) = named.into_iter().find(|kind| value.as_str() == Some(kind.key())) {
        return Ok(found);
    }
    let found = HdmRegion::ALL.into_iter().find(|region| value.as_str() == Some(region.key()));
    found.map(JudgedTransactions::CxlMem).ok_or_else(|| {
        let expected = "`cxl-cache`, `cxl-io`, `hdm-h`, `hdm-db` or `hdm-d`";
        FormError::new("config.transactions", forms::shown(value), expected)
    })
}

/// The kind of a memory.
fn region(value: &Value, key: &str) -> Result<HdmRegion, FormError> {
    let found = HdmRegion::ALL.into_iter().find(|region| value.as_str() == Some(region.key()));
    found.ok_or_else(|| FormError::new(format!("config.{key}"), forms::shown(value), "`hdm-h`, `hdm-db` or `hdm-d`"))
}

impl CapiEndConfig {
    /// Reads the object; an empty text is an empty object.
    pub fn read(protocol: &str, dir: Dir, passive: bool, text: &str) -> Result<CapiEndConfig, FormError> {
        let mut config = CapiEndConfig {
            protocol: CapiProtocol::named(protocol)?,
            dir,
            passive,
            buffers: None,
            data_flits: None,
            mem_alone: false,
            retry_entries: None,
            timeout_flits: None,
            max_num_retry: None,
            max_num_phy_reinit: None,
            flush_flits: None,
            selective_nak: false,
            reaction_flits: None,
            interleave: 1,
            plain_flits: false,
            has_transaction_layer: false,
            liveness_flits: Some(LIVENESS_FLITS),
            coherence: None,
            transactions: None,
            messages: false,
            coverage: false,
            all_writers_seen: false,
            unique_tags: false,
            strict: false,
            answer_flits: None,
        };
        // Only what the protocol has a use for is known.
        let of_link = config.protocol.messages();
        let mut known = match of_link {
            None => {
                let judged = ["transactions", "all_writers_seen", "answer_flits"];
                [["retry_entries", "timeout_flits", "selective_nak"], judged].concat()
            }
            Some(LinkProtocol::Cxl68) => {
                vec![
                    "buffers",
                    "classes",
                    "retry_entries",
                    "timeout_flits",
                    "max_num_retry",
                    "max_num_phy_reinit",
                    "flush_flits",
                ]
            }
            Some(LinkProtocol::Cxl256(_)) => {
                vec!["buffers", "classes", "retry_entries", "timeout_flits", "selective_nak"]
            }
            Some(LinkProtocol::Nvlink) => vec!["buffers", "data_flits", "retry_entries", "timeout_flits"],
            Some(LinkProtocol::Ualink) if passive => vec!["interleave"],
            Some(LinkProtocol::Ualink) => vec!["interleave", "layer", "buffers"],
        };
        known.push("liveness_flits");
        if passive && matches!(of_link, Some(LinkProtocol::Cxl68 | LinkProtocol::Ualink)) {
            known.push("reaction_flits");
        }
        if matches!(of_link, Some(LinkProtocol::Cxl68 | LinkProtocol::Cxl256(_))) {
            known.extend(["transactions", "all_writers_seen", "unique_tags", "answer_flits"]);
            known.extend(Some("coherence").filter(|_| passive));
        }
        known.extend(Some("messages").filter(|_| passive));
        if passive || matches!(of_link, Some(LinkProtocol::Cxl68 | LinkProtocol::Cxl256(_))) {
            known.push("coverage");
        }
        if of_link == Some(LinkProtocol::Ualink) {
            known.extend(["transactions", "all_writers_seen", "strict", "answer_flits"]);
        }
        if of_link == Some(LinkProtocol::Nvlink) {
            known.extend(["transactions", "all_writers_seen", "answer_flits"]);
        }
        let form = if text.is_empty() { Value::Object(forms::Object::new()) } else { forms::parse(text)? };
        if matches!(of_link, Some(LinkProtocol::Cxl68 | LinkProtocol::Cxl256(_))) {
            // Without a link layer nothing is known that is about one.
            if form.get("plain_flits").and_then(Value::as_bool) == Some(true) {
                known.retain(|key| OF_PLAIN_FLITS.contains(key));
            }
            known.push("plain_flits");
        }
        let entries = match of_link {
            Some(LinkProtocol::Cxl68) => (22, 255),
            Some(LinkProtocol::Cxl256(_)) | None => (1, 511),
            Some(LinkProtocol::Nvlink | LinkProtocol::Ualink) => (18, 2048),
        };
        for (key, value) in forms::object(&form, "config", &known)? {
            match key.as_str() {
                "buffers" => config.buffers = number(value, key, 1, 1023)?,
                "data_flits" => config.data_flits = number(value, key, 16, 1023)?,
                "retry_entries" => config.retry_entries = number(value, key, entries.0, entries.1)?,
                "timeout_flits" => config.timeout_flits = number(value, key, 1, u32::MAX.into())?,
                "max_num_retry" => config.max_num_retry = number(value, key, 1, 31)?,
                "max_num_phy_reinit" => config.max_num_phy_reinit = number(value, key, 1, 31)?,
                "flush_flits" => config.flush_flits = number(value, key, 1, 1023)?,
                "liveness_flits" => {
                    config.liveness_flits =
                        number(value, key, 0, MOST_LIVENESS_FLITS.into())?.filter(|&flits| flits > 0);
                }
                "reaction_flits" => config.reaction_flits = number(value, key, 0, 1 << 20)?,
                "interleave" => {
                    let found = number::from_json(value, key)?;
                    let fits = INTERLEAVES.into_iter().find(|&words| u128::from(words) == found);
                    let wrong = || FormError::new("config.interleave", found.to_string(), "1, 2 or 4");
                    config.interleave = fits.ok_or_else(wrong)? as u8;
                }
                "layer" => {
                    config.has_transaction_layer = match value.as_str() {
                        Some("tl") => true,
                        Some("dl") => false,
                        _ => return Err(FormError::new("config.layer", forms::shown(value), "`tl` or `dl`")),
                    };
                }
                "selective_nak" => config.selective_nak = yes_or_no(value, key)?,
                "messages" => config.messages = yes_or_no(value, key)?,
                "plain_flits" => config.plain_flits = yes_or_no(value, key)?,
                "coverage" => config.coverage = yes_or_no(value, key)?,
                "all_writers_seen" => config.all_writers_seen = yes_or_no(value, key)?,
                "unique_tags" => config.unique_tags = yes_or_no(value, key)?,
                "answer_flits" => config.answer_flits = number(value, key, 1, u64::MAX.into())?,
                "coherence" => config.coherence = Some(region(value, key)?),
                "strict" => config.strict = yes_or_no(value, key)?,
                "transactions" if matches!(of_link, None | Some(LinkProtocol::Ualink | LinkProtocol::Nvlink)) => {
                    let kind = match of_link {
                        None => JudgedTransactions::CxlIo,
                        Some(LinkProtocol::Ualink) => JudgedTransactions::Ualink,
                        _ => JudgedTransactions::Nvlink,
                    };
                    if value.as_str() != Some(kind.key()) {
                        let expected = format!("`{}`", kind.key());
                        return Err(FormError::new("config.transactions", forms::shown(value), expected));
                    }
                    config.transactions = Some(kind);
                }
                "transactions" => config.transactions = Some(cxl_transactions(value)?),
                _ => match value.as_str() {
                    Some("mem") => config.mem_alone = true,
                    Some("cachemem") => config.mem_alone = false,
                    _ => return Err(FormError::new("config.classes", forms::shown(value), "`mem` or `cachemem`")),
                },
            }
        }
        if config.all_writers_seen && config.coherence.is_none() && config.transactions.is_none() {
            return Err(FormError::new("config.all_writers_seen", "true", "`coherence` or `transactions` beside it"));
        }
        let of_transactions = [
            ("unique_tags", config.unique_tags),
            ("strict", config.strict),
            ("answer_flits", config.answer_flits.is_some()),
        ];
        if config.mem_alone && config.transactions == Some(JudgedTransactions::CxlCache) {
            return Err(FormError::new("config.transactions", "`cxl-cache`", "`classes` = `cachemem` beside it"));
        }
        if config.unique_tags && config.transactions == Some(JudgedTransactions::CxlCache) {
            return Err(FormError::new(
                "config.unique_tags",
                "true",
                "transactions of CXL.mem: a CQID always is unique",
            ));
        }
        let judges_io_of_cxl = config.transactions == Some(JudgedTransactions::CxlIo) && of_link.is_some();
        if judges_io_of_cxl && (!passive || config.plain_flits) {
            let expected = "a passive end of a link, whose flits carry CXL.io too";
            return Err(FormError::new("config.transactions", "`cxl-io`", expected));
        }
        if judges_io_of_cxl && config.unique_tags {
            let expected = "transactions of CXL.mem: a tag of CXL.io always is unique";
            return Err(FormError::new("config.unique_tags", "true", expected));
        }
        for (key, is_set) in of_transactions {
            if is_set && config.transactions.is_none() {
                return Err(FormError::new(format!("config.{key}"), "a value", "`transactions` beside it"));
            }
        }
        if of_link == Some(LinkProtocol::Ualink) && config.buffers.is_some() && !config.has_transaction_layer {
            return Err(FormError::new("config.buffers", "a value", "`layer` = `tl` beside it"));
        }
        let sees_tl_flits = of_link == Some(LinkProtocol::Ualink) && !passive && !config.has_transaction_layer;
        if config.transactions.is_some() && sees_tl_flits {
            return Err(FormError::new("config.transactions", "an active end of TL flits", "`layer` = `tl` beside it"));
        }
        Ok(config)
    }

    /// The form of plain flits, if the interface has them.
    pub fn plain_form(&self) -> Option<PlainForm> {
        self.protocol.messages().filter(|_| self.plain_flits).and_then(PlainForm::of)
    }

    /// The 68B choices.
    pub fn cxl68(&self) -> Cxl68Config {
        let default = Cxl68Config::default();
        Cxl68Config {
            llrb_entries: self.retry_entries.unwrap_or(default.llrb_entries),
            timeout_flits: self.timeout_flits.unwrap_or(default.timeout_flits),
            max_num_retry: self.max_num_retry.unwrap_or(default.max_num_retry),
            max_num_phy_reinit: self.max_num_phy_reinit.unwrap_or(default.max_num_phy_reinit),
            llcrd_flush_flits: self.flush_flits.unwrap_or(default.llcrd_flush_flits),
            ..default
        }
    }

    /// What a watcher of the end has to know.
    pub fn watch(&self) -> WatchConfig {
        let default = WatchConfig::new(self.protocol.watcher(), self.dir);
        let known = Known {
            entries: self.retry_entries.is_some(),
            timeout: self.timeout_flits.is_some(),
            tries: self.max_num_retry.is_some(),
            reinits: self.max_num_phy_reinit.is_some(),
            flush: self.flush_flits.is_some(),
        };
        let reaction_flits = self.reaction_flits.unwrap_or(default.reaction_flits);
        let (selective_nak, interleave) = (self.selective_nak, self.interleave);
        let messages = self.messages || self.coherence.is_some() || self.transactions.is_some();
        let liveness = LivenessLimits { flits: self.liveness_flits, time_fs: None };
        WatchConfig {
            cxl68: self.cxl68(),
            known,
            selective_nak,
            io_alone: self.protocol == CapiProtocol::CxlIo,
            reaction_flits,
            interleave,
            messages,
            liveness,
            repairs: true,
            ..default
        }
    }
}
