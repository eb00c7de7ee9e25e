//! Conformance of the UALink codec: for every rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`);
//! the second spelling of the layouts and of packing; JSON forms; efficiency. One file an area of the rule table.

mod cache;
mod common;
mod efficiency;
mod fields;
mod flits;
mod forms;
mod golden;
mod halves;
mod messages;
mod oracle;
mod rates;
mod segments;
mod upli;
