//! Channels of a hop: credits of their own, what passes what is stuck, what stays behind.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool::coherence::message::{Class, Dir, Msg};
use scalepool::coherence::monitor::CreditWatch;
use scalepool::coherence::passing::{CoherenceChannel, Lane, LaneFault, must_pass};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

const X: LineAddr = LineAddr(4);

pub const CLASSES: [Class; 12] = {
    use Class::*;
    [D2hReq, D2hRsp, D2hData, H2dReq, H2dRsp, H2dData, M2sReq, M2sRwd, M2sBirsp, S2mBisnp, S2mNdr, S2mDrs]
};

/// A message of each class, none of which must stay behind another.
pub fn message(class: Class) -> Msg<CacheLine> {
    let (line, data, meta_field, meta, snp) =
        (X, CacheLine::of([1; 64]), MetaField::NoOp, MetaValue::Invalid, SnpType::NoOp);
    let (tag, devload, enables) = (1, DevLoad(0), WHOLE_LINE);
    match class {
        Class::D2hReq => Msg::D2hReq { opcode: D2hReqOpcode::RdShared, line, cqid: 1 },
        Class::D2hRsp => Msg::D2hRsp { opcode: D2hRspOpcode::RspIHitI, uqid: 1 },
        Class::D2hData => Msg::D2hData { uqid: 1, bogus: false, data, enables },
        Class::H2dReq => Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line, uqid: 1 },
        Class::H2dRsp => Msg::H2dRsp { opcode: H2dRspOpcode::WritePull, rsp_data: 1, cqid: 1 },
        Class::H2dData => Msg::H2dData { cqid: 1, go_err: false, data },
        Class::M2sReq => Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line, tag },
        Class::M2sRwd => Msg::M2sRwd { opcode: M2sRwdOpcode::MemWr, snp, meta_field, meta, line, tag, data, enables },
        Class::M2sBirsp => Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag: 1, low_addr: 0 },
        Class::S2mBisnp => Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line, bi_tag: 1 },
        Class::S2mNdr => Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag, devload },
        Class::S2mDrs => Msg::S2mDrs { opcode: DrsOpcode::MemData, meta_field, meta, tag, data, devload },
    }
}

fn send(lane: &mut Lane, class: Class) -> bool {
    lane.send(CoherenceChannel::Own(class), Some(message(class)))
}

fn rules(lane: &Lane) -> Vec<&'static str> {
    lane.events.iter().map(|e| e.rule).collect()
}

/// `earlier` is stuck, then `later` comes: whether it arrives, and what the watch says.
fn past(
    earlier: CoherenceChannel,
    later: CoherenceChannel,
    fabric: bool,
    fault: Option<LaneFault>,
) -> (bool, Vec<&'static str>) {
    let of = |channel| match channel {
        CoherenceChannel::Own(class) | CoherenceChannel::Peer(class) => Some(message(class)),
        _ => None,
    };
    let mut lane = Lane::new(4, fabric, fault);
    assert!(lane.send(earlier, of(earlier)) && lane.send(later, of(later)));
    let arrived = lane.deliver(&CoherenceConfig::default(), &[earlier]);
    (arrived.is_some_and(|(channel, _)| channel == later), rules(&lane))
}

/// Of a row: every later class passes every earlier one that it must.
fn passes(rule: &str, fabric: bool) -> usize {
    let mut pairs = 0;
    for (later, earlier) in CLASSES.iter().flat_map(|l| CLASSES.iter().map(move |e| (*l, *e))) {
        if later.dir() == earlier.dir()
            && must_pass(CoherenceChannel::Own(later), CoherenceChannel::Own(earlier), fabric) == Some(rule)
        {
            assert_eq!(
                past(CoherenceChannel::Own(earlier), CoherenceChannel::Own(later), fabric, None),
                (true, vec![])
            );
            pairs += 1;
        }
    }
    pairs
}

/// In a hop with one queue every pair of the row is named.
fn is_held(rule: &'static str, fabric: bool) {
    let mut pairs = 0;
    for (later, earlier) in CLASSES.iter().flat_map(|l| CLASSES.iter().map(move |e| (*l, *e))) {
        if later.dir() == earlier.dir()
            && must_pass(CoherenceChannel::Own(later), CoherenceChannel::Own(earlier), fabric) == Some(rule)
        {
            let fault = Some(LaneFault::InOrder);
            assert_eq!(
                past(CoherenceChannel::Own(earlier), CoherenceChannel::Own(later), fabric, fault),
                (false, vec![rule])
            );
            pairs += 1;
        }
    }
    assert_ne!(pairs, 0);
}

