-- Two levels: a host whose caching devices hold lines of a device with HDM-DB, and one host more (sheet coherence 2.2 to 2.8,
-- 3.2, 3.4, 3.5).
--
-- Host H0 is a composite: a home of CXL.cache below, a host of CXL.mem above. It owns a line above before a device below gets
-- any copy of it, and gives it up only when no device has one, so that what devices hold is within what the host holds. Its
-- copy is the home's memory: data of a device makes it M.
--
-- Modelled: one line. Devices: RdShared, RdOwn, CleanEvict, DirtyEvict, stores, silent drops of S. H1: MemRd Any, with a store
-- that waits too, MemRd Shared, MemClnEvct, MemWr that keeps nothing, stores, silent drops. H0 asks with MemRd Any whatever the
-- device wants, and gives a copy that no device has up by MemWr or MemClnEvct. The device above: a record of the hosts, BISnpInv
-- and BISnpData, the BIConflict handshake. Detail: messages, all delivered in any order but a snoop, which pushes the GOs before
-- it (O1), and BIConflictAck, which passes no Cmp* of its Tag. A device has one request open, and knows which. A value is
-- known by whether it is the last store in coherence order.
--
-- Choices of the composite: a request for a line that H0 does not own is set aside, one at most, until MemRd Any is filled. A
-- BISnp for a line that devices have is set aside until the home has taken the line back by SnpInv. A BISnp that was there
-- before the fill waits in the host, which answers it when the device that asked has got the line and given it back (one
-- access, 3.5). Meanwhile no other device is served. The other choices are those of cxl_cache.m and hdm_db.m.
--
-- Left out: what is left out there; shared copies above for reads below; a core of H0.

const
  DEVICES: 2;

  -- Rules that can be broken.
  NoMutant: 0;
  SnoopPassesGo: 1;          -- O1: a snoop overtakes a GO
  GrantedAnswersAsInvalid: 2; -- 2.4: GO is here, data is not: a snoop is answered as if nothing were held
  StaleEvictClearsOwner: 3;  -- 2.7
  SharersNotSnooped: 4;      -- 2.8: sharers are not snooped for ownership
  CopyKeptUnderSnpInv: 5;    -- 2.3: S stays under SnpInv
  BogusNotSet: 6;            -- 2.5
  AckPassesCmp: 7;           -- 3.5: BIConflictAck overtakes a Cmp of the same Tag
  HolderSkipped: 8;          -- 3.7: ownership is granted while the other holder has not been asked
  OwnerNotAsked: 9;          -- 3.7: a shared grant is given without asking the owner
  AnswerBeforeWriteDone: 10; -- 3.4: BIRsp is sent with the write back, not after its Cmp
  DirtyHostNotWritten: 11;   -- 3.4: a dirty copy is given up without a write back
  BisnpBlocksRwd: 12;        -- 3.4: writes wait while a BISnp is open
  ConflictOnReq: 13;         -- 3.5: BIConflict waits like a Req for the BISnp it is about
  ConflictRowSwapped: 14;    -- 3.5: the host takes the row of the early conflict in a late one
  MUTANT: NoMutant;

  -- What may begin: 1 or 0. DROP: H1 drops clean copies, H0 gives up its copy. WAITING: MemRd Any with a store that waits.
  RDSHARED: 1; RDOWN: 1; CLEANEVICT: 1; DIRTYEVICT: 1;
  MEMRDA: 1; MEMRDS: 1; MEMCLNEVCT: 1; MEMWR: 1; DROP: 1; STORE: 1; WAITING: 1;

type
  Dev: scalarset(DEVICES);
  Host: enum { H0, H1 };
  Value: enum { None, Stale, Current };
  -- CXL.cache. Stable states; reads: asked, data without GO, GO without data, data to use once; evicts, named by the copy.
  At: enum { I, S, E, M, Wait, Data, GoS, GoE, Once, EvM, EvE, EvS, EvI };
  Op: enum { NoOp, RdShared, RdOwn, CleanEvict, DirtyEvict, Recall };
  H2dRsp: enum { NoGo, GO_S, GO_E, GO_WritePull, GO_WritePull_Drop };
  Snp: enum { NoSnp, SnpData, SnpInv };
  D2hRsp: enum { NoRsp, RspIHitI, RspIHitSE, RspSHitSE, RspSFwdM, RspIFwdM };
  Holding: enum { Nothing, Shares, Owns };
  -- CXL.mem.
  Req: enum { NoReq, RdA, RdS, ClnEvct };
  Ndr: enum { NoNdr, Cmp, CmpS, CmpE };
  BiRsp: enum { NoBiRsp, RspI, RspS };
  -- Where a BISnp stands at a host: BIConflict without its Ack; waits for the fill and one access; for the Cmp of a write that
  -- was under way; for that of its own write back. Aside: devices have the line.
  Stage: enum { NoStage, Aside, Conflict, AwaitFill, AwaitWrite, WriteBack };

