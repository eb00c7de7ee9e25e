// Golden 68-byte flits through cxl68_unpacker, down and, with +up, up: which slots are data, and each message bit by bit.
// +flits=FILE (512 bits each) +expected=FILE (1739:0 messages, 1799:1740 classes, 1803:1800 chunks, 1804 all data, 1805
// control) +count=N
module cxl68_unpack_tb;
    localparam int MOST = 4096;
    logic clk = 0, rst_n = 1, valid = 0, up;
    logic [511:0] flits [0:MOST-1];
    logic [1805:0] expected [0:MOST-1];
    logic [511:0] flit;
    logic [1805:0] seen;
    logic [1:0] error, all_data, control;
    logic [7:0] chunk, enables;
    logic [119:0] classes;
    logic [3479:0] messages;
    logic [9:0] owed;
    int count, chunks, enable_chunks;
    string path;

    cxl68_unpacker #(.UP(0)) down_dut (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(valid && !up), .slots_i(flit), .all_data_o(all_data[0]),
        .control_o(control[0]), .chunk_o(chunk[3:0]), .enables_o(enables[3:0]), .class_o(classes[59:0]),
        .message_o(messages[1739:0]), .owed_o(owed[4:0]), .error_o(error[0])
    );
    cxl68_unpacker #(.UP(1)) up_dut (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(valid && up), .slots_i(flit), .all_data_o(all_data[1]),
        .control_o(control[1]), .chunk_o(chunk[7:4]), .enables_o(enables[7:4]), .class_o(classes[119:60]),
        .message_o(messages[3479:1740]), .owed_o(owed[9:5]), .error_o(error[1])
    );

    assign seen = up ? {control[1], all_data[1], chunk[7:4], classes[119:60], messages[3479:1740]}
                     : {control[0], all_data[0], chunk[3:0], classes[59:0], messages[1739:0]};

    initial begin
        up = $test$plusargs("up") != 0;
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("flits=%s", path)) $readmemh(path, flits, 0, count - 1);
        if ($value$plusargs("expected=%s", path)) $readmemh(path, expected, 0, count - 1);
        #1 rst_n = 0;
        #1 rst_n = 1;
        chunks = 0;
        enable_chunks = 0;
        valid = 1;
        for (int i = 0; i < count; i++) begin
            flit = flits[i];
            #1;
            if (error[up] !== 0 || seen !== expected[i])
                $fatal(1, "flit %0d: error %b, differs in %h", i, error[up], seen ^ expected[i]);
            for (int s = 0; s < 4; s++) begin
                chunks += int'(chunk[4*int'(up)+s]);
                enable_chunks += int'(enables[4*int'(up)+s]);
            end
            clk = 1;
            #1 clk = 0;
            #1;
        end
        $display("%0d chunks, %0d of them byte enables", chunks, enable_chunks);
        $display("PASS %0d", count);
        $finish;
    end
endmodule
