//! Ports and agents of the ends of CXL, made in the crate of the ends.
//!
//! Modelled: nothing. Left out: ends of UALink and NVLink, whose ports stand beside them.
//!
//! A port is generic over its end, and the compiler makes such code in the crate that says which end it is. The crate of
//! systems puts parts together and is compiled without optimisation; and in this crate, which is one unit, calls within a flit
//! are no calls from one unit to another: a 68B flit takes 200 instructions less.
//!
//! A walk: a system hands the parts of a port to [`MakesPort::port`] and gets a module, with agents from [`MakesAgents`].

use super::agent::{Channels, PortAgent};
use super::end::{CxlEnd, Reports};
use super::flit_phy::WireItem;
use super::frame::PortResult;
use super::module::{Port, PortConfig, Ports};
use crate::arbmux::cxl256::ArbMux;
use crate::classes::{ByClass, ClassChannels};
use crate::cxl68::end::Cxl68End;
use crate::cxl256::{Cachemem, Cxl256End};
use crate::cxlio::FlitEnd;
use crate::external::{ExternalConfig, ExternalEnd, ExternalWires};
use crate::io_ends::{IoEnd, IoItem, PidLogger, UnitEnd};
use scalepool_kernel::{Binder, LinkIn, LinkInEnd, LinkOut, LinkOutEnd, Module};
use scalepool_protocols::cxl::cxl68::content::Content68;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::content::Content256;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::message::Message;
use std::sync::{Arc, Mutex};

/// What a port sends on, and what it receives from.
pub type Wires<U> = (LinkOut<WireItem<U>>, LinkIn<WireItem<U>>);

/// An end with a port of its own.
pub trait MakesPort: CxlEnd + Reports {
    /// Attaches the ends of the wires of a link to the module of its port.
    fn attach(
        bind: &mut Binder<'_>,
        out: LinkOutEnd<WireItem<Self::Unit>>,
        back: LinkInEnd<WireItem<Self::Unit>>,
    ) -> Wires<Self::Unit>
    where
        Self: Sized;

    /// The port, see [`Port::new`].
    fn port(
        config: PortConfig<Self>,
        ports: Ports<Self>,
        result: Arc<Mutex<PortResult<Self::Report>>>,
    ) -> Box<dyn Module>
    where
        Self: Sized;

    /// The place of an end that a caller drives, see [`ExternalEnd::new`].
    fn external(
        config: ExternalConfig<Self>,
        wires: ExternalWires<Self>,
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

/// An end whose agents exchange CXL.io with it, and messages of CXL.mem beside that.
pub trait MakesIoAgents: MakesPort {
    /// An agent of CXL.io.
    fn io_agent(channels: Channels<IoItem>) -> Box<dyn PortAgent<Self>>;

    /// An agent of CXL.mem.
    fn mem_agent(channels: Channels<Message>) -> Box<dyn PortAgent<Self>>;

    /// An agent of CXL.mem with a channel for each class.
    fn mem_agent_by_class(channels: ClassChannels) -> Box<dyn PortAgent<Self>>;
}

/// Makes the ports of the ends that are named here.
macro_rules! ports_made_here {
    ($($end:ty),*) => {$(
        impl MakesPort for $end {
            fn attach(bind: &mut Binder<'_>, out: LinkOutEnd<WireItem<Self::Unit>>, back: LinkInEnd<WireItem<Self::Unit>>) -> Wires<Self::Unit> {
                (bind.attach(out), bind.attach(back))
            }

            fn port(
                config: PortConfig<Self>,
                ports: Ports<Self>,
                result: Arc<Mutex<PortResult<Self::Report>>>,
            ) -> Box<dyn Module> {
                Box::new(Port::new(config, ports, result))
            }

            fn external(
                config: ExternalConfig<Self>,
                wires: ExternalWires<Self>,
                result: Arc<Mutex<PortResult<Self::Report>>>,
            ) -> Box<dyn Module> {
                Box::new(ExternalEnd::new(config, wires, result))
            }
        }
    )*};
}

/// Makes what belongs to ends of CXL.cachemem.
macro_rules! cachemem_made_here {
    ($($end:ty),*) => {$(
        ports_made_here!($end);

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

/// Makes what belongs to ends with CXL.io.
macro_rules! io_made_here {
    ($($end:ty),*) => {$(
        ports_made_here!(IoEnd<$end>);

        impl MakesIoAgents for IoEnd<$end> {
            fn io_agent(channels: Channels<IoItem>) -> Box<dyn PortAgent<Self>> {
                Box::new(channels)
            }

            fn mem_agent(channels: Channels<Message>) -> Box<dyn PortAgent<Self>> {
                Box::new(channels)
            }

            fn mem_agent_by_class(channels: ClassChannels) -> Box<dyn PortAgent<Self>> {
                Box::new(channels)
            }
        }
    )*};
}

cachemem_made_here!(
    Cxl68End<Content68>,
    Cxl68End<Cxl68Unit>,
    Cxl256End<Cachemem<Content256>>,
    Cxl256End<Cachemem<Cxl256Flit>>
);

io_made_here!(UnitEnd<PidLogger>, UnitEnd<Cxl68End>, Cxl256End<FlitEnd>, Cxl256End<ArbMux<FlitEnd, Cachemem>>);