var
  dev: array [Dev] of record at: At; op: Op; copy: Value; end;
  -- Under way below, at most one of each class and device.
  d2h: array [Dev] of record req: Op; rsp: D2hRsp; data: Value; bogus: boolean; end;
  h2d: array [Dev] of record rsp: H2dRsp; data: Value; snp: Snp; end;
  -- The home in H0: its directory, the transaction that collects snoop answers, the pull whose data is missing, and the request
  -- that waits for the line.
  holding: array [Dev] of Holding;
  request: Op; requester: Dev;
  asked: array [Dev] of boolean;
  late: array [Dev] of D2hRsp;
  early: array [Dev] of Value;
  pull: array [Dev] of Op;
  counts: array [Dev] of boolean;
  set_aside: Op; waiter: Dev;
  -- The hosts.
  host: array [Host] of record
    at: At; data: Value;
    open: Req; granted: Ndr; came: Value;
    store_waits: boolean;
    due: boolean;          -- H0: the line has come, and the access it was asked for has not been made
    writing: boolean;      -- a MemWr has no Cmp yet
    snoop: Snp; stage: Stage;
  end;
  -- Under way above, at most one of each class and host.
  m2s: array [Host] of record req: Req; wr: Value; wr_keeps: At; conflict: boolean; rsp: BiRsp; end;
  s2m: array [Host] of record ndr: Ndr; ack: boolean; drs: Value; snp: Snp; end;
  -- The device above.
  memory: Value;
  record_of: array [Host] of Holding;
  filed: Req; filer: Host;
  bisnp: array [Host] of boolean;
  disputed: array [Host] of boolean;

procedure age(var v: Value); begin if v = Current then v := Stale; end; end;
procedure all_age(); begin
  age(memory);
  for d: Dev do age(dev[d].copy); age(d2h[d].data); age(h2d[d].data); age(early[d]); end;
  for h: Host do age(host[h].data); age(host[h].came); age(m2s[h].wr); age(s2m[h].drs); end;
end;

function may_load(at: At): boolean; begin return at = S | at = E | at = M; end;
function may_store(at: At): boolean; begin return at = E | at = M; end;
function is_evicting(at: At): boolean; begin return at = EvM | at = EvE | at = EvS; end;
function is_evict(op: Op): boolean; begin return op = CleanEvict | op = DirtyEvict; end;

-- A device below ---------------------------------------------------------------------------------------------------------

function on_menu(op: Op): boolean; begin
  switch op
  case RdShared: return RDSHARED = 1;
  case RdOwn: return RDOWN = 1;
  case CleanEvict: return CLEANEVICT = 1;
  case DirtyEvict: return DIRTYEVICT = 1;
  end;
  return false;
end;

-- The state behind the issue of a request (2.2); the same state where it must not be issued.
function issued(at: At; op: Op): At; begin
  if at = I & (op = RdShared | op = RdOwn) then return Wait;
  elsif at = E & op = CleanEvict then return EvE;
  elsif at = M & op = DirtyEvict then return EvM;
  end;
  return at;
end;

procedure close(d: Dev; at: At); begin
  dev[d].at := at; dev[d].op := NoOp;
  if at = I then dev[d].copy := None; end;
end;

procedure respond(d: Dev; r: D2hRsp; at: At); begin d2h[d].rsp := r; dev[d].at := at; end;
procedure forward(d: Dev; r: D2hRsp; at: At); begin respond(d, r, at); d2h[d].data := dev[d].copy; end;

-- A host above -----------------------------------------------------------------------------------------------------------

