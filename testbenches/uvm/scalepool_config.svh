// What the driver does of itself: send the messages of its sequences, make requests of CXL.mem, or answer them as a memory, make
// requests of CXL.io as the root, or be a caching device of CXL.cache, or the home of its lines.
typedef enum {
  SCALEPOOL_RAW, SCALEPOOL_MEM_HOST, SCALEPOOL_MEM_DEVICE, SCALEPOOL_IO_ROOT, SCALEPOOL_CACHE_DEVICE, SCALEPOOL_CACHE_HOME
} scalepool_role_e;

// Waivers whose refusal is a fatal report of UVM.
class scalepool_waivers extends sp_waivers;
  virtual function void refused(string text);
    uvm_report_fatal("WAIVER", text);
  endfunction
endclass

// Knobs of an agent, from config_db by the name `config`.
class scalepool_config extends uvm_object;
  `uvm_object_utils(scalepool_config)
  virtual scalepool_flit_if vif; // with `bus`, its clock and reset alone are used
  // An interface that cores have, by its name in the table: `axi-stream`, `credited`, `state`, `slots68`; `flits` is that of `vif`. The agent takes
  // the agents of modules of scalepool_interfaces from config_db: an active one `<bus>.tx`, a source, and `<bus>.rx`, a sink; a
  // passive one monitors by the same names, at `tx` what its end sends.
  string bus = "flits";
  uvm_active_passive_enum is_active = UVM_ACTIVE;
  sp_protocol_e protocol = SP_PROTOCOL_CXL_68B;
  sp_dir_e dir = SP_SENDS_UP; // of the end that the agent is, or that it watches
  scalepool_role_e role = SCALEPOOL_RAW;
  int unsigned outstanding = 64; // requests of a host that may be open at a time, 1 to 65536
  int unsigned latency = 0; // of a memory, in flit clocks
  bit [51:0] size_bytes = 0; // of a memory; 0: everywhere
  sp_transactions_e transactions = SP_TRANSACTIONS_HDM_H; // those that are judged, where the protocol and the end have them
  bit all_writers_seen = 1; // nobody but the two ends writes the memory
  bit [15:0] io_requester = 0; // of a root: its bus, device and function
  int unsigned access_clocks = 100000; // of a root: clocks in which an access has to end
  int unsigned drain_flits = 4000; // flit clocks at the end of the test in which all comes to rest
  bit has_coverage = 1;
  bit has_intact = 0; // of a passive agent: the interface has what its end sends before damage, as it always has of an active one
  sp_link_config active_end; // knobs of the two link ends; made if they are null
  sp_link_config watcher;

  // Set `waivers.today` (YYYY-MM-DD), or pass +scalepool_today=YYYY-MM-DD, before a waiver with a last day: no clock is asked.
  scalepool_waivers waivers;

  protected uvm_severity severities[string];

  function new(string name = "scalepool_config");
    super.new(name);
    active_end = new();
    watcher = new();
    waivers = new();
  endfunction

  // Whether units pass on an interface that cores have.
  function bit has_bus();
    return bus != "flits";
  endfunction

  // A rule that is reported with another severity than UVM_ERROR.
  function void set_severity(string rule, uvm_severity severity);
    if (!sp_library::knows_rule(rule)) `uvm_fatal("WAIVER", {"severity: ", sp_library::why()})
    severities[rule] = severity;
  endfunction

  // A rule that may be broken before this unit of its direction, and why; with `last_day`, up to that day as well.
  function void waive(string rule, longint unsigned until_unit, string reason, string last_day = "");
    waivers.waive(rule, reason, until_unit, last_day);
  endfunction

  // A rule that may be broken up to this day, YYYY-MM-DD, that day included.
  function void waive_until_day(string rule, string last_day, string reason);
    waivers.waive(rule, reason, '1, last_day);
  endfunction

  // What an event is worth: damage that the link repairs is told, all else is an error.
  function uvm_severity severity_of(sp_event_t e);
    if (e.by == SP_LINE_BROKE || e.severity == SP_IS_CORRECTED || waivers.reason_of(e) != "") return UVM_INFO;
    return severities.exists(e.rule) ? severities[e.rule] : UVM_ERROR;
  endfunction

  // Why an event is waived; empty if it is not.
  function string waiver_of(sp_event_t e);
    return waivers.reason_of(e);
  endfunction

  // The knobs of the active end and of the one that watches it. An end whose knobs name transactions keeps them, and its `all_writers_seen`.
  function sp_link_config config_of(bit passive);
    sp_link_config knobs;
    sp_transactions_e asked;
    knobs = passive ? watcher : active_end;
    asked = knobs.transactions != SP_TRANSACTIONS_NONE ? knobs.transactions : transactions;
    // An agent of CXL.cache that says nothing else.
    if (role inside {SCALEPOOL_CACHE_DEVICE, SCALEPOOL_CACHE_HOME} && asked == SP_TRANSACTIONS_HDM_H && asked != knobs.transactions)
      asked = SP_TRANSACTIONS_CXL_CACHE;
    // SP_TRANSACTIONS_HDM_H is what a config has that says nothing: only the knobs of an end can ask a protocol for it that does not have it.
    if (asked != SP_TRANSACTIONS_NONE && !known(asked) && (asked != SP_TRANSACTIONS_HDM_H || asked == knobs.transactions))
      `uvm_fatal("CONFIG", $sformatf("transactions of the %s end: found %s, expected a kind that %s has",
                                     passive ? string'("passive") : string'("active"), asked.name(), protocol.name()))
    if (knobs.transactions == SP_TRANSACTIONS_NONE && known(asked) && judged(passive, knobs.transaction_layer)) begin
      knobs.transactions = asked;
      knobs.all_writers_seen = all_writers_seen;
    end
    knobs.messages = knobs.messages || passive;
    return knobs;
  endfunction

  // Whether the protocol has transactions of this kind.
  protected function bit known(sp_transactions_e kind);
    case (protocol)
      SP_PROTOCOL_NVLINK: return kind == SP_TRANSACTIONS_NVLINK;
      SP_PROTOCOL_UALINK: return kind == SP_TRANSACTIONS_UALINK;
      SP_PROTOCOL_CXL_IO: return kind == SP_TRANSACTIONS_CXL_IO;
      default: return !(kind inside {SP_TRANSACTIONS_NONE, SP_TRANSACTIONS_CXL_IO, SP_TRANSACTIONS_UALINK, SP_TRANSACTIONS_NVLINK});
    endcase
  endfunction

  // Whether an end sees transactions: an active one of UALink does with a transaction layer alone.
  protected function bit judged(bit passive, bit transaction_layer);
    return protocol != SP_PROTOCOL_UALINK || passive || transaction_layer;
  endfunction
endclass
