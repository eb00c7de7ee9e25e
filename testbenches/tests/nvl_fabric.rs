//! NVLink endpoints, switch and scenarios, model profile NVL-M1 (basis: model): the rules of transaction layer and system,
//! scenarios NVL-T11 to T14 of the catalogue, and what the scenarios promise.

mod c2c;
mod common;
mod conservation;
mod link_group;
mod modes;
mod pod;
mod reduction;
mod relay;
mod switch;
mod tables;
