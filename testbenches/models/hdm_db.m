-- HDM-DB: hosts that cache the memory of one device, which takes lines back with back-invalidates (sheet coherence 3.2, 3.4
-- and 3.5).
--
-- Modelled: one line; MemRd Any and Shared, MemInv Any, MemClnEvct, MemWr that keeps nothing, stores, stores that wait for
-- ownership; BISnpInv and BISnpData, dirty copies written back before the answer; the BIConflict handshake in all its rows.
-- Detail: messages, all delivered in any order but BIConflictAck, which passes no Cmp* of its Tag. A host has one request or
-- one write open, and one BISnp. A value is known by whether it is the last store in coherence order.
--
-- Choices of the sheet: MemRd Shared is answered Cmp-S; a host keeps S under BISnpData; ownership without bytes is followed by
-- MemRd Any (5, point 3), unless a store of the whole line waits. The device remembers which BISnp has had its BIConflict (one
-- for each BISnp and line, V6), so a conflict that is over is part of a state.
--
-- Three rules of the sheet have no constant here: they are about block back-invalidates, filters of limited size and DevLoad.
--
-- Left out: the device's own cache, so BISnpCur too; filters of limited size, blocks, UIO, poison, metadata, DevLoad.

const
  HOSTS: 2;

  -- Rules that can be broken.
  NoMutant: 0;
  AckPassesCmp: 1;          -- 3.5: BIConflictAck overtakes a Cmp of the same Tag
  FilledWithoutData: 2;     -- 3.2: a read is filled by its completion, before its data is here
  HolderSkipped: 3;         -- 3.7: ownership is granted while one other holder has not been asked
  OwnerNotAsked: 4;         -- 3.7: a shared grant is given without asking the owner
  AnswerBeforeWriteDone: 5; -- 3.4: BIRsp is sent with the write back, not after its Cmp
  DirtyHostNotWritten: 6;   -- 3.4: a dirty copy is given up without a write back
  BisnpBlocksRwd: 7;        -- 3.4: writes wait while a BISnp is open
  ReqServedUnderBisnp: 8;   -- 3.4: requests to a line with an open BISnp are served
  HostOldBytes: 9;          -- 3.4: a host that lost its S copy goes on with the old bytes after MemInv
  ConflictOnReq: 10;        -- 3.5: BIConflict waits like a Req for the BISnp it is about
  ConflictRowSwapped: 11;   -- 3.5: the host takes the row of the early conflict in a late one
  GrantNotUsed: 12;         -- 3.5: a granted line is given up before its access
  DirtyDropped: 13;         -- 3.1: M is dropped silently
  MUTANT: NoMutant;

  -- What a host may begin: 1 or 0. WAITING: requests for ownership with a store that waits for it.
  MEMRDA: 1; MEMRDS: 1; MEMINV: 1; MEMCLNEVCT: 1; MEMWR: 1; DROP: 0; STORE: 1; WAITING: 1;

type
  Host: scalarset(HOSTS);
  Copy: enum { I, S, E, M };
  Value: enum { None, Stale, Current };
  Req: enum { NoReq, RdA, RdS, InvA, ClnEvct };
  Ndr: enum { NoNdr, Cmp, CmpS, CmpE };
  Snp: enum { NoSnp, SnpData, SnpInv };
  Rsp: enum { NoRsp, RspI, RspS };
  -- Where a BISnp stands at a host: BIConflict without its Ack; waits for the fill and one access; for the Cmp of a write that
  -- was under way; for that of its own write back.
  Stage: enum { NoStage, Conflict, AwaitFill, AwaitWrite, WriteBack };
  Holding: enum { Nothing, Shares, Owns };

var
  host: array [Host] of record
    at: Copy;
    data: Value;           -- None in E: ownership without bytes
    open: Req; granted: Ndr; came: Value;
    store_waits: boolean;
    unused: boolean;       -- ownership has come and its store has not been made (V10)
    lacking: boolean;      -- ownership came without bytes: MemRd Any follows when nothing else is open
    writing: boolean;      -- a MemWr has no Cmp yet
    snoop: Snp; stage: Stage;
  end;
  -- Under way, at most one of each class and host.
  m2s: array [Host] of record req: Req; wr: Value; wr_keeps: Copy; conflict: boolean; rsp: Rsp; end;
  s2m: array [Host] of record ndr: Ndr; ack: boolean; drs: Value; snp: Snp; end;
  -- The device: its memory, its record of the hosts, the one transaction of the line and the BISnps that it waits for.
  memory: Value;
  record_of: array [Host] of Holding;
  request: Req; requester: Host;
  asked: array [Host] of boolean;
  disputed: array [Host] of boolean;

