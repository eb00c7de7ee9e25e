-- CXL.cache: device caches and a host with home agent and memory (sheet coherence 2.1 to 2.8).
--
-- Two systems. With MEMORY_BEHIND 0 the memory is the home's own, read and written in the step that needs it. With 1 it is a
-- device with HDM-H behind a port of the home (3.2), and the home is a composite: a home of CXL.cache, and a requester of
-- CXL.mem that asks by MemRd (MetaField NoOp) and MemWr (Meta0, Invalid), both without a snoop.
--
-- Modelled: one line; every request of 2.2 but CacheFlushed, stores, stores that wait for ownership, silent drops of S; with
-- CORE reads and writes of the host's core, a requester with the rules of a device (2.8); a home that blocks: one transaction
-- a line. Detail: messages, all delivered in any order but a snoop, which pushes the GOs before it (O1). A device has one
-- request open (O11a), and knows which: answers depend on it. A value is known by whether it is the last store in coherence
-- order. Stores write a part of the line, as do WrInv, WOWrInv and the core; the other writes are whole.
--
-- Choices of the sheet: bold answers of 2.3; RdAny is granted E where nobody else holds the line; the home makes memory current
-- before a GO, so no GO-M; a device that gets ownership without bytes gives it up and sends RdOwn; CleanEvict is answered
-- GO_WritePull_Drop, unless CLEAN_EVICT_PULLS. The core reads as RdShared does and keeps nothing.
--
-- Choices of the home with memory behind a port: behind the last snoop answer it fetches the line if the request needs bytes
-- that no holder has given, and stores what a holder gave back unless the request writes the line anyhow; then it answers. What
-- a pull brought or the core wrote is stored before the transaction ends, and so before GO-I of WrInv and ExtCmp. The line is
-- in its hand until then. It remembers for so long that a holder kept a copy, so this is part of a state.
--
-- Two rules of the sheet have no constant here: a home that starts a second transaction on a line (O5), since one is all that
-- this home has, and a device that keeps a snoop until its granted data is in (2.4), which no state shows.
--
-- Left out: errors, poison, queues at the home, filters of limited size, several lines.

const
  DEVICES: 2;

  -- Rules that can be broken.
  NoMutant: 0;
  SnoopPassesGo: 1;           -- O1: a snoop overtakes a GO
  SnoopDuringPull: 2;         -- O3: the home releases the line when the pull is sent
  SnoopBetweenDataAndGo: 3;   -- O6: the data of a read leaves, and the line is released before the GO
  SnoopWaitsForRequest: 4;    -- O7: a device keeps a snoop until its own request has ended
  GoBeforeAnswers: 5;         -- O9: the home answers before the snoop answers are in
  EvictUntracksAll: 6;        -- O12: the home forgets an evicting device before the GO of the evict
  UseAfterEvict: 7;           -- 2.1: the core goes on using a line whose evict is under way
  BogusNotSet: 8;             -- 2.5
  BogusWritten: 9;            -- 2.5: the home writes bogus data to memory
  GrantedAnswersAsInvalid: 10; -- 2.4: GO is here, data is not: a snoop is answered as if nothing were held
  OldBytesKept: 11;           -- 2.4: a device that lost its S copy goes on with the old bytes after RdOwnNoData
  StaleEvictClearsOwner: 12;  -- 2.7
  CurrentDataCleansOwner: 13; -- 2.3: the home writes what RspVFwdV brought to memory
  SharersNotSnooped: 14;      -- 2.8: sharers are not snooped for ownership
  DirtyDropped: 15;           -- 2.1: M is dropped silently
  CopyKeptUnderSnpInv: 16;    -- 2.3: S stays under SnpInv
  WriteEndsBeforeData: 17;    -- O13: the home ends WrInv before its data is in
  StoreNotAwaited: 18;        -- 3.2: the home releases a line whose MemWr has no Cmp; needs MEMORY_BEHIND
  MUTANT: NoMutant;

  MEMORY_BEHIND: 0; -- 1: the memory is behind a port

  -- Choices of the sheet: 1 or 0.
  CLEAN_EVICT_PULLS: 0;     -- 2.2: CleanEvict of the owner is answered GO_WritePull
  DROP_S: 1; DROP_E: 0;     -- 2.1: a clean copy is dropped without a message

  -- What a device may begin: 1 or 0. WAITING: RdOwn and RdOwnNoData with a store that waits for it.
  RDCURR: 1; RDOWN: 1; RDSHARED: 1; RDANY: 1; RDOWNNODATA: 1; ITOMWR: 1; WRCUR: 1; CLFLUSH: 1;
  CLEANEVICT: 1; DIRTYEVICT: 1; CLEANEVICTNODATA: 1; WOWRINV: 1; WOWRINVF: 1; WRINV: 1;
  STORE: 1; WAITING: 1;
  CORE: 0; -- reads and writes of the host's core

