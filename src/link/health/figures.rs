//! The table of health figures: what the ends of links count and show, whatever their protocol.

/// What the value of a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureShape {
    /// A number that only grows, from the first flit on.
    Count,
    /// A number as it is now.
    Level,
    /// A name, such as that of a state.
    Name,
    /// A number for each channel of messages, by its name, as it is now.
    ByChannel,
    /// A number for each state, by its name, that only grows.
    ByState,
}

/// One figure.
#[derive(Debug, PartialEq, Eq)]
pub struct HealthFigure {
    /// Its key in JSON and its name in tables.
    pub name: &'static str,
    /// Unit of its numbers; `-` of names.
    pub unit: &'static str,
    /// What its value is.
    pub shape: FigureShape,
    /// What it says.
    pub meaning: &'static str,
    /// Sheets and sections of what is counted.
    pub source: &'static str,
}

macro_rules! figures {
    ($($id:ident = $name:literal [$unit:literal] $shape:ident, $meaning:literal, $source:literal;)*) => {
        $(
            #[doc = $meaning]
            pub static $id: HealthFigure = HealthFigure {
                name: $name,
                unit: $unit,
                shape: FigureShape::$shape,
                meaning: $meaning,
                source: $source,
            };
        )*

        /// All figures, in the order in which they are shown.
        pub static FIGURES: &[&HealthFigure] = &[$(&$id),*];
    };
}

