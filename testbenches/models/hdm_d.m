-- HDM-D: a device whose memory has a bias table, and its host (sheet coherence 3.2 and 3.3).
--
-- Modelled: one line; every D2H request to own memory and the device's own evicts; every M2S Req of 3.2 that HDM-D has but
-- the hints MemSpecRd and MemInvNT; MemWr with each MetaValue, stores, silent drops of clean copies; flips of the bias both
-- ways; ItoMWr, WrCur and WrInv over CXL.cache and back over CXL.mem. Detail: messages; one request of each side at a time.
-- A value is known by whether it is the last store in coherence order.
--
-- Choices of the sheet: the host keeps as much as a request leaves it, and nothing under CLFlush unless that is set;
-- MemRd Shared is answered Cmp-S; the device's own cache keeps S where the host shares; ownership without bytes is followed by
-- MemRd Any (5, point 3), unless a store of the whole line waits.
--
-- Left out: errors, poison, other caching devices, Cmp-M, bytes and byte enables beside "whole line" and "a part of it".

const
  -- Rules that can be broken.
  NoMutant: 0;
  ReqPassesFwd: 1;          -- 3.3: an M2S Req passes a Mem*Fwd of the line
  FwdBeforeWriteDone: 2;    -- 3.3: Mem*Fwd leaves with the write back, not after its Cmp
  LocalUseInHostBias: 3;    -- 3.3: the device uses the line in host bias without asking
  BackFlipUnsnooped: 4;     -- 3.3: the own cache is not snooped when the host takes the line back
  FlushFlips: 5;            -- 3.3: CLFlush flips the bias (does harm with FLUSH_KEEPS_SHARED)
  ReqWaitsForOwnRequest: 6; -- 3.3: an M2S Req waits until the device's own request has ended
  MUTANT: NoMutant;

  -- Choices of the sheet: 1 or 0.
  FLUSH_KEEPS_SHARED: 0;    -- 3.3: the host keeps S under CLFlush; the device takes it to have one anyway

  -- What the device and the host may begin: 1 or 0. WAITING: requests for ownership with a store that waits for it.
  RDCURR: 1; RDSHARED: 1; RDANY: 1; RDOWN: 1; RDOWNNODATA: 1; CLFLUSH: 1; WOWRINV: 1; WOWRINVF: 1; ITOMWR: 1; WRCUR: 1;
  WRINV: 1; CLEANEVICT: 1; CLEANEVICTNODATA: 1; DIRTYEVICT: 1;
  MEMRDA: 1; MEMRDS: 1; MEMRDI: 1; MEMRDCUR: 1; MEMRDNOOPCUR: 1; MEMRDNOOP: 1; MEMRDDATA: 1; MEMINV: 1; MEMINVI: 1;
  MEMWR: 1; DROP: 1; STORE: 1; WAITING: 1;

type
  Copy: enum { I, S, E, M };
  Value: enum { None, Stale, Current, New }; -- New: written, and not yet in coherence order
  Op: enum { NoOp, RdCurr, RdShared, RdAny, RdOwn, RdOwnNoData, CLFlush, WOWrInv, WOWrInvF, ItoMWr, WrCur, WrInv };
  -- M2S Req: opcode, MetaValue and SnpType as one name (3.2).
  Req: enum { NoReq, RdA, RdS, RdI, RdICur, RdNCur, RdN, RdData, InvA, InvI };
  Meta: enum { NoMeta, Any, Shared, Invalid };
  Fwd: enum { NoFwd, MemRdFwd, MemWrFwd };
  Ndr: enum { NoNdr, Cmp, CmpS, CmpE };
  Rsp: enum { NoRsp, GO_I, WritePull, GO_WritePull };
  Stage: enum { NoStage, WritingBack, Pulled, Writing }; -- of the device's request at the host

var
  -- The device.
  memory: Value;
  device_bias: boolean;
  own: Copy;
  own_data: Value;
  asked: Op;          -- the D2H request without its end
  pulled: boolean;    -- its data has left; the GO is missing
  -- The host.
  host: Copy;
  data: Value;        -- None in E: ownership without bytes
  open: Req;
  open_ndr: Ndr;
  open_data: Value;
  store_waits: boolean;
  writing: boolean;   -- a MemWr has no Cmp yet
  stage: Stage;
  serving: Op;
  -- Under way, at most one of each class.
  d2h_req: Op;
  d2h_data: Value;
  d2h_part: boolean;  -- of the D2H Data and of the write that it becomes: a part of the line
  h2d_rsp: Rsp;
  m2s_req: Req;
  m2s_fwd: Fwd; m2s_fwd_meta: Meta;
  m2s_rwd: Value; m2s_rwd_meta: Meta; m2s_rwd_snoops: boolean;
  s2m_ndr: Ndr;
  s2m_drs: Value;

