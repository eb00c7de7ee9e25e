//! Waits that no component may have, whether they close a circle or not (`bridge` §10, extra prohibitions; `coherence` §3.6).
//!
//! Modelled: pairs of classes by the names of their links. Left out: ports, as these waits are wrong wherever the room is. A walk: a component
//! says that writes to memory wait for room for non-posted TLPs; CXL.io may stand still for as long as software likes, so the pair is refused.

use scalepool_coherence::message::Class;

/// Names of the classes of CXL.io.
const OF_IO: [&str; 3] =
    [crate::kinds::cxl_links::POSTED, crate::kinds::cxl_links::NON_POSTED, crate::kinds::cxl_links::COMPLETION];

/// Why messages of a class may not wait for room for another one; `None`: they may.
pub fn why_not(incoming: &str, outgoing: &str) -> Option<&'static str> {
    let class = |name: &str| Class::ALL.into_iter().find(|class| class.name() == name);
    let from = class(incoming)?;
    if OF_IO.contains(&outgoing) {
        return Some("no class of CXL.mem or CXL.cache waits for CXL.io");
    }
    match (from, class(outgoing)?) {
        (Class::M2sRwd, Class::S2mBisnp) => Some("writes to memory never wait for snoops"),
        (Class::H2dReq, Class::D2hReq | Class::S2mBisnp) => {
            Some("snoops of a host never wait for requests of a device or for its snoops")
        }
        _ => None,
    }
}
