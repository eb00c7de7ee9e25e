// Where the sectors of a UALink DL flit lie (ualink §2). Included inside a module.

// Sectors of a segment.
function automatic int sectors_of(input int segment);
    sectors_of = segment == 4 ? 30 : segment == 3 ? 31 : 32;
endfunction

// Byte of the flit that holds byte y of sector x; 157 sectors of 4 bytes. Seven sectors make way for a segment header or
// the flit's end and lie in two pieces.
function automatic int offset_of(input int x, input int y);
    if (x < 16) offset_of = 4 * x + y;
    else if (x < 31) offset_of = 68 + 4 * (x - 16) + y;
    else if (x == 31) offset_of = y < 3 ? 64 + y : 131;
    else if (x < 47) offset_of = 132 + 4 * (x - 32) + y;
    else if (x == 47) offset_of = y < 3 ? 128 + y : 194;
    else if (x < 63) offset_of = 196 + 4 * (x - 48) + y;
    else if (x == 63) offset_of = y < 2 ? 192 + y : 256 + y;
    else if (x < 79) offset_of = 260 + 4 * (x - 64) + y;
    else if (x == 79) offset_of = y < 2 ? 256 + y : 319 + y;
    else if (x < 95) offset_of = 324 + 4 * (x - 80) + y;
    else if (x == 95) offset_of = y < 1 ? 320 : 384 + y;
    else if (x < 111) offset_of = 388 + 4 * (x - 96) + y;
    else if (x == 111) offset_of = y < 1 ? 384 : 447 + y;
    else if (x < 127) offset_of = 452 + 4 * (x - 112) + y;
    else if (x < 143) offset_of = 512 + 4 * (x - 127) + y;
    else if (x < 154) offset_of = 580 + 4 * (x - 143) + y;
    else if (x < 156) offset_of = 628 + 4 * (x - 154) + y;
    else offset_of = y < 3 ? 576 + y : 627;
endfunction

// First sector of a segment.
function automatic int first_of(input int segment);
    first_of = segment == 4 ? 127 : 32 * segment;
endfunction
