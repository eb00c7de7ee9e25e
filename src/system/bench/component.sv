// `@PATH@` (@KIND@) of the system `@SYSTEM@`, to be replaced by your RTL: its link ends stand inside.
//
// A port carries whole units, at most one in each cycle of `clk`, which is the clock of units of its fastest link. Bit 8k+n of a
// unit is bit n of byte k in the order of the wire. `rst_n` is low for the first cycles; links begin to train behind it.
@SLOWER@//
// As written, this is a stub: `test_@MODULE@.py` lets the model answer through the registers `model_*`. Without them it
// leaves the answers to this module.
module @MODULE@ (
    input  logic clk,
    input  logic rst_n@PORTS@
);
@STUB@endmodule