type
  Dev: scalarset(DEVICES);
  Op: enum {
    NoOp, RdCurr, RdOwn, RdShared, RdAny, RdOwnNoData, ItoMWr, WrCur, CLFlush, CleanEvict, DirtyEvict, CleanEvictNoData,
    WOWrInv, WOWrInvF, WrInv,
    CoreRead, CoreWrite };
  -- Stable states; reads: asked, data without GO, GO without data (with a store that waits), data to use once, data owed to
  -- the home; upgrade with and without S copy; flush; evicts, named by the copy; CleanEvictNoData likewise; writes.
  At: enum {
    I, S, E, M,
    Cur, Wait, Data, GoS, GoE, GoESt, Once, OweI, OweS,
    UpS, UpI, Fl,
    EvM, EvE, EvS, EvI, NdE, NdS, NdI,
    Wr, WrSent };
  Value: enum { None, Stale, Current, New }; -- New: written, and not yet in coherence order
  H2dRsp: enum { NoGo, GO_S, GO_E, GO_I, WritePull, GO_WritePull, GO_WritePull_Drop, Fast_GO_WritePull, ExtCmp };
  Snp: enum { NoSnp, SnpData, SnpInv, SnpCur };
  D2hRsp: enum { NoRsp, RspIHitI, RspIHitSE, RspSHitSE, RspVHitV, RspSFwdM, RspIFwdM, RspVFwdV };
  Holding: enum { Nothing, Shares, Owns };
  -- Where the home's transaction is: snoop answers are missing; memory behind the port has been asked for the line; it has been
  -- sent what a holder gave back; it has been sent what a write or an evict brought, and the transaction ends with its Cmp.
  Stage: enum { Snooping, Fetching, Storing, Ending };

var
  dev: array [Dev] of record at: At; op: Op; copy: Value; store: boolean; end;
  -- Under way, at most one of each class and device.
  d2h: array [Dev] of record req: Op; rsp: D2hRsp; data: Value; bogus: boolean; end;
  h2d: array [Dev] of record rsp: H2dRsp; data: Value; snp: Snp; end;
  -- The home: its memory and directory, the transaction that collects snoop answers, and the pull whose data is missing.
  memory: Value;
  holding: array [Dev] of Holding;
  request: Op; requester: Dev;   -- no requester: the host's core
  asked: array [Dev] of boolean;
  late: array [Dev] of D2hRsp;   -- an answer whose data is missing
  early: array [Dev] of Value;   -- data before its answer
  pull: array [Dev] of Op;
  counts: array [Dev] of boolean; -- of a pull: a write, or an evict of the true owner
  owing: array [Dev] of H2dRsp;  -- of a broken rule
  -- Memory behind a port: where the transaction is, the line in the home's hand while it is open, what is under way.
  stage: Stage;
  hand: Value;
  kept: boolean; -- a holder that was snooped for it has kept a copy
  m2s: record req: boolean; rwd: Value; end;
  s2m: record ndr: boolean; drs: Value; end;

