//! Nodes, watches and cores of each agent, made in the crate of the agents.
//!
//! Modelled: nothing. Left out: switches, which are generic over nothing.
//!
//! A node is generic over its agent, and the compiler makes such code in the crate that says which agent it is. That is here:
//! the crate of systems, which names them all, puts parts together and is compiled without optimisation.
//!
//! A walk: a system hands a core and an agent to [`Clocked::node`] and gets a module, with a watch from [`MakesWatch::watch`].

use super::accessor::{Accessor, Caching};
use super::cache::Sparse;
use super::core::AnyCore;
use super::litmus::{LitmusCore, LitmusRuns};
use super::node::{AgentNode, AgentWatch, NodeConfig, NodeResult};
use super::sequence::Recorded;
use super::watcher::{Watched, Watcher, WatcherHandle};
use crate::agent::Agent;
use crate::bias::{BiasDevice, BiasHost};
use crate::cache::backing::HomeMemory;
use crate::cache::device::DeviceCache;
use crate::cache::home::HomeAgent;
use crate::content::CacheLine;
use crate::mem::peer::MemPeer;
use crate::mem::{Dcoh, MemHost};
use scalepool_kernel::Module;
use std::sync::{Arc, Mutex};

/// What a watcher looks at, with its watch.
pub trait MakesWatch: Watched + Sized + 'static {
    /// Its watch in the domain of a watcher.
    fn watch(watcher: Arc<Mutex<Watcher>>) -> Box<dyn AgentWatch<Self>>;

    /// The watch that writes its messages down.
    fn recorded(recorded: Recorded<Self>) -> Box<dyn AgentWatch<Self>>;
}

/// An agent that becomes a module of the kernel.
pub trait Clocked: Agent<CacheLine> + MakesWatch + Send {
    /// Its module, see [`AgentNode::new`].
    fn node(config: NodeConfig<Self>, result: Arc<Mutex<NodeResult>>) -> Box<dyn Module>;
}

/// An agent that holds lines for a core.
pub trait ClockedHolder: Clocked + Caching {
    /// A core that loads and stores.
    fn accessor(accessor: Accessor) -> AnyCore<Self>;

    /// A core of these runs.
    fn litmus(runs: &LitmusRuns) -> AnyCore<Self>;
}

/// Makes what belongs to the agents that are named here.
macro_rules! made_here {
    ($($agent:ty),*) => {$(
        impl Clocked for $agent {
            fn node(config: NodeConfig<Self>, result: Arc<Mutex<NodeResult>>) -> Box<dyn Module> {
                Box::new(AgentNode::new(config, result))
            }
        }

        impl MakesWatch for $agent {
            fn watch(watcher: Arc<Mutex<Watcher>>) -> Box<dyn AgentWatch<Self>> {
                Box::new(WatcherHandle(watcher))
            }

            fn recorded(recorded: Recorded<Self>) -> Box<dyn AgentWatch<Self>> {
                Box::new(recorded)
            }
        }
    )*};
}

/// Makes the cores of the holders that are named here.
macro_rules! cores_made_here {
    ($($agent:ty),*) => {$(
        impl ClockedHolder for $agent {
            fn accessor(accessor: Accessor) -> AnyCore<Self> {
                Box::new(accessor)
            }

            fn litmus(runs: &LitmusRuns) -> AnyCore<Self> {
                Box::new(LitmusCore::new(runs))
            }
        }
    )*};
}

made_here!(
    BiasDevice<CacheLine>,
    BiasHost<CacheLine>,
    Dcoh<CacheLine>,
    DeviceCache<CacheLine>,
    HomeAgent<CacheLine, HomeMemory<Sparse, CacheLine>>,
    MemHost<CacheLine>,
    MemPeer<CacheLine>
);

cores_made_here!(
    BiasDevice<CacheLine>,
    BiasHost<CacheLine>,
    DeviceCache<CacheLine>,
    MemHost<CacheLine>,
    MemPeer<CacheLine>
);
