// CRCs and FEC of scalepool for whole vectors: byte 0 of a flit is bits 7:0. Beside scalepool_dpi_pkg, whose sp_open goes
// first; compile scalepool_flat.c too. No array is looked up and none copied, so these are the fast ones.
//
// A call that is refused says why on stderr and ends the simulator: it can only be a mistake in the bench.
package scalepool_flat_pkg;
    // CRC of a 68B flit: its four slots.
    import "DPI-C" function shortint unsigned sp_flat_cxl68_crc16(input bit [511:0] slots);

    // CRC of a standard 256B flit: bytes 0 to 241.
    import "DPI-C" function longint unsigned sp_flat_cxl256_crc8b(input bit [1935:0] body);

    // CRCs of a latency-optimised flit, 48 bits: bytes 0 to 121, and bytes 128 to 243.
    import "DPI-C" function longint unsigned sp_flat_cxl256_crc6b_even(input bit [975:0] half);
    import "DPI-C" function longint unsigned sp_flat_cxl256_crc6b_odd(input bit [927:0] half);

    // The flit with its six FEC bytes; `kind` is SP_FEC_STANDARD or SP_FEC_LOPT.
    import "DPI-C" function void sp_flat_fec_encode(
        input int unsigned kind,
        input bit [2047:0] flit,
        output bit [2047:0] encoded
    );

    // The flit as far as it can be repaired; the number of bytes that were, or -1.
    import "DPI-C" function int sp_flat_fec_correct(
        input int unsigned kind,
        input bit [2047:0] flit,
        output bit [2047:0] corrected
    );

    // CRC of a UALink DL flit of 640 bytes; the last four do not matter.
    import "DPI-C" function int unsigned sp_flat_ual_crc32(input bit [5119:0] flit);

    // CRC of an NVLink header, 25 bits: `count` flits from bit 0 on, 1 to 20, the header last.
    import "DPI-C" function int unsigned sp_flat_nvl_crc25(input bit [20*128-1:0] flits, input int unsigned count);
endpackage
