//! Agents as modules of the kernel, over real links.
//!
//! Modelled: the agents of this layer, the same code that is explored, each with a queue for every class of messages of
//! every link, a step for each message and one message a class and cycle. Left out: the pipeline inside an agent; what an
//! agent does takes the cycle in which it does it.
//!
//! * [`node`]: an agent with its links and its core. [`waiting`]: which class may wait for which (`coherence` §3.6).
//! * [`linked`]: a link as a node uses it. [`switch`]: links that share one on their way. [`tree`]: transactions in traces.
//! * [`core`](mod@core): what issues operations to a caching agent. [`litmus`]: cores that run a program many times.
//!   [`peer`]: a direct peer;
//!   [`outages`]: links that are lost and come back. [`uio`]: a peer that reaches a device by CXL.io. [`making`]: nodes, watches and cores of each agent.

pub mod accessor;
pub mod bias;
pub mod cache;
pub mod core;
pub mod coverage;
pub mod linked;
pub mod litmus;
pub mod making;
pub mod mem;
pub mod node;
pub mod outages;
pub mod peer;
pub mod program;
pub mod sequence;
pub mod switch;
pub mod tree;
pub mod uio;
pub mod waiting;
pub mod watcher;
