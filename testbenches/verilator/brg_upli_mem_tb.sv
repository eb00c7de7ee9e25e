// Vectors of `scalepool export conversions` for a bridge slice, case after case without a reset, so that conversions are kept from one to the
// next. Each message that leaves is one of the lines of its case, with all bits but its tag; its answer comes back with that tag, at once or
// behind the next message; the response has to be that of the case. The first message leaves as many cycles behind its request as the stages
// take, or those of a kept conversion. +requests, +lines, +responses: files; +count: cases.
module brg_upli_mem_tb;
    localparam int MOST = 4096;
    localparam int LATENCY = 11, TEMPLATE = 2;

    logic clk = 0, rst_n = 0;
    always #1 clk = !clk;

    // {data, poison, enables, field}
    logic [2435:0] requests [0:MOST-1];
    // {there, data, DRS, answer of 40 bits, data, enables, RwD, header of 104 bits}, four a case
    logic [1234:0] lines [0:4*MOST-1];
    // {kept, messages, data, poison, field}
    logic [2119:0] responses [0:MOST-1];

    logic req_valid = 0, req_ready, m2s_valid, m2s_ready = 0, m2s_rwd, s2m_valid = 0, s2m_drs, rsp_valid, rsp_ready = 0, hit;
    logic [127:0] req;
    logic [255:0] enables;
    logic [2047:0] data, rsp_data;
    logic [3:0] poison, rsp_poison;
    logic [103:0] header;
    logic [511:0] m2s_data, s2m_data;
    logic [63:0] m2s_enables, rsp;
    logic [39:0] s2m_header;

    brg_upli_mem dut (
        .clk_i(clk), .rst_ni(rst_n),
        .req_valid_i(req_valid), .req_ready_o(req_ready), .req_i(req), .enables_i(enables), .data_i(data), .poison_i(poison),
        .m2s_valid_o(m2s_valid), .m2s_ready_i(m2s_ready), .m2s_rwd_o(m2s_rwd), .m2s_header_o(header), .m2s_data_o(m2s_data),
        .m2s_enables_o(m2s_enables),
        .s2m_valid_i(s2m_valid), .s2m_drs_i(s2m_drs), .s2m_header_i(s2m_header), .s2m_data_i(s2m_data),
        .rsp_valid_o(rsp_valid), .rsp_ready_i(rsp_ready), .rsp_o(rsp), .rsp_data_o(rsp_data), .rsp_poison_o(rsp_poison),
        .template_hit_o(hit)
    );

    int count, n, k, cycles, sent, waiting [0:3], waits, place;
    logic [3:0] open;
    logic [15:0] tags [0:3];
    logic [1234:0] line;
    logic [2119:0] wanted;
    string file;

    task automatic answer(input int of_line);
        line = lines[4*n + of_line];
        s2m_valid = 1;
        s2m_drs = line[721];
        s2m_header = {line[720:705], tags[of_line], line[688:681]};
        s2m_data = line[1233:722];
    endtask

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if (!$value$plusargs("requests=%s", file)) $fatal(1, "+requests is missing");
        $readmemh(file, requests, 0, count - 1);
        if (!$value$plusargs("lines=%s", file)) $fatal(1, "+lines is missing");
        $readmemh(file, lines, 0, 4*count - 1);
        if (!$value$plusargs("responses=%s", file)) $fatal(1, "+responses is missing");
        $readmemh(file, responses, 0, count - 1);
        repeat (2) @(negedge clk);
        rst_n = 1;
        for (n = 0; n < count; n++) begin
            wanted = responses[n];
            {data, poison, enables, req} = requests[n];
            req_valid = 1;
            while (!req_ready) @(negedge clk);
            @(negedge clk);
            req_valid = 0;
            for (k = 0; k < 4; k++) open[k] = lines[4*n + k][1234];
            cycles = 0;
            sent = 0;
            waits = 0;
            // The answers of every other case come in the reverse order, when all messages have left.
            while (!rsp_valid) begin
                if (cycles > 200) $fatal(1, "case %0d: no response", n);
                s2m_valid = 0;
                m2s_ready = (n + cycles) % 3 != 0;
                if (m2s_valid && sent == 0 && waits == 0 && cycles != (wanted[2119] ? TEMPLATE : LATENCY))
                    $fatal(1, "case %0d: first message behind %0d cycles", n, cycles);
                if (m2s_valid) sent = sent + 32'(sent == 0);
                if (m2s_valid && m2s_ready) begin
                    place = -1;
                    for (k = 0; k < 4; k++) begin
                        line = lines[4*n + k];
                        if (open[k] && line[104] == m2s_rwd && {line[103:28], line[11:0]} == {header[103:28], header[11:0]}) place = k;
                    end
                    if (place < 0) $fatal(1, "case %0d: header %h", n, header);
                    line = lines[4*n + place];
                    if (m2s_rwd && (m2s_enables != line[168:105] || m2s_data != line[680:169]))
                        $fatal(1, "case %0d: data %h, enables %h", n, m2s_data, m2s_enables);
                    open[place] = 0;
                    tags[place] = header[27:12];
                    for (k = 0; k < waits; k++) if (tags[waiting[k]] == header[27:12]) $fatal(1, "case %0d: tag %h twice", n, header[27:12]);
                    waiting[waits] = place;
                    waits = waits + 1;
                end else if (waits > 0 && open == 0 && (!m2s_valid)) begin
                    if (n % 2 == 1) begin
                        waits = waits - 1;
                        answer(waiting[waits]);
                    end else begin
                        answer(waiting[0]);
                        for (k = 1; k < 4; k++) waiting[k-1] = waiting[k];
                        waits = waits - 1;
                    end
                end
                cycles = cycles + 1;
                @(negedge clk);
            end
            s2m_valid = 0;
            if (open != 0 || waits != 0) $fatal(1, "case %0d: a response before all lines", n);
            if (rsp != wanted[63:0]) $fatal(1, "case %0d: response %h, expected %h", n, rsp, wanted[63:0]);
            if (rsp_poison != wanted[67:64]) $fatal(1, "case %0d: poison %b", n, rsp_poison);
            // Beats of the read channel alone.
            for (k = 0; rsp[37] && k <= 32'(rsp[45:44]); k++)
                if (rsp_data[512*k +: 512] != wanted[68 + 512*k +: 512]) $fatal(1, "case %0d: beat %0d", n, k);
            if (hit != wanted[2119] && wanted[2118:2116] != 0) $fatal(1, "case %0d: kept %b", n, hit);
            rsp_ready = 1;
            @(negedge clk);
            rsp_ready = 0;
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
