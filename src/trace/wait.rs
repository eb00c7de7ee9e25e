//! What a transaction waits for: the one list of reasons.
//!
//! A wait is a mark at the place that lets the transaction wait, with the name of its reason; it is over at the mark
//! [`WAIT_OVER`] of the same transaction and place, at the next reason there, or when the transaction ends.

use std::fmt;

/// Name of the mark that ends a wait.
pub const WAIT_OVER: &str = "wait_over";

macro_rules! waits {
    ($($wait:ident $name:literal $meaning:literal;)*) => {
        /// A reason to wait.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Wait {
            $(#[doc = $meaning] $wait,)*
        }

        impl Wait {
            /// All reasons.
            pub const ALL: &[Wait] = &[$(Wait::$wait),*];

            /// Name in traces.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Wait::$wait => $name,)*
                }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Wait::$wait => $meaning,)*
                }
            }
        }
    };
}

waits! {
    Limit "wait_limit" "As many requests are open as the settings of the requester allow.";
    Tag "wait_tag" "Every tag of the requester is in use.";
    Line "wait_line" "An earlier transaction on the same line or the same bytes has not ended; `holder` is that one, where it is known.";
    Room "wait_room" "A cache, a snoop filter or a table of open transactions has no free place.";
    Link "wait_link" "The channel to the link is full: the link has no credits, or sends more slowly than it is given messages.";
    Throttle "wait_throttle" "The requester leaves idle cycles because of the load that the device reports (DevLoad).";
    Snoop "wait_snoop" "Snoops or back-invalidates that the transaction needs are not answered.";
    Page "wait_page" "The place of the page is being asked for, or the page moves.";
    Media "wait_media" "The memory or the registers of the device have a latency.";
    Stage "wait_stage" "The request, or its response, passes the stages of a bridge, each of which has a latency.";
    Epoch "wait_epoch" "New windows of a bridge are being committed; the request waits until every request under the old windows has completed.";
    Order "wait_order" "Earlier requests have to take effect first.";
    Retry "wait_retry" "The device was not ready; the requester tries again later.";
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
