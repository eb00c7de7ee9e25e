// Made by `scalepool export sv` from the layout tables; do not edit.
//
// Functional coverage of messages: make one sp_message_coverage beside a link end and give it each message. Verilator, which has
// linted this file, ignores covergroups; no simulator that has them has run it.
package scalepool_coverage_pkg;
  import scalepool_pkg::*;

  // verilator lint_off COVERIGN
  class sp_message_coverage;
    // cxl256.h2d_req: CXL.cache snoop, host to device.
    covergroup cg_cxl256_h2d_req with function sample(scalepool_cxl256_pkg::h2d_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins SnpData = {3'h1};
        bins SnpInv = {3'h2};
        bins SnpCur = {3'h3};
      }
    endgroup

    // cxl256.h2d_rsp: CXL.cache answer, host to device.
    covergroup cg_cxl256_h2d_rsp with function sample(scalepool_cxl256_pkg::h2d_rsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins WritePull = {4'h1};
        bins GO = {4'h4};
        bins GO_WritePull = {4'h5};
        bins ExtCmp = {4'h6};
        bins GO_WritePull_Drop = {4'h8};
        bins Fast_GO_WritePull = {4'hd};
        bins GO_ERR_WritePull = {4'hf};
      }
      rsp_pre: coverpoint fields.rsp_pre {
        bins MissLocal = {2'h0};
        bins Hit = {2'h1};
        bins MissRemote = {2'h2};
      }
    endgroup

    // cxl256.h2d_data: Header of CXL.cache data, host to device.
    covergroup cg_cxl256_h2d_data with function sample(scalepool_cxl256_pkg::h2d_data_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      poison: coverpoint fields.poison;
      go_err: coverpoint fields.go_err;
    endgroup

    // cxl256.d2h_req: CXL.cache request, device to host.
    covergroup cg_cxl256_d2h_req with function sample(scalepool_cxl256_pkg::d2h_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins RdCurr = {5'h1};
        bins RdOwn = {5'h2};
        bins RdShared = {5'h3};
        bins RdAny = {5'h4};
        bins RdOwnNoData = {5'h5};
        bins ItoMWr = {5'h6};
        bins WrCur = {5'h7};
        bins CLFlush = {5'h8};
        bins CleanEvict = {5'h9};
        bins DirtyEvict = {5'ha};
        bins CleanEvictNoData = {5'hb};
        bins WOWrInv = {5'hc};
        bins WOWrInvF = {5'hd};
        bins WrInv = {5'he};
        bins CacheFlushed = {5'h10};
      }
      nt: coverpoint fields.nt;
    endgroup

    // cxl256.d2h_rsp: CXL.cache snoop answer, device to host.
    covergroup cg_cxl256_d2h_rsp with function sample(scalepool_cxl256_pkg::d2h_rsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins RspIHitI = {5'h4};
        bins RspVHitV = {5'h6};
        bins RspIHitSE = {5'h5};
        bins RspSHitSE = {5'h1};
        bins RspSFwdM = {5'h7};
        bins RspIFwdM = {5'hf};
        bins RspVFwdV = {5'h16};
      }
    endgroup

    // cxl256.d2h_data: Header of CXL.cache data, device to host.
    covergroup cg_cxl256_d2h_data with function sample(scalepool_cxl256_pkg::d2h_data_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      bogus: coverpoint fields.bogus;
      poison: coverpoint fields.poison;
      bep: coverpoint fields.bep;
    endgroup

    // cxl256.m2s_req: CXL.mem request without data, host to device.
    covergroup cg_cxl256_m2s_req with function sample(scalepool_cxl256_pkg::m2s_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemInv = {4'h0};
        bins MemRd = {4'h1};
        bins MemRdData = {4'h2};
        bins MemRdFwd = {4'h3};
        bins MemWrFwd = {4'h4};
        bins MemRdTEE = {4'h5};
        bins MemRdDataTEE = {4'h6};
        bins MemInvTEE = {4'h7};
        bins MemSpecRd = {4'h8};
        bins MemInvNT = {4'h9};
        bins MemClnEvct = {4'ha};
        bins MemInvPTEE = {4'hb};
        bins MemSpecRdTEE = {4'hc};
        bins TEUpdate = {4'hd};
        bins MemClnEvctTEE = {4'he};
        bins MemClnEvctU = {4'hf};
      }
      snp_type: coverpoint fields.snp_type {
        bins NoOp = {3'h0};
        bins SnpData = {3'h1};
        bins SnpCur = {3'h2};
        bins SnpInv = {3'h3};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
    endgroup

    // cxl256.m2s_rwd: Header of a CXL.mem request with data, host to device.
    covergroup cg_cxl256_m2s_rwd with function sample(scalepool_cxl256_pkg::m2s_rwd_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemWr = {4'h1};
        bins MemWrPtl = {4'h2};
        bins BIConflict = {4'h4};
        bins MemRdFill = {4'h5};
        bins MemWrTEE = {4'h9};
        bins MemWrPtlTEE = {4'ha};
        bins MemRdFillTEE = {4'hd};
      }
      snp_type: coverpoint fields.snp_type {
        bins NoOp = {3'h0};
        bins SnpData = {3'h1};
        bins SnpCur = {3'h2};
        bins SnpInv = {3'h3};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      poison: coverpoint fields.poison;
      trp: coverpoint fields.trp;
    endgroup

    // cxl256.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
    covergroup cg_cxl256_m2s_birsp with function sample(scalepool_cxl256_pkg::m2s_birsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins BIRspI = {4'h0};
        bins BIRspS = {4'h1};
        bins BIRspE = {4'h2};
        bins BIRspIBlk = {4'h4};
        bins BIRspSBlk = {4'h5};
        bins BIRspEBlk = {4'h6};
      }
    endgroup

    // cxl256.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
    covergroup cg_cxl256_s2m_bisnp with function sample(scalepool_cxl256_pkg::s2m_bisnp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins BISnpCur = {4'h0};
        bins BISnpData = {4'h1};
        bins BISnpInv = {4'h2};
        bins BISnpCurBlk = {4'h4};
        bins BISnpDataBlk = {4'h5};
        bins BISnpInvBlk = {4'h6};
        bins BISnpCurTEE = {4'h8};
        bins BISnpDataTEE = {4'h9};
        bins BISnpInvTEE = {4'ha};
        bins BISnpCurBlkTEE = {4'hc};
        bins BISnpDataBlkTEE = {4'hd};
        bins BISnpInvBlkTEE = {4'he};
      }
    endgroup

    // cxl256.s2m_ndr: CXL.mem answer without data, device to host.
    covergroup cg_cxl256_s2m_ndr with function sample(scalepool_cxl256_pkg::s2m_ndr_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins Cmp = {3'h0};
        bins CmpS = {3'h1};
        bins CmpE = {3'h2};
        bins CmpM = {3'h3};
        bins BIConflictAck = {3'h4};
        bins CmpTEE = {3'h5};
        bins CmpSTEE = {3'h6};
        bins CmpETEE = {3'h7};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      devload: coverpoint fields.devload {
        bins Light = {2'h0};
        bins Optimal = {2'h1};
        bins Moderate = {2'h2};
        bins Severe = {2'h3};
      }
    endgroup

    // cxl256.s2m_drs: Header of a CXL.mem answer with data, device to host.
    covergroup cg_cxl256_s2m_drs with function sample(scalepool_cxl256_pkg::s2m_drs_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemData = {3'h0};
        bins MemDataNXM = {3'h1};
        bins MemDataTEE = {3'h2};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      poison: coverpoint fields.poison;
      devload: coverpoint fields.devload {
        bins Light = {2'h0};
        bins Optimal = {2'h1};
        bins Moderate = {2'h2};
        bins Severe = {2'h3};
      }
      trp: coverpoint fields.trp;
    endgroup

    // cxl68.m2s_req: CXL.mem request without data, host to device.
    covergroup cg_cxl68_m2s_req with function sample(scalepool_cxl68_pkg::m2s_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemInv = {4'h0};
        bins MemRd = {4'h1};
        bins MemRdData = {4'h2};
        bins MemRdFwd = {4'h3};
        bins MemWrFwd = {4'h4};
        bins MemSpecRd = {4'h8};
        bins MemInvNT = {4'h9};
      }
      snp_type: coverpoint fields.snp_type {
        bins NoOp = {3'h0};
        bins SnpData = {3'h1};
        bins SnpCur = {3'h2};
        bins SnpInv = {3'h3};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
    endgroup

    // cxl68.m2s_rwd: Header of a CXL.mem request with data, host to device.
    covergroup cg_cxl68_m2s_rwd with function sample(scalepool_cxl68_pkg::m2s_rwd_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemWr = {4'h1};
        bins MemWrPtl = {4'h2};
      }
      snp_type: coverpoint fields.snp_type {
        bins NoOp = {3'h0};
        bins SnpData = {3'h1};
        bins SnpCur = {3'h2};
        bins SnpInv = {3'h3};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      poison: coverpoint fields.poison;
    endgroup

    // cxl68.s2m_ndr: CXL.mem answer without data, device to host. 28 bits in 1.1; DevLoad is split off in some slots (section 3.3).
    covergroup cg_cxl68_s2m_ndr with function sample(scalepool_cxl68_pkg::s2m_ndr_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins Cmp = {3'h0};
        bins CmpS = {3'h1};
        bins CmpE = {3'h2};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      devload: coverpoint fields.devload {
        bins Light = {2'h0};
        bins Optimal = {2'h1};
        bins Moderate = {2'h2};
        bins Severe = {2'h3};
      }
    endgroup

    // cxl68.s2m_drs: Header of a CXL.mem answer with data, device to host.
    covergroup cg_cxl68_s2m_drs with function sample(scalepool_cxl68_pkg::s2m_drs_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemData = {3'h0};
        bins MemDataNXM = {3'h1};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      poison: coverpoint fields.poison;
      devload: coverpoint fields.devload {
        bins Light = {2'h0};
        bins Optimal = {2'h1};
        bins Moderate = {2'h2};
        bins Severe = {2'h3};
      }
    endgroup

    // cxl68.d2h_req: CXL.cache request, device to host.
    covergroup cg_cxl68_d2h_req with function sample(scalepool_cxl68_pkg::d2h_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins RdCurr = {5'h1};
        bins RdOwn = {5'h2};
        bins RdShared = {5'h3};
        bins RdAny = {5'h4};
        bins RdOwnNoData = {5'h5};
        bins ItoMWr = {5'h6};
        bins WrCur = {5'h7};
        bins CLFlush = {5'h8};
        bins CleanEvict = {5'h9};
        bins DirtyEvict = {5'ha};
        bins CleanEvictNoData = {5'hb};
        bins WOWrInv = {5'hc};
        bins WOWrInvF = {5'hd};
        bins WrInv = {5'he};
        bins CacheFlushed = {5'h10};
      }
      nt: coverpoint fields.nt;
    endgroup

    // cxl68.d2h_rsp: CXL.cache snoop answer, device to host.
    covergroup cg_cxl68_d2h_rsp with function sample(scalepool_cxl68_pkg::d2h_rsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins RspIHitI = {5'h4};
        bins RspVHitV = {5'h6};
        bins RspIHitSE = {5'h5};
        bins RspSHitSE = {5'h1};
        bins RspSFwdM = {5'h7};
        bins RspIFwdM = {5'hf};
        bins RspVFwdV = {5'h16};
      }
    endgroup

    // cxl68.d2h_data: Header of CXL.cache data, device to host.
    covergroup cg_cxl68_d2h_data with function sample(scalepool_cxl68_pkg::d2h_data_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      chunk_valid: coverpoint fields.chunk_valid;
      bogus: coverpoint fields.bogus;
      poison: coverpoint fields.poison;
    endgroup

    // cxl68.h2d_req: CXL.cache snoop, host to device.
    covergroup cg_cxl68_h2d_req with function sample(scalepool_cxl68_pkg::h2d_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins SnpData = {3'h1};
        bins SnpInv = {3'h2};
        bins SnpCur = {3'h3};
      }
    endgroup

    // cxl68.h2d_rsp: CXL.cache answer, host to device.
    covergroup cg_cxl68_h2d_rsp with function sample(scalepool_cxl68_pkg::h2d_rsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins WritePull = {4'h1};
        bins GO = {4'h4};
        bins GO_WritePull = {4'h5};
        bins ExtCmp = {4'h6};
        bins GO_WritePull_Drop = {4'h8};
        bins Fast_GO = {4'hc};
        bins Fast_GO_WritePull = {4'hd};
        bins GO_ERR_WritePull = {4'hf};
      }
      rsp_pre: coverpoint fields.rsp_pre {
        bins MissLocal = {2'h0};
        bins Hit = {2'h1};
        bins MissRemote = {2'h2};
      }
    endgroup

    // cxl68.h2d_data: Header of CXL.cache data, host to device.
    covergroup cg_cxl68_h2d_data with function sample(scalepool_cxl68_pkg::h2d_data_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      chunk_valid: coverpoint fields.chunk_valid;
      poison: coverpoint fields.poison;
      go_err: coverpoint fields.go_err;
    endgroup

    // cxlpbr.h2d_req: CXL.cache snoop, host to device.
    covergroup cg_cxlpbr_h2d_req with function sample(scalepool_cxlpbr_pkg::h2d_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins SnpData = {3'h1};
        bins SnpInv = {3'h2};
        bins SnpCur = {3'h3};
      }
    endgroup

    // cxlpbr.h2d_rsp: CXL.cache answer, host to device.
    covergroup cg_cxlpbr_h2d_rsp with function sample(scalepool_cxlpbr_pkg::h2d_rsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins WritePull = {4'h1};
        bins GO = {4'h4};
        bins GO_WritePull = {4'h5};
        bins ExtCmp = {4'h6};
        bins GO_WritePull_Drop = {4'h8};
        bins Fast_GO_WritePull = {4'hd};
        bins GO_ERR_WritePull = {4'hf};
      }
      rsp_pre: coverpoint fields.rsp_pre {
        bins MissLocal = {2'h0};
        bins Hit = {2'h1};
        bins MissRemote = {2'h2};
      }
    endgroup

    // cxlpbr.h2d_data: Header of CXL.cache data, host to device.
    covergroup cg_cxlpbr_h2d_data with function sample(scalepool_cxlpbr_pkg::h2d_data_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      poison: coverpoint fields.poison;
      go_err: coverpoint fields.go_err;
    endgroup

    // cxlpbr.d2h_req: CXL.cache request, device to host.
    covergroup cg_cxlpbr_d2h_req with function sample(scalepool_cxlpbr_pkg::d2h_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins RdCurr = {5'h1};
        bins RdOwn = {5'h2};
        bins RdShared = {5'h3};
        bins RdAny = {5'h4};
        bins RdOwnNoData = {5'h5};
        bins ItoMWr = {5'h6};
        bins WrCur = {5'h7};
        bins CLFlush = {5'h8};
        bins CleanEvict = {5'h9};
        bins DirtyEvict = {5'ha};
        bins CleanEvictNoData = {5'hb};
        bins WOWrInv = {5'hc};
        bins WOWrInvF = {5'hd};
        bins WrInv = {5'he};
        bins CacheFlushed = {5'h10};
      }
      nt: coverpoint fields.nt;
    endgroup

    // cxlpbr.d2h_rsp: CXL.cache snoop answer, device to host.
    covergroup cg_cxlpbr_d2h_rsp with function sample(scalepool_cxlpbr_pkg::d2h_rsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins RspIHitI = {5'h4};
        bins RspVHitV = {5'h6};
        bins RspIHitSE = {5'h5};
        bins RspSHitSE = {5'h1};
        bins RspSFwdM = {5'h7};
        bins RspIFwdM = {5'hf};
        bins RspVFwdV = {5'h16};
      }
    endgroup

    // cxlpbr.d2h_data: Header of CXL.cache data, device to host.
    covergroup cg_cxlpbr_d2h_data with function sample(scalepool_cxlpbr_pkg::d2h_data_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      bogus: coverpoint fields.bogus;
      poison: coverpoint fields.poison;
      bep: coverpoint fields.bep;
    endgroup

    // cxlpbr.m2s_req: CXL.mem request without data, host to device.
    covergroup cg_cxlpbr_m2s_req with function sample(scalepool_cxlpbr_pkg::m2s_req_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemInv = {4'h0};
        bins MemRd = {4'h1};
        bins MemRdData = {4'h2};
        bins MemRdFwd = {4'h3};
        bins MemWrFwd = {4'h4};
        bins MemRdTEE = {4'h5};
        bins MemRdDataTEE = {4'h6};
        bins MemInvTEE = {4'h7};
        bins MemSpecRd = {4'h8};
        bins MemInvNT = {4'h9};
        bins MemClnEvct = {4'ha};
        bins MemInvPTEE = {4'hb};
        bins MemSpecRdTEE = {4'hc};
        bins TEUpdate = {4'hd};
        bins MemClnEvctTEE = {4'he};
        bins MemClnEvctU = {4'hf};
      }
      snp_type: coverpoint fields.snp_type {
        bins NoOp = {3'h0};
        bins SnpData = {3'h1};
        bins SnpCur = {3'h2};
        bins SnpInv = {3'h3};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
    endgroup

    // cxlpbr.m2s_rwd: Header of a CXL.mem request with data, host to device.
    covergroup cg_cxlpbr_m2s_rwd with function sample(scalepool_cxlpbr_pkg::m2s_rwd_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemWr = {4'h1};
        bins MemWrPtl = {4'h2};
        bins BIConflict = {4'h4};
        bins MemRdFill = {4'h5};
        bins MemWrTEE = {4'h9};
        bins MemWrPtlTEE = {4'ha};
        bins MemRdFillTEE = {4'hd};
      }
      snp_type: coverpoint fields.snp_type {
        bins NoOp = {3'h0};
        bins SnpData = {3'h1};
        bins SnpCur = {3'h2};
        bins SnpInv = {3'h3};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      poison: coverpoint fields.poison;
      trp: coverpoint fields.trp;
    endgroup

    // cxlpbr.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
    covergroup cg_cxlpbr_m2s_birsp with function sample(scalepool_cxlpbr_pkg::m2s_birsp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins BIRspI = {4'h0};
        bins BIRspS = {4'h1};
        bins BIRspE = {4'h2};
        bins BIRspIBlk = {4'h4};
        bins BIRspSBlk = {4'h5};
        bins BIRspEBlk = {4'h6};
      }
    endgroup

    // cxlpbr.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
    covergroup cg_cxlpbr_s2m_bisnp with function sample(scalepool_cxlpbr_pkg::s2m_bisnp_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins BISnpCur = {4'h0};
        bins BISnpData = {4'h1};
        bins BISnpInv = {4'h2};
        bins BISnpCurBlk = {4'h4};
        bins BISnpDataBlk = {4'h5};
        bins BISnpInvBlk = {4'h6};
        bins BISnpCurTEE = {4'h8};
        bins BISnpDataTEE = {4'h9};
        bins BISnpInvTEE = {4'ha};
        bins BISnpCurBlkTEE = {4'hc};
        bins BISnpDataBlkTEE = {4'hd};
        bins BISnpInvBlkTEE = {4'he};
      }
    endgroup

    // cxlpbr.s2m_ndr: CXL.mem answer without data, device to host.
    covergroup cg_cxlpbr_s2m_ndr with function sample(scalepool_cxlpbr_pkg::s2m_ndr_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins Cmp = {3'h0};
        bins CmpS = {3'h1};
        bins CmpE = {3'h2};
        bins CmpM = {3'h3};
        bins BIConflictAck = {3'h4};
        bins CmpTEE = {3'h5};
        bins CmpSTEE = {3'h6};
        bins CmpETEE = {3'h7};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      devload: coverpoint fields.devload {
        bins Light = {2'h0};
        bins Optimal = {2'h1};
        bins Moderate = {2'h2};
        bins Severe = {2'h3};
      }
    endgroup

    // cxlpbr.s2m_drs: Header of a CXL.mem answer with data, device to host.
    covergroup cg_cxlpbr_s2m_drs with function sample(scalepool_cxlpbr_pkg::s2m_drs_t fields);
      option.per_instance = 1;
      valid: coverpoint fields.valid;
      opcode: coverpoint fields.opcode {
        bins MemData = {3'h0};
        bins MemDataNXM = {3'h1};
        bins MemDataTEE = {3'h2};
      }
      meta_field: coverpoint fields.meta_field {
        bins Meta0State = {2'h0};
        bins EMS = {2'h1};
        bins NoOp = {2'h3};
      }
      meta_value: coverpoint fields.meta_value {
        bins Invalid = {2'h0};
        bins ExplicitNoOp = {2'h1};
        bins Any = {2'h2};
        bins Shared = {2'h3};
      }
      poison: coverpoint fields.poison;
      devload: coverpoint fields.devload {
        bins Light = {2'h0};
        bins Optimal = {2'h1};
        bins Moderate = {2'h2};
        bins Severe = {2'h3};
      }
      trp: coverpoint fields.trp;
    endgroup

    function new();
      cg_cxl256_h2d_req = new();
      cg_cxl256_h2d_rsp = new();
      cg_cxl256_h2d_data = new();
      cg_cxl256_d2h_req = new();
      cg_cxl256_d2h_rsp = new();
      cg_cxl256_d2h_data = new();
      cg_cxl256_m2s_req = new();
      cg_cxl256_m2s_rwd = new();
      cg_cxl256_m2s_birsp = new();
      cg_cxl256_s2m_bisnp = new();
      cg_cxl256_s2m_ndr = new();
      cg_cxl256_s2m_drs = new();
      cg_cxl68_m2s_req = new();
      cg_cxl68_m2s_rwd = new();
      cg_cxl68_s2m_ndr = new();
      cg_cxl68_s2m_drs = new();
      cg_cxl68_d2h_req = new();
      cg_cxl68_d2h_rsp = new();
      cg_cxl68_d2h_data = new();
      cg_cxl68_h2d_req = new();
      cg_cxl68_h2d_rsp = new();
      cg_cxl68_h2d_data = new();
      cg_cxlpbr_h2d_req = new();
      cg_cxlpbr_h2d_rsp = new();
      cg_cxlpbr_h2d_data = new();
      cg_cxlpbr_d2h_req = new();
      cg_cxlpbr_d2h_rsp = new();
      cg_cxlpbr_d2h_data = new();
      cg_cxlpbr_m2s_req = new();
      cg_cxlpbr_m2s_rwd = new();
      cg_cxlpbr_m2s_birsp = new();
      cg_cxlpbr_s2m_bisnp = new();
      cg_cxlpbr_s2m_ndr = new();
      cg_cxlpbr_s2m_drs = new();
    endfunction

    // Counts a message that was sent or has come; one of another layout counts nowhere.
    function void sample(sp_message message);
      case (message.layout)
        "cxl256.h2d_req": begin
          cxl256_h2d_req of_layout;
          if ($cast(of_layout, message)) cg_cxl256_h2d_req.sample(of_layout.fields);
        end
        "cxl256.h2d_rsp": begin
          cxl256_h2d_rsp of_layout;
          if ($cast(of_layout, message)) cg_cxl256_h2d_rsp.sample(of_layout.fields);
        end
        "cxl256.h2d_data": begin
          cxl256_h2d_data of_layout;
          if ($cast(of_layout, message)) cg_cxl256_h2d_data.sample(of_layout.fields);
        end
        "cxl256.d2h_req": begin
          cxl256_d2h_req of_layout;
          if ($cast(of_layout, message)) cg_cxl256_d2h_req.sample(of_layout.fields);
        end
        "cxl256.d2h_rsp": begin
          cxl256_d2h_rsp of_layout;
          if ($cast(of_layout, message)) cg_cxl256_d2h_rsp.sample(of_layout.fields);
        end
        "cxl256.d2h_data": begin
          cxl256_d2h_data of_layout;
          if ($cast(of_layout, message)) cg_cxl256_d2h_data.sample(of_layout.fields);
        end
        "cxl256.m2s_req": begin
          cxl256_m2s_req of_layout;
          if ($cast(of_layout, message)) cg_cxl256_m2s_req.sample(of_layout.fields);
        end
        "cxl256.m2s_rwd": begin
          cxl256_m2s_rwd of_layout;
          if ($cast(of_layout, message)) cg_cxl256_m2s_rwd.sample(of_layout.fields);
        end
        "cxl256.m2s_birsp": begin
          cxl256_m2s_birsp of_layout;
          if ($cast(of_layout, message)) cg_cxl256_m2s_birsp.sample(of_layout.fields);
        end
        "cxl256.s2m_bisnp": begin
          cxl256_s2m_bisnp of_layout;
          if ($cast(of_layout, message)) cg_cxl256_s2m_bisnp.sample(of_layout.fields);
        end
        "cxl256.s2m_ndr": begin
          cxl256_s2m_ndr of_layout;
          if ($cast(of_layout, message)) cg_cxl256_s2m_ndr.sample(of_layout.fields);
        end
        "cxl256.s2m_drs": begin
          cxl256_s2m_drs of_layout;
          if ($cast(of_layout, message)) cg_cxl256_s2m_drs.sample(of_layout.fields);
        end
        "cxl68.m2s_req": begin
          cxl68_m2s_req of_layout;
          if ($cast(of_layout, message)) cg_cxl68_m2s_req.sample(of_layout.fields);
        end
        "cxl68.m2s_rwd": begin
          cxl68_m2s_rwd of_layout;
          if ($cast(of_layout, message)) cg_cxl68_m2s_rwd.sample(of_layout.fields);
        end
        "cxl68.s2m_ndr": begin
          cxl68_s2m_ndr of_layout;
          if ($cast(of_layout, message)) cg_cxl68_s2m_ndr.sample(of_layout.fields);
        end
        "cxl68.s2m_drs": begin
          cxl68_s2m_drs of_layout;
          if ($cast(of_layout, message)) cg_cxl68_s2m_drs.sample(of_layout.fields);
        end
        "cxl68.d2h_req": begin
          cxl68_d2h_req of_layout;
          if ($cast(of_layout, message)) cg_cxl68_d2h_req.sample(of_layout.fields);
        end
        "cxl68.d2h_rsp": begin
          cxl68_d2h_rsp of_layout;
          if ($cast(of_layout, message)) cg_cxl68_d2h_rsp.sample(of_layout.fields);
        end
        "cxl68.d2h_data": begin
          cxl68_d2h_data of_layout;
          if ($cast(of_layout, message)) cg_cxl68_d2h_data.sample(of_layout.fields);
        end
        "cxl68.h2d_req": begin
          cxl68_h2d_req of_layout;
          if ($cast(of_layout, message)) cg_cxl68_h2d_req.sample(of_layout.fields);
        end
        "cxl68.h2d_rsp": begin
          cxl68_h2d_rsp of_layout;
          if ($cast(of_layout, message)) cg_cxl68_h2d_rsp.sample(of_layout.fields);
        end
        "cxl68.h2d_data": begin
          cxl68_h2d_data of_layout;
          if ($cast(of_layout, message)) cg_cxl68_h2d_data.sample(of_layout.fields);
        end
        "cxlpbr.h2d_req": begin
          cxlpbr_h2d_req of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_h2d_req.sample(of_layout.fields);
        end
        "cxlpbr.h2d_rsp": begin
          cxlpbr_h2d_rsp of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_h2d_rsp.sample(of_layout.fields);
        end
        "cxlpbr.h2d_data": begin
          cxlpbr_h2d_data of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_h2d_data.sample(of_layout.fields);
        end
        "cxlpbr.d2h_req": begin
          cxlpbr_d2h_req of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_d2h_req.sample(of_layout.fields);
        end
        "cxlpbr.d2h_rsp": begin
          cxlpbr_d2h_rsp of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_d2h_rsp.sample(of_layout.fields);
        end
        "cxlpbr.d2h_data": begin
          cxlpbr_d2h_data of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_d2h_data.sample(of_layout.fields);
        end
        "cxlpbr.m2s_req": begin
          cxlpbr_m2s_req of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_m2s_req.sample(of_layout.fields);
        end
        "cxlpbr.m2s_rwd": begin
          cxlpbr_m2s_rwd of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_m2s_rwd.sample(of_layout.fields);
        end
        "cxlpbr.m2s_birsp": begin
          cxlpbr_m2s_birsp of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_m2s_birsp.sample(of_layout.fields);
        end
        "cxlpbr.s2m_bisnp": begin
          cxlpbr_s2m_bisnp of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_s2m_bisnp.sample(of_layout.fields);
        end
        "cxlpbr.s2m_ndr": begin
          cxlpbr_s2m_ndr of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_s2m_ndr.sample(of_layout.fields);
        end
        "cxlpbr.s2m_drs": begin
          cxlpbr_s2m_drs of_layout;
          if ($cast(of_layout, message)) cg_cxlpbr_s2m_drs.sample(of_layout.fields);
        end
        default: ;
      endcase
    endfunction
  endclass
  // verilator lint_on COVERIGN

endpackage : scalepool_coverage_pkg