-- A store has happened: every other value is old.
procedure age(var v: Value); begin if v = Current then v := Stale; end; end;
procedure store(h: Host); begin
  age(memory);
  for g: Host do age(host[g].data); age(host[g].came); age(m2s[g].wr); age(s2m[g].drs); end;
  host[h].at := M; host[h].data := Current;
  host[h].store_waits := false; host[h].unused := false;
end;

-- The host ---------------------------------------------------------------------------------------------------------------

function is_idle(h: Host): boolean; begin
  return host[h].open = NoReq & !host[h].writing & host[h].snoop = NoSnp;
end;

procedure issue(h: Host; r: Req; waits: boolean); begin
  host[h].open := r; host[h].store_waits := waits; m2s[h].req := r;
  -- Use right ends at issue.
  if r = ClnEvct then host[h].at := I; host[h].data := None; end;
end;

procedure write_back(h: Host; keeps: Copy); begin
  m2s[h].wr := host[h].data; m2s[h].wr_keeps := keeps;
  host[h].writing := true;
  host[h].at := keeps;
  if keeps = I then host[h].data := None; end;
end;

procedure respond(h: Host; r: Rsp); begin
  host[h].snoop := NoSnp; host[h].stage := NoStage;
  m2s[h].rsp := r;
end;

-- What the state allows to keep: S under BISnpData, if there are bytes to share.
function keeps(h: Host): Copy; begin
  if host[h].snoop = SnpData & host[h].at != I & host[h].data != None then return S; else return I; end;
end;

function says(c: Copy): Rsp; begin if c = S then return RspS; else return RspI; end; end;

-- The BISnp is answered from the present state; a dirty copy is written back first.
procedure answer(h: Host);
var left: Copy;
begin
  left := keeps(h);
  if host[h].at = M & MUTANT != DirtyHostNotWritten then
    write_back(h, left);
    if MUTANT = AnswerBeforeWriteDone then respond(h, says(left)); else host[h].stage := WriteBack; end;
  else
    host[h].at := left;
    if left = I & !(MUTANT = HostOldBytes & host[h].open != NoReq) then host[h].data := None; end;
    respond(h, says(left));
  end;
end;

-- A line that was granted without bytes, whatever became of it meanwhile, is read when nothing is open on it.
procedure ask_for_bytes(h: Host); begin
  if host[h].lacking & is_idle(h) then host[h].lacking := false; issue(h, RdA, false); end;
end;

-- The fill is done when completion and data are here. An own dirty copy is newer than what comes.
procedure try_fill(h: Host); begin
  alias own: host[h] do
    if own.granted != NoNdr & (own.came != None | own.open = InvA | MUTANT = FilledWithoutData) then
      if own.at != M then
        if own.granted = CmpS then own.at := S; else own.at := E; end;
        if own.came != None then own.data := own.came; end;
      end;
      own.lacking := own.granted = CmpE & own.data = None & !own.store_waits;
      own.open := NoReq; own.granted := NoNdr; own.came := None;
      -- At least one access before the line is given up.
      if own.store_waits then
        if MUTANT = GrantNotUsed then own.unused := true; else store(h); end;
      end;
      if own.stage = AwaitFill then answer(h); end;
      ask_for_bytes(h);
    end;
  end;
end;

-- The device -------------------------------------------------------------------------------------------------------------

-- Every answer is in: the request has its effect.
procedure complete(r: Req; h: Host); begin
  switch r
  case ClnEvct: record_of[h] := Nothing; s2m[h].ndr := Cmp;
  case RdS: record_of[h] := Shares; s2m[h].ndr := CmpS; s2m[h].drs := memory;
  else
    for g: Host do record_of[g] := Nothing; end;
    record_of[h] := Owns; s2m[h].ndr := CmpE;
    if r = RdA then s2m[h].drs := memory; end;
  end;