/// The receiver takes everything while other messages of the direction never end: whether the class arrives.
fn starves(class: Class, fault: Option<LaneFault>) -> (bool, Vec<&'static str>) {
    let config = CoherenceConfig::default();
    let mut lane = Lane::new(4, false, fault);
    let others: Vec<_> = CLASSES.into_iter().filter(|c| c.dir() == class.dir() && *c != class).collect();
    assert!(send(&mut lane, others[0]) && send(&mut lane, class));
    for n in 1..100 {
        send(&mut lane, others[n % others.len()]);
        if lane.deliver(&config, &[]).is_some_and(|(c, _)| c == CoherenceChannel::Own(class)) {
            return (true, rules(&lane));
        }
    }
    (false, rules(&lane))
}

/// Two messages that keep their order, the earlier one first: the events of a hop that lets them pass.
fn reordered(
    earlier: Msg<CacheLine>,
    later: Msg<CacheLine>,
    fault: Option<LaneFault>,
) -> (Vec<Msg<CacheLine>>, Vec<&'static str>) {
    let config = CoherenceConfig::default();
    let mut lane = Lane::new(4, false, fault);
    for msg in [earlier, later] {
        assert!(lane.send(CoherenceChannel::Own(msg.class()), Some(msg)));
    }
    let order = (0..2).filter_map(|_| lane.deliver(&config, &[])).filter_map(|(_, m)| m).collect();
    (order, rules(&lane))
}

fn ndr(opcode: NdrOpcode) -> Msg<CacheLine> {
    let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
    Msg::S2mNdr { opcode, meta_field, meta, tag: 1, devload: DevLoad(0) }
}

fn req(opcode: M2sReqOpcode) -> Msg<CacheLine> {
    let (snp, meta_field, meta) = (SnpType::NoOp, MetaField::NoOp, MetaValue::Invalid);
    Msg::M2sReq { opcode, snp, meta_field, meta, line: X, tag: 1 }
}

#[test]
fn coh_chn_01_p() {
    let channels = CoherenceChannel::of(true);
    assert_eq!((CoherenceChannel::of(false).len(), channels.len()), (12, 18), "direct peers: six more");
    // Each channel in turn is stuck with all of its credits used; all others of its direction still move.
    for &stuck in &channels {
        let mut lane = Lane::new(2, true, None);
        while lane.send(stuck, None) {}
        for &other in channels.iter().filter(|c| **c != stuck) {
            assert!(lane.send(other, None), "{other:?} beside {stuck:?}");
            assert_eq!(lane.deliver(&CoherenceConfig::default(), &[stuck]), Some((other, None)));
        }
        assert!(lane.events.is_empty());
    }
}

#[test]
fn coh_chn_01_n() {
    let mut lane = Lane::new(4, false, Some(LaneFault::SharedPool));
    while lane.send(CoherenceChannel::Own(Class::M2sReq), None) {}
    let before = lane.events.len();
    assert!(!lane.send(CoherenceChannel::Own(Class::M2sRwd), None));
    assert_eq!((rules(&lane)[before..].to_vec(), lane.events[before].at.as_str()), (vec!["COH-CHN-01"], "M2S RwD"));
    // A stuck class of the own device must not hold one of a peer.
    let (own, peer) = (CoherenceChannel::Own(Class::S2mNdr), CoherenceChannel::Peer(Class::M2sReq));
    assert_eq!(past(peer, own, true, Some(LaneFault::InOrder)), (false, vec!["COH-CHN-01"]));
}

#[test]
fn coh_inv_11_p() {
    let config = CoherenceConfig::default();
    let mut lane = Lane::new(3, false, None);
    for n in 0..200 {
        for class in CLASSES.into_iter().filter(|c| c.dir() == Dir::Down) {
            send(&mut lane, class);
        }
        let stuck = [CoherenceChannel::Own(CLASSES[n % 12])];
        lane.deliver(&config, &stuck);
    }
    while lane.deliver(&config, &[]).is_some() {}
    lane.check_idle();
    assert!(lane.events.is_empty(), "{:?}", lane.events);
}

#[test]
fn coh_inv_11_n() {
    let config = CoherenceConfig::default();
    let mut lane = Lane::new(2, false, Some(LaneFault::SendsWithout));
    (0..3).for_each(|_| assert!(send(&mut lane, Class::M2sReq)));
    assert_eq!(rules(&lane), ["COH-INV-11"]);
    let mut lane = Lane::new(2, false, Some(LaneFault::KeepsCredit));
    send(&mut lane, Class::M2sReq);
    assert!(lane.deliver(&config, &[]).is_some());
    lane.check_idle();
    assert_eq!(rules(&lane), ["COH-INV-11"]);
    let mut events = Vec::new();
    CreditWatch::new("M2S Req", 2).give_back(&mut events);
    assert_eq!(events[0].rule, "COH-INV-11", "a credit for nothing");
}