-- A store or write gets its place in coherence order: every other value is old. A part of a line over an old value stays old.
procedure age(var v: Value); begin if v = Current then v := Stale; end; end;
procedure all_age(); begin
  age(memory); age(hand); age(m2s.rwd); age(s2m.drs);
  for d: Dev do age(dev[d].copy); age(d2h[d].data); age(h2d[d].data); age(early[d]); end;
end;
procedure write(var v: Value; part: boolean);
var is_new: boolean;
begin
  is_new := !part | v = Current;
  all_age();
  if is_new then v := Current; else v := Stale; end;
end;

function is_evict(op: Op): boolean; begin return op = CleanEvict | op = DirtyEvict | op = CleanEvictNoData; end;
function is_part(op: Op): boolean; begin return op = WrInv | op = WOWrInv; end;
function bears_go(r: H2dRsp): boolean; begin return r != NoGo & r != WritePull & r != ExtCmp; end;
function is_evicting(at: At): boolean; begin return at = EvM | at = EvE | at = EvS | at = NdE | at = NdS; end;
function may_load(at: At): boolean; begin
  return at = S | at = E | at = M | at = UpS | MUTANT = UseAfterEvict & is_evicting(at);
end;
function may_store(at: At): boolean; begin return at = E | at = M; end;
function is_dirty(at: At): boolean; begin return at = M | at = EvM; end;
function is_stable(at: At): boolean; begin return at = I | at = S | at = E | at = M; end;

-- The device -------------------------------------------------------------------------------------------------------------

function on_menu(op: Op): boolean; begin
  switch op
  case RdCurr: return RDCURR = 1;
  case RdOwn: return RDOWN = 1;
  case RdShared: return RDSHARED = 1;
  case RdAny: return RDANY = 1;
  case RdOwnNoData: return RDOWNNODATA = 1;
  case ItoMWr: return ITOMWR = 1;
  case WrCur: return WRCUR = 1;
  case CLFlush: return CLFLUSH = 1;
  case CleanEvict: return CLEANEVICT = 1;
  case DirtyEvict: return DIRTYEVICT = 1;
  case CleanEvictNoData: return CLEANEVICTNODATA = 1;
  case WOWrInv: return WOWRINV = 1;
  case WOWrInvF: return WOWRINVF = 1;
  case WrInv: return WRINV = 1;
  end;
  return false;
end;

-- The state behind the issue of a request (2.2); the same state where it must not be issued.
function issued(at: At; op: Op): At; begin
  switch at
  case I:
    switch op
    case RdCurr: return Cur;
    case RdOwn: return Wait;
    case RdShared: return Wait;
    case RdAny: return Wait;
    case RdOwnNoData: return UpI;
    case CLFlush: return Fl;
    case ItoMWr: return Wr;
    case WrCur: return Wr;
    case WrInv: return Wr;
    case WOWrInv: return Wr;
    case WOWrInvF: return Wr;
    end;
  case S:
    if op = RdOwnNoData then return UpS; elsif op = CleanEvictNoData then return NdS; end;
  case E:
    if op = CleanEvict then return EvE; elsif op = CleanEvictNoData then return NdE; end;
  case M:
    if op = DirtyEvict then return EvM; end;
  end;
  return at;
end;

-- The request has ended in a stable state; a store that waited is made where the state allows it.
procedure close(d: Dev; at: At); begin
  dev[d].at := at; dev[d].op := NoOp;
  if at = I then dev[d].copy := None; end;
  if dev[d].store & may_store(at) then dev[d].at := M; write(dev[d].copy, true); end;
  dev[d].store := false;
end;

procedure respond(d: Dev; r: D2hRsp; at: At); begin d2h[d].rsp := r; dev[d].at := at; end;
procedure forward(d: Dev; r: D2hRsp; at: At); begin respond(d, r, at); d2h[d].data := dev[d].copy; end;

-- The home ---------------------------------------------------------------------------------------------------------------

procedure nobody_holds(); begin for d: Dev do holding[d] := Nothing; end; end;

procedure owned_by(d: Dev); begin nobody_holds(); holding[d] := Owns; end;