end;

startstate begin
  for h: Host do
    host[h].at := I; host[h].data := None; host[h].open := NoReq; host[h].granted := NoNdr; host[h].came := None;
    host[h].store_waits := false; host[h].unused := false; host[h].lacking := false; host[h].writing := false;
    host[h].snoop := NoSnp; host[h].stage := NoStage;
    m2s[h].req := NoReq; m2s[h].wr := None; m2s[h].wr_keeps := I; m2s[h].conflict := false; m2s[h].rsp := NoRsp;
    s2m[h].ndr := NoNdr; s2m[h].ack := false; s2m[h].drs := None; s2m[h].snp := NoSnp;
    record_of[h] := Nothing; asked[h] := false; disputed[h] := false;
  end;
  memory := Current; request := NoReq; undefine requester;
end;

ruleset h: Host do
  -- The host's core.
  rule "MemRd Any" MEMRDA = 1 & is_idle(h) ==> begin issue(h, RdA, false); end;
  rule "MemRd Any for a store" MEMRDA = 1 & WAITING = 1 & is_idle(h) ==> begin issue(h, RdA, true); end;
  rule "MemInv Any" MEMINV = 1 & is_idle(h) ==> begin issue(h, InvA, false); end;
  rule "MemInv Any for a store" MEMINV = 1 & WAITING = 1 & is_idle(h) ==> begin issue(h, InvA, true); end;
  rule "MemRd Shared" MEMRDS = 1 & is_idle(h) & (host[h].at = I | host[h].at = S) ==> begin issue(h, RdS, false); end;
  rule "MemClnEvct" MEMCLNEVCT = 1 & is_idle(h) & (host[h].at = S | host[h].at = E) ==> begin issue(h, ClnEvct, false); end;
  rule "MemWr Invalid" MEMWR = 1 & is_idle(h) & host[h].at = M ==> begin write_back(h, I); end;
  rule "Drop" DROP = 1 & is_idle(h) & (host[h].at = S | host[h].at = E) ==> begin host[h].at := I; host[h].data := None; end;
  rule "Drop of M" MUTANT = DirtyDropped & is_idle(h) & host[h].at = M ==> begin host[h].at := I; host[h].data := None; end;
  -- A store may be made at any time but while a write back is under way.
  rule "Store" STORE = 1 & (host[h].at = E | host[h].at = M) & !host[h].writing ==> begin store(h); end;

  -- The host takes what the device sends, at any time.
  rule "host takes Cmp" s2m[h].ndr != NoNdr ==>
  var ndr: Ndr;
  begin
    ndr := s2m[h].ndr; s2m[h].ndr := NoNdr;
    if host[h].writing then
      host[h].writing := false;
      switch host[h].stage
      case AwaitWrite: answer(h);
      case WriteBack: respond(h, says(host[h].at));
      end;
      ask_for_bytes(h);
    elsif host[h].open = ClnEvct then host[h].open := NoReq;
    else
      if host[h].open = NoReq | host[h].granted != NoNdr then error "a Cmp that nobody waits for"; end;
      host[h].granted := ndr;
      try_fill(h);
    end;
  end;

  rule "host takes MemData" s2m[h].drs != None ==> begin
    if host[h].open = NoReq | host[h].open = InvA | host[h].open = ClnEvct | host[h].came != None then
      error "data that nobody waits for";
    end;
    host[h].came := s2m[h].drs; s2m[h].drs := None;
    try_fill(h);
  end;

  rule "host takes BISnp" s2m[h].snp != NoSnp ==> begin
    if host[h].snoop != NoSnp then error "a second BISnp"; end;
    host[h].snoop := s2m[h].snp; s2m[h].snp := NoSnp;
    if host[h].writing then host[h].stage := AwaitWrite;
    elsif host[h].open = NoReq then answer(h);
    elsif host[h].granted != NoNdr then host[h].stage := AwaitFill;
    else host[h].stage := Conflict; m2s[h].conflict := true;
    end;
  end;

  rule "host takes BIConflictAck" s2m[h].ack & (s2m[h].ndr = NoNdr | MUTANT = AckPassesCmp) ==>
  var won: boolean;
  begin
    s2m[h].ack := false;
    if host[h].stage != Conflict then error "an Ack without a BIConflict"; end;
    -- A Cmp* before the Ack: the request was first, and its fill comes before the answer.
    won := host[h].open = NoReq | host[h].granted != NoNdr;
    if won & host[h].open != NoReq & MUTANT != ConflictRowSwapped then host[h].stage := AwaitFill;
    else answer(h);
    end;
    ask_for_bytes(h);
  end;

  -- The device. A request waits for the transaction of its line.
  rule "device takes Req" m2s[h].req != NoReq & (request = NoReq | MUTANT = ReqServedUnderBisnp) ==>
  var r: Req; waits: boolean; skipped: boolean;
  begin
    r := m2s[h].req; m2s[h].req := NoReq;
    waits := false; skipped := MUTANT != HolderSkipped;
    if request = NoReq then
      for g: Host do
        if g != h & (record_of[g] = Owns & r != ClnEvct | record_of[g] = Shares & (r = RdA | r = InvA)) then
          if r != RdS & !skipped then skipped := true;
          elsif r = RdS & MUTANT = OwnerNotAsked then -- nobody is asked
          else
            asked[g] := true; waits := true;
            if r = RdS then s2m[g].snp := SnpData; else s2m[g].snp := SnpInv; end;
          end;
        end;
      end;
    end;
    if waits then request := r; requester := h; else complete(r, h); end;
  end;

  rule "device takes MemWr" m2s[h].wr != None & !(MUTANT = BisnpBlocksRwd & request != NoReq) ==> begin
    if record_of[h] != Owns then error "a write of a host that is not the recorded owner"; end;
    memory := m2s[h].wr;
    if m2s[h].wr_keeps = S then record_of[h] := Shares; else record_of[h] := Nothing; end;
    m2s[h].wr := None; m2s[h].wr_keeps := I;
    s2m[h].ndr := Cmp;
  end;

  rule "device takes BIConflict" m2s[h].conflict & !(MUTANT = ConflictOnReq & request != NoReq) ==> begin
    if !asked[h] | disputed[h] then error "a BIConflict without an open BISnp, or a second one"; end;
    disputed[h] := true;
    m2s[h].conflict := false;
    s2m[h].ack := true;
  end;

  rule "device takes BIRsp" m2s[h].rsp != NoRsp ==>
  var r: Req; asker: Host;
  begin
    if !asked[h] then error "a BIRsp without an open BISnp"; end;
    if m2s[h].rsp = RspI then record_of[h] := Nothing;
    elsif record_of[h] = Owns then record_of[h] := Shares;
    end;
    m2s[h].rsp := NoRsp;
    asked[h] := false; disputed[h] := false;
    if !(exists g: Host do asked[g] end) then
      r := request; asker := requester;
      request := NoReq; undefine requester;
      complete(r, asker);
    end;
  end;
