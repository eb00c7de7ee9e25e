//! What the two ends of a link have agreed on, and choices of the sheets, where they decide what is legal in a flit.
//!
//! Left out: what belongs to a link layer over time, such as credits and retry (see `scalepool::link`).

use super::FormError;
use super::error::shortened;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::ualink::config::UalConfig;

/// The configuration of every codec. `Default` is that of the sheets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// `cxl-68b`.
    pub cxl68: Cxl68Config,
    /// `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`.
    pub cxl256: Cxl256Config,
    /// `ualink`.
    pub ualink: UalConfig,
}

/// A choice that is on or off.
#[derive(Debug)]
pub struct Choice {
    /// Name.
    pub name: &'static str,
    /// Protocols that have it.
    pub protocols: &'static [&'static str],
    /// What it means when it is on.
    pub doc: &'static str,
    at: fn(&mut Options) -> &mut bool,
}

/// The 256B modes that carry CXL.cachemem.
const CXL256: &[&str] = &["cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];

/// All choices.
pub static CHOICES: [Choice; 9] = [
    Choice {
        name: "mdh",
        protocols: &["cxl-68b"],
        doc: "several data headers may stand in one slot",
        at: |options| &mut options.cxl68.mdh,
    },
    Choice {
        name: "mdh",
        protocols: CXL256,
        doc: "several data headers may stand in one slot",
        at: |options| &mut options.cxl256.mdh,
    },
    Choice {
        name: "direct_p2p",
        protocols: CXL256,
        doc: "direct peer-to-peer CXL.mem: its messages are legal in both directions",
        at: |options| &mut options.cxl256.direct_p2p,
    },
    Choice {
        name: "between_switches",
        protocols: &["cxl-256b-pbr"],
        doc: "a link between two switches: messages of every class are legal in both directions",
        at: |options| &mut options.cxl256.between_switches,
    },
    Choice {
        name: "fast_go",
        protocols: CXL256,
        doc: "code 12 of an H2D Rsp is Fast_GO, else it is reserved",
        at: |options| &mut options.cxl256.fast_go,
    },
    Choice {
        name: "withdrawn_codes",
        protocols: CXL256,
        doc: "opcodes that a later revision withdraws are legal",
        at: |options| &mut options.cxl256.withdrawn_codes,
    },
    Choice {
        name: "authentication",
        protocols: &["ualink"],
        doc: "tags follow a Control half with requests or responses",
        at: |options| &mut options.ualink.authentication,
    },
    Choice {
        name: "encryption",
        protocols: &["ualink"],
        doc: "low address bits are ciphertext and are not checked",
        at: |options| &mut options.ualink.encryption,
    },
    Choice {
        name: "write_message_enables",
        protocols: &["ualink"],
        doc: "a UPLI Write Message has byte enables",
        at: |options| &mut options.ualink.write_message_enables,
    },
];

/// Values of a choice: off and on.
const VALUES: [&str; 2] = ["off", "on"];

impl Choice {
    /// Whether it is on by default.
    pub fn default(&self) -> bool {
        *(self.at)(&mut Options::default())
    }
}

impl Options {
    /// Turns a choice of a protocol on or off: `NAME=on` or `NAME=off`.
    ///
    /// # Errors
    /// A choice that the protocol does not have, another value.
    pub fn set(&mut self, protocol: &str, setting: &str) -> Result<(), FormError> {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let own = || CHOICES.iter().filter(|choice| choice.protocols.contains(&protocol));
        let choice = own().find(|choice| choice.name == name).ok_or_else(|| {
            let names: Vec<_> = own().map(|choice| choice.name).collect();
            let of_others = CHOICES.iter().filter(|choice| choice.name == name).flat_map(|choice| choice.protocols);
            let of_others: Vec<_> = of_others.copied().collect();
            let elsewhere = match of_others.is_empty() {
                true => String::new(),
                false => format!("; {name} is one of {}", of_others.join(", ")),
            };
            let expected = match names.is_empty() {
                true => format!("none: {protocol} has no options{elsewhere}"),
                false => format!("an option of {protocol}, {}{elsewhere}", names.join(", ")),
            };
            FormError::new("option", format!("`{}`", shortened(name)), expected)
        })?;
        let value = VALUES.iter().position(|v| *v == value);
        let value = value.ok_or_else(|| {
            FormError::new(
                format!("option `{name}`"),
                format!("`{}`", shortened(setting)),
                format!("{name}=on or {name}=off"),
            )
        })?;
        *(choice.at)(self) = value == 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::registry::PROTOCOLS;

    #[test]
    fn every_choice_is_set_for_its_protocols_alone() {
        for choice in &CHOICES {
            for protocol in PROTOCOLS.iter().map(|p| p.name) {
                let mut options = Options::default();
                let before = choice.default();
                let other = VALUES[usize::from(!before)];
                let set = options.set(protocol, &format!("{}={other}", choice.name));
                let has_it = choice.protocols.contains(&protocol);
                let has_one_of_the_name =
                    CHOICES.iter().any(|c| c.name == choice.name && c.protocols.contains(&protocol));
                assert_eq!(set.is_ok(), has_one_of_the_name, "{protocol} {}", choice.name);
                assert_eq!(*(choice.at)(&mut options) != before, has_it, "{protocol} {}", choice.name);
            }
        }
    }

    #[test]
    fn what_is_no_choice() {
        let refused = |protocol, text| Options::default().set(protocol, text).unwrap_err().to_string();
        assert_eq!(
            refused("cxl-256b", "p2p=on"),
            "option: found `p2p`, expected an option of cxl-256b, mdh, direct_p2p, fast_go, withdrawn_codes"
        );
        assert_eq!(
            refused("nvlink", "mdh=on"),
            "option: found `mdh`, expected none: nvlink has no options; mdh is one of cxl-68b, cxl-256b, cxl-256b-lopt, cxl-256b-pbr"
        );
        for text in ["mdh", "mdh=", "mdh=1", "mdh=on="] {
            assert_eq!(refused("cxl-68b", text), format!("option `mdh`: found `{text}`, expected mdh=on or mdh=off"));
        }
    }
}
