// A UVM agent for links of CXL, UALink and NVLink over the classes of scalepool_pkg: active as one end of the link, or passive
// beside a design. UVM is 1800.2-2017; nothing is used that 1.2 or 1800.2-2020 does not have.
//
// Modelled: link ends with credits and retry, messages, requests with their answers, accesses to registers over CXL.io, interfaces that cores
// have. Left out: training of the physical layer.
//
// A walk through one flit clock: the driver takes the unit of the peer off the interface, steps its link end, lets host or memory
// act on what has arrived, and drives the unit that the end sends, through damage and callbacks. The monitor shows the units of
// both directions to a passive end, and what that finds leaves on its analysis ports: messages, transactions, events.
package scalepool_uvm_pkg;
  import uvm_pkg::*;
  import scalepool_pkg::*;
  `include "uvm_macros.svh"

  `include "scalepool_items.svh"
  `include "scalepool_config.svh"
  `include "scalepool_io.svh"
  `include "scalepool_cache.svh"
  `include "scalepool_exchanges.svh"
  `include "scalepool_driver.svh"
  `include "scalepool_monitor.svh"
  `include "scalepool_subscribers.svh"
  `include "scalepool_agent.svh"
  `include "scalepool_sequences.svh"
  `include "scalepool_junit.svh"
endpackage