-- A store has happened: every other value is old.
procedure age(var v: Value); begin if v = Current then v := Stale; end; end;
procedure all_age(); begin
  age(memory); age(own_data); age(data); age(open_data); age(d2h_data); age(m2s_rwd); age(s2m_drs);
end;

-- A write of the device gets to memory, which is where it finds its place in coherence order. A part of a line over an old
-- value stays old.
procedure written(part: boolean); begin
  if part & memory != Current then all_age(); memory := Stale; else all_age(); memory := Current; end;
end;

function is_forwarded(op: Op): boolean; begin return !(op = ItoMWr | op = WrCur | op = WrInv); end;
function is_part(op: Op): boolean; begin return op = WrInv | op = WOWrInv; end;
function is_read(r: Req): boolean; begin return !(r = InvA | r = InvI); end;

-- What the device's own cache does under a host's access (3.1).
procedure snoop_own(keeps: Copy); begin
  if MUTANT != BackFlipUnsnooped then
    if own = M then memory := own_data; end;
    if own != I then
      if keeps = S then own := S; else own := I; own_data := None; end;
    end;
  end;
end;

-- The line is served inside the device: no message.
procedure inside(op: Op); begin
  switch op
  case RdShared: own := S; own_data := memory;
  case RdAny: own := E; own_data := memory;
  case RdOwn: own := E; own_data := memory;
  case RdOwnNoData: own := E; own_data := memory;
  case WOWrInv: written(true);
  case WOWrInvF: written(false);
  end;
end;

procedure ask(op: Op); begin
  if is_forwarded(op) & (device_bias | MUTANT = LocalUseInHostBias) then inside(op);
  else
    if !is_forwarded(op) then device_bias := false; end;
    asked := op; d2h_req := op;
  end;
end;

function may_ask(op: Op): boolean; begin
  return asked = NoOp & (own = I | op = RdOwnNoData & own = S);
end;

-- The host: a MemWr of the dirty copy, of which `kept` is kept.
procedure write_back(kept: Copy); begin
  m2s_rwd := data; m2s_rwd_snoops := false;
  switch kept
  case I: m2s_rwd_meta := Invalid; data := None;
  case S: m2s_rwd_meta := Shared;
  else m2s_rwd_meta := Any;
  end;
  host := kept;
  writing := true;
end;

-- What the host may keep under a request of the device (3.3).
function kept_under(op: Op; state: Copy): Copy; begin
  switch op
  case RdCurr: if state = M then return E; else return state; end;
  case RdShared: if state = I then return I; else return S; end;
  case RdAny: if state = I then return I; else return S; end;
  case CLFlush: if state = I | FLUSH_KEEPS_SHARED = 0 then return I; else return S; end;
  else return I;
  end;
end;

-- Memory is current and the host has only what it keeps: the answer leaves.
procedure answer(op: Op); begin
  stage := NoStage; serving := NoOp;
  if is_forwarded(op) then
    if op = WOWrInv | op = WOWrInvF then m2s_fwd := MemWrFwd; else m2s_fwd := MemRdFwd; end;
    switch host
    case I: m2s_fwd_meta := Invalid;
    case S: if op = CLFlush then m2s_fwd_meta := Invalid; else m2s_fwd_meta := Shared; end;
    else m2s_fwd_meta := Any;
    end;
  else
    if op = WrInv then h2d_rsp := WritePull; else h2d_rsp := GO_WritePull; end;
    stage := Pulled; serving := op;
  end;
end;

function host_is_free(): boolean; begin return stage = NoStage & open = NoReq & !writing; end;

procedure host_stores(); begin all_age(); host := M; data := Current; end;

procedure issue(r: Req; store: boolean); begin open := r; store_waits := store; m2s_req := r; end;

-- The fill is done when completion and data are here (3.2).
procedure try_fill(); begin
  if open_ndr != NoNdr & (open_data != None | !is_read(open)) then
    alias granted: open_ndr; came: open_data do
      if granted != Cmp & host != M then
        if granted = CmpS then host := S; else host := E; end;
        if came != None then data := came; end;
      end;
      open := NoReq; granted := NoNdr; came := None;
    end;
    if store_waits then host_stores();
    elsif host = E & data = None then issue(RdA, false);
    end;
    store_waits := false;
  end;
end;

startstate begin
  memory := Current; device_bias := false; own := I; own_data := None; asked := NoOp; pulled := false;
  host := I; data := None; open := NoReq; open_ndr := NoNdr; open_data := None; store_waits := false; writing := false;
  stage := NoStage; serving := NoOp;
  d2h_req := NoOp; d2h_data := None; d2h_part := false; h2d_rsp := NoRsp; m2s_req := NoReq;
  m2s_fwd := NoFwd; m2s_fwd_meta := NoMeta; m2s_rwd := None; m2s_rwd_meta := NoMeta; m2s_rwd_snoops := false;
  s2m_ndr := NoNdr; s2m_drs := None;
