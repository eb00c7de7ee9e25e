// Made by `scalepool export uvm` from the tables of registers; do not edit.
//
// A register block for each DVSEC of CXL, for HDM decoders and for a bridge. Create one, call `build` and `lock_model`, or add its `default_map` to a
// map of yours at the offset where it stands.
package scalepool_registers_pkg;
  import uvm_pkg::*;
  `include "uvm_macros.svh"

  // Header.
  class dvsec_device_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_device_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_device_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_device_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h3, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h3c, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_device_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_device_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h0, 1, 0, 0);
    endfunction
  endclass

  // What the device can do.
  class dvsec_device_capability_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_capability_reg)
    rand uvm_reg_field cache; // CXL.cache.
    rand uvm_reg_field io; // CXL.io, always 1.
    rand uvm_reg_field mem; // CXL.mem.
    rand uvm_reg_field mem_hw_init; // Memory comes up without software.
    rand uvm_reg_field hdm_count; // Number of memory ranges, 1 or 2 with CXL.mem.
    rand uvm_reg_field other; // Not modelled: cache write-back, resets, trusted execution.
    rand uvm_reg_field mld; // More than one logical device.
    rand uvm_reg_field viral; // Viral is handled.
    rand uvm_reg_field pm_init_report; // The end of power management initialisation is reported.

    function new(string name = "dvsec_device_capability_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      cache = uvm_reg_field::type_id::create("cache");
      cache.configure(this, 1, 0, "RO", 1, 'h0, 0, 0, 0);
      io = uvm_reg_field::type_id::create("io");
      io.configure(this, 1, 1, "RO", 0, 'h1, 1, 0, 0);
      mem = uvm_reg_field::type_id::create("mem");
      mem.configure(this, 1, 2, "RO", 1, 'h0, 0, 0, 0);
      mem_hw_init = uvm_reg_field::type_id::create("mem_hw_init");
      mem_hw_init.configure(this, 1, 3, "RO", 1, 'h0, 0, 0, 0);
      hdm_count = uvm_reg_field::type_id::create("hdm_count");
      hdm_count.configure(this, 2, 4, "RO", 1, 'h0, 0, 0, 0);
      other = uvm_reg_field::type_id::create("other");
      other.configure(this, 7, 6, "RO", 1, 'h0, 0, 0, 0);
      mld = uvm_reg_field::type_id::create("mld");
      mld.configure(this, 1, 13, "RO", 1, 'h0, 0, 0, 0);
      viral = uvm_reg_field::type_id::create("viral");
      viral.configure(this, 1, 14, "RO", 1, 'h0, 0, 0, 0);
      pm_init_report = uvm_reg_field::type_id::create("pm_init_report");
      pm_init_report.configure(this, 1, 15, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // What it may do.
  class dvsec_device_control_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_control_reg)
    rand uvm_reg_field cache_enable; // CXL.cache may be used.
    rand uvm_reg_field io_enable; // CXL.io may be used, always 1.
    rand uvm_reg_field mem_enable; // CXL.mem may be used.
    rand uvm_reg_field other; // Not modelled: snoop filter hints.
    rand uvm_reg_field viral_enable; // Viral is handled.

    function new(string name = "dvsec_device_control_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      cache_enable = uvm_reg_field::type_id::create("cache_enable");
      cache_enable.configure(this, 1, 0, "RW", 0, 'h0, 1, 1, 0);
      io_enable = uvm_reg_field::type_id::create("io_enable");
      io_enable.configure(this, 1, 1, "RO", 0, 'h1, 1, 0, 0);
      mem_enable = uvm_reg_field::type_id::create("mem_enable");
      mem_enable.configure(this, 1, 2, "RW", 0, 'h0, 1, 1, 0);
      other = uvm_reg_field::type_id::create("other");
      other.configure(this, 11, 3, "RO", 1, 'h0, 0, 0, 0);
      viral_enable = uvm_reg_field::type_id::create("viral_enable");
      viral_enable.configure(this, 1, 14, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Viral status.
  class dvsec_device_status_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_status_reg)
    rand uvm_reg_field value; // Viral status.

    function new(string name = "dvsec_device_status_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Cache and reset commands.
  class dvsec_device_control2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_control2_reg)
    rand uvm_reg_field value; // Cache and reset commands.

    function new(string name = "dvsec_device_control2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Their outcome; bit 15: power management initialisation is over.
  class dvsec_device_status2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_status2_reg)
    rand uvm_reg_field value; // Their outcome; bit 15: power management initialisation is over.

    function new(string name = "dvsec_device_status2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Locks registers.
  class dvsec_device_lock_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_lock_reg)
    rand uvm_reg_field config_lock; // Locks the registers that can be locked, itself included.

    function new(string name = "dvsec_device_lock_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      config_lock = uvm_reg_field::type_id::create("config_lock");
      config_lock.configure(this, 1, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Size of the cache.
  class dvsec_device_capability2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_capability2_reg)
    rand uvm_reg_field value; // Size of the cache.

    function new(string name = "dvsec_device_capability2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Size of range 0, bits 63:32.
  class dvsec_device_range0_size_high_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range0_size_high_reg)
    rand uvm_reg_field value; // Size of range 0, bits 63:32.

    function new(string name = "dvsec_device_range0_size_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Size of range 0, bits 31:28, and its state.
  class dvsec_device_range0_size_low_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range0_size_low_reg)
    rand uvm_reg_field info_valid; // Size and class are valid.
    rand uvm_reg_field active; // The memory answers.
    rand uvm_reg_field other; // Not modelled: media, class, interleave, time to become active.
    rand uvm_reg_field size_low; // Size bits 31:28 \[256 MiB\].

    function new(string name = "dvsec_device_range0_size_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      info_valid = uvm_reg_field::type_id::create("info_valid");
      info_valid.configure(this, 1, 0, "RO", 1, 'h0, 0, 0, 0);
      active = uvm_reg_field::type_id::create("active");
      active.configure(this, 1, 1, "RO", 1, 'h0, 0, 0, 0);
      other = uvm_reg_field::type_id::create("other");
      other.configure(this, 26, 2, "RO", 1, 'h0, 0, 0, 0);
      size_low = uvm_reg_field::type_id::create("size_low");
      size_low.configure(this, 4, 28, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Base of range 0, bits 63:32.
  class dvsec_device_range0_base_high_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range0_base_high_reg)
    rand uvm_reg_field value; // Base of range 0, bits 63:32.

    function new(string name = "dvsec_device_range0_base_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Base of range 0, bits 31:28.
  class dvsec_device_range0_base_low_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range0_base_low_reg)
    rand uvm_reg_field base_31_28; // Address bits 31:28.

    function new(string name = "dvsec_device_range0_base_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      base_31_28 = uvm_reg_field::type_id::create("base_31_28");
      base_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Size of range 1, bits 63:32.
  class dvsec_device_range1_size_high_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range1_size_high_reg)
    rand uvm_reg_field value; // Size of range 1, bits 63:32.

    function new(string name = "dvsec_device_range1_size_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Size of range 1, bits 31:28, and its state.
  class dvsec_device_range1_size_low_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range1_size_low_reg)
    rand uvm_reg_field info_valid; // Size and class are valid.
    rand uvm_reg_field active; // The memory answers.
    rand uvm_reg_field other; // Not modelled: media, class, interleave, time to become active.
    rand uvm_reg_field size_low; // Size bits 31:28 \[256 MiB\].

    function new(string name = "dvsec_device_range1_size_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      info_valid = uvm_reg_field::type_id::create("info_valid");
      info_valid.configure(this, 1, 0, "RO", 1, 'h0, 0, 0, 0);
      active = uvm_reg_field::type_id::create("active");
      active.configure(this, 1, 1, "RO", 1, 'h0, 0, 0, 0);
      other = uvm_reg_field::type_id::create("other");
      other.configure(this, 26, 2, "RO", 1, 'h0, 0, 0, 0);
      size_low = uvm_reg_field::type_id::create("size_low");
      size_low.configure(this, 4, 28, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Base of range 1, bits 63:32.
  class dvsec_device_range1_base_high_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range1_base_high_reg)
    rand uvm_reg_field value; // Base of range 1, bits 63:32.

    function new(string name = "dvsec_device_range1_base_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Base of range 1, bits 31:28.
  class dvsec_device_range1_base_low_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_range1_base_low_reg)
    rand uvm_reg_field base_31_28; // Address bits 31:28.

    function new(string name = "dvsec_device_range1_base_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      base_31_28 = uvm_reg_field::type_id::create("base_31_28");
      base_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Resets and memory clearing.
  class dvsec_device_capability3_reg extends uvm_reg;
    `uvm_object_utils(dvsec_device_capability3_reg)
    rand uvm_reg_field value; // Resets and memory clearing.

    function new(string name = "dvsec_device_capability3_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // PCIe DVSEC for CXL devices.
  class dvsec_device_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_device_block)
    rand dvsec_device_header_0_reg header_0;
    rand dvsec_device_header_1_reg header_1;
    rand dvsec_device_header_2_reg header_2;
    rand dvsec_device_capability_reg capability;
    rand dvsec_device_control_reg control;
    rand dvsec_device_status_reg status;
    rand dvsec_device_control2_reg control2;
    rand dvsec_device_status2_reg status2;
    rand dvsec_device_lock_reg lock;
    rand dvsec_device_capability2_reg capability2;
    rand dvsec_device_range0_size_high_reg range0_size_high;
    rand dvsec_device_range0_size_low_reg range0_size_low;
    rand dvsec_device_range0_base_high_reg range0_base_high;
    rand dvsec_device_range0_base_low_reg range0_base_low;
    rand dvsec_device_range1_size_high_reg range1_size_high;
    rand dvsec_device_range1_size_low_reg range1_size_low;
    rand dvsec_device_range1_base_high_reg range1_base_high;
    rand dvsec_device_range1_base_low_reg range1_base_low;
    rand dvsec_device_capability3_reg capability3;

    function new(string name = "dvsec_device");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_device_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_device_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_device_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      capability = dvsec_device_capability_reg::type_id::create("capability");
      capability.configure(this);
      capability.build();
      default_map.add_reg(capability, 'ha, "RO");
      control = dvsec_device_control_reg::type_id::create("control");
      control.configure(this);
      control.build();
      default_map.add_reg(control, 'hc, "RW");
      status = dvsec_device_status_reg::type_id::create("status");
      status.configure(this);
      status.build();
      default_map.add_reg(status, 'he, "RO");
      control2 = dvsec_device_control2_reg::type_id::create("control2");
      control2.configure(this);
      control2.build();
      default_map.add_reg(control2, 'h10, "RO");
      status2 = dvsec_device_status2_reg::type_id::create("status2");
      status2.configure(this);
      status2.build();
      default_map.add_reg(status2, 'h12, "RO");
      lock = dvsec_device_lock_reg::type_id::create("lock");
      lock.configure(this);
      lock.build();
      default_map.add_reg(lock, 'h14, "RW");
      capability2 = dvsec_device_capability2_reg::type_id::create("capability2");
      capability2.configure(this);
      capability2.build();
      default_map.add_reg(capability2, 'h16, "RO");
      range0_size_high = dvsec_device_range0_size_high_reg::type_id::create("range0_size_high");
      range0_size_high.configure(this);
      range0_size_high.build();
      default_map.add_reg(range0_size_high, 'h18, "RO");
      range0_size_low = dvsec_device_range0_size_low_reg::type_id::create("range0_size_low");
      range0_size_low.configure(this);
      range0_size_low.build();
      default_map.add_reg(range0_size_low, 'h1c, "RO");
      range0_base_high = dvsec_device_range0_base_high_reg::type_id::create("range0_base_high");
      range0_base_high.configure(this);
      range0_base_high.build();
      default_map.add_reg(range0_base_high, 'h20, "RW");
      range0_base_low = dvsec_device_range0_base_low_reg::type_id::create("range0_base_low");
      range0_base_low.configure(this);
      range0_base_low.build();
      default_map.add_reg(range0_base_low, 'h24, "RW");
      range1_size_high = dvsec_device_range1_size_high_reg::type_id::create("range1_size_high");
      range1_size_high.configure(this);
      range1_size_high.build();
      default_map.add_reg(range1_size_high, 'h28, "RO");
      range1_size_low = dvsec_device_range1_size_low_reg::type_id::create("range1_size_low");
      range1_size_low.configure(this);
      range1_size_low.build();
      default_map.add_reg(range1_size_low, 'h2c, "RO");
      range1_base_high = dvsec_device_range1_base_high_reg::type_id::create("range1_base_high");
      range1_base_high.configure(this);
      range1_base_high.build();
      default_map.add_reg(range1_base_high, 'h30, "RW");
      range1_base_low = dvsec_device_range1_base_low_reg::type_id::create("range1_base_low");
      range1_base_low.configure(this);
      range1_base_low.build();
      default_map.add_reg(range1_base_low, 'h34, "RW");
      capability3 = dvsec_device_capability3_reg::type_id::create("capability3");
      capability3.configure(this);
      capability3.build();
      default_map.add_reg(capability3, 'h38, "RO");
    endfunction
  endclass

  // Header.
  class dvsec_function_map_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_function_map_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_function_map_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_function_map_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h0, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h2c, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_function_map_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_function_map_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h2, 1, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_0_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_1_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_2_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_2_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_3_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_3_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_3_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_4_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_4_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_4_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_5_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_5_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_5_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_6_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_6_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_6_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // One bit a device and function.
  class dvsec_function_map_functions_7_reg extends uvm_reg;
    `uvm_object_utils(dvsec_function_map_functions_7_reg)
    rand uvm_reg_field value; // One bit a device and function.

    function new(string name = "dvsec_function_map_functions_7_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // DVSEC that says which functions take part in no CXL.cache and CXL.mem.
  class dvsec_function_map_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_function_map_block)
    rand dvsec_function_map_header_0_reg header_0;
    rand dvsec_function_map_header_1_reg header_1;
    rand dvsec_function_map_header_2_reg header_2;
    rand dvsec_function_map_functions_0_reg functions_0;
    rand dvsec_function_map_functions_1_reg functions_1;
    rand dvsec_function_map_functions_2_reg functions_2;
    rand dvsec_function_map_functions_3_reg functions_3;
    rand dvsec_function_map_functions_4_reg functions_4;
    rand dvsec_function_map_functions_5_reg functions_5;
    rand dvsec_function_map_functions_6_reg functions_6;
    rand dvsec_function_map_functions_7_reg functions_7;

    function new(string name = "dvsec_function_map");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_function_map_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_function_map_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_function_map_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      functions_0 = dvsec_function_map_functions_0_reg::type_id::create("functions_0");
      functions_0.configure(this);
      functions_0.build();
      default_map.add_reg(functions_0, 'hc, "RO");
      functions_1 = dvsec_function_map_functions_1_reg::type_id::create("functions_1");
      functions_1.configure(this);
      functions_1.build();
      default_map.add_reg(functions_1, 'h10, "RO");
      functions_2 = dvsec_function_map_functions_2_reg::type_id::create("functions_2");
      functions_2.configure(this);
      functions_2.build();
      default_map.add_reg(functions_2, 'h14, "RO");
      functions_3 = dvsec_function_map_functions_3_reg::type_id::create("functions_3");
      functions_3.configure(this);
      functions_3.build();
      default_map.add_reg(functions_3, 'h18, "RO");
      functions_4 = dvsec_function_map_functions_4_reg::type_id::create("functions_4");
      functions_4.configure(this);
      functions_4.build();
      default_map.add_reg(functions_4, 'h1c, "RO");
      functions_5 = dvsec_function_map_functions_5_reg::type_id::create("functions_5");
      functions_5.configure(this);
      functions_5.build();
      default_map.add_reg(functions_5, 'h20, "RO");
      functions_6 = dvsec_function_map_functions_6_reg::type_id::create("functions_6");
      functions_6.configure(this);
      functions_6.build();
      default_map.add_reg(functions_6, 'h24, "RO");
      functions_7 = dvsec_function_map_functions_7_reg::type_id::create("functions_7");
      functions_7.configure(this);
      functions_7.build();
      default_map.add_reg(functions_7, 'h28, "RO");
    endfunction
  endclass

  // Header.
  class dvsec_port_extensions_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_port_extensions_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_port_extensions_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_port_extensions_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h0, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h28, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_port_extensions_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_port_extensions_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h3, 1, 0, 0);
    endfunction
  endclass

  // Bit 0: power management initialisation is over.
  class dvsec_port_extensions_status_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_status_reg)
    rand uvm_reg_field value; // Bit 0: power management initialisation is over.

    function new(string name = "dvsec_port_extensions_status_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Port control.
  class dvsec_port_extensions_control_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_control_reg)
    rand uvm_reg_field value; // Port control.

    function new(string name = "dvsec_port_extensions_control_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Alternate buses, first and last.
  class dvsec_port_extensions_alternate_buses_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_alternate_buses_reg)
    rand uvm_reg_field value; // Alternate buses, first and last.

    function new(string name = "dvsec_port_extensions_alternate_buses_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Alternate memory windows.
  class dvsec_port_extensions_alternate_memory_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_alternate_memory_0_reg)
    rand uvm_reg_field value; // Alternate memory windows.

    function new(string name = "dvsec_port_extensions_alternate_memory_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Alternate memory windows.
  class dvsec_port_extensions_alternate_memory_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_alternate_memory_1_reg)
    rand uvm_reg_field value; // Alternate memory windows.

    function new(string name = "dvsec_port_extensions_alternate_memory_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Alternate memory windows.
  class dvsec_port_extensions_alternate_memory_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_alternate_memory_2_reg)
    rand uvm_reg_field value; // Alternate memory windows.

    function new(string name = "dvsec_port_extensions_alternate_memory_2_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Alternate memory windows.
  class dvsec_port_extensions_alternate_memory_3_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_alternate_memory_3_reg)
    rand uvm_reg_field value; // Alternate memory windows.

    function new(string name = "dvsec_port_extensions_alternate_memory_3_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Base of the registers of a restricted host.
  class dvsec_port_extensions_rcrb_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_rcrb_0_reg)
    rand uvm_reg_field value; // Base of the registers of a restricted host.

    function new(string name = "dvsec_port_extensions_rcrb_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Base of the registers of a restricted host.
  class dvsec_port_extensions_rcrb_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_port_extensions_rcrb_1_reg)
    rand uvm_reg_field value; // Base of the registers of a restricted host.

    function new(string name = "dvsec_port_extensions_rcrb_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // DVSEC of a CXL port.
  class dvsec_port_extensions_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_port_extensions_block)
    rand dvsec_port_extensions_header_0_reg header_0;
    rand dvsec_port_extensions_header_1_reg header_1;
    rand dvsec_port_extensions_header_2_reg header_2;
    rand dvsec_port_extensions_status_reg status;
    rand dvsec_port_extensions_control_reg control;
    rand dvsec_port_extensions_alternate_buses_reg alternate_buses;
    rand dvsec_port_extensions_alternate_memory_0_reg alternate_memory_0;
    rand dvsec_port_extensions_alternate_memory_1_reg alternate_memory_1;
    rand dvsec_port_extensions_alternate_memory_2_reg alternate_memory_2;
    rand dvsec_port_extensions_alternate_memory_3_reg alternate_memory_3;
    rand dvsec_port_extensions_rcrb_0_reg rcrb_0;
    rand dvsec_port_extensions_rcrb_1_reg rcrb_1;

    function new(string name = "dvsec_port_extensions");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_port_extensions_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_port_extensions_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_port_extensions_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      status = dvsec_port_extensions_status_reg::type_id::create("status");
      status.configure(this);
      status.build();
      default_map.add_reg(status, 'ha, "RO");
      control = dvsec_port_extensions_control_reg::type_id::create("control");
      control.configure(this);
      control.build();
      default_map.add_reg(control, 'hc, "RO");
      alternate_buses = dvsec_port_extensions_alternate_buses_reg::type_id::create("alternate_buses");
      alternate_buses.configure(this);
      alternate_buses.build();
      default_map.add_reg(alternate_buses, 'he, "RW");
      alternate_memory_0 = dvsec_port_extensions_alternate_memory_0_reg::type_id::create("alternate_memory_0");
      alternate_memory_0.configure(this);
      alternate_memory_0.build();
      default_map.add_reg(alternate_memory_0, 'h10, "RO");
      alternate_memory_1 = dvsec_port_extensions_alternate_memory_1_reg::type_id::create("alternate_memory_1");
      alternate_memory_1.configure(this);
      alternate_memory_1.build();
      default_map.add_reg(alternate_memory_1, 'h14, "RO");
      alternate_memory_2 = dvsec_port_extensions_alternate_memory_2_reg::type_id::create("alternate_memory_2");
      alternate_memory_2.configure(this);
      alternate_memory_2.build();
      default_map.add_reg(alternate_memory_2, 'h18, "RO");
      alternate_memory_3 = dvsec_port_extensions_alternate_memory_3_reg::type_id::create("alternate_memory_3");
      alternate_memory_3.configure(this);
      alternate_memory_3.build();
      default_map.add_reg(alternate_memory_3, 'h1c, "RO");
      rcrb_0 = dvsec_port_extensions_rcrb_0_reg::type_id::create("rcrb_0");
      rcrb_0.configure(this);
      rcrb_0.build();
      default_map.add_reg(rcrb_0, 'h20, "RO");
      rcrb_1 = dvsec_port_extensions_rcrb_1_reg::type_id::create("rcrb_1");
      rcrb_1.configure(this);
      rcrb_1.build();
      default_map.add_reg(rcrb_1, 'h24, "RO");
    endfunction
  endclass

  // Header.
  class dvsec_gpf_port_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_port_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_gpf_port_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_gpf_port_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_port_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_gpf_port_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h0, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h10, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_gpf_port_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_port_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_gpf_port_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h4, 1, 0, 0);
    endfunction
  endclass

  // Time-out of phase 1.
  class dvsec_gpf_port_phase1_control_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_port_phase1_control_reg)
    rand uvm_reg_field time_out; // Time in units of the scale.
    rand uvm_reg_field scale; // Scale.

    function new(string name = "dvsec_gpf_port_phase1_control_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      time_out = uvm_reg_field::type_id::create("time_out");
      time_out.configure(this, 4, 0, "RW", 0, 'h0, 0, 1, 0);
      scale = uvm_reg_field::type_id::create("scale");
      scale.configure(this, 4, 8, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // Time-out of phase 2.
  class dvsec_gpf_port_phase2_control_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_port_phase2_control_reg)
    rand uvm_reg_field time_out; // Time in units of the scale.
    rand uvm_reg_field scale; // Scale.

    function new(string name = "dvsec_gpf_port_phase2_control_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      time_out = uvm_reg_field::type_id::create("time_out");
      time_out.configure(this, 4, 0, "RW", 0, 'h0, 0, 1, 0);
      scale = uvm_reg_field::type_id::create("scale");
      scale.configure(this, 4, 8, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // DVSEC of a port about global persistent flush.
  class dvsec_gpf_port_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_gpf_port_block)
    rand dvsec_gpf_port_header_0_reg header_0;
    rand dvsec_gpf_port_header_1_reg header_1;
    rand dvsec_gpf_port_header_2_reg header_2;
    rand dvsec_gpf_port_phase1_control_reg phase1_control;
    rand dvsec_gpf_port_phase2_control_reg phase2_control;

    function new(string name = "dvsec_gpf_port");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_gpf_port_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_gpf_port_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_gpf_port_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      phase1_control = dvsec_gpf_port_phase1_control_reg::type_id::create("phase1_control");
      phase1_control.configure(this);
      phase1_control.build();
      default_map.add_reg(phase1_control, 'hc, "RW");
      phase2_control = dvsec_gpf_port_phase2_control_reg::type_id::create("phase2_control");
      phase2_control.configure(this);
      phase2_control.build();
      default_map.add_reg(phase2_control, 'he, "RW");
    endfunction
  endclass

  // Header.
  class dvsec_gpf_device_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_device_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_gpf_device_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_gpf_device_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_device_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_gpf_device_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h0, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h10, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_gpf_device_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_device_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_gpf_device_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h5, 1, 0, 0);
    endfunction
  endclass

  // Duration of phase 2: value 3:0, scale 11:8.
  class dvsec_gpf_device_phase2_duration_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_device_phase2_duration_reg)
    rand uvm_reg_field value; // Duration of phase 2: value 3:0, scale 11:8.

    function new(string name = "dvsec_gpf_device_phase2_duration_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Power that phase 2 takes \[mW\].
  class dvsec_gpf_device_phase2_power_reg extends uvm_reg;
    `uvm_object_utils(dvsec_gpf_device_phase2_power_reg)
    rand uvm_reg_field value; // Power that phase 2 takes \[mW\].

    function new(string name = "dvsec_gpf_device_phase2_power_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // DVSEC of a device about global persistent flush.
  class dvsec_gpf_device_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_gpf_device_block)
    rand dvsec_gpf_device_header_0_reg header_0;
    rand dvsec_gpf_device_header_1_reg header_1;
    rand dvsec_gpf_device_header_2_reg header_2;
    rand dvsec_gpf_device_phase2_duration_reg phase2_duration;
    rand dvsec_gpf_device_phase2_power_reg phase2_power;

    function new(string name = "dvsec_gpf_device");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_gpf_device_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_gpf_device_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_gpf_device_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      phase2_duration = dvsec_gpf_device_phase2_duration_reg::type_id::create("phase2_duration");
      phase2_duration.configure(this);
      phase2_duration.build();
      default_map.add_reg(phase2_duration, 'ha, "RO");
      phase2_power = dvsec_gpf_device_phase2_power_reg::type_id::create("phase2_power");
      phase2_power.configure(this);
      phase2_power.build();
      default_map.add_reg(phase2_power, 'hc, "RO");
    endfunction
  endclass

  // Header.
  class dvsec_flex_bus_port_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_flex_bus_port_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_flex_bus_port_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_flex_bus_port_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h2, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h20, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_flex_bus_port_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_flex_bus_port_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h7, 1, 0, 0);
    endfunction
  endclass

  // What the port can do.
  class dvsec_flex_bus_port_capability_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_capability_reg)
    rand uvm_reg_field cache; // CXL.cache.
    rand uvm_reg_field io; // CXL.io.
    rand uvm_reg_field mem; // CXL.mem.
    rand uvm_reg_field other_3; // Not modelled: sync header bypass, drift buffer.
    rand uvm_reg_field vh_68b; // 68B flits with virtual hierarchy.
    rand uvm_reg_field mld; // Several logical devices.
    rand uvm_reg_field other_7; // Not modelled.
    rand uvm_reg_field lopt_256b; // Latency-optimised 256B flits.
    rand uvm_reg_field pbr; // 256B flits with port based routing.

    function new(string name = "dvsec_flex_bus_port_capability_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      cache = uvm_reg_field::type_id::create("cache");
      cache.configure(this, 1, 0, "RO", 1, 'h0, 0, 0, 0);
      io = uvm_reg_field::type_id::create("io");
      io.configure(this, 1, 1, "RO", 0, 'h1, 1, 0, 0);
      mem = uvm_reg_field::type_id::create("mem");
      mem.configure(this, 1, 2, "RO", 1, 'h0, 0, 0, 0);
      other_3 = uvm_reg_field::type_id::create("other_3");
      other_3.configure(this, 2, 3, "RO", 1, 'h0, 0, 0, 0);
      vh_68b = uvm_reg_field::type_id::create("vh_68b");
      vh_68b.configure(this, 1, 5, "RO", 1, 'h0, 0, 0, 0);
      mld = uvm_reg_field::type_id::create("mld");
      mld.configure(this, 1, 6, "RO", 1, 'h0, 0, 0, 0);
      other_7 = uvm_reg_field::type_id::create("other_7");
      other_7.configure(this, 6, 7, "RO", 1, 'h0, 0, 0, 0);
      lopt_256b = uvm_reg_field::type_id::create("lopt_256b");
      lopt_256b.configure(this, 1, 13, "RO", 1, 'h0, 0, 0, 0);
      pbr = uvm_reg_field::type_id::create("pbr");
      pbr.configure(this, 1, 14, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // What it may do.
  class dvsec_flex_bus_port_control_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_control_reg)
    rand uvm_reg_field cache; // CXL.cache.
    rand uvm_reg_field io; // CXL.io.
    rand uvm_reg_field mem; // CXL.mem.
    rand uvm_reg_field other_3; // Not modelled: sync header bypass, drift buffer.
    rand uvm_reg_field vh_68b; // 68B flits with virtual hierarchy.
    rand uvm_reg_field mld; // Several logical devices.
    rand uvm_reg_field other_7; // Not modelled.
    rand uvm_reg_field lopt_256b; // Latency-optimised 256B flits.
    rand uvm_reg_field pbr; // 256B flits with port based routing.

    function new(string name = "dvsec_flex_bus_port_control_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      cache = uvm_reg_field::type_id::create("cache");
      cache.configure(this, 1, 0, "RW", 0, 'h0, 0, 1, 0);
      io = uvm_reg_field::type_id::create("io");
      io.configure(this, 1, 1, "RO", 0, 'h1, 1, 0, 0);
      mem = uvm_reg_field::type_id::create("mem");
      mem.configure(this, 1, 2, "RW", 0, 'h0, 0, 1, 0);
      other_3 = uvm_reg_field::type_id::create("other_3");
      other_3.configure(this, 2, 3, "RW", 0, 'h0, 0, 1, 0);
      vh_68b = uvm_reg_field::type_id::create("vh_68b");
      vh_68b.configure(this, 1, 5, "RW", 0, 'h0, 0, 1, 0);
      mld = uvm_reg_field::type_id::create("mld");
      mld.configure(this, 1, 6, "RW", 0, 'h0, 0, 1, 0);
      other_7 = uvm_reg_field::type_id::create("other_7");
      other_7.configure(this, 6, 7, "RW", 0, 'h0, 0, 1, 0);
      lopt_256b = uvm_reg_field::type_id::create("lopt_256b");
      lopt_256b.configure(this, 1, 13, "RW", 0, 'h0, 0, 1, 0);
      pbr = uvm_reg_field::type_id::create("pbr");
      pbr.configure(this, 1, 14, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // What was agreed, and errors.
  class dvsec_flex_bus_port_status_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_status_reg)
    rand uvm_reg_field cache; // CXL.cache.
    rand uvm_reg_field io; // CXL.io.
    rand uvm_reg_field mem; // CXL.mem.
    rand uvm_reg_field other_3; // Not modelled: sync header bypass, drift buffer.
    rand uvm_reg_field vh_68b; // 68B flits with virtual hierarchy.
    rand uvm_reg_field mld; // Several logical devices.
    rand uvm_reg_field even_half_failed; // The even half of a latency-optimised flit failed.
    rand uvm_reg_field pid_corrected; // A protocol ID with one bad byte was corrected.
    rand uvm_reg_field pid_uncorrectable; // A protocol ID could not be read.
    rand uvm_reg_field pid_unexpected; // A flit of a protocol that is not enabled was dropped.
    rand uvm_reg_field other_11; // Not modelled: retimers, second phase of training.
    rand uvm_reg_field lopt_256b; // Latency-optimised 256B flits.
    rand uvm_reg_field pbr; // 256B flits with port based routing.

    function new(string name = "dvsec_flex_bus_port_status_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      cache = uvm_reg_field::type_id::create("cache");
      cache.configure(this, 1, 0, "RO", 1, 'h0, 0, 0, 0);
      io = uvm_reg_field::type_id::create("io");
      io.configure(this, 1, 1, "RO", 1, 'h0, 0, 0, 0);
      mem = uvm_reg_field::type_id::create("mem");
      mem.configure(this, 1, 2, "RO", 1, 'h0, 0, 0, 0);
      other_3 = uvm_reg_field::type_id::create("other_3");
      other_3.configure(this, 2, 3, "RO", 1, 'h0, 0, 0, 0);
      vh_68b = uvm_reg_field::type_id::create("vh_68b");
      vh_68b.configure(this, 1, 5, "RO", 1, 'h0, 0, 0, 0);
      mld = uvm_reg_field::type_id::create("mld");
      mld.configure(this, 1, 6, "RO", 1, 'h0, 0, 0, 0);
      even_half_failed = uvm_reg_field::type_id::create("even_half_failed");
      even_half_failed.configure(this, 1, 7, "W1C", 1, 'h0, 1, 0, 0);
      pid_corrected = uvm_reg_field::type_id::create("pid_corrected");
      pid_corrected.configure(this, 1, 8, "W1C", 1, 'h0, 1, 0, 0);
      pid_uncorrectable = uvm_reg_field::type_id::create("pid_uncorrectable");
      pid_uncorrectable.configure(this, 1, 9, "W1C", 1, 'h0, 1, 0, 0);
      pid_unexpected = uvm_reg_field::type_id::create("pid_unexpected");
      pid_unexpected.configure(this, 1, 10, "W1C", 1, 'h0, 1, 0, 0);
      other_11 = uvm_reg_field::type_id::create("other_11");
      other_11.configure(this, 2, 11, "RO", 1, 'h0, 0, 0, 0);
      lopt_256b = uvm_reg_field::type_id::create("lopt_256b");
      lopt_256b.configure(this, 1, 13, "RO", 1, 'h0, 0, 0, 0);
      pbr = uvm_reg_field::type_id::create("pbr");
      pbr.configure(this, 1, 14, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // What training received.
  class dvsec_flex_bus_port_received_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_received_reg)
    rand uvm_reg_field value; // What training received.

    function new(string name = "dvsec_flex_bus_port_received_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // More capabilities.
  class dvsec_flex_bus_port_capability2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_capability2_reg)
    rand uvm_reg_field value; // More capabilities.

    function new(string name = "dvsec_flex_bus_port_capability2_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // More controls.
  class dvsec_flex_bus_port_control2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_control2_reg)
    rand uvm_reg_field value; // More controls.

    function new(string name = "dvsec_flex_bus_port_control2_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // More status.
  class dvsec_flex_bus_port_status2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_flex_bus_port_status2_reg)
    rand uvm_reg_field value; // More status.

    function new(string name = "dvsec_flex_bus_port_status2_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // DVSEC of a Flex Bus port. After reset its control is what the port can do.
  class dvsec_flex_bus_port_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_flex_bus_port_block)
    rand dvsec_flex_bus_port_header_0_reg header_0;
    rand dvsec_flex_bus_port_header_1_reg header_1;
    rand dvsec_flex_bus_port_header_2_reg header_2;
    rand dvsec_flex_bus_port_capability_reg capability;
    rand dvsec_flex_bus_port_control_reg control;
    rand dvsec_flex_bus_port_status_reg status;
    rand dvsec_flex_bus_port_received_reg received;
    rand dvsec_flex_bus_port_capability2_reg capability2;
    rand dvsec_flex_bus_port_control2_reg control2;
    rand dvsec_flex_bus_port_status2_reg status2;

    function new(string name = "dvsec_flex_bus_port");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_flex_bus_port_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_flex_bus_port_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_flex_bus_port_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      capability = dvsec_flex_bus_port_capability_reg::type_id::create("capability");
      capability.configure(this);
      capability.build();
      default_map.add_reg(capability, 'ha, "RO");
      control = dvsec_flex_bus_port_control_reg::type_id::create("control");
      control.configure(this);
      control.build();
      default_map.add_reg(control, 'hc, "RW");
      status = dvsec_flex_bus_port_status_reg::type_id::create("status");
      status.configure(this);
      status.build();
      default_map.add_reg(status, 'he, "RW");
      received = dvsec_flex_bus_port_received_reg::type_id::create("received");
      received.configure(this);
      received.build();
      default_map.add_reg(received, 'h10, "RO");
      capability2 = dvsec_flex_bus_port_capability2_reg::type_id::create("capability2");
      capability2.configure(this);
      capability2.build();
      default_map.add_reg(capability2, 'h14, "RO");
      control2 = dvsec_flex_bus_port_control2_reg::type_id::create("control2");
      control2.configure(this);
      control2.build();
      default_map.add_reg(control2, 'h18, "RO");
      status2 = dvsec_flex_bus_port_status2_reg::type_id::create("status2");
      status2.configure(this);
      status2.build();
      default_map.add_reg(status2, 'h1c, "RO");
    endfunction
  endclass

  // Header.
  class dvsec_register_locator_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_register_locator_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_register_locator_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_register_locator_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_register_locator_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_register_locator_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h0, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h14, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_register_locator_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_register_locator_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_register_locator_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h8, 1, 0, 0);
    endfunction
  endclass

  // Block 1: BAR number in 2:0, kind in 15:8, offset bits 31:16.
  class dvsec_register_locator_block1_low_reg extends uvm_reg;
    `uvm_object_utils(dvsec_register_locator_block1_low_reg)
    rand uvm_reg_field value; // Block 1: BAR number in 2:0, kind in 15:8, offset bits 31:16.

    function new(string name = "dvsec_register_locator_block1_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Block 1: offset bits 63:32.
  class dvsec_register_locator_block1_high_reg extends uvm_reg;
    `uvm_object_utils(dvsec_register_locator_block1_high_reg)
    rand uvm_reg_field value; // Block 1: offset bits 63:32.

    function new(string name = "dvsec_register_locator_block1_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // DVSEC that tells where register blocks are; one block.
  class dvsec_register_locator_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_register_locator_block)
    rand dvsec_register_locator_header_0_reg header_0;
    rand dvsec_register_locator_header_1_reg header_1;
    rand dvsec_register_locator_header_2_reg header_2;
    rand dvsec_register_locator_block1_low_reg block1_low;
    rand dvsec_register_locator_block1_high_reg block1_high;

    function new(string name = "dvsec_register_locator");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_register_locator_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_register_locator_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_register_locator_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      block1_low = dvsec_register_locator_block1_low_reg::type_id::create("block1_low");
      block1_low.configure(this);
      block1_low.build();
      default_map.add_reg(block1_low, 'hc, "RO");
      block1_high = dvsec_register_locator_block1_high_reg::type_id::create("block1_high");
      block1_high.configure(this);
      block1_high.build();
      default_map.add_reg(block1_high, 'h10, "RO");
    endfunction
  endclass

  // Header.
  class dvsec_mld_header_0_reg extends uvm_reg;
    `uvm_object_utils(dvsec_mld_header_0_reg)
    rand uvm_reg_field capability_id; // Extended capability ID.
    rand uvm_reg_field version; // Version of the extended capability.
    rand uvm_reg_field next_bytes; // Where the next extended capability begins, 0 for none.

    function new(string name = "dvsec_mld_header_0_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      capability_id = uvm_reg_field::type_id::create("capability_id");
      capability_id.configure(this, 16, 0, "RO", 0, 'h23, 1, 0, 0);
      version = uvm_reg_field::type_id::create("version");
      version.configure(this, 4, 16, "RO", 0, 'h1, 1, 0, 0);
      next_bytes = uvm_reg_field::type_id::create("next_bytes");
      next_bytes.configure(this, 12, 20, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_mld_header_1_reg extends uvm_reg;
    `uvm_object_utils(dvsec_mld_header_1_reg)
    rand uvm_reg_field vendor; // Vendor that defines the content.
    rand uvm_reg_field revision; // Revision of the content.
    rand uvm_reg_field length_bytes; // Length from the first byte of the header on.

    function new(string name = "dvsec_mld_header_1_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      vendor = uvm_reg_field::type_id::create("vendor");
      vendor.configure(this, 16, 0, "RO", 0, 'h1e98, 1, 0, 0);
      revision = uvm_reg_field::type_id::create("revision");
      revision.configure(this, 4, 16, "RO", 0, 'h0, 1, 0, 0);
      length_bytes = uvm_reg_field::type_id::create("length_bytes");
      length_bytes.configure(this, 12, 20, "RO", 0, 'h10, 1, 0, 0);
    endfunction
  endclass

  // Header.
  class dvsec_mld_header_2_reg extends uvm_reg;
    `uvm_object_utils(dvsec_mld_header_2_reg)
    rand uvm_reg_field dvsec_id; // Which DVSEC of that vendor.

    function new(string name = "dvsec_mld_header_2_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      dvsec_id = uvm_reg_field::type_id::create("dvsec_id");
      dvsec_id.configure(this, 16, 0, "RO", 0, 'h9, 1, 0, 0);
    endfunction
  endclass

  // Number of logical devices, 1 to 16.
  class dvsec_mld_logical_devices_reg extends uvm_reg;
    `uvm_object_utils(dvsec_mld_logical_devices_reg)
    rand uvm_reg_field value; // Number of logical devices, 1 to 16.

    function new(string name = "dvsec_mld_logical_devices_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Logical devices under reset.
  class dvsec_mld_hot_reset_reg extends uvm_reg;
    `uvm_object_utils(dvsec_mld_hot_reset_reg)
    rand uvm_reg_field value; // Logical devices under reset.

    function new(string name = "dvsec_mld_hot_reset_reg");
      super.new(name, 16, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 16, 0, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // DVSEC of a device with several logical devices.
  class dvsec_mld_block extends uvm_reg_block;
    `uvm_object_utils(dvsec_mld_block)
    rand dvsec_mld_header_0_reg header_0;
    rand dvsec_mld_header_1_reg header_1;
    rand dvsec_mld_header_2_reg header_2;
    rand dvsec_mld_logical_devices_reg logical_devices;
    rand dvsec_mld_hot_reset_reg hot_reset;

    function new(string name = "dvsec_mld");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      header_0 = dvsec_mld_header_0_reg::type_id::create("header_0");
      header_0.configure(this);
      header_0.build();
      default_map.add_reg(header_0, 'h0, "RO");
      header_1 = dvsec_mld_header_1_reg::type_id::create("header_1");
      header_1.configure(this);
      header_1.build();
      default_map.add_reg(header_1, 'h4, "RO");
      header_2 = dvsec_mld_header_2_reg::type_id::create("header_2");
      header_2.configure(this);
      header_2.build();
      default_map.add_reg(header_2, 'h8, "RO");
      logical_devices = dvsec_mld_logical_devices_reg::type_id::create("logical_devices");
      logical_devices.configure(this);
      logical_devices.build();
      default_map.add_reg(logical_devices, 'ha, "RO");
      hot_reset = dvsec_mld_hot_reset_reg::type_id::create("hot_reset");
      hot_reset.configure(this);
      hot_reset.build();
      default_map.add_reg(hot_reset, 'hc, "RO");
    endfunction
  endclass

  // What the decoders can do.
  class hdm_device_decoders_capability_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_capability_reg)
    rand uvm_reg_field decoder_count; // Number of decoders.
    rand uvm_reg_field target_count; // Targets that a decoder can have, 1, 2, 4 or 8; 0 in a device.
    rand uvm_reg_field interleave_11_8; // Interleaving may use address bits 11 to 8.
    rand uvm_reg_field interleave_14_12; // Interleaving may use address bits 14 to 12.
    rand uvm_reg_field poison_on_decode_error; // What no decoder holds can be answered with poison.
    rand uvm_reg_field ways_3_6_12; // 3, 6 and 12 ways, devices only.
    rand uvm_reg_field ways_16; // 16 ways, devices only.
    rand uvm_reg_field uio; // UIO to memory.
    rand uvm_reg_field uio_decoder_count; // Number of decoders that can do UIO.
    rand uvm_reg_field mem_data_nxm; // MemData-NXM is an answer.
    rand uvm_reg_field coherency; // Target types.

    function new(string name = "hdm_device_decoders_capability_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      decoder_count = uvm_reg_field::type_id::create("decoder_count");
      decoder_count.configure(this, 4, 0, "RO", 1, 'h0, 0, 0, 0);
      target_count = uvm_reg_field::type_id::create("target_count");
      target_count.configure(this, 4, 4, "RO", 1, 'h0, 0, 0, 0);
      interleave_11_8 = uvm_reg_field::type_id::create("interleave_11_8");
      interleave_11_8.configure(this, 1, 8, "RO", 1, 'h0, 0, 0, 0);
      interleave_14_12 = uvm_reg_field::type_id::create("interleave_14_12");
      interleave_14_12.configure(this, 1, 9, "RO", 1, 'h0, 0, 0, 0);
      poison_on_decode_error = uvm_reg_field::type_id::create("poison_on_decode_error");
      poison_on_decode_error.configure(this, 1, 10, "RO", 1, 'h0, 0, 0, 0);
      ways_3_6_12 = uvm_reg_field::type_id::create("ways_3_6_12");
      ways_3_6_12.configure(this, 1, 11, "RO", 1, 'h0, 0, 0, 0);
      ways_16 = uvm_reg_field::type_id::create("ways_16");
      ways_16.configure(this, 1, 12, "RO", 1, 'h0, 0, 0, 0);
      uio = uvm_reg_field::type_id::create("uio");
      uio.configure(this, 1, 13, "RO", 1, 'h0, 0, 0, 0);
      uio_decoder_count = uvm_reg_field::type_id::create("uio_decoder_count");
      uio_decoder_count.configure(this, 4, 16, "RO", 1, 'h0, 0, 0, 0);
      mem_data_nxm = uvm_reg_field::type_id::create("mem_data_nxm");
      mem_data_nxm.configure(this, 1, 20, "RO", 1, 'h0, 0, 0, 0);
      coherency = uvm_reg_field::type_id::create("coherency");
      coherency.configure(this, 2, 21, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Control of all decoders.
  class hdm_device_decoders_global_control_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_global_control_reg)
    rand uvm_reg_field poison_on_decode_error_enable; // Answer with poison what no decoder holds.
    rand uvm_reg_field decoder_enable; // Decoders of a device decode.

    function new(string name = "hdm_device_decoders_global_control_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      poison_on_decode_error_enable = uvm_reg_field::type_id::create("poison_on_decode_error_enable");
      poison_on_decode_error_enable.configure(this, 1, 0, "RW", 0, 'h0, 1, 1, 0);
      decoder_enable = uvm_reg_field::type_id::create("decoder_enable");
      decoder_enable.configure(this, 1, 1, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Base, address bits 31:28.
  class hdm_device_decoders_decoder_base_low_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_base_low_reg)
    rand uvm_reg_field base_31_28; // Address bits 31:28.

    function new(string name = "hdm_device_decoders_decoder_base_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      base_31_28 = uvm_reg_field::type_id::create("base_31_28");
      base_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Base, address bits 63:32.
  class hdm_device_decoders_decoder_base_high_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_base_high_reg)
    rand uvm_reg_field value; // Base, address bits 63:32.

    function new(string name = "hdm_device_decoders_decoder_base_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Size, bits 31:28.
  class hdm_device_decoders_decoder_size_low_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_size_low_reg)
    rand uvm_reg_field size_31_28; // Size bits 31:28.

    function new(string name = "hdm_device_decoders_decoder_size_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      size_31_28 = uvm_reg_field::type_id::create("size_31_28");
      size_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Size, bits 63:32.
  class hdm_device_decoders_decoder_size_high_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_size_high_reg)
    rand uvm_reg_field value; // Size, bits 63:32.

    function new(string name = "hdm_device_decoders_decoder_size_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Control.
  class hdm_device_decoders_decoder_control_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_control_reg)
    rand uvm_reg_field granularity; // Interleave granularity (IG).
    rand uvm_reg_field ways; // Interleave ways (IW).
    rand uvm_reg_field lock_on_commit; // The decoder is locked once it is committed, and a commit is checked.
    rand uvm_reg_field commit; // Asks for a commit.
    rand uvm_reg_field committed; // The decoder is in use.
    rand uvm_reg_field commit_error; // The commit has failed.
    rand uvm_reg_field target_type; // Who keeps it coherent.
    rand uvm_reg_field bi; // Back-invalidation.
    rand uvm_reg_field uio; // UIO.
    rand uvm_reg_field uio_granularity; // Granularity of UIO.
    rand uvm_reg_field uio_ways; // Ways of UIO.
    rand uvm_reg_field set_position; // Interleave set position.

    function new(string name = "hdm_device_decoders_decoder_control_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      granularity = uvm_reg_field::type_id::create("granularity");
      granularity.configure(this, 4, 0, "RW", 0, 'h0, 1, 1, 0);
      ways = uvm_reg_field::type_id::create("ways");
      ways.configure(this, 4, 4, "RW", 0, 'h0, 1, 1, 0);
      lock_on_commit = uvm_reg_field::type_id::create("lock_on_commit");
      lock_on_commit.configure(this, 1, 8, "RW", 0, 'h0, 1, 1, 0);
      commit = uvm_reg_field::type_id::create("commit");
      commit.configure(this, 1, 9, "RW", 0, 'h0, 1, 1, 0);
      committed = uvm_reg_field::type_id::create("committed");
      committed.configure(this, 1, 10, "RO", 1, 'h0, 1, 0, 0);
      commit_error = uvm_reg_field::type_id::create("commit_error");
      commit_error.configure(this, 1, 11, "RO", 1, 'h0, 1, 0, 0);
      target_type = uvm_reg_field::type_id::create("target_type");
      target_type.configure(this, 1, 12, "RW", 0, 'h0, 1, 1, 0);
      bi = uvm_reg_field::type_id::create("bi");
      bi.configure(this, 1, 13, "RW", 0, 'h0, 1, 1, 0);
      uio = uvm_reg_field::type_id::create("uio");
      uio.configure(this, 1, 14, "RW", 0, 'h0, 1, 1, 0);
      uio_granularity = uvm_reg_field::type_id::create("uio_granularity");
      uio_granularity.configure(this, 4, 16, "RW", 0, 'h0, 1, 1, 0);
      uio_ways = uvm_reg_field::type_id::create("uio_ways");
      uio_ways.configure(this, 4, 20, "RW", 0, 'h0, 1, 1, 0);
      set_position = uvm_reg_field::type_id::create("set_position");
      set_position.configure(this, 4, 24, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // DPA skip, bits 31:28.
  class hdm_device_decoders_decoder_skip_low_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_skip_low_reg)
    rand uvm_reg_field skip_31_28; // Skip bits 31:28.

    function new(string name = "hdm_device_decoders_decoder_skip_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      skip_31_28 = uvm_reg_field::type_id::create("skip_31_28");
      skip_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // DPA skip, bits 63:32.
  class hdm_device_decoders_decoder_skip_high_reg extends uvm_reg;
    `uvm_object_utils(hdm_device_decoders_decoder_skip_high_reg)
    rand uvm_reg_field value; // DPA skip, bits 63:32.

    function new(string name = "hdm_device_decoders_decoder_skip_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // One decoder of an array.
  class hdm_device_decoders_decoder_file extends uvm_reg_file;
    `uvm_object_utils(hdm_device_decoders_decoder_file)
    rand hdm_device_decoders_decoder_base_low_reg base_low;
    rand hdm_device_decoders_decoder_base_high_reg base_high;
    rand hdm_device_decoders_decoder_size_low_reg size_low;
    rand hdm_device_decoders_decoder_size_high_reg size_high;
    rand hdm_device_decoders_decoder_control_reg control;
    rand hdm_device_decoders_decoder_skip_low_reg skip_low;
    rand hdm_device_decoders_decoder_skip_high_reg skip_high;

    function new(string name = "hdm_device_decoders_decoder_file");
      super.new(name);
    endfunction

    virtual function void build();
      base_low = hdm_device_decoders_decoder_base_low_reg::type_id::create({get_name(), ".base_low"});
      base_low.configure(get_block(), this);
      base_low.build();
      base_high = hdm_device_decoders_decoder_base_high_reg::type_id::create({get_name(), ".base_high"});
      base_high.configure(get_block(), this);
      base_high.build();
      size_low = hdm_device_decoders_decoder_size_low_reg::type_id::create({get_name(), ".size_low"});
      size_low.configure(get_block(), this);
      size_low.build();
      size_high = hdm_device_decoders_decoder_size_high_reg::type_id::create({get_name(), ".size_high"});
      size_high.configure(get_block(), this);
      size_high.build();
      control = hdm_device_decoders_decoder_control_reg::type_id::create({get_name(), ".control"});
      control.configure(get_block(), this);
      control.build();
      skip_low = hdm_device_decoders_decoder_skip_low_reg::type_id::create({get_name(), ".skip_low"});
      skip_low.configure(get_block(), this);
      skip_low.build();
      skip_high = hdm_device_decoders_decoder_skip_high_reg::type_id::create({get_name(), ".skip_high"});
      skip_high.configure(get_block(), this);
      skip_high.build();
    endfunction

    virtual function void add_to(uvm_reg_map to, uvm_reg_addr_t offset);
      to.add_reg(base_low, offset + 'h0, "RW");
      to.add_reg(base_high, offset + 'h4, "RW");
      to.add_reg(size_low, offset + 'h8, "RW");
      to.add_reg(size_high, offset + 'hc, "RW");
      to.add_reg(control, offset + 'h10, "RW");
      to.add_reg(skip_low, offset + 'h14, "RW");
      to.add_reg(skip_high, offset + 'h18, "RW");
    endfunction
  endclass

  // HDM decoders of a device.
  class hdm_device_decoders_block extends uvm_reg_block;
    `uvm_object_utils(hdm_device_decoders_block)
    rand hdm_device_decoders_capability_reg capability;
    rand hdm_device_decoders_global_control_reg global_control;
    rand hdm_device_decoders_decoder_file decoder[10];

    function new(string name = "hdm_device_decoders");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      capability = hdm_device_decoders_capability_reg::type_id::create("capability");
      capability.configure(this);
      capability.build();
      default_map.add_reg(capability, 'h0, "RO");
      global_control = hdm_device_decoders_global_control_reg::type_id::create("global_control");
      global_control.configure(this);
      global_control.build();
      default_map.add_reg(global_control, 'h4, "RW");
      foreach (decoder[n]) begin
        decoder[n] = hdm_device_decoders_decoder_file::type_id::create($sformatf("decoder[%0d]", n));
        decoder[n].configure(this, null);
        decoder[n].build();
        decoder[n].add_to(default_map, 'h10 + 'h20 * uvm_reg_addr_t'(n));
      end
    endfunction
  endclass

  // What the decoders can do.
  class hdm_bridge_decoders_capability_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_capability_reg)
    rand uvm_reg_field decoder_count; // Number of decoders.
    rand uvm_reg_field target_count; // Targets that a decoder can have, 1, 2, 4 or 8; 0 in a device.
    rand uvm_reg_field interleave_11_8; // Interleaving may use address bits 11 to 8.
    rand uvm_reg_field interleave_14_12; // Interleaving may use address bits 14 to 12.
    rand uvm_reg_field poison_on_decode_error; // What no decoder holds can be answered with poison.
    rand uvm_reg_field ways_3_6_12; // 3, 6 and 12 ways, devices only.
    rand uvm_reg_field ways_16; // 16 ways, devices only.
    rand uvm_reg_field uio; // UIO to memory.
    rand uvm_reg_field uio_decoder_count; // Number of decoders that can do UIO.
    rand uvm_reg_field mem_data_nxm; // MemData-NXM is an answer.
    rand uvm_reg_field coherency; // Target types.

    function new(string name = "hdm_bridge_decoders_capability_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      decoder_count = uvm_reg_field::type_id::create("decoder_count");
      decoder_count.configure(this, 4, 0, "RO", 1, 'h0, 0, 0, 0);
      target_count = uvm_reg_field::type_id::create("target_count");
      target_count.configure(this, 4, 4, "RO", 1, 'h0, 0, 0, 0);
      interleave_11_8 = uvm_reg_field::type_id::create("interleave_11_8");
      interleave_11_8.configure(this, 1, 8, "RO", 1, 'h0, 0, 0, 0);
      interleave_14_12 = uvm_reg_field::type_id::create("interleave_14_12");
      interleave_14_12.configure(this, 1, 9, "RO", 1, 'h0, 0, 0, 0);
      poison_on_decode_error = uvm_reg_field::type_id::create("poison_on_decode_error");
      poison_on_decode_error.configure(this, 1, 10, "RO", 1, 'h0, 0, 0, 0);
      ways_3_6_12 = uvm_reg_field::type_id::create("ways_3_6_12");
      ways_3_6_12.configure(this, 1, 11, "RO", 1, 'h0, 0, 0, 0);
      ways_16 = uvm_reg_field::type_id::create("ways_16");
      ways_16.configure(this, 1, 12, "RO", 1, 'h0, 0, 0, 0);
      uio = uvm_reg_field::type_id::create("uio");
      uio.configure(this, 1, 13, "RO", 1, 'h0, 0, 0, 0);
      uio_decoder_count = uvm_reg_field::type_id::create("uio_decoder_count");
      uio_decoder_count.configure(this, 4, 16, "RO", 1, 'h0, 0, 0, 0);
      mem_data_nxm = uvm_reg_field::type_id::create("mem_data_nxm");
      mem_data_nxm.configure(this, 1, 20, "RO", 1, 'h0, 0, 0, 0);
      coherency = uvm_reg_field::type_id::create("coherency");
      coherency.configure(this, 2, 21, "RO", 1, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Control of all decoders.
  class hdm_bridge_decoders_global_control_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_global_control_reg)
    rand uvm_reg_field poison_on_decode_error_enable; // Answer with poison what no decoder holds.
    rand uvm_reg_field decoder_enable; // Decoders of a device decode.

    function new(string name = "hdm_bridge_decoders_global_control_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      poison_on_decode_error_enable = uvm_reg_field::type_id::create("poison_on_decode_error_enable");
      poison_on_decode_error_enable.configure(this, 1, 0, "RW", 0, 'h0, 1, 1, 0);
      decoder_enable = uvm_reg_field::type_id::create("decoder_enable");
      decoder_enable.configure(this, 1, 1, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Base, address bits 31:28.
  class hdm_bridge_decoders_decoder_base_low_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_base_low_reg)
    rand uvm_reg_field base_31_28; // Address bits 31:28.

    function new(string name = "hdm_bridge_decoders_decoder_base_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      base_31_28 = uvm_reg_field::type_id::create("base_31_28");
      base_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Base, address bits 63:32.
  class hdm_bridge_decoders_decoder_base_high_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_base_high_reg)
    rand uvm_reg_field value; // Base, address bits 63:32.

    function new(string name = "hdm_bridge_decoders_decoder_base_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Size, bits 31:28.
  class hdm_bridge_decoders_decoder_size_low_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_size_low_reg)
    rand uvm_reg_field size_31_28; // Size bits 31:28.

    function new(string name = "hdm_bridge_decoders_decoder_size_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      size_31_28 = uvm_reg_field::type_id::create("size_31_28");
      size_31_28.configure(this, 4, 28, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Size, bits 63:32.
  class hdm_bridge_decoders_decoder_size_high_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_size_high_reg)
    rand uvm_reg_field value; // Size, bits 63:32.

    function new(string name = "hdm_bridge_decoders_decoder_size_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 32, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Control.
  class hdm_bridge_decoders_decoder_control_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_control_reg)
    rand uvm_reg_field granularity; // Interleave granularity (IG).
    rand uvm_reg_field ways; // Interleave ways (IW).
    rand uvm_reg_field lock_on_commit; // The decoder is locked once it is committed, and a commit is checked.
    rand uvm_reg_field commit; // Asks for a commit.
    rand uvm_reg_field committed; // The decoder is in use.
    rand uvm_reg_field commit_error; // The commit has failed.
    rand uvm_reg_field target_type; // Who keeps it coherent.
    rand uvm_reg_field bi; // Back-invalidation.
    rand uvm_reg_field uio; // UIO.
    rand uvm_reg_field uio_granularity; // Granularity of UIO.
    rand uvm_reg_field uio_ways; // Ways of UIO.
    rand uvm_reg_field set_position; // Interleave set position.

    function new(string name = "hdm_bridge_decoders_decoder_control_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      granularity = uvm_reg_field::type_id::create("granularity");
      granularity.configure(this, 4, 0, "RW", 0, 'h0, 1, 1, 0);
      ways = uvm_reg_field::type_id::create("ways");
      ways.configure(this, 4, 4, "RW", 0, 'h0, 1, 1, 0);
      lock_on_commit = uvm_reg_field::type_id::create("lock_on_commit");
      lock_on_commit.configure(this, 1, 8, "RW", 0, 'h0, 1, 1, 0);
      commit = uvm_reg_field::type_id::create("commit");
      commit.configure(this, 1, 9, "RW", 0, 'h0, 1, 1, 0);
      committed = uvm_reg_field::type_id::create("committed");
      committed.configure(this, 1, 10, "RO", 1, 'h0, 1, 0, 0);
      commit_error = uvm_reg_field::type_id::create("commit_error");
      commit_error.configure(this, 1, 11, "RO", 1, 'h0, 1, 0, 0);
      target_type = uvm_reg_field::type_id::create("target_type");
      target_type.configure(this, 1, 12, "RW", 0, 'h0, 1, 1, 0);
      bi = uvm_reg_field::type_id::create("bi");
      bi.configure(this, 1, 13, "RW", 0, 'h0, 1, 1, 0);
      uio = uvm_reg_field::type_id::create("uio");
      uio.configure(this, 1, 14, "RW", 0, 'h0, 1, 1, 0);
      uio_granularity = uvm_reg_field::type_id::create("uio_granularity");
      uio_granularity.configure(this, 4, 16, "RW", 0, 'h0, 1, 1, 0);
      uio_ways = uvm_reg_field::type_id::create("uio_ways");
      uio_ways.configure(this, 4, 20, "RW", 0, 'h0, 1, 1, 0);
      set_position = uvm_reg_field::type_id::create("set_position");
      set_position.configure(this, 4, 24, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Ports of ways 0 to 3.
  class hdm_bridge_decoders_decoder_targets_low_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_targets_low_reg)
    rand uvm_reg_field way_0; // Way 0, or 4.
    rand uvm_reg_field way_1; // Way 1, or 5.
    rand uvm_reg_field way_2; // Way 2, or 6.
    rand uvm_reg_field way_3; // Way 3, or 7.

    function new(string name = "hdm_bridge_decoders_decoder_targets_low_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      way_0 = uvm_reg_field::type_id::create("way_0");
      way_0.configure(this, 8, 0, "RW", 0, 'h0, 1, 1, 0);
      way_1 = uvm_reg_field::type_id::create("way_1");
      way_1.configure(this, 8, 8, "RW", 0, 'h0, 1, 1, 0);
      way_2 = uvm_reg_field::type_id::create("way_2");
      way_2.configure(this, 8, 16, "RW", 0, 'h0, 1, 1, 0);
      way_3 = uvm_reg_field::type_id::create("way_3");
      way_3.configure(this, 8, 24, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Ports of ways 4 to 7.
  class hdm_bridge_decoders_decoder_targets_high_reg extends uvm_reg;
    `uvm_object_utils(hdm_bridge_decoders_decoder_targets_high_reg)
    rand uvm_reg_field way_0; // Way 0, or 4.
    rand uvm_reg_field way_1; // Way 1, or 5.
    rand uvm_reg_field way_2; // Way 2, or 6.
    rand uvm_reg_field way_3; // Way 3, or 7.

    function new(string name = "hdm_bridge_decoders_decoder_targets_high_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      way_0 = uvm_reg_field::type_id::create("way_0");
      way_0.configure(this, 8, 0, "RW", 0, 'h0, 1, 1, 0);
      way_1 = uvm_reg_field::type_id::create("way_1");
      way_1.configure(this, 8, 8, "RW", 0, 'h0, 1, 1, 0);
      way_2 = uvm_reg_field::type_id::create("way_2");
      way_2.configure(this, 8, 16, "RW", 0, 'h0, 1, 1, 0);
      way_3 = uvm_reg_field::type_id::create("way_3");
      way_3.configure(this, 8, 24, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // One decoder of an array.
  class hdm_bridge_decoders_decoder_file extends uvm_reg_file;
    `uvm_object_utils(hdm_bridge_decoders_decoder_file)
    rand hdm_bridge_decoders_decoder_base_low_reg base_low;
    rand hdm_bridge_decoders_decoder_base_high_reg base_high;
    rand hdm_bridge_decoders_decoder_size_low_reg size_low;
    rand hdm_bridge_decoders_decoder_size_high_reg size_high;
    rand hdm_bridge_decoders_decoder_control_reg control;
    rand hdm_bridge_decoders_decoder_targets_low_reg targets_low;
    rand hdm_bridge_decoders_decoder_targets_high_reg targets_high;

    function new(string name = "hdm_bridge_decoders_decoder_file");
      super.new(name);
    endfunction

    virtual function void build();
      base_low = hdm_bridge_decoders_decoder_base_low_reg::type_id::create({get_name(), ".base_low"});
      base_low.configure(get_block(), this);
      base_low.build();
      base_high = hdm_bridge_decoders_decoder_base_high_reg::type_id::create({get_name(), ".base_high"});
      base_high.configure(get_block(), this);
      base_high.build();
      size_low = hdm_bridge_decoders_decoder_size_low_reg::type_id::create({get_name(), ".size_low"});
      size_low.configure(get_block(), this);
      size_low.build();
      size_high = hdm_bridge_decoders_decoder_size_high_reg::type_id::create({get_name(), ".size_high"});
      size_high.configure(get_block(), this);
      size_high.build();
      control = hdm_bridge_decoders_decoder_control_reg::type_id::create({get_name(), ".control"});
      control.configure(get_block(), this);
      control.build();
      targets_low = hdm_bridge_decoders_decoder_targets_low_reg::type_id::create({get_name(), ".targets_low"});
      targets_low.configure(get_block(), this);
      targets_low.build();
      targets_high = hdm_bridge_decoders_decoder_targets_high_reg::type_id::create({get_name(), ".targets_high"});
      targets_high.configure(get_block(), this);
      targets_high.build();
    endfunction

    virtual function void add_to(uvm_reg_map to, uvm_reg_addr_t offset);
      to.add_reg(base_low, offset + 'h0, "RW");
      to.add_reg(base_high, offset + 'h4, "RW");
      to.add_reg(size_low, offset + 'h8, "RW");
      to.add_reg(size_high, offset + 'hc, "RW");
      to.add_reg(control, offset + 'h10, "RW");
      to.add_reg(targets_low, offset + 'h14, "RW");
      to.add_reg(targets_high, offset + 'h18, "RW");
    endfunction
  endclass

  // HDM decoders of a switch or host bridge.
  class hdm_bridge_decoders_block extends uvm_reg_block;
    `uvm_object_utils(hdm_bridge_decoders_block)
    rand hdm_bridge_decoders_capability_reg capability;
    rand hdm_bridge_decoders_global_control_reg global_control;
    rand hdm_bridge_decoders_decoder_file decoder[32];

    function new(string name = "hdm_bridge_decoders");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      capability = hdm_bridge_decoders_capability_reg::type_id::create("capability");
      capability.configure(this);
      capability.build();
      default_map.add_reg(capability, 'h0, "RO");
      global_control = hdm_bridge_decoders_global_control_reg::type_id::create("global_control");
      global_control.configure(this);
      global_control.build();
      default_map.add_reg(global_control, 'h4, "RW");
      foreach (decoder[n]) begin
        decoder[n] = hdm_bridge_decoders_decoder_file::type_id::create($sformatf("decoder[%0d]", n));
        decoder[n].configure(this, null);
        decoder[n].build();
        decoder[n].add_to(default_map, 'h10 + 'h20 * uvm_reg_addr_t'(n));
      end
    endfunction
  endclass

  // What the port can do.
  class timeout_and_isolation_capability_reg extends uvm_reg;
    `uvm_object_utils(timeout_and_isolation_capability_reg)
    rand uvm_reg_field mem_ranges; // Ranges of time-outs of CXL.mem, bit 0 range A to bit 3 range D; sets 0, 1, 2, 3, 6, 7, E, F.
    rand uvm_reg_field cache_ranges; // Ranges of time-outs of CXL.cache, in the same way.

    function new(string name = "timeout_and_isolation_capability_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      mem_ranges = uvm_reg_field::type_id::create("mem_ranges");
      mem_ranges.configure(this, 4, 0, "RO", 0, 'h0, 0, 0, 0);
      cache_ranges = uvm_reg_field::type_id::create("cache_ranges");
      cache_ranges.configure(this, 4, 8, "RO", 0, 'h0, 0, 0, 0);
    endfunction
  endclass

  // What software wants.
  class timeout_and_isolation_control_reg extends uvm_reg;
    `uvm_object_utils(timeout_and_isolation_control_reg)
    rand uvm_reg_field mem_timeout; // Time-out of CXL.mem.
    rand uvm_reg_field mem_timeout_enable; // Requests of CXL.mem time out.
    rand uvm_reg_field cache_timeout; // Time-out of CXL.cache.
    rand uvm_reg_field cache_timeout_enable; // Requests of CXL.cache time out.
    rand uvm_reg_field mem_isolation_on_timeout; // A time-out of CXL.mem isolates it.
    rand uvm_reg_field mem_isolation_on_link_down; // A link that goes down isolates CXL.mem.
    rand uvm_reg_field cache_isolation_on_timeout; // A time-out of CXL.cache isolates it.
    rand uvm_reg_field cache_isolation_on_link_down; // A link that goes down isolates CXL.cache.
    rand uvm_reg_field signal_err_cor; // ERR_COR is signalled.
    rand uvm_reg_field signal_interrupt; // An interrupt is signalled.

    function new(string name = "timeout_and_isolation_control_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      mem_timeout = uvm_reg_field::type_id::create("mem_timeout");
      mem_timeout.configure(this, 4, 0, "RW", 0, 'h0, 1, 1, 0);
      mem_timeout_enable = uvm_reg_field::type_id::create("mem_timeout_enable");
      mem_timeout_enable.configure(this, 1, 4, "RW", 0, 'h0, 1, 1, 0);
      cache_timeout = uvm_reg_field::type_id::create("cache_timeout");
      cache_timeout.configure(this, 4, 8, "RW", 0, 'h0, 1, 1, 0);
      cache_timeout_enable = uvm_reg_field::type_id::create("cache_timeout_enable");
      cache_timeout_enable.configure(this, 1, 12, "RW", 0, 'h0, 1, 1, 0);
      mem_isolation_on_timeout = uvm_reg_field::type_id::create("mem_isolation_on_timeout");
      mem_isolation_on_timeout.configure(this, 1, 16, "RW", 0, 'h0, 1, 1, 0);
      mem_isolation_on_link_down = uvm_reg_field::type_id::create("mem_isolation_on_link_down");
      mem_isolation_on_link_down.configure(this, 1, 17, "RW", 0, 'h0, 1, 1, 0);
      cache_isolation_on_timeout = uvm_reg_field::type_id::create("cache_isolation_on_timeout");
      cache_isolation_on_timeout.configure(this, 1, 18, "RW", 0, 'h0, 1, 1, 0);
      cache_isolation_on_link_down = uvm_reg_field::type_id::create("cache_isolation_on_link_down");
      cache_isolation_on_link_down.configure(this, 1, 19, "RW", 0, 'h0, 1, 1, 0);
      signal_err_cor = uvm_reg_field::type_id::create("signal_err_cor");
      signal_err_cor.configure(this, 1, 25, "RW", 0, 'h0, 1, 1, 0);
      signal_interrupt = uvm_reg_field::type_id::create("signal_interrupt");
      signal_interrupt.configure(this, 1, 26, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // What has happened.
  class timeout_and_isolation_status_reg extends uvm_reg;
    `uvm_object_utils(timeout_and_isolation_status_reg)
    rand uvm_reg_field mem_timeout; // A request of CXL.mem has timed out.
    rand uvm_reg_field cache_timeout; // A request of CXL.cache has timed out.
    rand uvm_reg_field mem_isolated; // CXL.mem is isolated.
    rand uvm_reg_field mem_isolated_by_link_down; // CXL.mem is isolated because the link went down.
    rand uvm_reg_field cache_isolated; // CXL.cache is isolated.
    rand uvm_reg_field cache_isolated_by_link_down; // CXL.cache is isolated because the link went down.
    rand uvm_reg_field busy; // Requests from before the isolation are still open.

    function new(string name = "timeout_and_isolation_status_reg");
      super.new(name, 32, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      mem_timeout = uvm_reg_field::type_id::create("mem_timeout");
      mem_timeout.configure(this, 1, 0, "W1C", 1, 'h0, 1, 0, 0);
      cache_timeout = uvm_reg_field::type_id::create("cache_timeout");
      cache_timeout.configure(this, 1, 4, "W1C", 1, 'h0, 1, 0, 0);
      mem_isolated = uvm_reg_field::type_id::create("mem_isolated");
      mem_isolated.configure(this, 1, 8, "W1C", 1, 'h0, 1, 0, 0);
      mem_isolated_by_link_down = uvm_reg_field::type_id::create("mem_isolated_by_link_down");
      mem_isolated_by_link_down.configure(this, 1, 9, "W1C", 1, 'h0, 1, 0, 0);
      cache_isolated = uvm_reg_field::type_id::create("cache_isolated");
      cache_isolated.configure(this, 1, 12, "W1C", 1, 'h0, 1, 0, 0);
      cache_isolated_by_link_down = uvm_reg_field::type_id::create("cache_isolated_by_link_down");
      cache_isolated_by_link_down.configure(this, 1, 13, "W1C", 1, 'h0, 1, 0, 0);
      busy = uvm_reg_field::type_id::create("busy");
      busy.configure(this, 1, 14, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Time-out and isolation of CXL.mem and CXL.cache at a root port.
  class timeout_and_isolation_block extends uvm_reg_block;
    `uvm_object_utils(timeout_and_isolation_block)
    rand timeout_and_isolation_capability_reg capability;
    rand timeout_and_isolation_control_reg control;
    rand timeout_and_isolation_status_reg status;

    function new(string name = "timeout_and_isolation");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 4, UVM_LITTLE_ENDIAN, 1);
      capability = timeout_and_isolation_capability_reg::type_id::create("capability");
      capability.configure(this);
      capability.build();
      default_map.add_reg(capability, 'h0, "RO");
      control = timeout_and_isolation_control_reg::type_id::create("control");
      control.configure(this);
      control.build();
      default_map.add_reg(control, 'h8, "RW");
      status = timeout_and_isolation_status_reg::type_id::create("status");
      status.configure(this);
      status.build();
      default_map.add_reg(status, 'hc, "RW");
    endfunction
  endclass

  // What is done.
  class bridge_op_reg extends uvm_reg;
    `uvm_object_utils(bridge_op_reg)
    rand uvm_reg_field flush; // Stores go to memory.
    rand uvm_reg_field invalidate; // Lines leave.

    function new(string name = "bridge_op_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      flush = uvm_reg_field::type_id::create("flush");
      flush.configure(this, 1, 0, "RW", 0, 'h0, 1, 1, 0);
      invalidate = uvm_reg_field::type_id::create("invalidate");
      invalidate.configure(this, 1, 1, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // First address of accelerators.
  class bridge_base_reg extends uvm_reg;
    `uvm_object_utils(bridge_base_reg)
    rand uvm_reg_field value; // First address of accelerators.

    function new(string name = "bridge_base_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Bytes.
  class bridge_length_reg extends uvm_reg;
    `uvm_object_utils(bridge_length_reg)
    rand uvm_reg_field value; // Bytes.

    function new(string name = "bridge_length_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // Starts it.
  class bridge_start_reg extends uvm_reg;
    `uvm_object_utils(bridge_start_reg)
    rand uvm_reg_field start; // The operation of these registers starts.

    function new(string name = "bridge_start_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      start = uvm_reg_field::type_id::create("start");
      start.configure(this, 1, 0, "W1T", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Whether it is over.
  class bridge_done_reg extends uvm_reg;
    `uvm_object_utils(bridge_done_reg)
    rand uvm_reg_field done; // None does.

    function new(string name = "bridge_done_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      done = uvm_reg_field::type_id::create("done");
      done.configure(this, 1, 0, "RO", 1, 'h1, 1, 0, 0);
    endfunction
  endclass

  // Starts that were refused: no operation is named, or one runs; and poisoned writes, which change nothing else.
  class bridge_errors_reg extends uvm_reg;
    `uvm_object_utils(bridge_errors_reg)
    rand uvm_reg_field value; // Starts that were refused: no operation is named, or one runs; and poisoned writes, which change nothing else.

    function new(string name = "bridge_errors_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Lines whose stores were dropped by invalidates.
  class bridge_lost_reg extends uvm_reg;
    `uvm_object_utils(bridge_lost_reg)
    rand uvm_reg_field value; // Lines whose stores were dropped by invalidates.

    function new(string name = "bridge_lost_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // What the bridge has.
  class bridge_capability_reg extends uvm_reg;
    `uvm_object_utils(bridge_capability_reg)
    rand uvm_reg_field window_count; // Windows from accelerators to CXL.
    rand uvm_reg_field group_count; // Groups of sources.
    rand uvm_reg_field port_count; // CXL ports.
    rand uvm_reg_field source_count; // Sources that can be in a group.
    rand uvm_reg_field flips; // It keeps lines, in memory whose bits can be made to flip.

    function new(string name = "bridge_capability_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      window_count = uvm_reg_field::type_id::create("window_count");
      window_count.configure(this, 8, 0, "RO", 0, 'h10, 1, 0, 0);
      group_count = uvm_reg_field::type_id::create("group_count");
      group_count.configure(this, 8, 8, "RO", 0, 'h10, 1, 0, 0);
      port_count = uvm_reg_field::type_id::create("port_count");
      port_count.configure(this, 16, 16, "RO", 0, 'h0, 0, 0, 0);
      source_count = uvm_reg_field::type_id::create("source_count");
      source_count.configure(this, 16, 32, "RO", 0, 'h0, 0, 0, 0);
      flips = uvm_reg_field::type_id::create("flips");
      flips.configure(this, 1, 48, "RO", 0, 'h0, 0, 0, 0);
    endfunction
  endclass

  // Commits the shadow tables.
  class bridge_commit_reg extends uvm_reg;
    `uvm_object_utils(bridge_commit_reg)
    rand uvm_reg_field commit; // The windows, rights and groups of these registers are those of the next epoch.

    function new(string name = "bridge_commit_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      commit = uvm_reg_field::type_id::create("commit");
      commit.configure(this, 1, 0, "W1T", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // What became of the last commit.
  class bridge_status_reg extends uvm_reg;
    `uvm_object_utils(bridge_status_reg)
    rand uvm_reg_field committing; // It waits for requests of the old epoch.
    rand uvm_reg_field viral; // The CXL ports are viral.
    rand uvm_reg_field fault; // Why it was refused.
    rand uvm_reg_field fault_at; // Window, or source, at which that was found.

    function new(string name = "bridge_status_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      committing = uvm_reg_field::type_id::create("committing");
      committing.configure(this, 1, 0, "RO", 1, 'h0, 1, 0, 0);
      viral = uvm_reg_field::type_id::create("viral");
      viral.configure(this, 1, 1, "RO", 1, 'h0, 1, 0, 0);
      fault = uvm_reg_field::type_id::create("fault");
      fault.configure(this, 4, 8, "RO", 1, 'h0, 1, 0, 0);
      fault_at = uvm_reg_field::type_id::create("fault_at");
      fault_at.configure(this, 16, 16, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Commits that are done.
  class bridge_epoch_reg extends uvm_reg;
    `uvm_object_utils(bridge_epoch_reg)
    rand uvm_reg_field value; // Commits that are done.

    function new(string name = "bridge_epoch_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Commits that were refused.
  class bridge_refused_reg extends uvm_reg;
    `uvm_object_utils(bridge_refused_reg)
    rand uvm_reg_field value; // Commits that were refused.

    function new(string name = "bridge_refused_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Address of accelerators in the line of which a bit flips.
  class bridge_flip_address_reg extends uvm_reg;
    `uvm_object_utils(bridge_flip_address_reg)
    rand uvm_reg_field value; // Address of accelerators in the line of which a bit flips.

    function new(string name = "bridge_flip_address_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RW", 0, 'h0, 1, 1, 0);
    endfunction
  endclass

  // The bit.
  class bridge_flip_reg extends uvm_reg;
    `uvm_object_utils(bridge_flip_reg)
    rand uvm_reg_field bit_number; // Which of a line: 0 to 511 are data, check bits follow.
    rand uvm_reg_field flip; // It flips now.

    function new(string name = "bridge_flip_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      bit_number = uvm_reg_field::type_id::create("bit_number");
      bit_number.configure(this, 10, 0, "RW", 0, 'h0, 1, 1, 0);
      flip = uvm_reg_field::type_id::create("flip");
      flip.configure(this, 1, 16, "W1T", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // Bits that have flipped, and that have not.
  class bridge_flips_reg extends uvm_reg;
    `uvm_object_utils(bridge_flips_reg)
    rand uvm_reg_field flipped; // They have.
    rand uvm_reg_field refused; // They have not: no such bit, or the line is not in the cache.

    function new(string name = "bridge_flips_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      flipped = uvm_reg_field::type_id::create("flipped");
      flipped.configure(this, 32, 0, "RO", 1, 'h0, 1, 0, 0);
      refused = uvm_reg_field::type_id::create("refused");
      refused.configure(this, 32, 32, "RO", 1, 'h0, 1, 0, 0);
    endfunction
  endclass

  // The groups.
  class bridge_group_groups_reg extends uvm_reg;
    `uvm_object_utils(bridge_group_groups_reg)
    rand uvm_reg_field group_0; // Of the first source of this register.
    rand uvm_reg_field group_1; // Of the next one.
    rand uvm_reg_field group_2; // Of the next one.
    rand uvm_reg_field group_3; // Of the next one.
    rand uvm_reg_field group_4; // Of the next one.
    rand uvm_reg_field group_5; // Of the next one.
    rand uvm_reg_field group_6; // Of the next one.
    rand uvm_reg_field group_7; // Of the next one.
    rand uvm_reg_field group_8; // Of the next one.
    rand uvm_reg_field group_9; // Of the next one.
    rand uvm_reg_field group_10; // Of the next one.
    rand uvm_reg_field group_11; // Of the next one.
    rand uvm_reg_field group_12; // Of the next one.
    rand uvm_reg_field group_13; // Of the next one.
    rand uvm_reg_field group_14; // Of the next one.
    rand uvm_reg_field group_15; // Of the last one.

    function new(string name = "bridge_group_groups_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      group_0 = uvm_reg_field::type_id::create("group_0");
      group_0.configure(this, 4, 0, "RW", 0, 'h0, 0, 1, 0);
      group_1 = uvm_reg_field::type_id::create("group_1");
      group_1.configure(this, 4, 4, "RW", 0, 'h0, 0, 1, 0);
      group_2 = uvm_reg_field::type_id::create("group_2");
      group_2.configure(this, 4, 8, "RW", 0, 'h0, 0, 1, 0);
      group_3 = uvm_reg_field::type_id::create("group_3");
      group_3.configure(this, 4, 12, "RW", 0, 'h0, 0, 1, 0);
      group_4 = uvm_reg_field::type_id::create("group_4");
      group_4.configure(this, 4, 16, "RW", 0, 'h0, 0, 1, 0);
      group_5 = uvm_reg_field::type_id::create("group_5");
      group_5.configure(this, 4, 20, "RW", 0, 'h0, 0, 1, 0);
      group_6 = uvm_reg_field::type_id::create("group_6");
      group_6.configure(this, 4, 24, "RW", 0, 'h0, 0, 1, 0);
      group_7 = uvm_reg_field::type_id::create("group_7");
      group_7.configure(this, 4, 28, "RW", 0, 'h0, 0, 1, 0);
      group_8 = uvm_reg_field::type_id::create("group_8");
      group_8.configure(this, 4, 32, "RW", 0, 'h0, 0, 1, 0);
      group_9 = uvm_reg_field::type_id::create("group_9");
      group_9.configure(this, 4, 36, "RW", 0, 'h0, 0, 1, 0);
      group_10 = uvm_reg_field::type_id::create("group_10");
      group_10.configure(this, 4, 40, "RW", 0, 'h0, 0, 1, 0);
      group_11 = uvm_reg_field::type_id::create("group_11");
      group_11.configure(this, 4, 44, "RW", 0, 'h0, 0, 1, 0);
      group_12 = uvm_reg_field::type_id::create("group_12");
      group_12.configure(this, 4, 48, "RW", 0, 'h0, 0, 1, 0);
      group_13 = uvm_reg_field::type_id::create("group_13");
      group_13.configure(this, 4, 52, "RW", 0, 'h0, 0, 1, 0);
      group_14 = uvm_reg_field::type_id::create("group_14");
      group_14.configure(this, 4, 56, "RW", 0, 'h0, 0, 1, 0);
      group_15 = uvm_reg_field::type_id::create("group_15");
      group_15.configure(this, 4, 60, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // One group of an array.
  class bridge_group_file extends uvm_reg_file;
    `uvm_object_utils(bridge_group_file)
    rand bridge_group_groups_reg groups;

    function new(string name = "bridge_group_file");
      super.new(name);
    endfunction

    virtual function void build();
      groups = bridge_group_groups_reg::type_id::create({get_name(), ".groups"});
      groups.configure(get_block(), this);
      groups.build();
    endfunction

    virtual function void add_to(uvm_reg_map to, uvm_reg_addr_t offset);
      to.add_reg(groups, offset + 'h0, "RW");
    endfunction
  endclass

  // First address of accelerators, a multiple of 256.
  class bridge_window_base_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_base_reg)
    rand uvm_reg_field value; // First address of accelerators, a multiple of 256.

    function new(string name = "bridge_window_base_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // Bytes, a multiple of 256, at least 2 MiB.
  class bridge_window_size_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_size_reg)
    rand uvm_reg_field value; // Bytes, a multiple of 256, at least 2 MiB.

    function new(string name = "bridge_window_size_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // CXL address of the first byte, a multiple of 256.
  class bridge_window_out_base_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_out_base_reg)
    rand uvm_reg_field value; // CXL address of the first byte, a multiple of 256.

    function new(string name = "bridge_window_out_base_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      value = uvm_reg_field::type_id::create("value");
      value.configure(this, 64, 0, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // What it is.
  class bridge_window_control_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_control_reg)
    rand uvm_reg_field valid; // It is there; the other registers of one that is not mean nothing.
    rand uvm_reg_field line_class; // What its lines are.
    rand uvm_reg_field granule; // Bytes in a row at one port.
    rand uvm_reg_field ways; // Ports among which it is dealt.

    function new(string name = "bridge_window_control_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      valid = uvm_reg_field::type_id::create("valid");
      valid.configure(this, 1, 0, "RW", 0, 'h0, 0, 1, 0);
      line_class = uvm_reg_field::type_id::create("line_class");
      line_class.configure(this, 4, 4, "RW", 0, 'h0, 0, 1, 0);
      granule = uvm_reg_field::type_id::create("granule");
      granule.configure(this, 4, 8, "RW", 0, 'h0, 0, 1, 0);
      ways = uvm_reg_field::type_id::create("ways");
      ways.configure(this, 4, 12, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // Who may do what.
  class bridge_window_rights_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_rights_reg)
    rand uvm_reg_field may_read; // Groups that may read.
    rand uvm_reg_field may_write; // Groups that may write.
    rand uvm_reg_field may_atomic; // Groups that may do atomics, which take the other two as well.

    function new(string name = "bridge_window_rights_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      may_read = uvm_reg_field::type_id::create("may_read");
      may_read.configure(this, 16, 0, "RW", 0, 'h0, 0, 1, 0);
      may_write = uvm_reg_field::type_id::create("may_write");
      may_write.configure(this, 16, 16, "RW", 0, 'h0, 0, 1, 0);
      may_atomic = uvm_reg_field::type_id::create("may_atomic");
      may_atomic.configure(this, 16, 32, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // CXL ports of ways 0 to 3.
  class bridge_window_targets_0_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_targets_0_reg)
    rand uvm_reg_field way_0; // Of the first way of this register.
    rand uvm_reg_field way_1; // Of the next one.
    rand uvm_reg_field way_2; // Of the next one.
    rand uvm_reg_field way_3; // Of the last one.

    function new(string name = "bridge_window_targets_0_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      way_0 = uvm_reg_field::type_id::create("way_0");
      way_0.configure(this, 16, 0, "RW", 0, 'h0, 0, 1, 0);
      way_1 = uvm_reg_field::type_id::create("way_1");
      way_1.configure(this, 16, 16, "RW", 0, 'h0, 0, 1, 0);
      way_2 = uvm_reg_field::type_id::create("way_2");
      way_2.configure(this, 16, 32, "RW", 0, 'h0, 0, 1, 0);
      way_3 = uvm_reg_field::type_id::create("way_3");
      way_3.configure(this, 16, 48, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // CXL ports of ways 4 to 7.
  class bridge_window_targets_1_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_targets_1_reg)
    rand uvm_reg_field way_0; // Of the first way of this register.
    rand uvm_reg_field way_1; // Of the next one.
    rand uvm_reg_field way_2; // Of the next one.
    rand uvm_reg_field way_3; // Of the last one.

    function new(string name = "bridge_window_targets_1_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      way_0 = uvm_reg_field::type_id::create("way_0");
      way_0.configure(this, 16, 0, "RW", 0, 'h0, 0, 1, 0);
      way_1 = uvm_reg_field::type_id::create("way_1");
      way_1.configure(this, 16, 16, "RW", 0, 'h0, 0, 1, 0);
      way_2 = uvm_reg_field::type_id::create("way_2");
      way_2.configure(this, 16, 32, "RW", 0, 'h0, 0, 1, 0);
      way_3 = uvm_reg_field::type_id::create("way_3");
      way_3.configure(this, 16, 48, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // CXL ports of ways 8 to 11.
  class bridge_window_targets_2_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_targets_2_reg)
    rand uvm_reg_field way_0; // Of the first way of this register.
    rand uvm_reg_field way_1; // Of the next one.
    rand uvm_reg_field way_2; // Of the next one.
    rand uvm_reg_field way_3; // Of the last one.

    function new(string name = "bridge_window_targets_2_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      way_0 = uvm_reg_field::type_id::create("way_0");
      way_0.configure(this, 16, 0, "RW", 0, 'h0, 0, 1, 0);
      way_1 = uvm_reg_field::type_id::create("way_1");
      way_1.configure(this, 16, 16, "RW", 0, 'h0, 0, 1, 0);
      way_2 = uvm_reg_field::type_id::create("way_2");
      way_2.configure(this, 16, 32, "RW", 0, 'h0, 0, 1, 0);
      way_3 = uvm_reg_field::type_id::create("way_3");
      way_3.configure(this, 16, 48, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // CXL ports of ways 12 to 15.
  class bridge_window_targets_3_reg extends uvm_reg;
    `uvm_object_utils(bridge_window_targets_3_reg)
    rand uvm_reg_field way_0; // Of the first way of this register.
    rand uvm_reg_field way_1; // Of the next one.
    rand uvm_reg_field way_2; // Of the next one.
    rand uvm_reg_field way_3; // Of the last one.

    function new(string name = "bridge_window_targets_3_reg");
      super.new(name, 64, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      way_0 = uvm_reg_field::type_id::create("way_0");
      way_0.configure(this, 16, 0, "RW", 0, 'h0, 0, 1, 0);
      way_1 = uvm_reg_field::type_id::create("way_1");
      way_1.configure(this, 16, 16, "RW", 0, 'h0, 0, 1, 0);
      way_2 = uvm_reg_field::type_id::create("way_2");
      way_2.configure(this, 16, 32, "RW", 0, 'h0, 0, 1, 0);
      way_3 = uvm_reg_field::type_id::create("way_3");
      way_3.configure(this, 16, 48, "RW", 0, 'h0, 0, 1, 0);
    endfunction
  endclass

  // One window of an array.
  class bridge_window_file extends uvm_reg_file;
    `uvm_object_utils(bridge_window_file)
    rand bridge_window_base_reg base;
    rand bridge_window_size_reg size;
    rand bridge_window_out_base_reg out_base;
    rand bridge_window_control_reg control;
    rand bridge_window_rights_reg rights;
    rand bridge_window_targets_0_reg targets_0;
    rand bridge_window_targets_1_reg targets_1;
    rand bridge_window_targets_2_reg targets_2;
    rand bridge_window_targets_3_reg targets_3;

    function new(string name = "bridge_window_file");
      super.new(name);
    endfunction

    virtual function void build();
      base = bridge_window_base_reg::type_id::create({get_name(), ".base"});
      base.configure(get_block(), this);
      base.build();
      size = bridge_window_size_reg::type_id::create({get_name(), ".size"});
      size.configure(get_block(), this);
      size.build();
      out_base = bridge_window_out_base_reg::type_id::create({get_name(), ".out_base"});
      out_base.configure(get_block(), this);
      out_base.build();
      control = bridge_window_control_reg::type_id::create({get_name(), ".control"});
      control.configure(get_block(), this);
      control.build();
      rights = bridge_window_rights_reg::type_id::create({get_name(), ".rights"});
      rights.configure(get_block(), this);
      rights.build();
      targets_0 = bridge_window_targets_0_reg::type_id::create({get_name(), ".targets_0"});
      targets_0.configure(get_block(), this);
      targets_0.build();
      targets_1 = bridge_window_targets_1_reg::type_id::create({get_name(), ".targets_1"});
      targets_1.configure(get_block(), this);
      targets_1.build();
      targets_2 = bridge_window_targets_2_reg::type_id::create({get_name(), ".targets_2"});
      targets_2.configure(get_block(), this);
      targets_2.build();
      targets_3 = bridge_window_targets_3_reg::type_id::create({get_name(), ".targets_3"});
      targets_3.configure(get_block(), this);
      targets_3.build();
    endfunction

    virtual function void add_to(uvm_reg_map to, uvm_reg_addr_t offset);
      to.add_reg(base, offset + 'h0, "RW");
      to.add_reg(size, offset + 'h8, "RW");
      to.add_reg(out_base, offset + 'h10, "RW");
      to.add_reg(control, offset + 'h18, "RW");
      to.add_reg(rights, offset + 'h20, "RW");
      to.add_reg(targets_0, offset + 'h40, "RW");
      to.add_reg(targets_1, offset + 'h48, "RW");
      to.add_reg(targets_2, offset + 'h50, "RW");
      to.add_reg(targets_3, offset + 'h58, "RW");
    endfunction
  endclass

  // Control window of a bridge between accelerators and CXL. Registers are read and written whole.
  class bridge_block extends uvm_reg_block;
    `uvm_object_utils(bridge_block)
    rand bridge_op_reg op;
    rand bridge_base_reg base;
    rand bridge_length_reg length;
    rand bridge_start_reg start;
    rand bridge_done_reg done;
    rand bridge_errors_reg errors;
    rand bridge_lost_reg lost;
    rand bridge_capability_reg capability;
    rand bridge_commit_reg commit;
    rand bridge_status_reg status;
    rand bridge_epoch_reg epoch;
    rand bridge_refused_reg refused;
    rand bridge_flip_address_reg flip_address;
    rand bridge_flip_reg flip;
    rand bridge_flips_reg flips;
    rand bridge_group_file group[64];
    rand bridge_window_file window[16];

    function new(string name = "bridge");
      super.new(name, int'(UVM_NO_COVERAGE));
    endfunction

    virtual function void build();
      default_map = create_map("default_map", 0, 8, UVM_LITTLE_ENDIAN, 1);
      op = bridge_op_reg::type_id::create("op");
      op.configure(this);
      op.build();
      default_map.add_reg(op, 'h0, "RW");
      base = bridge_base_reg::type_id::create("base");
      base.configure(this);
      base.build();
      default_map.add_reg(base, 'h8, "RW");
      length = bridge_length_reg::type_id::create("length");
      length.configure(this);
      length.build();
      default_map.add_reg(length, 'h10, "RW");
      start = bridge_start_reg::type_id::create("start");
      start.configure(this);
      start.build();
      default_map.add_reg(start, 'h18, "RW");
      done = bridge_done_reg::type_id::create("done");
      done.configure(this);
      done.build();
      default_map.add_reg(done, 'h20, "RO");
      errors = bridge_errors_reg::type_id::create("errors");
      errors.configure(this);
      errors.build();
      default_map.add_reg(errors, 'h28, "RO");
      lost = bridge_lost_reg::type_id::create("lost");
      lost.configure(this);
      lost.build();
      default_map.add_reg(lost, 'h30, "RO");
      capability = bridge_capability_reg::type_id::create("capability");
      capability.configure(this);
      capability.build();
      default_map.add_reg(capability, 'h40, "RO");
      commit = bridge_commit_reg::type_id::create("commit");
      commit.configure(this);
      commit.build();
      default_map.add_reg(commit, 'h48, "RW");
      status = bridge_status_reg::type_id::create("status");
      status.configure(this);
      status.build();
      default_map.add_reg(status, 'h50, "RO");
      epoch = bridge_epoch_reg::type_id::create("epoch");
      epoch.configure(this);
      epoch.build();
      default_map.add_reg(epoch, 'h58, "RO");
      refused = bridge_refused_reg::type_id::create("refused");
      refused.configure(this);
      refused.build();
      default_map.add_reg(refused, 'h60, "RO");
      flip_address = bridge_flip_address_reg::type_id::create("flip_address");
      flip_address.configure(this);
      flip_address.build();
      default_map.add_reg(flip_address, 'h68, "RW");
      flip = bridge_flip_reg::type_id::create("flip");
      flip.configure(this);
      flip.build();
      default_map.add_reg(flip, 'h70, "RW");
      flips = bridge_flips_reg::type_id::create("flips");
      flips.configure(this);
      flips.build();
      default_map.add_reg(flips, 'h78, "RO");
      foreach (group[n]) begin
        group[n] = bridge_group_file::type_id::create($sformatf("group[%0d]", n));
        group[n].configure(this, null);
        group[n].build();
        group[n].add_to(default_map, 'h400 + 'h8 * uvm_reg_addr_t'(n));
      end
      foreach (window[n]) begin
        window[n] = bridge_window_file::type_id::create($sformatf("window[%0d]", n));
        window[n].configure(this, null);
        window[n].build();
        window[n].add_to(default_map, 'h800 + 'h80 * uvm_reg_addr_t'(n));
      end
    endfunction
  endclass
endpackage
