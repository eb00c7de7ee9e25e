//! RETRY flits that an end sends (`cxl-68b` section 6).
//!
//! Modelled: five Frame flits before each Req or Ack, in a row, and what a Req and an Ack may say. Left out: the copies that follow an Ack (the
//! parent).
//!
//! A walk: five Frame flits leave, then Req; it has to ask for the number that the end expects, and it has to be due.

use super::{CHUNKS_A_FLIT, FRAMES, Framing, Lrsm, Monitor};
use scalepool_protocols::cxl::cxl68::config::ReqCount;
use scalepool_protocols::cxl::cxl68::control::{Control, RetryAck, RetryReq};

impl Monitor {
    pub(super) fn sent_retry_flit(&mut self, control: &Control, now: u64) {
        // Nothing with acknowledgements can go now; the wait starts anew.
        self.ack_waits_since = Some(now);
        let framing = self.framing;
        match control {
            Control::RetryFrame(_) => {
                if framing.frames == 0 {
                    self.framing.start = self.sent;
                    self.framing.ack_was_due = self.ack_is_due(self.sent);
                }
                self.framing.frames += 1;
                return;
            }
            Control::RetryReq(req) => {
                self.frames_before("RETRY.Req", framing);
                self.sent_req(req, framing);
            }
            Control::RetryAck(ack) => {
                self.frames_before("RETRY.Ack", framing);
                self.sent_ack(ack);
            }
            _ => self.lone_frames(),
        }
        self.framing = Framing::default();
    }

    pub(super) fn frames_before(&mut self, name: &str, framing: Framing) {
        let expected = format!("{FRAMES} Frames directly before {name}");
        match framing.frames {
            FRAMES.. => (),
            n if n + framing.lookalikes >= FRAMES => {
                self.broken(
                    "CXL68-LLR-16",
                    format!("{n} behind data"),
                    expected,
                    "a RETRY sequence interrupts a data run",
                );
            }
            0 => self.broken(
                "CXL68-LLR-13",
                "none",
                expected,
                "a RETRY flit is sent without its Frames and has no effect",
            ),
            n => self.broken(
                "CXL68-LLR-12",
                n,
                expected,
                "a RETRY sequence is sent with too few Frames; the peer drops it",
            ),
        }
    }

    pub(super) fn lone_frames(&mut self) {
        if self.framing.frames > 0 {
            let found = format!("{} Frames", self.framing.frames);
            self.broken(
                "CXL68-LLR-13",
                found,
                "RETRY.Req or RETRY.Ack behind them",
                "RETRY.Frame flits are sent without a RETRY.Req or RETRY.Ack behind them",
            );
        }
        self.framing = Framing::default();
    }

    pub(super) fn sent_req(&mut self, req: &RetryReq, framing: Framing) {
        let link = self.config.link;
        if framing.ack_was_due {
            self.broken(
                "CXL68-LLR-16",
                "a RETRY.Req sequence",
                "the RETRY.Ack sequence",
                "a RETRY.Req sequence is sent although a RETRY.Ack is due first",
            );
        }
        match self.lrsm {
            Lrsm::Normal if self.req_came => {
                self.broken(
                    "CXL68-LRS-03",
                    "RETRY.Req",
                    "no RETRY.Req",
                    "RETRY.Req sent although the peer's RETRY.Req moves the RRSM only",
                );
            }
            Lrsm::Normal => self.broken(
                "CXL68-LRS-01",
                "RETRY.Req",
                "no RETRY.Req",
                "RETRY.Req sent although no receive error is pending",
            ),
            // The Req itself may be counted or not, so one flit less is no finding.
            Lrsm::Waiting(flits)
                if self.config.known.timeout && flits < u64::from(link.timeout_flits) + u64::from(framing.frames) =>
            {
                self.broken(
                    "CXL68-LRS-18",
                    format!("after {flits} flits"),
                    link.timeout_flits,
                    "RETRY.Req sent again before TIMEOUT has run out",
                );
            }
            _ => (),
        }
        if u16::from(req.eseq) != self.eseq {
            self.broken(
                "CXL68-LLR-02",
                req.eseq,
                self.eseq,
                "RETRY.Req does not ask for the next flit that is missing",
            );
        }
        if self.config.known.tries && self.num_retry >= link.max_num_retry {
            self.broken("CXL68-LRS-07", "RETRY.Req", "training", "RETRY.Req sent although NUM_RETRY is at its maximum");
        }
        let expected = self.num_retry + u8::from(link.req_count == ReqCount::AfterIncrement);
        if req.num_retry != expected {
            let rule = if self.trained && self.num_retry == 0 { "CXL68-LRS-11" } else { "CXL68-LRS-17" };
            self.broken(rule, req.num_retry, expected, "RETRY.Req carries a wrong NUM_RETRY");
        }
        self.seen.reqs_sent += 1;
        self.num_retry = (self.num_retry + 1).min(31);
        self.asked = Some(req.num_retry);
        self.lrsm = Lrsm::Waiting(0);
    }

    pub(super) fn sent_ack(&mut self, ack: &RetryAck) {
        let eseq = u16::from(ack.eseq);
        let Some(at) = self.acks_due.iter().position(|d| (d.num_retry, d.eseq) == (ack.num_retry, eseq)) else {
            let found = format!("echo {}, Eseq {}", ack.num_retry, ack.eseq);
            let stale = self.dropped.is_some_and(|d| (d.num_retry, d.eseq) == (ack.num_retry, eseq));
            match (stale, self.acks_due.back()) {
                (true, _) => self.broken(
                    "CXL68-RRS-03",
                    found,
                    "no RETRY.Ack",
                    "RETRY.Ack sent although training has dropped it",
                ),
                (_, Some(due)) => {
                    let expected = format!("echo {}, Eseq {}", due.num_retry, due.eseq);
                    self.broken(
                        "CXL68-RRS-01",
                        found,
                        expected,
                        "RETRY.Ack does not repeat what the RETRY.Req asked for",
                    );
                }
                (_, None) => self.broken(
                    "CXL68-LLR-15",
                    found,
                    "no RETRY.Ack",
                    "RETRY.Ack sent although the peer has sent no RETRY.Req",
                ),
            }
            return;
        };
        self.acks_due.drain(..=at);
        self.dropped = None;
        if ack.empty && eseq != self.wr {
            let found = format!("Empty, Eseq {eseq}");
            self.broken(
                "CXL68-RRS-04",
                found,
                format!("not Empty up to {}", self.wr),
                "RETRY.Ack says Empty although flits are to be replayed",
            );
        }
        if ack.viral && !self.spoiled {
            self.broken(
                "CXL68-VIR-01",
                "Viral",
                "a spoiled flit before",
                "RETRY.Ack says Viral although no flit was spoiled",
            );
        }
        self.seen.replays += u64::from(eseq != self.wr);
        self.rd = eseq;
        // Nothing stands between the Ack and the rest of a run, unless another Ack is due.
        self.run =
            self.acks_due.is_empty() && self.copy(self.before(eseq)).is_some_and(|c| c.rollover_after >= CHUNKS_A_FLIT);
    }
}