function is_idle(h: Host): boolean; begin
  return host[h].open = NoReq & !host[h].writing & host[h].snoop = NoSnp;
end;

procedure issue(h: Host; r: Req; waits: boolean); begin
  host[h].open := r; host[h].store_waits := waits; m2s[h].req := r;
  if r = ClnEvct then host[h].at := I; host[h].data := None; end;
end;

procedure write_back(h: Host; keeps: At); begin
  m2s[h].wr := host[h].data; m2s[h].wr_keeps := keeps;
  host[h].writing := true;
  host[h].at := keeps;
  if keeps = I then host[h].data := None; end;
end;

procedure send_birsp(h: Host; r: BiRsp); begin
  host[h].snoop := NoSnp; host[h].stage := NoStage;
  m2s[h].rsp := r;
end;

function says(at: At): BiRsp; begin if at = S then return RspS; else return RspI; end; end;

-- The BISnp is answered from the present state; a dirty copy is written back first.
procedure answer_bisnp(h: Host);
var left: At;
begin
  left := I;
  if host[h].snoop = SnpData & host[h].at != I then left := S; end;
  if host[h].at = M & MUTANT != DirtyHostNotWritten then
    write_back(h, left);
    if MUTANT = AnswerBeforeWriteDone then send_birsp(h, says(left)); else host[h].stage := WriteBack; end;
  else
    host[h].at := left;
    if left = I then host[h].data := None; end;
    send_birsp(h, says(left));
  end;
end;

procedure host_stores(h: Host); begin
  all_age();
  host[h].at := M; host[h].data := Current; host[h].store_waits := false;
end;

-- The fill is done when completion and data are here. An own dirty copy is newer than what comes. At least one access is made
-- before the line is given up, by H0 when the device that asked is served.
procedure try_fill(h: Host); begin
  alias own: host[h] do
    if own.granted != NoNdr & own.came != None then
      if own.at != M then
        if own.granted = CmpS then own.at := S; else own.at := E; end;
        own.data := own.came;
      end;
      own.open := NoReq; own.granted := NoNdr; own.came := None;
      if h = H0 then own.due := true;
      else
        if own.store_waits then host_stores(h); end;
        if own.stage = AwaitFill then answer_bisnp(h); end;
      end;
    end;
  end;
end;

-- The home in H0 ---------------------------------------------------------------------------------------------------------

-- Whether a device has a copy, or gets or loses one.
function is_in_use(): boolean; begin
  return request != NoOp | exists d: Dev do holding[d] != Nothing | pull[d] != NoOp end;
end;

function is_snooped(): boolean; begin return host[H0].snoop != NoSnp; end;

function is_owned(): boolean; begin return may_store(host[H0].at) & (is_idle(H0) | host[H0].stage = Aside | host[H0].due); end;

function is_free(): boolean; begin return request = NoOp & !exists d: Dev do pull[d] != NoOp end; end;

-- Bytes of a device are newer than the host's copy.
procedure absorb(v: Value); begin host[H0].data := v; host[H0].at := M; end;

procedure release(); begin request := NoOp; undefine requester; end;

procedure untrack(d: Dev); begin
  holding[d] := Nothing;
  if MUTANT = StaleEvictClearsOwner then for g: Dev do if holding[g] = Owns then holding[g] := Nothing; end; end; end;
end;

-- All snoops are answered: the requester gets what it asked for.
procedure serve();
var op: Op; d: Dev; is_owner: boolean;
begin
  op := request;
  if op = Recall then
    for g: Dev do holding[g] := Nothing; end;
    release();
  else
    d := requester;
    release();
    switch op
    case RdShared: holding[d] := Shares; h2d[d].rsp := GO_S; h2d[d].data := host[H0].data;
    case RdOwn:
      for g: Dev do holding[g] := Nothing; end;
      holding[d] := Owns; h2d[d].rsp := GO_E; h2d[d].data := host[H0].data;
    else
      is_owner := holding[d] = Owns;
      untrack(d);
      if op = CleanEvict then h2d[d].rsp := GO_WritePull_Drop;
      else h2d[d].rsp := GO_WritePull; pull[d] := op; counts[d] := is_owner;
      end;
    end;
  end;
end;

