// A link as whole units: one in each direction in a cycle of `clk`, byte 0 in bits 7:0. Units shorter than 640 bytes leave the upper
// bits 0. A design with another flit interface gets an adapter in the top level, or one of the modules of scalepool_interfaces: see `bus` of
// scalepool_config.
interface scalepool_flit_if (
    input logic clk,
    input logic rst_n
);
    logic          down_valid; // from host to device
    logic [5119:0] down;
    logic          up_valid;
    logic [5119:0] up;
    // What has left an end, before its damage on the wire. Active agents drive it; of a design it is the top level's to say.
    logic [5119:0] down_intact;
    logic [5119:0] up_intact;
    // Of ualink: the unit stands for control flits, and its byte 0 says which: 0 idle, 1 a remote fault. Open of other protocols.
    logic          down_control;
    logic          up_control;
endinterface
