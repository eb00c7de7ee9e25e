//! Which host a message of CXL.mem concerns, on a link that no ports of a fabric tell apart.
//!
//! Modelled: requests and answers name it by LD-ID; back-invalidates by BI-ID, which is the LD-ID on the link of a device with logical devices
//! and otherwise names the device (`fabric` §1.7, BIR-1). Detail: a link has logical devices once an LD-ID other than 0 has passed. A
//! host is snooped behind its requests alone, so the first snoop of such a link comes behind that.

use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::message::Message;

/// Links whose LD-IDs tell hosts apart.
#[derive(Debug, Default)]
pub struct LinkHosts {
    of_logical_devices: OrderedSet<usize>,
}

impl LinkHosts {
    /// Takes a message of CXL.mem in: its host among those of its link, 0 where there is one.
    pub fn host_of(&mut self, link: usize, message: &Message) -> u16 {
        let route = message.route();
        if route.ld_id != 0 {
            self.of_logical_devices.insert(link);
        }
        let is_snoop = matches!(message, Message::S2mBisnp(_) | Message::M2sBirsp(_));
        match is_snoop {
            true if self.of_logical_devices.contains(&link) => route.bi_id,
            true => 0,
            false => route.ld_id.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::cxl::message::{M2sBirsp, M2sReq};

    #[test]
    fn a_bi_id_is_an_ld_id_where_there_are_logical_devices() {
        let mut hosts = LinkHosts::default();
        let request = |ld_id| Message::M2sReq(M2sReq { ld_id, ..M2sReq::default() });
        let answer = |bi_id| Message::M2sBirsp(M2sBirsp { bi_id, ..M2sBirsp::default() });
        assert_eq!([hosts.host_of(0, &request(0)), hosts.host_of(0, &answer(7))], [0, 0]);
        assert_eq!(
            [hosts.host_of(1, &request(5)), hosts.host_of(1, &answer(5)), hosts.host_of(1, &answer(0))],
            [5, 5, 0]
        );
    }
}