-- A transaction begins. `of_device`: the requester is not snooped.
procedure begin_request(of_device: boolean);
var snp: Snp; waits: boolean;
begin
  if request = RdShared then snp := SnpData; elsif is_evict(request) then snp := NoSnp; else snp := SnpInv; end;
  waits := false;
  for g: Dev do
    if (!of_device | g != requester)
      & (holding[g] = Owns & snp != NoSnp | holding[g] = Shares & snp = SnpInv & MUTANT != SharersNotSnooped) then
      asked[g] := true; h2d[g].snp := snp; waits := true;
    end;
  end;
  if !waits then serve(); end;
end;

procedure progress(); begin
  if request != NoOp & !exists g: Dev do asked[g] | late[g] != NoRsp end then serve(); end;
end;

-- Everything that can go on in H0, in this order: the request that waits is served when the line is here, or the line is
-- asked for; a line that is wanted above is taken back; a BISnp that no device stands against goes to the host; the access that
-- is due is made.
procedure go_on(); begin
  if set_aside != NoOp then
    if is_owned() then
      if is_free() then
        request := set_aside; requester := waiter;
        set_aside := NoOp; undefine waiter;
        begin_request(true);
      end;
    elsif !is_snooped() & is_idle(H0) then issue(H0, RdA, false);
    end;
  end;
  if is_snooped() & is_free() & exists d: Dev do holding[d] != Nothing end then
    request := Recall;
    begin_request(false);
  end;
  alias own: host[H0] do
    if own.stage = Aside & !is_in_use() then own.stage := NoStage; answer_bisnp(H0); end;
    if own.due & set_aside = NoOp & (!is_in_use() | !is_snooped()) then
      own.due := false;
      if own.stage = AwaitFill then answer_bisnp(H0); end;
    end;
  end;
end;

-- The device above -------------------------------------------------------------------------------------------------------

procedure complete(r: Req; h: Host); begin
  switch r
  case ClnEvct: record_of[h] := Nothing; s2m[h].ndr := Cmp;
  case RdS: record_of[h] := Shares; s2m[h].ndr := CmpS; s2m[h].drs := memory;
  else
    for g: Host do record_of[g] := Nothing; end;
    record_of[h] := Owns; s2m[h].ndr := CmpE; s2m[h].drs := memory;
  end;
end;

startstate begin
  for d: Dev do
    dev[d].at := I; dev[d].op := NoOp; dev[d].copy := None;
    d2h[d].req := NoOp; d2h[d].rsp := NoRsp; d2h[d].data := None; d2h[d].bogus := false;
    h2d[d].rsp := NoGo; h2d[d].data := None; h2d[d].snp := NoSnp;
    holding[d] := Nothing; asked[d] := false; late[d] := NoRsp; early[d] := None; pull[d] := NoOp; counts[d] := false;
  end;
  request := NoOp; undefine requester; set_aside := NoOp; undefine waiter;
  for h: Host do
    host[h].at := I; host[h].data := None; host[h].open := NoReq; host[h].granted := NoNdr; host[h].came := None;
    host[h].store_waits := false; host[h].due := false; host[h].writing := false;
    host[h].snoop := NoSnp; host[h].stage := NoStage;
    m2s[h].req := NoReq; m2s[h].wr := None; m2s[h].wr_keeps := I; m2s[h].conflict := false; m2s[h].rsp := NoBiRsp;
    s2m[h].ndr := NoNdr; s2m[h].ack := false; s2m[h].drs := None; s2m[h].snp := NoSnp;
    record_of[h] := Nothing; bisnp[h] := false; disputed[h] := false;
  end;
  memory := Current; filed := NoReq; undefine filer;
end;

