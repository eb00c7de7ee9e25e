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

/// A link whose receiver at the far end of `Down` has room for one TLP of a kind.
fn with_room_for_one(kind: IoCreditClass) -> Vec<Box<dyn Link>> {
    let mut narrow = config();
    narrow.buffers[kind.index()] = Buffers { headers: Advertised::x1(1), data: Advertised::x1(64) };
    links_of([config(), narrow])
}

#[test]
fn posted_and_completions_pass_requests_that_cannot_move() {
    for mut link in with_room_for_one(IoCreditClass::NonPosted) {
        let form = link.form();
        link.bring_up();
        let [first, second] = [1, 2].map(|tag| read(form, tag, 0, 4));
        let [posted, answer] = [write(form, 3, 0, &[3; 4]), completion(form, 4, &[4; 4])];
        [&first, &second, &posted, &answer].into_iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        link.steps(100);
        // The second read waits for the first to be taken; the others have overtaken it.
        let far = link.end(Dir::Up);
        assert_eq!(far.stats().received, [1, 1, 1]);
        assert_eq!(far.pop_if(&|kind| kind != IoCreditClass::NonPosted), Some(posted));
        assert_eq!(far.pop_if(&|kind| kind != IoCreditClass::NonPosted), Some(answer));
        assert_eq!(far.pop_if(&|kind| kind != IoCreditClass::NonPosted), None);
        assert_eq!(far.pop(), Some(first));
        assert_eq!(link.collect(Dir::Down, 100), [second]);
    }
}

#[test]
fn nothing_but_relaxed_completions_passes_posted_ones() {
    for mut link in with_room_for_one(IoCreditClass::Posted) {
        let form = link.form();
        link.bring_up();
        let [first, second] = [1, 2].map(|tag| write(form, tag, 0, &[tag as u8; 4]));
        let (request, answer) = (read(form, 3, 0, 4), completion(form, 4, &[4; 4]));
        let relaxed = {
            let mut bytes = completion(form, 5, &[5; 4]).into_bytes();
            let at = answer.front().len() + 2;
            bytes[at] |= if form == IoTlpForm::NonFlit { 0x20 } else { 0x08 };
            IoTlp::new(form, bytes).expect("an attribute changes no length")
        };
        assert!(relaxed.is_relaxed() && !answer.is_relaxed());
        // Behind the second write: read and answer wait with it.
        let sent = [&first, &second, &request, &answer];
        sent.into_iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        link.steps(100);
        assert_eq!(link.end(Dir::Up).stats().received, [1, 0, 0]);
        assert_eq!(link.collect(Dir::Down, 100), sent.map(IoTlp::clone));
        let sent = [&first, &second, &relaxed];
        sent.into_iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        link.steps(100);
        assert_eq!(link.end(Dir::Up).pop_if(&|kind| kind == IoCreditClass::Completion), Some(relaxed.clone()));
        assert_eq!(link.collect(Dir::Down, 100), [first, second]);
    }
}

#[test]
fn a_full_queue_gives_the_tlp_back() {
    for mut link in links_of([IoConfig { queue_tlps: 2, ..config() }, config()]) {
        let form = link.form();
        // Before the link is up nothing leaves.
        (0..2).for_each(|n| link.push(Dir::Down, write(form, n, 0, &[1; 4])));
        let third = write(form, 2, 0, &[2; 4]);
        let refused = link.end(Dir::Down).push(third.clone()).expect_err("it is full");
        assert_eq!(refused, IoRefused { tlp: third, why: Why::Full });
        assert_eq!(link.end(Dir::Down).room(IoCreditClass::Posted), IoCreditRoom { headers: Some(0), data: Some(0) });
        // Another kind has its own places.
        link.push(Dir::Down, read(form, 3, 0, 4));
        link.bring_up();
        assert_eq!(link.collect(Dir::Down, 100).len(), 3);
    }
}

#[test]
fn a_link_reset_begins_again() {
    let mut link = Units::plain();
    link.bring_up();
    link.push(Dir::Down, write(IoTlpForm::NonFlit, 1, 0, &[1; 64]));
    link.steps(3);
    for dir in Dir::ALL {
        link.io(dir).link_reset();
        assert!(!link.io(dir).is_up());
    }
    link.steps(LATENCY_FLITS);
    for dir in Dir::ALL {
        while link.io(dir).pop().is_some() {}
        link.io(dir).link_reset();
    }
    link.bring_up();
    let again = write(IoTlpForm::NonFlit, 2, 0, &[2; 64]);
    link.push(Dir::Down, again.clone());
    assert_eq!(link.collect(Dir::Down, 100), [again]);
    link.rest();
}
