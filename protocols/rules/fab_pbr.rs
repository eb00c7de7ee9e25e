//! Rules of CXL switches with port based routing (`fabric` §3).

use super::Rule;

const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: false, text }
}

/// A rule that the sheet marks as our own choice.
const fn choice(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    choice("FAB-PID-01", "fabric §3.1", "a PID has 12 bits and is not FFFh, so a fabric has at most 4095"),
    rule(
        "FAB-PID-02",
        "fabric §3.1",
        "the manager, each switch and each binding has a PID of its own, and no two have the same",
    ),
    rule(
        "FAB-PID-03",
        "fabric §3.1",
        "a host is at an edge port towards hosts, a device at one towards devices, and a fabric port at that of another switch",
    ),
    rule(
        "FAB-PID-04",
        "fabric §3.1",
        "a host sees at most two switches one below the other, whatever is between; a lost link takes down its virtual links at the edge of the host",
    ),
    rule(
        "FAB-PID-05",
        "fabric §3.1",
        "an edge port claims a request for a device by SPID and DPID together; another one is dropped",
    ),
    rule(
        "FAB-DRT-01",
        "fabric §3.2",
        "a routing table has 4096 entries of type 0, 1 or 2, and each input uses its own table",
    ),
    choice(
        "FAB-DRT-02",
        "fabric §3.2",
        "a message to a DPID without a valid entry is dropped, counted and reported, and not answered",
    ),
    choice(
        "FAB-DRT-03",
        "fabric §3.2",
        "a request of CXL.io without a way is dropped and times out; with `ur_on_unknown` the edge of its host completes it",
    ),
    rule("FAB-DRT-04", "fabric §3.2", "a Set command that is refused writes nothing"),
    rule(
        "FAB-EDG-01",
        "fabric §3.3",
        "an address has the entry of its segment, 64 GiB to 8 TiB, modulo the depth of the table, a power of two",
    ),
    choice(
        "FAB-EDG-02",
        "fabric §3.3",
        "a valid entry gives its DPID, or that of the interleave bits; otherwise the next decoder is asked, HDM decoders last",
    ),
    rule("FAB-EDG-03", "fabric §3.3", "segments have 64 GiB at least, and 3, 6 or 12 ways are refused"),
    rule(
        "FAB-EDG-04",
        "fabric §3.3",
        "a segment table decodes the addresses of the worked example as the sheet says; a limit is the first address that is no longer in its range",
    ),
    rule(
        "FAB-EDG-05",
        "fabric §3.3",
        "an HDM decoder gives the vPPB, its binding the DPID, and the far end of the virtual link decodes again",
    ),
    rule("FAB-EDG-06", "fabric §3.3", "a segment gets no PID that the access vector does not enable"),
    rule(
        "FAB-EDG-07",
        "fabric §3.3",
        "a completion of unordered I/O goes by segment and bus number to the PID of its hierarchy",
    ),
    choice(
        "FAB-EDG-08",
        "fabric §3.4",
        "a message whose identifiers an edge port does not find is dropped and counted",
    ),
    rule("FAB-EDG-09", "fabric §3.4", "identifiers that a link does not use are 0, and tags never change"),
    rule(
        "FAB-EDG-10",
        "fabric §3.4",
        "edge switches keep CacheIDs in step by updates; a CacheID that was assigned or released is not used before the acknowledgement",
    ),
    rule(
        "FAB-EDG-11",
        "fabric §3.4",
        "a device without logical devices, or a bridge, may ask a peer for CXL.mem where both are at edge ports towards devices, and one with logical devices has one for the requester alone",
    ),
    rule(
        "FAB-EDG-12",
        "fabric §3.4",
        "a D2H Req gets the PID of the root as DPID and that of its port, or of its CacheID, as SPID, which gives the CacheID at the host",
    ),
    rule(
        "FAB-EDG-13",
        "fabric §3.4",
        "an H2D Req gets the PID of its CacheID as DPID and that of its port as SPID, and above a switch the CacheID of its DPID",
    ),
    rule(
        "FAB-EDG-14",
        "fabric §3.4",
        "H2D Rsp and Data get the PID of their CacheID as DPID, and above a switch the CacheID of it",
    ),
    rule("FAB-EDG-15", "fabric §3.4", "D2H Rsp and Data get the PID of the root as DPID, and nothing at the host"),
    rule(
        "FAB-EDG-16",
        "fabric §3.4",
        "a request by a segment table gets the DPID of the table and the SPID of its edge port, and at the device the LD-ID of its SPID",
    ),
    rule(
        "FAB-EDG-17",
        "fabric §3.4",
        "a request gets the PID of its binding as DPID and that of its edge port as SPID, and behind the far edge the LD-ID",
    ),
    rule(
        "FAB-EDG-18",
        "fabric §3.4",
        "an answer gets the PID of the host as DPID, by port and LD-ID, and LD-ID 0 at the edge of the host",
    ),
    rule(
        "FAB-EDG-19",
        "fabric §3.4",
        "a back-invalidate snoop gets the PID of the host as DPID and that of its device as SPID, which is the BI-ID at the host",
    ),
    rule(
        "FAB-EDG-20",
        "fabric §3.4",
        "the answer to a snoop gets its BI-ID as DPID; at the far edge its SPID becomes the LD-ID, or both PIDs stay for a device with port based routing",
    ),
    rule(
        "FAB-EDG-21",
        "fabric §3.4",
        "a TLP of CXL.io gets a header with both PIDs, whose DSAR is that of the edge of a host",
    ),
    rule(
        "FAB-ISL-01",
        "fabric §3.5",
        "all classes of CXL.mem travel both ways on an inter-switch link, with credits each way",
    ),
    rule(
        "FAB-ISL-02",
        "fabric §3.5",
        "DSAR is clear in a TLP from the edge of a device or a G-FAM device, and set from that of a host, from the port above a G-FAM device and from a virtual port that sends traffic of peers down",
    ),
    rule(
        "FAB-ISL-03",
        "fabric §3.5",
        "of the streams that go down and up on an inter-switch link none waits for the other",
    ),
    rule(
        "FAB-ISL-04",
        "fabric §3.5",
        "containment takes down an inter-switch link with an uncorrectable error, but not the only way to the fabric manager",
    ),
    rule(
        "FAB-ISL-05",
        "fabric §3.5",
        "the reset of a hierarchy crosses as messages of its virtual links; a release is repeated every 10 ms, ten times at most, then the manager is told",
    ),
    rule(
        "FAB-ISL-06",
        "fabric §3.5",
        "the first TLP on an inter-switch link is partner information: message 90h with opcode 0 and 64 bytes, to DPID FFFh",
    ),
    rule(
        "FAB-ISL-07",
        "fabric §3.5",
        "what is for a lost link is dropped until the port is out of all tables, and then takes another way",
    ),
    rule(
        "FAB-ISL-08",
        "fabric §3.5",
        "a crawl without a valid entry is Invalid Input, more than two levels of tunnels are Unsupported, a request to a PID that is not enabled, or one with a vendor prefix outside unordered I/O, is an unsupported one, and such a completion is dropped",
    ),
    rule(
        "FAB-ISL-09",
        "fabric §3.5",
        "a fabric in whose graph of waits there is a cycle is not built; minimal routes in a fully connected group have none",
    ),
    rule(
        "FAB-RGT-01",
        "fabric §3.2",
        "a routing group table has at most 256 entries, each of 1 to 8 ports, one of them primary",
    ),
    rule(
        "FAB-RGT-02",
        "fabric §3.2",
        "static traffic takes the first port of its group, and waits if that has no room",
    ),
    choice(
        "FAB-RGT-03",
        "fabric §3.2",
        "a group takes any port, the least loaded one, or the cheapest one, where a secondary port costs twice its backlog and one more",
    ),
    rule(
        "FAB-RGT-04",
        "fabric §3.2",
        "mix codes 0 to 6 give 7/8 to 1/8 of messages to primary ports, 7 all that have room there",
    ),
    rule(
        "FAB-RGT-05",
        "fabric §3.2",
        "a port is taken if its queue can take the message, and otherwise the message waits for its group",
    ),
    rule(
        "FAB-RGT-06",
        "fabric §3.2",
        "a switch says how many routing tables it has, one at least, how many routing groups, and its modes in bits 0 to 2, 6 and 7",
    ),
    choice("FAB-RGT-07", "fabric §3.2", "policies have names, and those of longer ways need routes that have some"),
    rule("FAB-RGT-08", "fabric §3.2", "classes that keep an order, and all traffic of virtual links, keep one path"),
    rule(
        "FAB-GFD-01",
        "fabric §3.6",
        "a G-FAM device has one space of device addresses, no CXL.io, and at most 16 hosts by LDST",
    ),
    rule(
        "FAB-GFD-02",
        "fabric §3.6",
        "one of the at most eight decoders of a requester holds an address, whose interleave bits are taken out; none or two are an access error",
    ),
    rule(
        "FAB-GFD-03",
        "fabric §3.6",
        "a requester accesses the memory groups of its access vector alone; partitions are multiples of 256 MiB, groups of 64 MiB",
    ),
    rule(
        "FAB-GFD-04",
        "fabric §3.6",
        "a back-invalidate snoop carries the address by which its requester knows the line",
    ),
    choice(
        "FAB-GFD-05",
        "fabric §3.6",
        "an access error of a G-FAM device reads as poisoned ones, and a write is dropped and completed",
    ),
];
