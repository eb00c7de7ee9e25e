// Where messages lie in the slots of a CXL 68-byte flit (cxl-68b §3.2, §3.3). Included inside a module.

// Classes. Those that carry data are DATA and MEM_DATA.
localparam logic [2:0] NONE = 3'd0;
localparam logic [2:0] REQ = 3'd1;       // H2D Req, D2H Req
localparam logic [2:0] RSP = 3'd2;       // H2D Rsp, D2H Rsp
localparam logic [2:0] DATA = 3'd3;      // H2D Data, D2H Data
localparam logic [2:0] MEM = 3'd4;       // M2S Req, S2M NDR
localparam logic [2:0] MEM_DATA = 3'd5;  // M2S RwD, S2M DRS

// A place: class, first bit in the slot. Slot 0 counts from the flit header on, as the flit does.
function automatic logic [9:0] at(input logic [2:0] class_of, input logic [6:0] first);
    at = {class_of, first};
endfunction

// The places of a format, up to five, that of the first message lowest.
function automatic logic [49:0] places_of(input logic up, input logic head, input logic [2:0] code);
    case ({up, head, code})
        5'b0_1_000: places_of = 50'({at(RSP, 96), at(REQ, 32)});
        5'b0_1_001: places_of = 50'({at(RSP, 88), at(RSP, 56), at(DATA, 32)});
        5'b0_1_010: places_of = 50'({at(DATA, 96), at(REQ, 32)});
        5'b0_1_011: places_of = 50'({at(DATA, 104), at(DATA, 80), at(DATA, 56), at(DATA, 32)});
        5'b0_1_100: places_of = 50'(at(MEM_DATA, 32));
        5'b0_1_101: places_of = 50'(at(MEM, 32));
        5'b0_0_001: places_of = 50'({at(RSP, 96), at(RSP, 64), at(RSP, 32), at(RSP, 0)});
        5'b0_0_010: places_of = 50'({at(RSP, 88), at(DATA, 64), at(REQ, 0)});
        5'b0_0_011: places_of = {at(RSP, 96), at(DATA, 72), at(DATA, 48), at(DATA, 24), at(DATA, 0)};
        5'b0_0_100: places_of = 50'({at(DATA, 88), at(MEM, 0)});
        5'b0_0_101: places_of = 50'({at(RSP, 88), at(MEM_DATA, 0)});
        5'b1_1_000: places_of = 50'({at(MEM, 89), at(RSP, 69), at(RSP, 49), at(DATA, 32)});
        5'b1_1_001: places_of = 50'({at(DATA, 111), at(REQ, 32)});
        5'b1_1_010: places_of = {at(RSP, 100), at(DATA, 83), at(DATA, 66), at(DATA, 49), at(DATA, 32)};
        5'b1_1_011: places_of = 50'({at(MEM, 72), at(MEM_DATA, 32)});
        5'b1_1_100: places_of = 50'({at(MEM, 60), at(MEM, 32)});
        5'b1_1_101: places_of = 50'({at(MEM_DATA, 72), at(MEM_DATA, 32)});
        5'b1_0_001: places_of = 50'({at(RSP, 99), at(RSP, 79), at(REQ, 0)});
        5'b1_0_010: places_of = 50'({at(RSP, 96), at(DATA, 79), at(REQ, 0)});
        5'b1_0_011: places_of = 50'({at(DATA, 51), at(DATA, 34), at(DATA, 17), at(DATA, 0)});
        5'b1_0_100: places_of = 50'({at(MEM, 68), at(MEM, 40), at(MEM_DATA, 0)});
        5'b1_0_101: places_of = 50'({at(MEM, 28), at(MEM, 0)});
        5'b1_0_110: places_of = 50'({at(MEM_DATA, 80), at(MEM_DATA, 40), at(MEM_DATA, 0)});
        default: places_of = '0;
    endcase
endfunction

// Bits of a message.
function automatic logic [86:0] mask_of(input logic up, input logic [2:0] class_of);
    case ({up, class_of})
        {1'b0, REQ}: mask_of = {23'd0, {64{1'b1}}};
        {1'b0, RSP}: mask_of = {55'd0, {32{1'b1}}};
        {1'b0, DATA}: mask_of = {63'd0, {24{1'b1}}};
        {1'b0, MEM}, {1'b0, MEM_DATA}: mask_of = '1;
        {1'b1, REQ}: mask_of = {8'd0, {79{1'b1}}};
        {1'b1, RSP}: mask_of = {67'd0, {20{1'b1}}};
        {1'b1, DATA}: mask_of = {70'd0, {17{1'b1}}};
        {1'b1, MEM}: mask_of = {57'd0, {30{1'b1}}};
        {1'b1, MEM_DATA}: mask_of = {47'd0, {40{1'b1}}};
        default: mask_of = '0;
    endcase
endfunction

// The first of two S2M NDR in one slot has its last field behind the second one.
function automatic logic is_split(input logic up, input logic head, input logic [2:0] code, input logic [6:0] first);
    case ({up, head, code})
        5'b1_1_100: is_split = first == 7'd32;
        5'b1_0_100: is_split = first == 7'd40;
        5'b1_0_101: is_split = first == 7'd0;
        default: is_split = 1'b0;
    endcase
endfunction