end;

invariant "V1 one writer, and then nobody else"
  forall g: Host do forall h: Host do
    g = h | !((host[g].at = E | host[g].at = M) & host[h].at != I & host[h].data != None)
  end end;
invariant "V1 one owner"
  forall g: Host do forall h: Host do
    g = h | !((host[g].at = E | host[g].at = M) & (host[h].at = E | host[h].at = M))
  end end;
invariant "V2 every copy has the last store"
  forall h: Host do host[h].at != I & host[h].data != None -> host[h].data = Current end;
invariant "V2 a clean copy is the memory's, or the write back that makes it so is under way"
  forall h: Host do
    (host[h].at = S | host[h].at = E) & host[h].data != None -> memory = Current | exists g: Host do m2s[g].wr = Current end
  end;
invariant "V3 the last store is not lost"
  memory = Current | exists h: Host do host[h].at = M & host[h].data = Current | m2s[h].wr = Current end;
invariant "V4 the record covers every copy"
  forall h: Host do host[h].at != I -> record_of[h] != Nothing end;
invariant "V10 at least one access before a granted line is given up"
  forall h: Host do host[h].unused -> host[h].at = E | host[h].at = M end;
invariant "V14 when all is at rest the memory has the last store, unless an M copy has"
  (forall h: Host do is_idle(h) end) -> memory = Current | exists h: Host do host[h].at = M end;