ruleset d: Dev do
  ruleset op: Op do
    rule "request" on_menu(op) & issued(dev[d].at, op) != dev[d].at ==> begin
      dev[d].at := issued(dev[d].at, op); dev[d].op := op;
      d2h[d].req := op;
    end;
  end;

  rule "store" STORE = 1 & may_store(dev[d].at) ==> begin all_age(); dev[d].at := M; dev[d].copy := Current; end;

  rule "drop" dev[d].at = S ==> begin close(d, I); end;

  rule "H2D Rsp" h2d[d].rsp != NoGo ==>
  var go: H2dRsp;
  begin
    go := h2d[d].rsp; h2d[d].rsp := NoGo;
    switch dev[d].at
    case Wait: if go = GO_S then dev[d].at := GoS; else dev[d].at := GoE; end;
    case Data: if go = GO_S then close(d, S); else close(d, E); end;
    else
      if !(is_evicting(dev[d].at) | dev[d].at = EvI) then error "an answer that nobody waits for"; end;
      -- What was snooped away is sent all the same: the pull waits for 64 bytes.
      if go = GO_WritePull then
        d2h[d].data := dev[d].copy;
        d2h[d].bogus := (dev[d].at = EvS | dev[d].at = EvI) & MUTANT != BogusNotSet;
      end;
      close(d, I);
    end;
  end;

  rule "H2D Data" h2d[d].data != None ==>
  var v: Value;
  begin
    v := h2d[d].data; h2d[d].data := None;
    switch dev[d].at
    case Once: close(d, I);
    case Wait:
      if v != Current then error "V2: an old value used before the GO"; end;
      dev[d].at := Data; dev[d].copy := v;
    case GoS: dev[d].copy := v; close(d, S);
    case GoE: dev[d].copy := v; close(d, E);
    else error "data that nobody waits for";
    end;
  end;

  rule "H2D Req" h2d[d].snp != NoSnp & (h2d[d].rsp = NoGo | MUTANT = SnoopPassesGo) ==>
  var snp: Snp;
  begin
    snp := h2d[d].snp; h2d[d].snp := NoSnp;
    switch dev[d].at
    case Data: error "O6: a snoop between the data of a read and its GO";
    case M: if snp = SnpData then forward(d, RspSFwdM, S); else forward(d, RspIFwdM, I); dev[d].copy := None; end;
    case EvM: if snp = SnpData then forward(d, RspSFwdM, EvS); else forward(d, RspIFwdM, EvI); end;
    case S:
      if snp = SnpData then respond(d, RspSHitSE, S);
      elsif MUTANT = CopyKeptUnderSnpInv then respond(d, RspIHitSE, S);
      else respond(d, RspIHitSE, I); dev[d].copy := None;
      end;
    case E: if snp = SnpData then respond(d, RspSHitSE, S); else respond(d, RspIHitSE, I); dev[d].copy := None; end;
    case GoS:
      if MUTANT = GrantedAnswersAsInvalid then respond(d, RspIHitI, GoS);
      elsif snp = SnpData then respond(d, RspSHitSE, GoS); else respond(d, RspIHitSE, Once); end;
    case GoE:
      if MUTANT = GrantedAnswersAsInvalid then respond(d, RspIHitI, GoE);
      elsif snp = SnpData then respond(d, RspSHitSE, GoS); else respond(d, RspIHitSE, Once); end;
    case EvE: if snp = SnpData then respond(d, RspSHitSE, EvS); else respond(d, RspIHitSE, EvI); end;
    case EvS: if snp = SnpData then respond(d, RspSHitSE, EvS); else respond(d, RspIHitSE, EvI); end;
    else respond(d, RspIHitI, dev[d].at);
    end;
  end;

  -- H0 takes a request of a device: at once when it owns the line and nobody above wants it, or aside.
  rule "D2H Req"
    d2h[d].req != NoOp & set_aside = NoOp & (!is_owned() | !is_snooped() & is_free())
  ==>
  var op: Op;
  begin
    op := d2h[d].req; d2h[d].req := NoOp;
    if is_owned() then request := op; requester := d; begin_request(true);
    else set_aside := op; waiter := d;
    end;
    go_on();
  end;

  rule "D2H Rsp" d2h[d].rsp != NoRsp ==>
  var r: D2hRsp;
  begin
    if !asked[d] then error "an answer to no snoop"; end;
    r := d2h[d].rsp; d2h[d].rsp := NoRsp;
    asked[d] := false;
    if r = RspSHitSE | r = RspSFwdM then holding[d] := Shares; else holding[d] := Nothing; end;
    if r = RspSFwdM | r = RspIFwdM then
      if early[d] = None then late[d] := r; else absorb(early[d]); early[d] := None; end;
    end;
    progress();
    go_on();
  end;

  rule "D2H Data" d2h[d].data != None ==>
  var v: Value; bogus: boolean;
  begin
    v := d2h[d].data; bogus := d2h[d].bogus;
    d2h[d].data := None; d2h[d].bogus := false;
    if pull[d] != NoOp then
      if bogus = counts[d] then error "2.7: Bogus on the data of the holder, or none on that of another device"; end;
      if !bogus then absorb(v); end;
      pull[d] := NoOp; counts[d] := false;
    elsif late[d] != NoRsp then late[d] := NoRsp; absorb(v); progress();
    elsif asked[d] then early[d] := v;
    else error "data that no answer announced";
    end;
    go_on();
  end;
