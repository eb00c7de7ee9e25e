//! The registers of a bridge that is watched, in a window of 4 KiB of the addresses of accelerators.
//!
//! Modelled: where they are, and which class of windows each CXL port takes, which a commit by registers is judged by. All groups may use
//! them. Left out: ports of the hairpin. A walk: with `{"base":"0x40000000","ports":["MN","MC"]}` a read of 64 bytes at 40000000h is
//! answered with the first eight registers, and a window of class MC that software leads by port 0 is refused by its status.

use scalepool_bridge::registers::ControlWindow;
use scalepool_bridge::window::{AccessRights, BridgeWindows, GROUPS, PORT_IDS};
use scalepool_forms::{FormError, Object, number, object, shown};
use scalepool_protocols::bridge::CONTROL_BYTES;
use serde_json::Value;

/// Classes of ports in the order in which a bridge has them (`bridge` §2).
const CLASSES: [&str; 4] = ["MN", "MC", "CC", "IO"];

/// The registers of an outbound half; none where the key is left out.
///
/// # Errors
/// An address that windows have too, or ports that cannot be.
pub(crate) fn control(form: &Object, windows: &BridgeWindows) -> Result<Option<ControlWindow>, FormError> {
    let Some(value) = form.get("control") else { return Ok(None) };
    let form = object(value, "control", &["base", "ports"])?;
    let missing = |key| FormError::new(key, "no such key", "the address of the registers and the classes of the ports");
    let base = number::from_json(form.get("base").ok_or_else(|| missing("control.base"))?, "control.base")?;
    let is_free = |base: &u64| {
        let last = base.saturating_add(CONTROL_BYTES - 1);
        let is_apart = |first: u64, size: u64| last < first || *base > first.saturating_add(size - 1);
        windows.list().iter().all(|window| window.size == 0 || is_apart(window.base, window.size))
    };
    let expected = format!("a multiple of {CONTROL_BYTES} of 64 bits, outside of all windows");
    let base = u64::try_from(base).ok().filter(|base| base.is_multiple_of(CONTROL_BYTES)).filter(is_free);
    let base = base.ok_or_else(|| FormError::new("control.base", shown(&form["base"]), expected))?;
    let expected = format!("a list of 1 to {PORT_IDS} classes, in the order MN, MC, CC, IO");
    let listed = form.get("ports").ok_or_else(|| missing("control.ports"))?;
    let wrong = || FormError::new("control.ports", shown(listed), &*expected);
    let list = listed.as_array().filter(|list| (1..=usize::from(PORT_IDS)).contains(&list.len())).ok_or_else(wrong)?;
    let class = |name: &Value| CLASSES.iter().position(|class| Some(*class) == name.as_str());
    let classes: Vec<usize> = list.iter().map(class).collect::<Option<_>>().ok_or_else(wrong)?;
    if !classes.is_sorted() {
        return Err(wrong());
    }
    let first_behind = |class: usize| classes.partition_point(|of| *of < class);
    Ok(Some(ControlWindow {
        base,
        rights: [AccessRights::ALL; GROUPS],
        ports: classes.len(),
        plain_ports: first_behind(1),
        first_host: first_behind(2),
        hairpin: None,
        io_from: first_behind(3),
    }))
}
