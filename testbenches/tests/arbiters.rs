//! The arbiters of `scalepool::arbiter`, exhaustively against plain references for up to 5 requesters: who is granted has
//! asked, somebody is granted while somebody asks, and the bound that each states.

mod chosen;
mod every;
mod explore;
mod matching;
mod rules;
mod sets;
mod single;
mod sized;
mod sizes;
mod traces;
