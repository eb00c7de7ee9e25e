// Messages of the golden sets through cxl68_packer, and its flits through cxl68_unpacker: each class in order, each line
// whole and behind its header. The flits, with protocol ID and CRC, also go to the file `packed.txt` for the program to
// judge. +h2d_req=FILE +h2d_rsp=FILE +h2d_data=FILE +m2s_req=FILE +m2s_rwd=FILE +count=N (messages in each file).
module cxl68_pack_tb;
    localparam int MOST = 1024;
    logic clk = 0, rst_n = 1, ready;
    logic [86:0] messages [0:5*MOST-1];  // by class
    logic [86:0] part [0:MOST-1];
    logic [127:0] chunks [0:16*MOST-1];  // expected, in order; byte enables too
    logic chunk_kinds [0:16*MOST-1];
    logic [86:0] req, rsp, data, mem, rwd;  // the first of each class that has not gone
    logic [4:0] valid, taken, taken_now;
    logic [511:0] line, slots, flit;     // flit: slots once they stand still
    logic [63:0] enables;
    logic [11:0] credits;
    logic partial, out_valid, taking, error, all_data, control, ak;
    logic [3:0] chunk, is_enables;
    logic [59:0] classes;
    logic [1739:0] found;
    logic [4:0] owed;
    logic [15:0] crc;
    int sent [0:4];
    int got [0:4];
    int count, file, written, read, flits, flits_all_data, at;
    string path;

    cxl68_packer packer (
        .clk_i(clk), .rst_ni(rst_n), .ready_i(ready), .valid_i(valid), .h2d_req_i(req[63:0]),
        .h2d_rsp_i(rsp[31:0]), .h2d_data_i(data[23:0]),
        .m2s_req_i(mem), .m2s_rwd_i(rwd), .data_line_i(line),
        .rwd_line_i(~line), .rwd_partial_i(partial), .rwd_enables_i(enables), .ak_i(ak), .credits_i(credits),
        .taken_o(taken), .valid_o(out_valid), .slots_o(slots)
    );
    cxl68_unpacker #(.UP(0)) unpacker (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(taking), .slots_i(flit), .all_data_o(all_data),
        .control_o(control), .chunk_o(chunk), .enables_o(is_enables), .class_o(classes), .message_o(found),
        .owed_o(owed), .error_o(error)
    );
    cxl68_crc16 checksum (.slots_i(flit), .crc_o(crc));

    assign partial = rwd[4:1] == 4'd2;  // MemWrPtl

    task automatic load(input int class_of);
        $readmemh(path, part, 0, count - 1);
        for (int i = 0; i < count; i++) messages[MOST*class_of+i] = part[i];
    endtask

    task automatic announce(input logic [511:0] whole, input logic with_enables);
        for (int i = 0; i < 4; i++) begin
            chunks[written] = whole[128*i +: 128];
            chunk_kinds[written] = 0;
            written++;
        end
        if (with_enables) begin
            chunks[written] = {64'd0, enables};
            chunk_kinds[written] = 1;
            written++;
        end
    endtask

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("h2d_req=%s", path)) load(0);
        if ($value$plusargs("h2d_rsp=%s", path)) load(1);
        if ($value$plusargs("h2d_data=%s", path)) load(2);
        if ($value$plusargs("m2s_req=%s", path)) load(3);
        if ($value$plusargs("m2s_rwd=%s", path)) load(4);
        file = $fopen("packed.txt", "w");
        {written, read, flits, flits_all_data, valid, ready, ak, credits, line, enables, req, rsp, data, mem, rwd, flit, taking} = '0;
        for (int c = 0; c < 5; c++) begin
            sent[c] = 0;
            got[c] = 0;
        end
        #1 rst_n = 0;
        #1 rst_n = 1;
        for (int cycle = 0; cycle < 40 * count && (got[0] < count || got[1] < count || got[2] < count || got[3] < count
                            || got[4] < count || read < written); cycle++) begin
            // Sometimes all that there is, sometimes little, sometimes nothing.
            for (int c = 0; c < 5; c++)
                valid[c] = sent[c] < count && (cycle % 64 < 24 || ($urandom & (cycle % 64 < 48 ? 1 : 7)) == 0);
            req = messages[sent[0]];
            rsp = messages[MOST+sent[1]];
            data = messages[2*MOST+sent[2]];
            mem = messages[3*MOST+sent[3]];
            rwd = messages[4*MOST+sent[4]];
            ready = ($urandom & 7) != 0;
            for (int w = 0; w < 16; w++) line[32*w +: 32] = $urandom;
            enables = {$urandom, $urandom};
            credits = 12'($urandom) & 12'h777;
            ak = 1'($urandom);
            #1;
            taken_now = taken;
            taking = out_valid && ready;
            flit = slots;
            #1;
            if (taking) begin
                if (taken[2]) announce(line, 0);
                if (taken[4]) announce(~line, partial);
                if (error || control) $fatal(1, "flit %0d %h: error %b, control %b", flits, slots, error, control);
                for (int s = 0; s < 4; s++) if (chunk[s]) begin
                    if (slots[128*s +: 128] !== chunks[read] || is_enables[s] !== chunk_kinds[read] || read >= written)
                        $fatal(1, "flit %0d, slot %0d: chunk %h, expected %h", flits, s, slots[128*s +: 128], chunks[read]);
                    read++;
                end
                for (int p = 0; p < 20; p++) if (classes[3*p +: 3] != 0) begin
                    at = int'(classes[3*p +: 3]) - 1;
                    if (found[87*p +: 87] !== messages[MOST*at+got[at]])
                        $fatal(1, "flit %0d: class %0d message %0d is %h, expected %h", flits, at, got[at],
                            found[87*p +: 87], messages[MOST*at+got[at]]);
                    got[at]++;
                end
                flits++;
                flits_all_data += int'(all_data);
                for (int i = 0; i < 68; i++)
                    $fwrite(file, "%h", i < 2 ? 8'h55 : i < 66 ? slots[8*(i-2) +: 8] : crc[8*(i-66) +: 8]);
                $fwrite(file, "\n");
            end
            clk = 1;
            #1;
            for (int c = 0; c < 5; c++) sent[c] += int'(taken_now[c]);
            clk = 0;
            #1;
        end
        $fclose(file);
        for (int c = 0; c < 5; c++) if (got[c] != count) $fatal(1, "class %0d: %0d messages of %0d", c, got[c], count);
        if (read != written) $fatal(1, "%0d chunks of %0d", read, written);
        $display("%0d flits, %0d all data", flits, flits_all_data);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
