// CXL.cache: calls of a caching device and of a home as items, and the requests and snoops that pass, each with its answers.

typedef enum { SCALEPOOL_LOAD, SCALEPOOL_STORE, SCALEPOOL_EVICT, SCALEPOOL_SNOOP } scalepool_cache_op_e;

// What a core does with a line (drivers in the role SCALEPOOL_CACHE_DEVICE), or a snoop (SCALEPOOL_CACHE_HOME). It is done when the
// sequence goes on.
class scalepool_cache_item extends scalepool_item;
  `uvm_object_utils(scalepool_cache_item)
  rand scalepool_cache_op_e op;
  rand bit [45:0] line_number; // the address in bytes is 64 times as much
  rand bit [511:0] line; // of a store; of a load what came
  bit [2:0] snoop; // of a snoop, an h2d_req_opcode_e
  bit [4:0] rsp; // of a snoop, the d2h_rsp_opcode_e that came
  sp_answer_e answer;
  bit is_done;

  function new(string name = "scalepool_cache_item");
    super.new(name);
    snoop = 3'(scalepool_cxl68_pkg::H2D_REQ_OPCODE_SNP_INV);
  endfunction

  function bit [51:0] address();
    return {line_number, 6'd0};
  endfunction

  virtual function string convert2string();
    return $sformatf("%s line 0x%0h, %s, %h", op.name(), address(), is_done ? answer.name() : string'("open"), line);
  endfunction
endclass

// Joins answers to the requests of devices and the snoops of a home, the data of a device by the UQID of the pull or snoop that has asked for it.
//
// Modelled: several devices behind a link (CacheID, or PID of a fabric). Left out: what an answer has to look like, which the passive end judges.
class scalepool_cache_exchanges;
  // Device, CQID; and UQID.
  protected scalepool_exchange_item requests[bit [23:0]];
  protected scalepool_exchange_item snoops[bit [11:0]];
  protected scalepool_exchange_item pulls[bit [11:0]];

  // Requests and snoops without all of their answers.
  function int unsigned count();
    return 32'(requests.num()) + 32'(snoops.num());
  endfunction

  function void reset();
    requests.delete();
    snoops.delete();
    pulls.delete();
  endfunction

  static function bit is_cache(sp_message message);
    return message.is_layout("d2h_req") || message.is_layout("d2h_rsp") || message.is_layout("d2h_data") || message.is_layout("h2d_req")
           || message.is_layout("h2d_rsp") || message.is_layout("h2d_data");
  endfunction

  // A message passes. Returns what it ends; null if something is still to come.
  function scalepool_exchange_item see(sp_message message);
    scalepool_exchange_item item;
    bit [11:0] uqid;
    if (message.is_layout("d2h_req") || message.is_layout("h2d_req")) begin
      item = scalepool_exchange_item::type_id::create("exchange");
      item.request = message;
      if (message.is_layout("d2h_req")) requests[key_of(message)] = item;
      else snoops[12'(message.get("uqid"))] = item;
      return null;
    end
    if (message.is_layout("h2d_rsp") || message.is_layout("h2d_data")) begin
      if (!requests.exists(key_of(message))) return null; // the watcher tells it
      item = requests[key_of(message)];
      item.answers.push_back(message);
      if (is_pull(message)) pulls[12'(message.get("rsp_data"))] = item;
      return ended(item);
    end
    uqid = 12'(message.get("uqid"));
    if (snoops.exists(uqid)) begin
      item = snoops[uqid];
      item.answers.push_back(message);
      if (!is_snoop_over(item)) return null;
      snoops.delete(uqid);
      return item;
    end
    if (message.is_layout("d2h_rsp") || !pulls.exists(uqid)) return null;
    item = pulls[uqid];
    item.answers.push_back(message);
    if (lines(item, "d2h_data") >= 2) pulls.delete(uqid);
    return ended(item);
  endfunction

  // A device by its CacheID, or by its PID; flits of 68 bytes have neither.
  protected function bit [23:0] key_of(sp_message message);
    bit [11:0] device;
    device = '0;
    if (message.has("cache_id")) device = 12'(message.get("cache_id"));
    else if (message.is_layout("d2h_req") && message.has("spid")) device = 12'(message.get("spid"));
    else if (!message.is_layout("d2h_req") && message.has("dpid")) device = 12'(message.get("dpid"));
    return {device, 12'(message.get("cqid"))};
  endfunction

  protected function bit is_pull(sp_message message);
    return message.is_layout("h2d_rsp")
           && 4'(message.get("opcode")) inside {4'(scalepool_cxl256_pkg::H2D_RSP_OPCODE_WRITE_PULL),
                                                4'(scalepool_cxl256_pkg::H2D_RSP_OPCODE_GO_WRITE_PULL),
                                                4'(scalepool_cxl256_pkg::H2D_RSP_OPCODE_FAST_GO_WRITE_PULL),
                                                4'(scalepool_cxl256_pkg::H2D_RSP_OPCODE_GO_ERR_WRITE_PULL)};
  endfunction

  // Half lines that answers have brought.
  protected function int unsigned lines(scalepool_exchange_item item, string layout);
    lines = 0;
    foreach (item.answers[n]) if (item.answers[n].is_layout(layout)) lines += item.answers[n].is_half() ? 1 : 2;
  endfunction

  // Whether an H2D Rsp of one of these opcodes is among the answers.
  protected function bit has_rsp(scalepool_exchange_item item, bit [15:0] opcodes);
    foreach (item.answers[n])
      if (item.answers[n].is_layout("h2d_rsp") && opcodes[4'(item.answers[n].get("opcode"))]) return 1;
    return 0;
  endfunction

  protected function scalepool_exchange_item ended(scalepool_exchange_item item);
    if (!is_over(item)) return null;
    requests.delete(key_of(item.request));
    return item;
  endfunction

  // Whether a request has all that it is owed (coherence section 2.2).
  protected function bit is_over(scalepool_exchange_item item);
    bit has_go, has_line, is_pulled;
    has_go = has_rsp(item, 16'd1 << scalepool_cxl256_pkg::H2D_RSP_OPCODE_GO);
    has_line = lines(item, "h2d_data") >= 2;
    is_pulled = lines(item, "d2h_data") >= 2;
    case (5'(item.request.get("opcode")))
      5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_RD_CURR): return has_line;
      5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_RD_OWN), 5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_RD_SHARED),
      5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_RD_ANY): return has_go && has_line;
      5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_WR_INV): return has_go && is_pulled;
      5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_WO_WR_INV), 5'(scalepool_cxl256_pkg::D2H_REQ_OPCODE_WO_WR_INV_F):
        return has_rsp(item, 16'd1 << scalepool_cxl256_pkg::H2D_RSP_OPCODE_EXT_CMP) && is_pulled;
      default:
        return has_go || is_pulled || has_rsp(item, 16'd1 << scalepool_cxl256_pkg::H2D_RSP_OPCODE_GO_WRITE_PULL_DROP);
    endcase
  endfunction

  // Whether a snoop has its answer, and the line where that says so.
  protected function bit is_snoop_over(scalepool_exchange_item item);
    bit [4:0] rsp;
    rsp = '0;
    foreach (item.answers[n]) if (item.answers[n].is_layout("d2h_rsp")) rsp = 5'(item.answers[n].get("opcode"));
    if (rsp inside {5'(scalepool_cxl256_pkg::D2H_RSP_OPCODE_RSP_S_FWD_M), 5'(scalepool_cxl256_pkg::D2H_RSP_OPCODE_RSP_I_FWD_M),
                    5'(scalepool_cxl256_pkg::D2H_RSP_OPCODE_RSP_V_FWD_V)}) return lines(item, "d2h_data") >= 2;
    return rsp != 0;
  endfunction
endclass
