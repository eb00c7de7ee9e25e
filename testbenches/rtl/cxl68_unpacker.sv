// Unpacker of CXL 68-byte flits: slots become messages, data chunks and byte enables (cxl-68b §5.2).
//
// Takes the 512 bits of good flits of CXL.cache and CXL.mem, one a cycle; what comes out stands in the same cycle. The
// only state is what is owed: a queue with a bit for each chunk that earlier data headers announced, 1 for byte enables.
// A flit that begins with more than three owed is all data and has no header. Otherwise slot 0 has messages, and each of
// slots 1 to 3 takes the next owed chunk, if there is one; a data header in a slot is heard from the next slot on. A control
// flit takes and announces nothing. `error_o`: a slot with data owed has another format than G0, or more is owed than
// rules allow.
module cxl68_unpacker #(
    parameter bit UP = 0  // device to host
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            valid_i,
    input  logic [511:0]    slots_i,
    output logic            all_data_o,
    output logic            control_o,
    output logic [3:0]      chunk_o,    // by slot: a data chunk or byte enables
    output logic [3:0]      enables_o,  // by slot: byte enables
    output logic [20*3-1:0] class_o,    // by slot and place, 0 where no valid message is
    output logic [20*87-1:0] message_o, // aligned to bit 0
    output logic [4:0]      owed_o,     // chunks owed when the flit begins
    output logic            error_o
);
    `include "cxl68_places.svh"

    // MDH: four headers of four chunks, over three chunks left and one message of five.
    localparam logic [4:0] MOST = 5'd24;

    logic [4:0] owed_q, owed;
    logic [31:0] kinds_q, kinds;
    logic [2:0] code, here, each;
    logic [127:0] slot;
    logic [49:0] places;
    logic [6:0] first;
    logic [86:0] message;

    assign owed_o = owed_q;
    assign all_data_o = owed_q > 5'd3;
    assign control_o = !all_data_o && slots_i[0];
    // Chunks of a message that begins in this flit: Sz, BE.
    assign each = (slots_i[4] ? 3'd4 : 3'd2) + 3'(slots_i[3]);

    always_comb begin
        owed = owed_q;
        kinds = kinds_q;
        chunk_o = '0;
        enables_o = '0;
        class_o = '0;
        message_o = '0;
        error_o = 1'b0;
        code = '0;
        here = '0;
        slot = '0;
        places = '0;
        first = '0;
        message = '0;
        for (int s = 0; s < 4; s++) begin
            slot = slots_i[128*s +: 128];
            code = slots_i[5+3*s +: 3];
            if (all_data_o || (s > 0 && owed != 0 && !control_o)) begin
                chunk_o[s] = 1'b1;
                enables_o[s] = kinds[0];
                kinds = {1'b0, kinds[31:1]};
                owed = owed - 5'd1;
                if (!all_data_o && code != 0) error_o = 1'b1;
            end else if (!control_o) begin
                places = places_of(UP, s == 0, code);
                for (int p = 0; p < 5; p++) begin
                    first = places[10*p +: 7];
                    here = places[10*p+7 +: 3];
                    message = 87'(slot >> first);
                    if (is_split(UP, s == 0, code, first)) message[29:28] = 2'(slot >> (first + 7'd58));
                    if (here != NONE && message[0]) begin
                        class_o[3*(5*s+p) +: 3] = here;
                        message_o[87*(5*s+p) +: 87] = message & mask_of(UP, here);
                        if (here == DATA || here == MEM_DATA) begin
                            if (slots_i[3]) kinds[owed + 5'(each) - 5'd1] = 1'b1;
                            owed = owed + 5'(each);
                            if (owed > MOST) error_o = 1'b1;
                        end
                    end
                end
            end
        end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            owed_q <= '0;
            kinds_q <= '0;
        end else if (valid_i) begin
            owed_q <= owed;
            kinds_q <= kinds;
        end
    end
endmodule