-- The line as the home has it: in its memory, or in its hand.
function line(): Value; begin if MEMORY_BEHIND = 1 then return hand; else return memory; end; end;

procedure keep(v: Value); begin if MEMORY_BEHIND = 1 then hand := v; else memory := v; end; end;

procedure release(); begin request := NoOp; undefine requester; stage := Snooping; hand := None; kept := false; end;

procedure send_read(d: Dev; go: H2dRsp); begin
  h2d[d].data := line();
  if MUTANT = SnoopBetweenDataAndGo then owing[d] := go; else h2d[d].rsp := go; end;
end;

procedure send_pull(d: Dev; go: H2dRsp; op: Op; does_count: boolean); begin
  h2d[d].rsp := go; pull[d] := op; counts[d] := does_count;
end;

procedure untrack(d: Dev); begin
  holding[d] := Nothing;
  if MUTANT = StaleEvictClearsOwner then for g: Dev do if holding[g] = Owns then holding[g] := Nothing; end; end; end;
end;

-- The pull ends: its bytes are where they belong.
procedure end_pull(d: Dev); begin
  if pull[d] = WrInv & MUTANT != WriteEndsBeforeData then h2d[d].rsp := GO_I;
  elsif pull[d] = WOWrInv | pull[d] = WOWrInvF then h2d[d].rsp := ExtCmp;
  end;
  pull[d] := NoOp; counts[d] := false;
  if request = NoOp then release(); end;
end;

-- What is in hand goes to the memory behind the port, if there is one.
procedure store(next: Stage); begin
  if MEMORY_BEHIND = 1 then
    if m2s.rwd != None then error "two writes of a line at once"; end;
    m2s.rwd := hand; stage := next;
  end;
end;

-- Whether the transaction goes on without a Cmp.
function is_stored(): boolean; begin return MEMORY_BEHIND = 0 | MUTANT = StoreNotAwaited; end;

-- All snoops are answered, and the line is here if it is needed: the requester gets what it asked for.
procedure answer();
var op: Op; d: Dev; v: Value; is_owner: boolean;
begin
  op := request;
  if op = CoreRead then
    if line() != Current then error "V2: the host's core reads an old value"; end;
    release();
  elsif op = CoreWrite then
    nobody_holds();
    v := line(); write(v, true); keep(v);
    store(Ending);
    if is_stored() then release(); end;
  else
    d := requester;
    switch op
    case RdCurr: h2d[d].data := line();
    case RdShared: holding[d] := Shares; send_read(d, GO_S);
    case RdAny:
      holding[d] := Nothing;
      if exists g: Dev do holding[g] != Nothing end then holding[d] := Shares; send_read(d, GO_S);
      else owned_by(d); send_read(d, GO_E);
      end;
    case RdOwn: owned_by(d); send_read(d, GO_E);
    case RdOwnNoData: owned_by(d); h2d[d].rsp := GO_E;
    case CLFlush: nobody_holds(); h2d[d].rsp := GO_I;
    case ItoMWr: nobody_holds(); send_pull(d, GO_WritePull, op, true);
    case WrCur: nobody_holds(); send_pull(d, GO_WritePull, op, true);
    case WrInv: nobody_holds(); send_pull(d, WritePull, op, true);
    case WOWrInv: nobody_holds(); send_pull(d, Fast_GO_WritePull, op, true);
    case WOWrInvF: nobody_holds(); send_pull(d, Fast_GO_WritePull, op, true);
    case CleanEvictNoData: untrack(d); h2d[d].rsp := GO_I;
    else -- O12: an evicting device is out of the directory when its GO leaves.
      is_owner := holding[d] = Owns;
      untrack(d);
      if op = CleanEvict & !(is_owner & CLEAN_EVICT_PULLS = 1) then h2d[d].rsp := GO_WritePull_Drop;
      else send_pull(d, GO_WritePull, op, is_owner);
      end;
    end;
    -- A pull keeps the line it is to be merged with.
    v := hand;
    release();
    if pull[d] != NoOp then hand := v; end;
  end;
