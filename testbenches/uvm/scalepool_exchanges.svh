// Requests of CXL.cache, CXL.io, UALink and NVLink with their answers, as the messages that they are.
//
// Modelled: who asks (the end that a message leaves), tags, answers in several parts, requests without an answer. Left out: what an
// answer has to look like, which the passive end judges; UIO. CXL.mem has `scalepool_request_item`, with the line that was written or came.

// Joins answers to requests.
class scalepool_exchanges;
  protected scalepool_cache_exchanges cache;
  // Side that asks, requester, tag.
  typedef bit [30:0] key_t;
  protected scalepool_exchange_item open[key_t];

  function new();
    cache = new();
  endfunction

  // Requests without all of their answers.
  function int unsigned count();
    return 32'(open.num()) + cache.count();
  endfunction

  function void reset();
    open.delete();
    cache.reset();
  endfunction

  // A message passes. Returns what it ends, a request that is posted at once; null if something is still to come.
  function scalepool_exchange_item see(sp_message message);
    ualink_tl_req request;
    ualink_tl_rsp response;
    nvlink_message packet;
    cxlio_tlp tlp;
    if ($cast(request, message)) return asks(message, {at(message), 16'(request.fields.src), 14'(request.fields.tag)}, 0);
    if ($cast(response, message))
      return answers(message, {!at(message), 16'(response.fields.dst), 14'(response.fields.tag)},
                     response.fields.rdwr == scalepool_ualink_pkg::RD_WR_WRITE || response.fields.last == 1'b1);
    if ($cast(packet, message)) return see_packet(packet);
    if ($cast(tlp, message)) return see_tlp(tlp);
    return scalepool_cache_exchanges::is_cache(message) ? cache.see(message) : null;
  endfunction

  protected function bit at(sp_message message);
    return message.at_port == SP_PORT_TX;
  endfunction

  protected function scalepool_exchange_item see_packet(nvlink_message packet);
    bit [15:0] requester;
    bit [13:0] tag;
    requester = 16'(packet.header.rid);
    tag = 14'(packet.header.tag);
    case (packet.header.op)
      scalepool_nvlink_pkg::OP_RSP_DATA, scalepool_nvlink_pkg::OP_RSP_DONE, scalepool_nvlink_pkg::OP_RSP_ERROR:
        return answers(packet, {!at(packet), requester, tag}, 1);
      scalepool_nvlink_pkg::OP_WRITE_POSTED, scalepool_nvlink_pkg::OP_ATOMIC_POSTED, scalepool_nvlink_pkg::OP_MULTICAST_WRITE:
        return asks(packet, {at(packet), requester, tag}, 1);
      default: return asks(packet, {at(packet), requester, tag}, 0);
    endcase
  endfunction

  // Requester and tag stand in the second double word of every request.
  protected function scalepool_exchange_item see_tlp(cxlio_tlp tlp);
    scalepool_cxlio_pkg::fm_mem32_t head;
    scalepool_cxlio_pkg::fm_cpl_t completion;
    head = scalepool_cxlio_pkg::fm_mem32_t'(tlp.number(0, 12));
    completion = scalepool_cxlio_pkg::fm_cpl_t'(tlp.number(0, 12));
    case (head.tlp_type)
      scalepool_cxlio_pkg::FM_TYPE_CPL, scalepool_cxlio_pkg::FM_TYPE_CPL_D, scalepool_cxlio_pkg::FM_TYPE_CPL_LK,
      scalepool_cxlio_pkg::FM_TYPE_CPL_D_LK:
        return answers(tlp, {!at(tlp), completion.requester, completion.tag}, is_last(tlp, completion));
      scalepool_cxlio_pkg::FM_TYPE_M_RD32, scalepool_cxlio_pkg::FM_TYPE_M_RD64, scalepool_cxlio_pkg::FM_TYPE_M_RD_LK32,
      scalepool_cxlio_pkg::FM_TYPE_M_RD_LK64, scalepool_cxlio_pkg::FM_TYPE_IO_RD, scalepool_cxlio_pkg::FM_TYPE_IO_WR,
      scalepool_cxlio_pkg::FM_TYPE_CFG_RD0, scalepool_cxlio_pkg::FM_TYPE_CFG_RD1, scalepool_cxlio_pkg::FM_TYPE_CFG_WR0,
      scalepool_cxlio_pkg::FM_TYPE_CFG_WR1, scalepool_cxlio_pkg::FM_TYPE_FETCH_ADD32, scalepool_cxlio_pkg::FM_TYPE_SWAP32,
      scalepool_cxlio_pkg::FM_TYPE_CAS32, scalepool_cxlio_pkg::FM_TYPE_FETCH_ADD64, scalepool_cxlio_pkg::FM_TYPE_SWAP64,
      scalepool_cxlio_pkg::FM_TYPE_CAS64, scalepool_cxlio_pkg::FM_TYPE_DM_WR32, scalepool_cxlio_pkg::FM_TYPE_DM_WR64:
        return asks(tlp, {at(tlp), head.requester, head.tag}, 0);
      scalepool_cxlio_pkg::FM_TYPE_UIOM_RD, scalepool_cxlio_pkg::FM_TYPE_UIOM_WR, scalepool_cxlio_pkg::FM_TYPE_UIO_RD_CPL,
      scalepool_cxlio_pkg::FM_TYPE_UIO_WR_CPL, scalepool_cxlio_pkg::FM_TYPE_UIO_RD_CPL_D, scalepool_cxlio_pkg::FM_TYPE_NOP:
        return null;
      // Writes to memory and messages.
      default: return asks(tlp, {at(tlp), head.requester, head.tag}, 1);
    endcase
  endfunction

  // A completion is the last one if it has all bytes that are to come, or says that there are none.
  protected function bit is_last(cxlio_tlp tlp, scalepool_cxlio_pkg::fm_cpl_t completion);
    scalepool_cxlio_pkg::ohc_a5_t more;
    int unsigned left, carried;
    if (completion.tlp_type inside {scalepool_cxlio_pkg::FM_TYPE_CPL, scalepool_cxlio_pkg::FM_TYPE_CPL_LK}) return 1;
    more = '0;
    if (completion.ohc[0]) more = scalepool_cxlio_pkg::ohc_a5_t'(tlp.number(12, 4));
    left = completion.byte_count == 0 ? 4096 : 32'(completion.byte_count);
    carried = 4 * (completion.length == 0 ? 1024 : 32'(completion.length)) - 32'(more.lower_addr);
    return more.status != 3'(scalepool_cxlio_pkg::CPL_STATUS_SC) || carried >= left;
  endfunction

  protected function scalepool_exchange_item asks(sp_message message, key_t key, bit is_posted);
    scalepool_exchange_item item;
    item = scalepool_exchange_item::type_id::create("exchange");
    item.request = message;
    if (is_posted) return item;
    open[key] = item;
    return null;
  endfunction

  protected function scalepool_exchange_item answers(sp_message message, key_t key, bit is_last);
    scalepool_exchange_item item;
    if (!open.exists(key)) return null; // the watcher tells it
    item = open[key];
    item.answers.push_back(message);
    if (!is_last) return null;
    open.delete(key);
    return item;
  endfunction
endclass
