//! CRCs as SystemVerilog functions, by their definitions; polynomials come from `scalepool_protocols::check`.

use super::line;
use scalepool_protocols::check::{crc16, crc256, pcie};
use scalepool_protocols::nvlink::NvlConfig;
use scalepool_protocols::nvlink::header::CRC_LSB;
use std::fmt::Write;

/// `crc16(slots)`: bit 511 first.
pub fn cxl68(text: &mut String) {
    line!(text, "  function automatic logic [15:0] crc16(input logic [511:0] d);");
    line!(text, "    crc16 = '0;");
    line!(text, "    for (int i = 511; i >= 0; i--)");
    line!(text, "      crc16 = {{crc16[14:0], 1'b0}} ^ ((d[i] ^ crc16[15]) ? 16'h{:04x} : 16'h0);", crc16::POLY_CXL68);
    line!(text, "  endfunction\n");
}

/// `crc8b(bytes)` and `crc6b(half)` over GF(2^8): byte 0 has the highest degree.
pub fn cxl256(text: &mut String) {
    line!(text, "  function automatic logic [7:0] gf_mul(input logic [7:0] a, input logic [7:0] b);");
    line!(text, "    gf_mul = '0;");
    line!(text, "    for (int i = 7; i >= 0; i--)");
    let field = crc256::FIELD & 0xff;
    line!(text, "      gf_mul = {{gf_mul[6:0], 1'b0}} ^ (gf_mul[7] ? 8'h{field:02x} : 8'h0) ^ (b[i] ? a : 8'h0);");
    line!(text, "  endfunction\n");
    let forms = [
        ("crc8b", 8, crc256::STANDARD_BYTES, crc256::GENERATOR_8),
        ("crc6b", 6, crc256::HALF_BYTES, crc256::GENERATOR_6),
    ];
    for (name, n, bytes, generator) in forms {
        let (top, digits) = (8 * n - 1, 2 * n);
        line!(text, "  function automatic logic [{top}:0] {name}(input logic [{}:0] d);", 8 * bytes - 1);
        line!(text, "    logic [{top}:0] g;");
        line!(text, "    logic [7:0] f;");
        line!(text, "    g = {}'h{generator:0digits$x};", 8 * n);
        line!(text, "    {name} = '0;");
        line!(text, "    for (int i = 0; i < {bytes}; i++) begin");
        line!(text, "      f = d[8*i +: 8] ^ {name}[{top}-:8];");
        line!(text, "      {name} = {{{name}[{}:0], 8'h0}};", top - 8);
        line!(
            text,
            "      for (int j = 0; j < {n}; j++) {name}[8*j +: 8] = {name}[8*j +: 8] ^ gf_mul(f, g[8*j +: 8]);"
        );
        line!(text, "    end\n  endfunction\n");
    }
}

/// `crc32(body)`: byte 0 and bit 0 first, four zero bytes behind it; x^0 in bit 0.
pub fn ualink(text: &mut String) {
    line!(text, "  function automatic logic [31:0] crc32(input logic [5087:0] d);");
    line!(text, "    crc32 = '1;");
    line!(text, "    for (int i = 0; i < 5120; i++)");
    let polynomial = pcie::LCRC_POLY.reverse_bits();
    line!(
        text,
        "      crc32 = {{crc32[30:0], 1'b0}} ^ (((i < 5088 && d[i]) ^ crc32[31]) ? 32'h{polynomial:08x} : 32'h0);"
    );
    line!(text, "    crc32 = ~crc32;");
    line!(text, "  endfunction\n");
}

/// `crc25(header)` of a header behind no payload: each bit is the parity of some bits of the header, or its opposite.
pub fn nvlink(text: &mut String) {
    let config = NvlConfig::default();
    let (bits, crc) = (CRC_LSB, |header: u128| config.crc_of(&[], header));
    let of_zero = crc(0);
    line!(text, "  function automatic logic [24:0] crc25(input logic [{}:0] h);", bits - 1);
    for n in 0..25 {
        let takes_part = |i: &u32| (crc(1 << i) ^ of_zero) >> n & 1 == 1;
        let mask = (0..bits).filter(takes_part).fold(0_u128, |mask, i| mask | 1 << i);
        line!(text, "    crc25[{n}] = ^(h & {bits}'h{mask:x}) ^ 1'b{};", of_zero >> n & 1);
    }
    line!(text, "  endfunction\n");
}
