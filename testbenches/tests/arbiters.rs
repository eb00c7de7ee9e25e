//! The arbiters of `scalepool::fabric`, exhaustively against plain references for up to 5 requesters: who is granted has
//! asked, somebody is granted while somebody asks, and the bound that each states.

mod every;
mod explore;
mod matching;
mod single;
mod sized;
mod traces;
