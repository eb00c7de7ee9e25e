//! Link-level replay of UALink, a second time (`ualink` §3, §7): the sheet's variables under their own names, headers as
//! 24-bit numbers, unacknowledged payload as a list of sequence numbers.
//!
//! Modelled: receive steps 1 to 5, exact windows, transmit scheduling (a) to (d). Left out: payload bytes and the ack
//! watchdog. Where the sheet is silent: the count of unexpected flits begins again at its limit, payload that is
//! acknowledged while it goes again is skipped, and no copy of a request counts within the ignore window.

/// Variables of one end after reset, and the numbers of what is not acknowledged.
#[derive(Debug, Clone)]
pub struct Llr {
    pub rx_last_seq_calc: u16,
    pub rx_last_ack: u16,
    pub rx_bad_crc_count: u32,
    pub rx_ambiguous: bool,
    pub rx_replay: bool,
    pub rx_unexpected_count: u32,
    pub rx_replay_limit: u32,
    pub rx_replay_ignore_count: u32,
    pub tx_last_seq: u16,
    pub tx_replay: bool,
    pub tx_first_replay: bool,
    pub tx_replay_req_count: u32,
    pub tx_replay_req_seq_no: u16,
    pub tx_explicit_count: i32,
    /// Numbers that wait for an Ack, oldest first.
    pub buffer: Vec<u16>,
    /// Entries that the buffer holds.
    pub buffer_size: usize,
    /// Flits of a FEC group.
    pub fec_group: u64,
    /// Number that the replay sends next.
    next_replayed: u16,
    last_request_group: Option<u64>,
    flits: u64,
}

impl Default for Llr {
    fn default() -> Self {
        Llr {
            rx_last_seq_calc: 511,
            rx_last_ack: 511,
            rx_bad_crc_count: 0,
            rx_ambiguous: false,
            rx_replay: false,
            rx_unexpected_count: 0,
            rx_replay_limit: 50,
            rx_replay_ignore_count: 0,
            tx_last_seq: 511,
            tx_replay: false,
            tx_first_replay: false,
            tx_replay_req_count: 0,
            tx_replay_req_seq_no: 0,
            tx_explicit_count: 7,
            buffer: Vec::new(),
            buffer_size: 255,
            fec_group: 4,
            next_replayed: 0,
            last_request_group: None,
            flits: 0,
        }
    }
}

/// The number behind `n`.
fn succ(n: u16) -> u16 {
    if n == 511 { 1 } else { n + 1 }
}

impl Llr {
    /// A flit arrives: FH\[23:0\], or `None` when its CRC is bad. Whether its payload is delivered.
    pub fn receive(&mut self, fh: Option<u32>) -> bool {
        self.rx_replay_ignore_count = self.rx_replay_ignore_count.saturating_sub(1);
        let (op, payload) = match fh {
            Some(fh) => (fh >> 21, fh >> 20 & 1 == 1),
            None => (7, false),
        };
        // A reserved header counts as a bad flit.
        if op > 3 || (op == 1 && !payload) {
            self.rx_bad_crc_count = 7.min(self.rx_bad_crc_count + 1);
            if self.rx_bad_crc_count >= 7 {
                self.rx_ambiguous = true;
            }
            if self.rx_replay {
                self.rx_unexpected_count = 255.min(self.rx_unexpected_count + 1);
            }
            return false;
        }
        let fh = fh.unwrap_or(0);
        let explicit = op < 2;
        if !explicit {
            let ack_req_seq = (fh >> 11 & 0x1ff) as u16;
            if ack_req_seq == 0 {
                return false;
            }
            self.command(op == 3, ack_req_seq);
        }
        let calc = if explicit { (fh >> 8 & 0x1ff) as u16 } else { self.calc((fh >> 8 & 7) as u16, payload) };
        if explicit && calc == 0 {
            return false;
        }
        if explicit || !(self.rx_ambiguous || self.rx_replay) {
            let last = self.rx_last_seq_calc;
            let expected = (!payload && calc == last) || (payload && calc == succ(last));
            if expected {
                self.rx_last_seq_calc = calc;
                self.rx_unexpected_count = 0;
                self.rx_replay = false;
                self.rx_ambiguous = false;
                self.rx_bad_crc_count = 0;
                return payload;
            }
            if !self.rx_replay {
                self.tx_replay_req_count = 3;
                self.rx_replay = true;
                self.rx_unexpected_count = 0;
            }
        } else if self.rx_replay {
            self.rx_unexpected_count = 255.min(self.rx_unexpected_count + 1);
            if self.rx_unexpected_count >= self.rx_replay_limit {
                self.tx_replay_req_count = 3;
                self.rx_bad_crc_count = 0;
                self.rx_unexpected_count = 0;
            }
        }
        false
    }

    fn calc(&self, low: u16, payload: bool) -> u16 {
        let last = self.rx_last_seq_calc;
        let mut d = (low + 8 - last % 8) % 8;
        if d == 0 && payload {
            d = 8;
        }
        (last + d) % 512
    }

    fn command(&mut self, is_request: bool, n: u16) {
        let place = self.buffer.iter().position(|&kept| kept == n);
        if is_request {
            if self.rx_replay_ignore_count == 0 && place.is_some() {
                self.tx_replay = true;
                self.tx_first_replay = true;
                self.rx_replay_ignore_count = 12;
                self.next_replayed = n;
            }
        } else if let Some(place) = place {
            self.rx_last_ack = n;
            self.buffer.drain(..=place);
            if self.tx_replay && !self.buffer.contains(&self.next_replayed) {
                match self.buffer.first() {
                    Some(&first) => self.next_replayed = first,
                    None => (self.tx_replay, self.tx_first_replay) = (false, false),
                }
            }
        }
    }

    /// A flit leaves; `offered`: new payload waits. FH\[23:0\], and the number of its payload.
    pub fn transmit(&mut self, offered: bool) -> (u32, Option<u16>) {
        let replaying = self.tx_replay;
        let sent = if replaying {
            let n = self.next_replayed;
            match n == self.tx_last_seq {
                true => self.tx_replay = false,
                false => self.next_replayed = succ(n),
            }
            Some(n)
        } else if offered && self.buffer.len() < self.buffer_size.min(255) {
            self.tx_last_seq = succ(self.tx_last_seq);
            self.buffer.push(self.tx_last_seq);
            Some(self.tx_last_seq)
        } else {
            None
        };
        let own = u32::from(sent.unwrap_or(self.tx_last_seq));
        let payload = u32::from(sent.is_some()) << 20;
        let group = self.flits / self.fec_group;
        self.flits += 1;
        self.tx_explicit_count -= 1;
        let fh = if self.tx_first_replay {
            self.tx_first_replay = false;
            self.tx_explicit_count = 7;
            1 << 21 | payload | own << 8
        } else if self.tx_explicit_count <= 0 {
            self.tx_explicit_count = 7;
            u32::from(replaying) << 21 | payload | own << 8
        } else if self.tx_replay_req_count > 0 && self.last_request_group != Some(group) {
            if self.tx_replay_req_count == 3 {
                self.tx_replay_req_seq_no = succ(self.rx_last_seq_calc);
            }
            self.tx_replay_req_count -= 1;
            self.last_request_group = Some(group);
            3 << 21 | payload | u32::from(self.tx_replay_req_seq_no) << 11 | (own & 7) << 8
        } else {
            2 << 21 | payload | u32::from(self.rx_last_seq_calc) << 11 | (own & 7) << 8
        };
        (fh, sent)
    }
}