end;

-- H0 gives up a copy that no device has.
rule "H0 gives up"
  DROP = 1 & host[H0].at != I & is_idle(H0) & !is_in_use() & set_aside = NoOp
==> begin
  if host[H0].at = M then write_back(H0, I); else issue(H0, ClnEvct, false); end;
end;

-- The core of H1.
rule "MemRd Any" MEMRDA = 1 & is_idle(H1) ==> begin issue(H1, RdA, false); end;
rule "MemRd Any for a store" MEMRDA = 1 & WAITING = 1 & is_idle(H1) ==> begin issue(H1, RdA, true); end;
rule "MemRd Shared" MEMRDS = 1 & is_idle(H1) & (host[H1].at = I | host[H1].at = S) ==> begin issue(H1, RdS, false); end;
rule "MemClnEvct" MEMCLNEVCT = 1 & is_idle(H1) & (host[H1].at = S | host[H1].at = E) ==> begin issue(H1, ClnEvct, false); end;
rule "MemWr Invalid" MEMWR = 1 & is_idle(H1) & host[H1].at = M ==> begin write_back(H1, I); end;
rule "Drop" DROP = 1 & is_idle(H1) & (host[H1].at = S | host[H1].at = E) ==> begin host[H1].at := I; host[H1].data := None; end;
rule "Store" STORE = 1 & may_store(host[H1].at) & !host[H1].writing ==> begin host_stores(H1); end;

ruleset h: Host do
  -- The host takes what the device sends, at any time.
  rule "host takes Cmp" s2m[h].ndr != NoNdr ==>
  var ndr: Ndr;
  begin
    ndr := s2m[h].ndr; s2m[h].ndr := NoNdr;
    if host[h].writing then
      host[h].writing := false;
      switch host[h].stage
      case AwaitWrite: answer_bisnp(h);
      case WriteBack: send_birsp(h, says(host[h].at));
      end;
    elsif host[h].open = ClnEvct then host[h].open := NoReq;
    else
      if host[h].open = NoReq | host[h].granted != NoNdr then error "a Cmp that nobody waits for"; end;
      host[h].granted := ndr;
      try_fill(h);
    end;
    if h = H0 then go_on(); end;
  end;

  rule "host takes MemData" s2m[h].drs != None ==> begin
    if host[h].open = NoReq | host[h].open = ClnEvct | host[h].came != None then error "data that nobody waits for"; end;
    host[h].came := s2m[h].drs; s2m[h].drs := None;
    try_fill(h);
    if h = H0 then go_on(); end;
  end;

  rule "host takes BISnp" s2m[h].snp != NoSnp ==> begin
    if host[h].snoop != NoSnp then error "a second BISnp"; end;
    host[h].snoop := s2m[h].snp; s2m[h].snp := NoSnp;
    if h = H0 & is_in_use() then host[h].stage := Aside;
    elsif host[h].writing then host[h].stage := AwaitWrite;
    elsif host[h].open = NoReq then answer_bisnp(h);
    elsif host[h].granted != NoNdr then host[h].stage := AwaitFill;
    else host[h].stage := Conflict; m2s[h].conflict := true;
    end;
    if h = H0 then go_on(); end;
  end;

  rule "host takes BIConflictAck" s2m[h].ack & (s2m[h].ndr = NoNdr | MUTANT = AckPassesCmp) ==>
  begin
    s2m[h].ack := false;
    if host[h].stage != Conflict then error "an Ack without a BIConflict"; end;
    -- A Cmp* before the Ack: the request was first, and its fill and one access come before the answer.
    if (host[h].open != NoReq & host[h].granted != NoNdr | host[h].due) & MUTANT != ConflictRowSwapped then
      host[h].stage := AwaitFill;
    else answer_bisnp(h);
    end;
    if h = H0 then go_on(); end;
  end;

  -- The device above. A request waits for the transaction of its line.
  rule "device takes Req" m2s[h].req != NoReq & filed = NoReq ==>
  var r: Req; waits: boolean;
  begin
    r := m2s[h].req; m2s[h].req := NoReq;
    waits := false;
    for g: Host do
      if g != h & (record_of[g] = Owns & r != ClnEvct | record_of[g] = Shares & r = RdA)
        & !(r = RdA & MUTANT = HolderSkipped) & !(r = RdS & MUTANT = OwnerNotAsked) then
        bisnp[g] := true; waits := true;
        if r = RdS then s2m[g].snp := SnpData; else s2m[g].snp := SnpInv; end;
      end;
    end;
    if waits then filed := r; filer := h; else complete(r, h); end;
  end;

  rule "device takes MemWr" m2s[h].wr != None & !(MUTANT = BisnpBlocksRwd & filed != NoReq) ==> begin
    if record_of[h] != Owns then error "a write of a host that is not the recorded owner"; end;
    memory := m2s[h].wr;
    if m2s[h].wr_keeps = S then record_of[h] := Shares; else record_of[h] := Nothing; end;
    m2s[h].wr := None; m2s[h].wr_keeps := I;
    s2m[h].ndr := Cmp;
  end;

  rule "device takes BIConflict" m2s[h].conflict & !(MUTANT = ConflictOnReq & filed != NoReq) ==> begin
    if !bisnp[h] | disputed[h] then error "a BIConflict without an open BISnp, or a second one"; end;
    disputed[h] := true;
    m2s[h].conflict := false;
    s2m[h].ack := true;
  end;

  rule "device takes BIRsp" m2s[h].rsp != NoBiRsp ==>
  var r: Req; asker: Host;
  begin
    if !bisnp[h] then error "a BIRsp without an open BISnp"; end;
    if m2s[h].rsp = RspI then record_of[h] := Nothing;
    elsif record_of[h] = Owns then record_of[h] := Shares;
    end;
    m2s[h].rsp := NoBiRsp;
    bisnp[h] := false; disputed[h] := false;
    r := filed; asker := filer;
    filed := NoReq; undefine filer;
    complete(r, asker);
  end;