end;

function needs_line(op: Op): boolean; begin
  return op = RdCurr | op = RdShared | op = RdAny | op = RdOwn | op = CoreRead | op = CoreWrite | is_part(op);
end;

function will_write(op: Op): boolean; begin
  return op = ItoMWr | op = WrCur | op = WrInv | op = WOWrInv | op = WOWrInvF | op = CoreWrite;
end;

-- Behind the last snoop answer. What a holder gave back is not stored if the request writes the line anyhow.
procedure serve(); begin
  if hand != None & !will_write(request) then
    store(Storing);
    if is_stored() then answer(); end;
  elsif MEMORY_BEHIND = 1 & hand = None & needs_line(request) then stage := Fetching; m2s.req := true;
  else answer();
  end;
end;

-- What a Fwd answer brought. RspVFwdV is for the requester only.
procedure forwarded(r: D2hRsp; v: Value); begin
  if r != RspVFwdV | MUTANT = CurrentDataCleansOwner then keep(v);
  else h2d[requester].data := v;
  end;
end;

-- `passed`: the requester has its data, which did not come from memory.
procedure progress(passed: boolean); begin
  if request != NoOp & stage = Snooping & !exists g: Dev do asked[g] | late[g] != NoRsp end then
    if passed then release(); else serve(); end;
  end;
end;

-- Whether the home may begin a transaction.
function is_free(): boolean; begin
  return request = NoOp & (forall g: Dev do pull[g] = NoOp end | MUTANT = SnoopDuringPull);
end;

-- Asks the holders; the requester itself is none.
procedure snoop(of_core: boolean);
var snp: Snp; waits: boolean;
begin
  switch request
  case RdCurr: snp := SnpCur;
  case CoreRead: snp := SnpData;
  case RdShared: snp := SnpData;
  case RdAny: snp := SnpData;
  else if is_evict(request) then snp := NoSnp; else snp := SnpInv; end;
  end;
  waits := false;
  for g: Dev do
    if (of_core | g != requester)
      & (holding[g] = Owns & snp != NoSnp | holding[g] = Shares & snp = SnpInv & MUTANT != SharersNotSnooped) then
      asked[g] := true; h2d[g].snp := snp; waits := true;
    end;
  end;
  if !waits | MUTANT = GoBeforeAnswers then serve(); end;
end;

startstate begin
  for d: Dev do
    dev[d].at := I; dev[d].op := NoOp; dev[d].copy := None; dev[d].store := false;
    d2h[d].req := NoOp; d2h[d].rsp := NoRsp; d2h[d].data := None; d2h[d].bogus := false;
    h2d[d].rsp := NoGo; h2d[d].data := None; h2d[d].snp := NoSnp;
    holding[d] := Nothing; asked[d] := false; late[d] := NoRsp; early[d] := None;
    pull[d] := NoOp; counts[d] := false; owing[d] := NoGo;
  end;
  memory := Current; request := NoOp; undefine requester;
  stage := Snooping; hand := None; kept := false; m2s.req := false; m2s.rwd := None; s2m.ndr := false; s2m.drs := None;
end;

-- The host's core.
rule "core reads" CORE = 1 & is_free() ==> begin request := CoreRead; snoop(true); end;
rule "core writes" CORE = 1 & is_free() ==> begin request := CoreWrite; snoop(true); end;

-- The memory behind the port, a device with HDM-H: one answer to each message.
rule "M2S Req" m2s.req ==> begin m2s.req := false; s2m.drs := memory; end;
rule "M2S RwD" m2s.rwd != None ==> begin memory := m2s.rwd; m2s.rwd := None; s2m.ndr := true; end;

rule "S2M DRS" s2m.drs != None ==> begin
  if stage != Fetching then error "data that nobody asked for"; end;
  hand := s2m.drs; s2m.drs := None;
  answer();
end;