#[test]
fn coh_dlk_01_p() {
    assert_eq!(passes("COH-DLK-01", false), 8);
    let (cmp, ack) = (ndr(NdrOpcode::CmpE), ndr(NdrOpcode::BIConflictAck));
    assert_eq!(reordered(cmp, ack, None), (vec![cmp, ack], vec![]));
}

#[test]
fn coh_dlk_01_n() {
    is_held("COH-DLK-01", false);
    let (cmp, ack) = (ndr(NdrOpcode::CmpE), ndr(NdrOpcode::BIConflictAck));
    assert_eq!(reordered(cmp, ack, Some(LaneFault::PassesAll)), (vec![ack, cmp], vec!["COH-DLK-01"]));
}

#[test]
fn coh_dlk_02_p() {
    assert_eq!(passes("COH-DLK-02", false), 1);
}

#[test]
fn coh_dlk_02_n() {
    is_held("COH-DLK-02", false);
}

#[test]
fn coh_dlk_03_p() {
    assert_eq!(starves(Class::D2hReq, None), (true, vec![]));
}

#[test]
fn coh_dlk_03_n() {
    let fault = Some(LaneFault::Starves(CoherenceChannel::Own(Class::D2hReq)));
    assert_eq!(starves(Class::D2hReq, fault), (false, vec!["COH-DLK-03"]));
}

#[test]
fn coh_dlk_04_p() {
    assert_eq!(starves(Class::M2sReq, None), (true, vec![]));
    let (fwd, read) = (req(M2sReqOpcode::MemRdFwd), req(M2sReqOpcode::MemRd));
    assert_eq!(reordered(fwd, read, None), (vec![fwd, read], vec![]));
}

#[test]
fn coh_dlk_04_n() {
    let fault = Some(LaneFault::Starves(CoherenceChannel::Own(Class::M2sReq)));
    assert_eq!(starves(Class::M2sReq, fault), (false, vec!["COH-DLK-04"]));
    let (fwd, read) = (req(M2sReqOpcode::MemRdFwd), req(M2sReqOpcode::MemRd));
    assert_eq!(reordered(fwd, read, Some(LaneFault::PassesAll)), (vec![read, fwd], vec!["COH-DLK-04"]));
}

#[test]
fn coh_dlk_05_p() {
    assert_eq!(passes("COH-DLK-05", false), 1);
}

#[test]
fn coh_dlk_05_n() {
    is_held("COH-DLK-05", false);
}

#[test]
fn coh_dlk_06_p() {
    assert_eq!((passes("COH-DLK-06", false), passes("COH-DLK-06", true)), (1, 2), "fabrics: RwD too");
    let go = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: 1, cqid: 1 };
    let snoop = message(Class::H2dReq);
    assert_eq!(reordered(go, snoop, None), (vec![go, snoop], vec![]));
}

#[test]
fn coh_dlk_06_n() {
    is_held("COH-DLK-06", true);
    let go = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: 1, cqid: 1 };
    let snoop = message(Class::H2dReq);
    assert_eq!(reordered(go, snoop, Some(LaneFault::PassesAll)), (vec![snoop, go], vec!["COH-DLK-06"]));
}

#[test]
fn coh_dlk_07_p() {
    assert_eq!(passes("COH-DLK-07", false), 9);
}

#[test]
fn coh_dlk_07_n() {
    is_held("COH-DLK-07", false);
}

#[test]
fn coh_dlk_16_p() {
    for class in CLASSES {
        assert_eq!(
            past(CoherenceChannel::Io, CoherenceChannel::Own(class), false, None),
            (true, vec![]),
            "{class:?} past CXL.io"
        );
        assert_eq!(
            past(CoherenceChannel::Own(class), CoherenceChannel::UioCompletion, false, None),
            (true, vec![]),
            "{class:?}"
        );
    }
}

#[test]
fn coh_dlk_16_n() {
    let fault = Some(LaneFault::InOrder);
    for class in CLASSES {
        assert_eq!(past(CoherenceChannel::Io, CoherenceChannel::Own(class), false, fault), (false, vec!["COH-DLK-16"]));
        assert_eq!(
            past(CoherenceChannel::Own(class), CoherenceChannel::UioCompletion, false, fault),
            (false, vec!["COH-DLK-16"])
        );
    }
}
