//! Ports and agents of the ends of CXL.cachemem, made in the crate of the ends.
//!
//! Modelled: nothing. Left out: ends with CXL.io, whose flits are few. Their ports are made where they are used.
//!
//! A port is generic over its end, and the compiler makes such code in the crate that says which end it is. In the crate of
//! systems, which is compiled in many units, calls within a flit stay calls from one unit to another. In this crate, which is
//! one unit, they do not, and a 68B flit takes 200 instructions less.
//!
//! A walk: a system hands the parts of a port to [`MakesPort::port`] and gets a module, with agents from [`MakesAgents`].

use super::agent::{Channels, PortAgent};
use super::end::{CxlEnd, Reports};
use super::frame::PortResult;
use super::module::{LinkEndPort, PortConfig, Ports};
use crate::classes::{ByClass, ClassChannels};
use crate::cxl68::end::Cxl68End;
use crate::cxl256::{Cachemem, Cxl256End};
use crate::io_ends::{HasIo, IoEnd};
use scalepool_kernel::Module;
use scalepool_protocols::cxl::cxl68::content::Content68;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::content::Content256;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::message::Message;
use std::sync::{Arc, Mutex};

/// An end with a port of its own.
pub trait MakesPort: CxlEnd + Reports {
    /// The port, see [`LinkEndPort::new`].
    fn port(
        config: PortConfig<Self>,
        ports: Ports<Self>,
        result: Arc<Mutex<PortResult<Self::Report>>>,
    ) -> Box<dyn Module>
    where
        Self: Sized;
}

/// An end whose agents exchange messages of CXL.cachemem with it.
pub trait MakesAgents: MakesPort + ByClass {
    /// An agent with one channel each way.
    fn agent(channels: Channels<Message>) -> Box<dyn PortAgent<Self>>;

    /// An agent with a channel for each class.
    fn agent_by_class(channels: ClassChannels) -> Box<dyn PortAgent<Self>>;
}

/// Makes the port and the agents of ends that are named here.
macro_rules! made_here {
    ($($end:ty),*) => {$(
        impl MakesPort for $end {
            fn port(
                config: PortConfig<Self>,
                ports: Ports<Self>,
                result: Arc<Mutex<PortResult<Self::Report>>>,
            ) -> Box<dyn Module> {
                Box::new(LinkEndPort::new(config, ports, result))
            }
        }

        impl MakesAgents for $end {
            fn agent(channels: Channels<Message>) -> Box<dyn PortAgent<Self>> {
                Box::new(channels)
            }

            fn agent_by_class(channels: ClassChannels) -> Box<dyn PortAgent<Self>> {
                Box::new(channels)
            }
        }
    )*};
}

made_here!(Cxl68End<Content68>, Cxl68End<Cxl68Unit>, Cxl256End<Cachemem<Content256>>, Cxl256End<Cachemem<Cxl256Flit>>);

impl<E: HasIo> MakesPort for IoEnd<E> {
    fn port(
        config: PortConfig<Self>,
        ports: Ports<Self>,
        result: Arc<Mutex<PortResult<Self::Report>>>,
    ) -> Box<dyn Module> {
        Box::new(LinkEndPort::new(config, ports, result))
    }
}
