// The C ABI of scalepool for SystemVerilog. Written from testbenches/c/scalepool.h by testbenches/tests/ffi/dpi.rs.
//
// Compile testbenches/dpi/scalepool_dpi.c into what the simulator loads, and link the library of scalepool. First call:
// sp_open(SP_ABI_VERSION). The comments are those of the header, with these differences:
//
// * A text is a `string`, with no length or capacity beside it.
// * An array is an open array; index 0 is the first item. Its size is the capacity, and too small an array answers
//   SP_ERR_SHORT. Declare it [0:N-1]; the simulator has to lay it out as C does, or SP_ERR_ALIGN is the answer.
// * The members of a structure are arguments of their own.
// * `config` is a word of the language: config_json.
// * Where null means something, a dynamic array of no items does. Verilator passes arrays of a fixed size alone.
package scalepool_dpi_pkg;