rule "S2M NDR" s2m.ndr ==> begin
  s2m.ndr := false;
  switch stage
  case Storing: answer();
  case Ending:
    if request = CoreWrite then release();
    else for d: Dev do if pull[d] != NoOp then end_pull(d); end; end;
    end;
  else if MUTANT != StoreNotAwaited then error "a Cmp that nobody waits for"; end;
  end;
end;

ruleset d: Dev do
  -- The device's core.
  ruleset op: Op; waits: boolean do
    rule "request"
      on_menu(op) & issued(dev[d].at, op) != dev[d].at & (!waits | WAITING = 1 & (op = RdOwn | op = RdOwnNoData))
    ==> begin
      dev[d].at := issued(dev[d].at, op); dev[d].op := op; dev[d].store := waits;
      d2h[d].req := op;
    end;
  end;

  rule "store" STORE = 1 & may_store(dev[d].at) ==> begin dev[d].at := M; write(dev[d].copy, true); end;

  rule "drop"
    dev[d].at = S & DROP_S = 1 | dev[d].at = E & DROP_E = 1 | dev[d].at = M & MUTANT = DirtyDropped
  ==> begin dev[d].at := I; dev[d].copy := None; end;

  -- The device takes an answer.
  rule "H2D Rsp" h2d[d].rsp != NoGo ==>
  var go: H2dRsp;
  begin
    go := h2d[d].rsp; h2d[d].rsp := NoGo;
    switch dev[d].at
    case Wait:
      if go = GO_S then dev[d].at := GoS;
      elsif go != GO_E then error "an answer that a read cannot have";
      elsif dev[d].store then dev[d].at := GoESt;
      else dev[d].at := GoE;
      end;
    case Data:
      if go = GO_S then close(d, S);
      elsif go = GO_E then close(d, E);
      else error "an answer that a read cannot have";
      end;
    case UpS: close(d, E);
    case UpI:
      -- Ownership without bytes: it is given up, and the line is asked for.
      if MUTANT = OldBytesKept & dev[d].copy != None then close(d, E);
      else dev[d].at := Wait; dev[d].op := RdOwn; d2h[d].req := RdOwn;
      end;
    case Fl: close(d, I);
    case NdE: close(d, I);
    case NdS: close(d, I);
    case NdI: close(d, I);
    case Wr:
      d2h[d].data := New;
      if go = GO_WritePull then close(d, I); else dev[d].at := WrSent; end;
    case WrSent:
      if go = GO_I & d2h[d].data != None then error "O13: the end of WrInv before its data is in"; end;
      close(d, I);
    case EvM: d2h[d].data := dev[d].copy; close(d, I);
    case EvE:
      if go = GO_WritePull then d2h[d].data := dev[d].copy; end;
      close(d, I);
    case EvS:
      if go = GO_WritePull then d2h[d].data := dev[d].copy; d2h[d].bogus := MUTANT != BogusNotSet; end;
      close(d, I);
    case EvI:
      -- What was snooped away is sent all the same: the pull waits for 64 bytes.
      if go = GO_WritePull then d2h[d].data := dev[d].copy; d2h[d].bogus := MUTANT != BogusNotSet; end;
      close(d, I);
    else error "an answer that nobody waits for";
    end;
  end;

  rule "H2D Data" h2d[d].data != None ==>
  var v: Value;
  begin
    v := h2d[d].data; h2d[d].data := None;
    switch dev[d].at
    case Cur: close(d, I);
    case Once: close(d, I);
    case Wait:
      -- It may be used once before the GO.
      if v != Current then error "V2: an old value used before the GO"; end;
      dev[d].at := Data; dev[d].copy := v;
    case GoS: dev[d].copy := v; close(d, S);
    case GoE: dev[d].copy := v; close(d, E);
    case GoESt: dev[d].copy := v; close(d, E);
    case OweI: write(v, true); d2h[d].data := v; dev[d].store := false; close(d, I);
    case OweS: write(v, true); d2h[d].data := v; dev[d].copy := v; dev[d].store := false; close(d, S);
    else error "data that nobody waits for";
    end;
  end;

  -- The device answers a snoop at once, whatever it waits for (O7). The snoop pushes the GOs before it (O1).
  rule "H2D Req"
    h2d[d].snp != NoSnp & (!bears_go(h2d[d].rsp) | MUTANT = SnoopPassesGo)
    & (is_stable(dev[d].at) | MUTANT != SnoopWaitsForRequest)
  ==>
  var snp: Snp;
  begin
    snp := h2d[d].snp; h2d[d].snp := NoSnp;
    if MUTANT = GrantedAnswersAsInvalid & (dev[d].at = GoS | dev[d].at = GoE | dev[d].at = GoESt) then
      respond(d, RspIHitI, dev[d].at);
    else
      switch dev[d].at
      case Data: error "O6: a snoop between the data of a read and its GO";
      case OweI: error "O4: a snoop before the last one is answered in full";
      case OweS: error "O4: a snoop before the last one is answered in full";
      case M:
        switch snp
        case SnpData: forward(d, RspSFwdM, S);
        case SnpInv: forward(d, RspIFwdM, I); dev[d].copy := None;
        case SnpCur: forward(d, RspVFwdV, M);
        end;
      case EvM:
        switch snp
        case SnpData: forward(d, RspSFwdM, EvS);
        case SnpInv: forward(d, RspIFwdM, EvI);
        case SnpCur: forward(d, RspVFwdV, EvM);
        end;
      case GoESt: -- the data is owed
        switch snp
        case SnpData: respond(d, RspSFwdM, OweS);
        case SnpInv: respond(d, RspIFwdM, OweI);
        case SnpCur: respond(d, RspVHitV, GoESt);
        end;
      else
        if !(may_load(dev[d].at) | is_evicting(dev[d].at) | dev[d].at = GoS | dev[d].at = GoE) then
          respond(d, RspIHitI, dev[d].at);
        elsif snp = SnpCur then respond(d, RspVHitV, dev[d].at);
        elsif snp = SnpData then
          switch dev[d].at
          case E: respond(d, RspSHitSE, S);
          case GoE: respond(d, RspSHitSE, GoS);
          case EvE: respond(d, RspSHitSE, EvS);
          case NdE: respond(d, RspSHitSE, NdS);
          else respond(d, RspSHitSE, dev[d].at);
          end;
        else
          switch dev[d].at
          case S:
            if MUTANT = CopyKeptUnderSnpInv then respond(d, RspIHitSE, S);
            else respond(d, RspIHitSE, I); dev[d].copy := None;
            end;
          case E: respond(d, RspIHitSE, I); dev[d].copy := None;
          case UpS:
            respond(d, RspIHitSE, UpI);
            if MUTANT != OldBytesKept then dev[d].copy := None; end;
          case GoS: respond(d, RspIHitSE, Once);
          case GoE: respond(d, RspIHitSE, Once);
          case EvE: respond(d, RspIHitSE, EvI);
          case EvS: respond(d, RspIHitSE, EvI);
          case NdE: respond(d, RspIHitSE, NdI); dev[d].copy := None;
          case NdS: respond(d, RspIHitSE, NdI); dev[d].copy := None;
          end;
        end;
      end;
    end;
  end;

  -- The home takes a request when nothing is open on the line.
  rule "D2H Req" d2h[d].req != NoOp & is_free() ==> begin
    request := d2h[d].req; requester := d; d2h[d].req := NoOp;
    snoop(false);
  end;

  rule "a waiting evict is forgotten"
    MUTANT = EvictUntracksAll & request != NoOp & is_evict(d2h[d].req)
  ==> begin holding[d] := Nothing; end;

  rule "a GO that was held back leaves" owing[d] != NoGo ==> begin h2d[d].rsp := owing[d]; owing[d] := NoGo; end;

  rule "WrInv ends before its data is in"
    MUTANT = WriteEndsBeforeData & pull[d] = WrInv & dev[d].at = WrSent & h2d[d].rsp = NoGo
  ==> begin h2d[d].rsp := GO_I; end;

  rule "D2H Rsp" d2h[d].rsp != NoRsp ==>
  var r: D2hRsp; v: Value;
  begin
    if !asked[d] then error "an answer to no snoop"; end;
    r := d2h[d].rsp; d2h[d].rsp := NoRsp;
    asked[d] := false;
    kept := kept | r != RspIHitI & r != RspIHitSE & r != RspIFwdM;
    switch r
    case RspVHitV: -- as it was
    case RspVFwdV: if MUTANT = CurrentDataCleansOwner then holding[d] := Shares; end;
    case RspSHitSE: holding[d] := Shares;
    case RspSFwdM: holding[d] := Shares;
    else holding[d] := Nothing;
    end;
    if r = RspSFwdM | r = RspIFwdM | r = RspVFwdV then
      if early[d] = None then late[d] := r;
      else v := early[d]; early[d] := None; forwarded(r, v);
      end;
    end;
    progress(r = RspVFwdV & late[d] = NoRsp & MUTANT != CurrentDataCleansOwner);
  end;

  rule "D2H Data" d2h[d].data != None ==>
  var v: Value; bogus: boolean; op: Op; r: D2hRsp;
  begin
    v := d2h[d].data; bogus := d2h[d].bogus;
    d2h[d].data := None; d2h[d].bogus := false;
    if pull[d] != NoOp then
      op := pull[d];
      if is_evict(op) then
        if bogus = counts[d] then error "2.7: Bogus on the data of the holder, or none on that of another device"; end;
        if op = DirtyEvict & !bogus | MUTANT = BogusWritten & bogus then
          keep(v); store(Ending);
          if is_stored() then end_pull(d); end;
        else end_pull(d);
        end;
      else
        v := line(); write(v, is_part(op)); keep(v);
        store(Ending);
        if is_stored() then end_pull(d); end;
      end;
    else
      if bogus then error "V7: Bogus on the data of a snoop"; end;
      if late[d] != NoRsp then
        r := late[d]; late[d] := NoRsp;
        forwarded(r, v);
        progress(r = RspVFwdV & MUTANT != CurrentDataCleansOwner);
      elsif asked[d] then early[d] := v;
      else error "data that no answer announced";
      end;
    end;
  end;
