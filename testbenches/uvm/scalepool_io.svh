// Software's side of CXL.io: accesses to configuration space and to memory behind BARs, and a register model of UVM on top of them.

// An access to 1 to 4 bytes of a double word. Drivers in the role SCALEPOOL_IO_ROOT take it; it is done when the sequence goes on.
class scalepool_access_item extends scalepool_item;
  `uvm_object_utils(scalepool_access_item)
  bit is_config; // configuration space; otherwise memory
  bit is_write;
  bit [15:0] target; // bus, device and function, of configuration space
  bit [63:0] address; // in bytes; of configuration space the register, 0 to 4095
  bit [31:0] data; // byte n of the double word in bits 8n+7:8n
  bit [3:0] enables; // bit n for byte n of the double word
  bit is_done;
  bit is_lost; // there was no completion
  bit [2:0] status; // of the completion, a cpl_status_e

  function new(string name = "scalepool_access_item");
    super.new(name);
    enables = '1;
  endfunction

  function bit is_ok();
    return is_done && !is_lost && status == 3'(scalepool_cxlio_pkg::CPL_STATUS_SC);
  endfunction

  virtual function string convert2string();
    return $sformatf("%s %s 0x%0h, enables %b, data %h, %s", is_config ? "configuration" : "memory", is_write ? "write" : "read", address,
                     enables, data, is_lost ? "lost" : is_done ? $sformatf("status %0d", status) : "open");
  endfunction
endclass

// The requester of a driver: TLPs of flit mode, and completions that end accesses. A write to memory is posted, and so done at once.
class scalepool_io_root;
  sp_link_end link;
  bit [15:0] requester; // bus, device and function
  protected scalepool_access_item open[bit [13:0]];
  protected bit [13:0] next_tag;

  function new(sp_link_end link_of);
    link = link_of;
    requester = 0;
    next_tag = 0;
  endfunction

  function int unsigned outstanding();
    return 32'(open.num());
  endfunction

  // Queues the request. Returns 0 if the link end does not take it.
  function bit start(scalepool_access_item access);
    cxlio_tlp tlp;
    bit [13:0] tag;
    tag = access.is_write && !access.is_config ? '0 : next_tag;
    if (access.is_config)
      tlp = sp_io_tlps::of_config(access.is_write, requester, tag, access.target, access.address[11:2], access.enables, access.data);
    else begin
      tlp = sp_io_tlps::of_memory(access.is_write, requester, tag, access.address, 1, access.enables, '0);
      if (access.is_write) tlp.add_data(512'(access.data), 4);
    end
    if (!link.try_send(tlp)) return 0;
    if (access.is_write && !access.is_config) access.is_done = 1;
    else begin
      open[tag] = access;
      next_tag = (next_tag + 1) % 256;
    end
    return 1;
  endfunction

  // Takes a completion of one of the accesses. Returns 0 if the message is something else.
  function bit take(sp_message message);
    cxlio_tlp tlp;
    scalepool_cxlio_pkg::fm_cpl_t head;
    bit [2:0] status;
    int unsigned data_at;
    scalepool_access_item access;
    if (!sp_io_tlps::is_completion(message, head, status, data_at) || !$cast(tlp, message)) return 0;
    if (!open.exists(head.tag)) return 0; // the watcher tells it
    access = open[head.tag];
    open.delete(head.tag);
    access.status = status;
    if (!access.is_write && head.tlp_type == scalepool_cxlio_pkg::FM_TYPE_CPL_D) access.data = 32'(tlp.data_from(data_at));
    access.is_done = 1;
    return 1;
  endfunction

  // What is open has no completion any more.
  function void reset();
    foreach (open[tag]) begin
      open[tag].is_lost = 1;
      open[tag].is_done = 1;
    end
    open.delete();
  endfunction
endclass

// Joins a register block of UVM to the sequencer of a driver in the role SCALEPOOL_IO_ROOT: one adapter for each block, which says where it
// stands.
class scalepool_register_adapter extends uvm_reg_adapter;
  `uvm_object_utils(scalepool_register_adapter)
  bit is_config = 1; // the block stands in configuration space; otherwise in memory
  bit [15:0] target; // bus, device and function, of configuration space
  bit [63:0] base; // where the block begins, in bytes

  function new(string name = "scalepool_register_adapter");
    super.new(name);
    supports_byte_enable = 1;
    provides_responses = 0;
  endfunction

  virtual function uvm_sequence_item reg2bus(const ref uvm_reg_bus_op rw);
    scalepool_access_item access;
    bit [63:0] at;
    bit [7:0] enables;
    access = scalepool_access_item::type_id::create("access");
    at = base + 64'(rw.addr);
    enables = 8'(rw.byte_en[3:0]) << at[1:0];
    if (rw.n_bits > 32 || enables[7:4] != 0)
      `uvm_fatal("REGISTER", $sformatf("found %0d bits at 0x%0h, expected bytes of one double word", rw.n_bits, at))
    access.is_config = is_config;
    access.is_write = rw.kind == UVM_WRITE;
    access.target = target;
    access.address = at;
    access.enables = enables[3:0];
    access.data = 32'(rw.data) << (8 * at[1:0]);
    return access;
  endfunction

  virtual function void bus2reg(uvm_sequence_item bus_item, ref uvm_reg_bus_op rw);
    scalepool_access_item access;
    if (!$cast(access, bus_item)) `uvm_fatal("REGISTER", {"found ", bus_item.get_type_name(), ", expected an access"})
    rw.kind = access.is_write ? UVM_WRITE : UVM_READ;
    rw.addr = uvm_reg_addr_t'(access.address - base);
    rw.data = uvm_reg_data_t'(access.data) >> (8 * access.address[1:0]);
    rw.status = access.is_ok() ? UVM_IS_OK : UVM_NOT_OK;
  endfunction
endclass
