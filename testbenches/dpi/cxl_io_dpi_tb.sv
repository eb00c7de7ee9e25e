// TLPs of CXL.io over the link ends of scalepool_pkg, without a design: reads and writes of lines in 256B flits, some damaged, against a data image
// of the bench, completions in one part or two; then completions that are wrong, each named by the end that takes them and by one that watches.
// +count=N reads.
module cxl_io_dpi_tb;
    import scalepool_pkg::*;
    import scalepool_cxlio_pkg::*;
    `include "dpi_pair.svh"
    localparam int LINES = 16, OPEN = 4;

    // What a completer does to the completions of a read.
    typedef enum { RIGHT, OTHER_TAG, TWICE, WITHOUT_DATA, TURNED, OTHER_DATA, LOST } wrong_e;

    class io_pair extends watched_pair;
        bit [511:0] image [0:LINES-1]; // of the requester
        bit [511:0] memory [0:LINES-1]; // of the completer
        bit [511:0] came [0:OPEN-1];
        int left [0:OPEN-1]; // bytes that a read waits for
        wrong_e wrong;

        // Bytes of a line go to address 0x1000 + 64 * line.
        function void write_line(int line, bit [511:0] data);
            cxlio_tlp tlp;
            fm_mem32_t head;
            head = '0;
            head.tlp_type = FM_TYPE_M_WR32;
            head.length = 16;
            head.address = 30'(32'h1000 + 64 * line) >> 2;
            tlp = new();
            tlp.add(128'(head), 12);
            tlp.add_data(data, 64);
            ends[0].send(tlp);
            image[line] = data;
        endfunction

        function void read_line(int line, int tag);
            cxlio_tlp tlp;
            fm_mem32_t head;
            head = '0;
            head.tlp_type = FM_TYPE_M_RD32;
            head.length = 16;
            head.tag = 14'(tag);
            head.address = 30'(32'h1000 + 64 * line) >> 2;
            tlp = new();
            tlp.add(128'(head), 12);
            ends[0].send(tlp);
            left[tag] = 64;
        endfunction

        // A completion with bytes `first` to `first + bytes - 1` of a line.
        function void complete(fm_mem32_t request, bit [511:0] line, int first, int bytes);
            cxlio_tlp tlp;
            fm_cpl_t head;
            head = '0;
            head.tlp_type = wrong == WITHOUT_DATA ? FM_TYPE_CPL : FM_TYPE_CPL_D;
            head.length = wrong == WITHOUT_DATA ? '0 : 10'(bytes / 4);
            head.completer = 16'h100;
            head.requester = request.requester;
            head.tag = wrong == OTHER_TAG ? 14'd77 : request.tag;
            head.byte_count = 12'(64 - first);
            head.lower_addr = 4'(first / 4);
            head.lower_addr_6 = request.address[4]; // bit 6 of the byte address
            tlp = new();
            tlp.add(128'(head), 12);
            if (wrong != WITHOUT_DATA) tlp.add_data(line >> (8 * first), 32'(bytes));
            ends[1].send(tlp);
        endfunction

        virtual function void on_request(sp_message message);
            cxlio_tlp tlp;
            fm_mem32_t head;
            int line;
            if (!$cast(tlp, message)) $fatal(1, "found %s, expected a TLP", message.convert2string());
            head = fm_mem32_t'(tlp.number(0, 12));
            line = (int'(head.address) * 4 - 32'h1000) / 64;
            if (head.tlp_type == FM_TYPE_M_WR32) begin
                memory[line] = tlp.data_from(12);
                return;
            end
            if (head.tlp_type != FM_TYPE_M_RD32) $fatal(1, "found %s, expected a read or a write", tlp.convert2string());
            if (wrong == LOST) return;
            if (wrong == TURNED || wrong == RIGHT && head.tag[0]) begin
                complete(head, memory[line], wrong == TURNED ? 32 : 0, 32);
                complete(head, memory[line], wrong == TURNED ? 0 : 32, 32);
            end else complete(head, wrong == OTHER_DATA ? ~memory[line] : memory[line], 0, 64);
            if (wrong == TWICE) complete(head, memory[line], 0, 64);
        endfunction

        virtual function void on_answer(sp_message message);
            cxlio_tlp tlp;
            fm_cpl_t head;
            int tag, bytes, first;
            if (!$cast(tlp, message)) $fatal(1, "found %s, expected a TLP", message.convert2string());
            head = fm_cpl_t'(tlp.number(0, 12));
            tag = int'(head.tag);
            if (wrong != RIGHT || head.tlp_type != FM_TYPE_CPL_D || tag >= OPEN) return;
            bytes = 4 * int'(head.length);
            first = 64 - int'(head.byte_count);
            came[tag] |= (tlp.data_from(12) & ((512'd1 << (8 * bytes)) - 512'd1)) << (8 * first);
            left[tag] -= bytes;
        endfunction

        function void begins(wrong_e wrong_of);
            sp_link_config knobs;
            knobs = new();
            knobs.transactions = SP_TRANSACTIONS_CXL_IO;
            knobs.all_writers_seen = 1;
            knobs.answer_flits = 300;
            make(SP_PROTOCOL_CXL_IO, knobs, knobs);
            wrong = wrong_of;
            for (int n = 0; n < LINES; n++) begin
                image[n] = '0;
                memory[n] = '0;
            end
            for (int n = 0; n < OPEN; n++) left[n] = 0;
        endfunction

        // Some lines are written, then four are read at a time.
        function void traffic(int count);
            bit [511:0] data;
            int lines[0:OPEN-1];
            begins(RIGHT);
            for (int done = 0; done < count; done += OPEN) begin
                for (int n = 0; n < OPEN; n++) begin
                    for (int w = 0; w < 8; w++) data[64*w +: 64] = draw();
                    write_line(draw_up_to(LINES - 1), data);
                end
                for (int n = 0; n < OPEN; n++) begin
                    lines[n] = draw_up_to(LINES - 1);
                    came[n] = '0;
                    read_line(lines[n], n);
                end
                for (int n = 0; n < 2000 && left.sum() != 0; n++) flit_clock();
                for (int n = 0; n < OPEN; n++)
                    if (left[n] != 0 || came[n] != image[lines[n]])
                        $fatal(1, "line %0d: found %h and %0d bytes missing, expected %h", lines[n], came[n], left[n], image[lines[n]]);
            end
            for (int n = 0; n < 50; n++) flit_clock();
            expect_rule("a right completer", "");
            if (!ends[0].finish() || !watch.finish()) $fatal(1, "a request is open");
            destroy();
        endfunction

        function void named(wrong_e wrong_of, string rule);
            begins(wrong_of);
            is_damaged = 0;
            write_line(3, {16{32'h5a17_0042}});
            read_line(3, 1);
            for (int n = 0; n < 500; n++) flit_clock();
            expect_rule(wrong_of.name(), rule);
            destroy();
        endfunction
    endclass

    initial if ($test$plusargs("cxl_io")) begin
        io_pair pair;
        int count;
        pair = new();
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        pair.traffic(count);
        pair.named(OTHER_TAG, "TXN-TAG-02");
        pair.named(TWICE, "TXN-TAG-03");
        pair.named(WITHOUT_DATA, "TXN-ANS-03");
        pair.named(TURNED, "TXN-ORD-04");
        pair.named(OTHER_DATA, "TXN-DAT-01");
        pair.named(LOST, "TXN-END-02");
        $display("%0d flit clocks, %0d units hit", pair.flit_clocks, pair.hits);
        if (pair.hits == 0) $fatal(1, "no unit was hit");
        $display("PASS %0d", count);
        $finish;
    end
endmodule
