//! The simple path on every link, and the order of posted, non-posted and completion TLPs.

use super::rig::*;

#[test]
fn tlps_of_every_kind_go_through() {
    for mut link in links() {
        let form = link.form();
        link.bring_up();
        for dir in Dir::ALL {
            let sent = [
                write(form, 1, 0x1000, &pattern(1, 64)),
                read(form, 2, 0x1000, 64),
                completion(form, 3, &pattern(3, 300)),
                write(form, 4, 0x2000, &pattern(4, 4)),
            ];
            sent.iter().for_each(|tlp| link.push(dir, tlp.clone()));
            assert_eq!(link.collect(dir, 200), sent);
        }
        link.rest();
        link.assert_no_events();
        for dir in Dir::ALL {
            assert!(link.end(dir).flow().is_home());
        }
    }
}
