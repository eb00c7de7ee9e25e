//! Programs of cores with the orders of their accesses.
//!
//! Modelled: the threads, whose accesses are those of [`scalepool_coherence::thread`], the values at the start, and what an
//! exploration leaves free. Detail: lines hold one byte of a value. Left out: instructions, which [`super::herd`] makes accesses of.
//!
//! Sequential cores are the case in which every access is behind all earlier ones ([`LitmusProgram::of_shape`]).

use super::bridge::BridgeAgents;
use super::shapes::{LitmusAccess, LitmusShape};
use crate::stress::StressProtocol;
use scalepool_coherence::thread::{Term, ThreadAccess};

/// On whose cores a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LitmusAgents {
    /// Those of agents with caches, which are as many as its threads.
    Caching(StressProtocol),
    /// Those of accelerators behind bridges, and of hosts.
    Bridge(BridgeAgents),
}

impl LitmusAgents {
    /// Its name in a file, and of an exploration.
    pub fn name(self) -> &'static str {
        match self {
            LitmusAgents::Caching(StressProtocol::Cache(_)) => "cxl-cache",
            LitmusAgents::Caching(StressProtocol::HdmDb(_)) => "hdm-db",
            LitmusAgents::Caching(StressProtocol::HdmD) => "hdm-d",
            LitmusAgents::Bridge(_) => "bridge",
        }
    }
}

/// What an exploration of a program leaves free besides the order of messages and accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freedom {
    /// Every share of clean copies at the start, evicts at any time, loads that ask for a copy and for the value alone.
    All,
    /// No copies at the start, copies of one line at every core, or of all lines; nothing else.
    Copies,
}

/// Says of the values loaded, thread by thread, and the last values of the lines whether they must not be.
pub type Forbidden = fn(&[u8], &[u8]) -> bool;

/// A program.
#[derive(Debug, Clone)]
pub struct LitmusProgram {
    /// Name.
    pub name: String,
    /// Accesses of each thread in program order, at most [`MOST_ACCESSES`](scalepool_coherence::thread::MOST_ACCESSES).
    pub threads: Vec<Vec<ThreadAccess>>,
    /// Value of each line at the start.
    pub initial: Vec<u8>,
    /// What must not be.
    pub forbidden: Option<Forbidden>,
    /// What is left free.
    pub freedom: Freedom,
}

impl LitmusProgram {
    /// The program of a shape: sequential cores, lines of 0.
    pub fn of_shape(shape: &LitmusShape) -> Self {
        let thread = |program: &&[LitmusAccess]| {
            let access = |(n, access): (usize, &LitmusAccess)| ThreadAccess {
                line: access.line(),
                store: match *access {
                    LitmusAccess::Load(_) => None,
                    LitmusAccess::Store(_, value) => Some(Term::Number(value.into())),
                },
                is_rmw: false,
                exclusive: None,
                behind: (1 << n) - 1,
                forwards: None,
                known: 0,
            };
            program.iter().enumerate().map(access).collect()
        };
        let lines = shape.programs.iter().copied().flatten().map(|access| access.line() + 1).max().unwrap_or(1);
        Self {
            name: shape.name.to_owned(),
            threads: shape.programs.iter().map(thread).collect(),
            initial: vec![0; lines as usize],
            forbidden: Some(shape.forbidden),
            freedom: Freedom::All,
        }
    }
}
