// The result of a test as JUnit XML, which continuous integration shows: one case, with a failure for each UVM_ERROR and UVM_FATAL that no
// catcher has taken, and as properties the seed and the command that runs the same again.
//
// A test calls `scalepool_junit::from_plusargs` in its build phase. A simulator does not tell a test its own command or seed, so both come
// from plusargs, as does the name of the file: +scalepool_junit=FILE +scalepool_seed=N "+scalepool_rerun=COMMAND". A test that runs several
// times with different plusargs has a name for each in +scalepool_case=NAME. Errors before the call are counted, but have no failure.
//
// It is a report server: it sees a message behind all catchers, with the severity that these have left it, and it is asked for the summary at
// the end of a run, whether that has ended by itself or died of an error. Then it writes the file.
class scalepool_junit extends uvm_default_report_server;
  // More errors than these say no more; the count of the last line has all.
  localparam int unsigned MOST_FAILURES = 100;
  protected string path;
  protected string test;
  protected string seed;
  protected string rerun;
  protected string failures[$];

  function new(string name = "scalepool_junit");
    super.new(name);
  endfunction

  // Takes the place of the report server, if +scalepool_junit names a file. Returns whether it has.
  static function bit from_plusargs(string test);
    scalepool_junit server;
    string found;
    if ($value$plusargs("scalepool_junit=%s", found) == 0) return 0;
    server = new();
    server.path = found;
    server.test = test;
    if ($value$plusargs("scalepool_case=%s", found) != 0) server.test = found;
    if ($value$plusargs("scalepool_seed=%s", found) != 0) server.seed = found;
    if ($value$plusargs("scalepool_rerun=%s", found) != 0) server.rerun = found;
    uvm_report_server::set_server(server);
    return 1;
  endfunction

  virtual function void execute_report_message(uvm_report_message report_message, string composed_message);
    uvm_severity severity;
    severity = report_message.get_severity();
    if (severity == UVM_ERROR || severity == UVM_FATAL) begin
      if (failures.size() < int'(MOST_FAILURES)) failures.push_back(failure(report_message));
    end
    // A fatal one ends the run in here.
    super.execute_report_message(report_message, composed_message);
  endfunction

  virtual function void report_summarize(UVM_FILE file = UVM_STDOUT);
    super.report_summarize(file);
    write_file();
  endfunction

  protected function string failure(uvm_report_message m);
    uvm_report_object from;
    string place;
    from = m.get_report_object();
    place = from == null ? "" : from.get_full_name();
    return $sformatf("      <failure type=\"%s\" message=\"%s\">%s at %0t</failure>", escaped(m.get_id()), escaped(m.get_message()),
                     escaped(place), $time);
  endfunction

  protected function void write_file();
    string suite;
    int count, file;
    // set_server has copied the counts of the server before.
    count = get_severity_count(UVM_ERROR) + get_severity_count(UVM_FATAL);
    file = $fopen(path, "w");
    if (file == 0) begin
      $display("scalepool_junit: cannot write %s", path);
      return;
    end
    suite = $sformatf("tests=\"1\" failures=\"%0d\" errors=\"0\"", int'(count != 0));
    $fdisplay(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    $fdisplay(file, "<testsuites %s>", suite);
    $fdisplay(file, "  <testsuite name=\"uvm\" %s skipped=\"0\">", suite);
    $fdisplay(file, "    <properties>");
    if (seed != "") $fdisplay(file, "      <property name=\"seed\" value=\"%s\"/>", escaped(seed));
    if (rerun != "") $fdisplay(file, "      <property name=\"rerun\" value=\"%s\"/>", escaped(rerun));
    $fdisplay(file, "    </properties>");
    $fdisplay(file, "    <testcase classname=\"uvm\" name=\"%s\">", escaped(test));
    foreach (failures[n]) $fdisplay(file, "%s", failures[n]);
    if (count != 0 && failures.size() == 0) $fdisplay(file, "      <failure type=\"uvm\" message=\"errors before scalepool_junit\"/>");
    if (count > failures.size()) $fdisplay(file, "      <system-out>%0d errors, of which %0d are shown</system-out>", count, failures.size());
    $fdisplay(file, "    </testcase>");
    $fdisplay(file, "  </testsuite>");
    $fdisplay(file, "</testsuites>");
    $fclose(file);
  endfunction

  // A text in XML. Characters that XML 1.0 has no place for become `?`.
  protected function string escaped(string text);
    string result;
    result = "";
    for (int n = 0; n < text.len(); n++) begin
      // Bytes of UTF-8 are above 127 and stay.
      byte unsigned c;
      c = text.getc(n);
      case (c)
        "&": result = {result, "&amp;"};
        "<": result = {result, "&lt;"};
        ">": result = {result, "&gt;"};
        "\"": result = {result, "&quot;"};
        "\n", "\t", 8'h0d: result = {result, " "};
        default: result = {result, c < 32 ? "?" : string'(c)};
      endcase
    end
    return result;
  endfunction
endclass