end;

-- The device's core.
rule "RdCurr" RDCURR = 1 & may_ask(RdCurr) ==> begin ask(RdCurr); end;
rule "RdShared" RDSHARED = 1 & may_ask(RdShared) ==> begin ask(RdShared); end;
rule "RdAny" RDANY = 1 & may_ask(RdAny) ==> begin ask(RdAny); end;
rule "RdOwn" RDOWN = 1 & may_ask(RdOwn) ==> begin ask(RdOwn); end;
rule "RdOwnNoData" RDOWNNODATA = 1 & may_ask(RdOwnNoData) ==> begin ask(RdOwnNoData); end;
rule "CLFlush" CLFLUSH = 1 & may_ask(CLFlush) ==> begin ask(CLFlush); end;
rule "WOWrInv" WOWRINV = 1 & may_ask(WOWrInv) ==> begin ask(WOWrInv); end;
rule "WOWrInvF" WOWRINVF = 1 & may_ask(WOWrInvF) ==> begin ask(WOWrInvF); end;
rule "ItoMWr" ITOMWR = 1 & may_ask(ItoMWr) ==> begin ask(ItoMWr); end;
rule "WrCur" WRCUR = 1 & may_ask(WrCur) ==> begin ask(WrCur); end;
rule "WrInv" WRINV = 1 & may_ask(WrInv) ==> begin ask(WrInv); end;
rule "CleanEvict" CLEANEVICT = 1 & asked = NoOp & own = E ==> begin own := I; own_data := None; end;
rule "CleanEvictNoData" CLEANEVICTNODATA = 1 & asked = NoOp & (own = S | own = E) ==> begin own := I; own_data := None; end;
rule "DirtyEvict" DIRTYEVICT = 1 & asked = NoOp & own = M ==> begin memory := own_data; own := I; own_data := None; end;
rule "device stores" STORE = 1 & (own = E | own = M) ==> begin all_age(); own := M; own_data := Current; end;

-- The host's core.
ruleset store: boolean do
  rule "MemRd Any" MEMRDA = 1 & (!store | WAITING = 1) & host_is_free() ==> begin issue(RdA, store); end;
  rule "MemInv Any" MEMINV = 1 & (!store | WAITING = 1) & host_is_free() ==> begin issue(InvA, store); end;
end;
rule "MemRd Shared" MEMRDS = 1 & host_is_free() & (host = I | host = S) ==> begin issue(RdS, false); end;
rule "MemRdData" MEMRDDATA = 1 & host_is_free() & (host = I | host = S) ==> begin issue(RdData, false); end;
rule "MemRd Invalid, SnpInv" MEMRDI = 1 & host_is_free() & host = I ==> begin issue(RdI, false); end;
rule "MemRd Invalid, SnpCur" MEMRDCUR = 1 & host_is_free() & host = I ==> begin issue(RdICur, false); end;
rule "MemRd NoOp, SnpCur" MEMRDNOOPCUR = 1 & host_is_free() ==> begin issue(RdNCur, false); end;
rule "MemRd NoOp, NoOp" MEMRDNOOP = 1 & host_is_free() ==> begin issue(RdN, false); end;
rule "MemInv Invalid" MEMINVI = 1 & host_is_free() & host = I ==> begin issue(InvI, false); end;
rule "MemWr Invalid" MEMWR = 1 & host_is_free() & host = M ==> begin write_back(I); end;
rule "MemWr Shared" MEMWR = 1 & host_is_free() & host = M ==> begin write_back(S); end;
rule "MemWr Any" MEMWR = 1 & host_is_free() & host = M ==> begin write_back(E); end;
rule "host stores" STORE = 1 & host_is_free() & (host = E | host = M) ==> begin host_stores(); end;
rule "host drops" DROP = 1 & host_is_free() & (host = S | host = E) ==> begin host := I; data := None; end;

-- The host serves the device. The request waits for all that is open on the line.
rule "host takes D2H Req" d2h_req != NoOp & host_is_free() ==>
var op: Op; kept: Copy;
begin
  op := d2h_req; d2h_req := NoOp;
  kept := kept_under(op, host);
  if host = M then
    write_back(kept);
    if MUTANT = FwdBeforeWriteDone then answer(op); else stage := WritingBack; serving := op; end;
  else
    host := kept;
    if kept = I then data := None; end;
    answer(op);
  end;
end;

rule "host takes D2H Data" d2h_data != None & stage = Pulled ==> begin
  stage := Writing;
  m2s_rwd := d2h_data; m2s_rwd_meta := Invalid; m2s_rwd_snoops := true; writing := true;
  d2h_data := None;