end;

-- Whether the last store is in a place from which it reaches the memory.
function is_kept(): boolean; begin
  return memory = Current
    | exists h: Host do host[h].at = M & host[h].data = Current | m2s[h].wr = Current end
    | exists d: Dev do
        (dev[d].at = M | dev[d].at = EvM) & dev[d].copy = Current | d2h[d].data = Current & !d2h[d].bogus | early[d] = Current
      end;
end;

invariant "V1 one writer below, and then nobody else"
  forall g: Dev do forall d: Dev do g = d | !(may_store(dev[g].at) & may_load(dev[d].at)) end end;
invariant "V1 one writer above, and then nobody else"
  !(may_store(host[H0].at) & host[H1].at != I) & !(may_store(host[H1].at) & host[H0].at != I);
invariant "V2 every copy has the last store"
  (forall d: Dev do may_load(dev[d].at) -> dev[d].copy = Current end)
  & (host[H1].at != I -> host[H1].data = Current)
  & (host[H0].at != I & !is_in_use() -> host[H0].data = Current);
invariant "V3 the last store is not lost" is_kept();
invariant "V4 the home's directory covers every copy below, also of an evict until its GO"
  forall d: Dev do
    (may_load(dev[d].at) | is_evicting(dev[d].at)) & !(is_evicting(dev[d].at) & h2d[d].rsp != NoGo) -> holding[d] != Nothing
  end;
invariant "V4 the record above covers every copy"
  forall h: Host do host[h].at != I -> record_of[h] != Nothing end;
invariant "V4 what devices hold is within what the host holds"
  forall d: Dev do holding[d] != Nothing -> may_store(host[H0].at) end;
invariant "V7 Bogus is for evicts that were hit"
  forall d: Dev do d2h[d].bogus -> pull[d] = DirtyEvict end;
invariant "V14 when all is at rest the memory has the last store, unless an M copy has"
  (forall h: Host do is_idle(h) end) & !is_in_use() -> memory = Current | exists h: Host do host[h].at = M end;