figures! {
    LINK_STATE = "link_state" ["-"] Name,
        "state of the link", "cxl-68b §6.4; cxl-256b §9; ualink §8; nvlink §6.3";
    RETRY_STATE = "retry_state" ["-"] Name,
        "state of the retry", "cxl-68b §7.3; cxl-256b §9; ualink §7; nvlink §6.3";
    RETRY_TRIES = "retry_tries" ["tries"] Level,
        "replays or requests for one since the last progress, as the limit of the protocol counts them",
        "cxl-68b §7.3; cxl-256b §9; nvlink §6.3";
    SENT_FLITS = "sent_flits" ["flits"] Count,
        "flits sent, replayed ones included, without those that a run leaves out at rest", "cxl-68b §1; cxl-256b §1; ualink §2; nvlink §1";
    RECEIVED_FLITS = "received_flits" ["flits"] Count,
        "flits that have come, bad ones included, without those that a run leaves out at rest", "cxl-68b §1; cxl-256b §1; ualink §2; nvlink §1";
    NEXT_NUMBER = "next_number" ["-"] Level,
        "sequence number of the next new flit", "cxl-68b §7.1; cxl-256b §9; ualink §7; nvlink §6.3";
    EXPECTED_NUMBER = "expected_number" ["-"] Level,
        "sequence number of the next flit that the end takes", "cxl-68b §7.1; cxl-256b §9; ualink §7; nvlink §6.3";
    ACKNOWLEDGED_NUMBER = "acknowledged_number" ["-"] Level,
        "last sequence number that the peer has acknowledged", "cxl-256b §9; ualink §7; nvlink §6.3";
    UNACKNOWLEDGED_FLITS = "unacknowledged_flits" ["flits"] Level,
        "numbered flits that were sent and are not acknowledged", "cxl-68b §7.1; cxl-256b §9; ualink §7; nvlink §6.3";
    REPLAYS = "replays" ["replays"] Count,
        "replays that the end has begun", "cxl-68b §7.4; cxl-256b §9; ualink §7; nvlink §6.3";
    REPLAYED_FLITS = "replayed_flits" ["flits"] Count,
        "flits that the end has sent again", "cxl-68b §7.4; cxl-256b §9; ualink §7; nvlink §6.3";
    NAKS_SENT = "naks_sent" ["requests"] Count,
        "requests for a replay that the end has made: RETRY.Req sequences, Naks (each goes in three flits), Replay Requests (three copies each), or losses of the stream of nvlink",
        "cxl-68b §7.2; cxl-256b §9; ualink §7; nvlink §6.3";
    NAKS_RECEIVED = "naks_received" ["flits"] Count,
        "flits with a request for a replay that have come: RETRY.Req behind its Frames, Nak, Replay Request",
        "cxl-68b §7.2; cxl-256b §9; ualink §7";
    CRC_ERRORS = "crc_errors" ["flits"] Count,
        "flits that have come with a CRC that does not fit, behind the FEC where there is one; of nvlink headers, none while the end looks for a REPLAY_INIT",
        "cxl-68b §1.3; cxl-256b §7; ualink §4; nvlink §6.2";
    FRAMING_ERRORS = "framing_errors" ["flits"] Count,
        "flits dropped for their protocol ID or for a reserved header", "cxl-68b §1.2; ualink §3";
    FEC_REPAIRED_FLITS = "fec_repaired_flits" ["flits"] Count,
        "flits that the FEC has repaired", "cxl-256b §8";
    FEC_REPAIRED_SYMBOLS = "fec_repaired_symbols" ["bytes"] Count,
        "symbols (bytes) that the FEC has repaired, at most one in each of three groups of a flit", "cxl-256b §8";
    DUPLICATE_FLITS = "duplicate_flits" ["flits"] Count,
        "good numbered flits that the end had already", "cxl-256b §9; ualink §7";
    DISCARDED_FLITS = "discarded_flits" ["flits"] Count,
        "good flits thrown away because one before them is missing, duplicates left out",
        "cxl-68b §7.3; cxl-256b §9; ualink §7; nvlink §6.3";
    TRAININGS = "trainings" ["trainings"] Count,
        "times that the end has asked for training, or that the link has left Up", "cxl-68b §7.3; cxl-256b §9; ualink §8";
    MESSAGES_WAITING = "messages_waiting" ["messages"] ByChannel,
        "messages that wait in the end to be sent", "cxl-68b §5.4; cxl-256b §1.6; ualink §11; nvlink §6.3";
    CREDITS = "credits" ["credits"] ByChannel,
        "credits that the end may spend", "cxl-68b §5.4; cxl-256b §1.6; ualink §11; nvlink §6.3";
    CREDITS_GIVEN = "credits_given" ["credits"] ByChannel,
        "credits that the end has given and its peer has not spent", "cxl-68b §5.4; cxl-256b §1.6; ualink §11; nvlink §6.3";
    CREDIT_STALLS = "credit_stalls" ["flits"] Count,
        "flit clocks in which a message waited for a credit and nothing else could be sent", "cxl-68b §5.4; cxl-256b §1.6";
    TLPS_SENT = "tlps_sent" ["TLPs"] Count,
        "TLPs of CXL.io sent, first copies", "cxl-io §2";
    TLPS_RECEIVED = "tlps_received" ["TLPs"] Count,
        "TLPs of CXL.io taken", "cxl-io §2";
    TLPS_REPLAYED = "tlps_replayed" ["TLPs"] Count,
        "TLPs of CXL.io sent again by their own link layer, in 68B units", "cxl-io §2";
    TLP_NAKS_SENT = "tlp_naks_sent" ["DLLPs"] Count,
        "Naks of the link layer of CXL.io sent, in 68B units", "cxl-io §2";
    TLP_ERRORS = "tlp_errors" ["TLPs"] Count,
        "TLPs and DLLPs of CXL.io that have come with a wrong CRC or wrong tokens, in 68B units", "cxl-io §2";
    TLPS_DUPLICATE = "tlps_duplicate" ["TLPs"] Count,
        "TLPs of CXL.io that the end had already", "cxl-io §2";
    TLPS_DISCARDED = "tlps_discarded" ["TLPs"] Count,
        "TLPs of CXL.io thrown away: nullified, unreadable or without credit", "cxl-io §2";
    LINK_STATE_FLITS = "link_state_flits" ["flits"] ByState,
        "time in each state of the link", "cxl-68b §6.4; cxl-256b §9; ualink §8; nvlink §6.3";
    RETRY_STATE_FLITS = "retry_state_flits" ["flits"] ByState,
        "time in each state of the retry", "cxl-68b §7.3; cxl-256b §9; ualink §7; nvlink §6.3";
}