end;

-- Memory has the last store, or the home that is about to write it there.
function is_kept(): boolean; begin return memory = Current | hand = Current | m2s.rwd = Current; end;

invariant "V1 one writer, and then nobody else"
  forall g: Dev do forall d: Dev do g = d | !(may_store(dev[g].at) & may_load(dev[d].at)) end end;
invariant "V2 every copy has the last store"
  forall d: Dev do may_load(dev[d].at) -> dev[d].copy = Current end;
invariant "V2 a clean copy is the memory's, or what makes it so is under way"
  forall d: Dev do
    may_load(dev[d].at) & !is_dirty(dev[d].at)
    -> is_kept() | exists g: Dev do d2h[g].data = Current & !d2h[g].bogus | early[g] = Current end
  end;
invariant "V3 the last store is not lost"
  is_kept() | exists d: Dev do
    is_dirty(dev[d].at) & dev[d].copy = Current | d2h[d].data = Current & !d2h[d].bogus | early[d] = Current
  end;
invariant "V4 the directory covers every copy, also of an evict until its GO"
  forall d: Dev do
    (may_load(dev[d].at) | is_evicting(dev[d].at)) & !(is_evicting(dev[d].at) & h2d[d].rsp != NoGo) -> holding[d] != Nothing
  end;
invariant "V7 Bogus is for evicts that were hit"
  forall d: Dev do d2h[d].bogus -> pull[d] = DirtyEvict | pull[d] = CleanEvict end;
invariant "V14 when all is at rest the memory has the last store, unless an M copy has"
  request = NoOp & (forall d: Dev do pull[d] = NoOp & is_stable(dev[d].at) end)
  -> memory = Current | exists d: Dev do dev[d].at = M end;
