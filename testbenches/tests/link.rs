//! Link ends over time: rules of link layers, retry, credits, ARB/MUX and UPLI; watchers beside links; noise.
#![forbid(unsafe_code)]

mod c14;
mod cxl256_arbmux;
mod cxl256_link;
mod cxl68_arbmux;
mod cxl68_link;
mod cxl68_retry;
mod cxlio_link;
mod health;
mod line_time;
mod link_soak;
mod nvl;
mod sim_e2e;
mod ual_link;
mod ual_upli;
mod watch;