end;

rule "host takes NDR" s2m_ndr != NoNdr ==> begin
  if writing then
    writing := false;
    if stage = WritingBack then answer(serving);
    elsif stage = Writing then
      if serving = WrInv then h2d_rsp := GO_I; end;
      stage := NoStage; serving := NoOp;
    end;
    s2m_ndr := NoNdr;
  else
    open_ndr := s2m_ndr; s2m_ndr := NoNdr;
    try_fill();
  end;
end;

rule "host takes DRS" s2m_drs != None ==> begin
  open_data := s2m_drs; s2m_drs := None;
  try_fill();
end;

-- The device serves the host, whatever it waits for itself. No M2S Req passes a Mem*Fwd of the line.
rule "device takes M2S Req"
  m2s_req != NoReq & (m2s_fwd = NoFwd | MUTANT = ReqPassesFwd) & (asked = NoOp | MUTANT != ReqWaitsForOwnRequest)
==>
var r: Req;
begin
  r := m2s_req; m2s_req := NoReq;
  s2m_ndr := Cmp;
  if is_read(r) then
    -- The newest value under SnpCur, the memory's under NoOp.
    if own = M & (r = RdICur | r = RdNCur) then s2m_drs := own_data; else s2m_drs := memory; end;
  end;
  switch r
  case RdA: snoop_own(I); s2m_ndr := CmpE; s2m_drs := memory; device_bias := false;
  case RdS: snoop_own(S); s2m_ndr := CmpS; s2m_drs := memory; device_bias := false;
  case RdData:
    if own = I then s2m_ndr := CmpE; else snoop_own(S); s2m_ndr := CmpS; end;
    s2m_drs := memory; device_bias := false;
  case RdI: snoop_own(I); s2m_drs := memory;
  case InvA: snoop_own(I); s2m_ndr := CmpE; device_bias := false;
  case InvI: snoop_own(I);
  end;
end;

rule "device takes MemWr" m2s_rwd != None ==> begin
  if m2s_rwd_snoops then snoop_own(I); written(d2h_part);
  else
    memory := m2s_rwd;
    if m2s_rwd_meta != Invalid then device_bias := false; end;
  end;
  s2m_ndr := Cmp;
  m2s_rwd := None; m2s_rwd_meta := NoMeta; m2s_rwd_snoops := false; d2h_part := false;
end;

rule "device takes Mem*Fwd" m2s_fwd != NoFwd ==> begin
  switch asked
  case RdShared:
    if m2s_fwd_meta = Any then error "RdShared forwarded with Any"; end;
    own := S; own_data := memory;
  case RdAny:
    if m2s_fwd_meta = Any then error "RdAny forwarded with Any"; end;
    if m2s_fwd_meta = Shared then own := S; else own := E; device_bias := true; end;
    own_data := memory;
  case RdCurr: -- one use of memory's value
  case NoOp: error "a forward without a request";
  else
    if m2s_fwd_meta != Invalid then error "forwarded with another MetaValue than Invalid"; end;
    switch asked
    case CLFlush: if MUTANT = FlushFlips then device_bias := true; end;
    case WOWrInv: written(true);
    case WOWrInvF: written(false);
    else own := E; own_data := memory; device_bias := true;
    end;
  end;
  asked := NoOp; m2s_fwd := NoFwd; m2s_fwd_meta := NoMeta;
end;

rule "device takes H2D Rsp" h2d_rsp != NoRsp ==> begin
  if h2d_rsp = GO_I then
    if !pulled then error "a GO before its pull"; end;
    asked := NoOp; pulled := false;
  else
    d2h_data := New; d2h_part := is_part(asked);
    if asked = WrInv then pulled := true; else asked := NoOp; end;
  end;
  h2d_rsp := NoRsp;
end;

invariant "V1 one writer, and then nobody else"
  !((own = E | own = M) & host != I) & !((host = E | host = M) & own != I);
invariant "V2 every copy has the last store"
  (own != I -> own_data = Current) & (host != I & data != None -> data = Current);
invariant "V2 a clean copy is the memory's, or the write back that makes it so is under way"
  ((own = S | own = E | host = S | host = E & data != None) -> memory = Current | m2s_rwd = Current | own = M | host = M);
invariant "V3 the last store is not lost"
  memory = Current | own = M & own_data = Current | host = M & data = Current | m2s_rwd = Current | writing & data = Current;
invariant "V13 no copy of the host in device bias, no ownership of the device in host bias"
  (device_bias -> host = I) & (own = E | own = M -> device_bias);
invariant "V14 when all is at rest the memory has the last store, unless an M copy has"
  (asked = NoOp & host_is_free() & d2h_req = NoOp & d2h_data = None & m2s_fwd = NoFwd & own != M & host != M)
  -> memory = Current;
