-- CXL.cache, one line: RdShared, RdOwn, CleanEvict, DirtyEvict and stores of three devices, a home that blocks.
-- The same menu as the row "explored states" of the bench, for a checker of the Murphi family. A value is known by
-- whether it is the last store.

const DEVICES: 3;

type
  Dev: 0 .. DEVICES - 1;
  At: enum { I, S, E, M, WaitS, WaitE, DataS, DataE, GoS, GoE, Once, EvM, EvE, EvS, EvI };
  Req: enum { NoReq, RdShared, RdOwn, CleanEvict, DirtyEvict };
  Go: enum { NoGo, GrantS, GrantE, Pull, Drop };
  Snp: enum { NoSnp, SnpData, SnpInv };
  Rsp: enum { NoRsp, IHitI, SHitSE, IHitSE, SFwdM, IFwdM };
  Phase: enum { Idle, Snooping, Pulling };
  Value: enum { None, Stale, Current };
  Device: record at: At; copy: Value; end;
  Link: record req: Req; rsp: Rsp; up: Value; bogus: boolean; go: Go; snp: Snp; down: Value; end;

var
  dev: array [Dev] of Device;
  link: array [Dev] of Link;
  memory: Value;
  phase: Phase;
  owner: array [Dev] of boolean;
  sharer: array [Dev] of boolean;
  requester: Dev;
  request: Req;
  want_rsp: array [Dev] of boolean;
  want_data: array [Dev] of boolean;
  early: array [Dev] of Value;
  counts: boolean;

procedure age(var v: Value); begin if v = Current then v := Stale; end; end;

procedure grant(); begin
  if request = RdShared then link[requester].go := GrantS; sharer[requester] := true;
  else
    link[requester].go := GrantE;
    for d: Dev do owner[d] := false; sharer[d] := false; end;
    owner[requester] := true;
  end;
  link[requester].down := memory;
  phase := Idle;
end;

procedure try_grant(); begin
  if !(exists d: Dev do want_rsp[d] | want_data[d] end) then grant(); end;
end;

startstate begin
  for d: Dev do
    dev[d].at := I; dev[d].copy := None;
    link[d].req := NoReq; link[d].rsp := NoRsp; link[d].up := None; link[d].bogus := false;
    link[d].go := NoGo; link[d].snp := NoSnp; link[d].down := None;
    owner[d] := false; sharer[d] := false;
    want_rsp[d] := false; want_data[d] := false; early[d] := None;
  end;
  memory := Current; phase := Idle; requester := 0; request := NoReq; counts := false;
end;

ruleset d: Dev do
  rule "RdShared" dev[d].at = I & link[d].req = NoReq ==> begin link[d].req := RdShared; dev[d].at := WaitS; end;
  rule "RdOwn" dev[d].at = I & link[d].req = NoReq ==> begin link[d].req := RdOwn; dev[d].at := WaitE; end;
  rule "CleanEvict" dev[d].at = E ==> begin link[d].req := CleanEvict; dev[d].at := EvE; end;
  rule "DirtyEvict" dev[d].at = M ==> begin link[d].req := DirtyEvict; dev[d].at := EvM; end;
  rule "Store" dev[d].at = E | dev[d].at = M ==> begin
    age(memory);
    for e: Dev do age(dev[e].copy); age(link[e].up); age(link[e].down); age(early[e]); end;
    dev[d].copy := Current; dev[d].at := M;
  end;

  rule "GO arrives" link[d].go != NoGo ==> begin
    switch link[d].go
    case GrantS: if dev[d].at = DataS then dev[d].at := S; else dev[d].at := GoS; end;
    case GrantE: if dev[d].at = DataE then dev[d].at := E; else dev[d].at := GoE; end;
    case Drop: dev[d].at := I; dev[d].copy := None;
    case Pull:
      link[d].up := dev[d].copy;
      if dev[d].copy = None then link[d].up := Stale; end;
      link[d].bogus := dev[d].at = EvS | dev[d].at = EvI;
      dev[d].at := I; dev[d].copy := None;
    end;
    link[d].go := NoGo;
  end;

  rule "Data arrives" link[d].down != None ==> begin
    switch dev[d].at
    case WaitS: dev[d].at := DataS; dev[d].copy := link[d].down;
    case WaitE: dev[d].at := DataE; dev[d].copy := link[d].down;
    case GoS: dev[d].at := S; dev[d].copy := link[d].down;
    case GoE: dev[d].at := E; dev[d].copy := link[d].down;
    case Once: dev[d].at := I; dev[d].copy := None;
    else error "data that nobody waits for";
    end;
    link[d].down := None;
  end;

  -- Snoop pushes GO.
  rule "Snoop arrives" link[d].snp != NoSnp & link[d].go = NoGo ==> begin
    if link[d].snp = SnpInv then
      switch dev[d].at
      case S: link[d].rsp := IHitSE; dev[d].at := I; dev[d].copy := None;
      case E: link[d].rsp := IHitSE; dev[d].at := I; dev[d].copy := None;
      case M: link[d].rsp := IFwdM; link[d].up := dev[d].copy; dev[d].at := I; dev[d].copy := None;
      case GoS: link[d].rsp := IHitSE; dev[d].at := Once;
      case GoE: link[d].rsp := IHitSE; dev[d].at := Once;
      case EvM: link[d].rsp := IFwdM; link[d].up := dev[d].copy; dev[d].at := EvI;
      case EvE: link[d].rsp := IHitSE; dev[d].at := EvI;
      case EvS: link[d].rsp := IHitSE; dev[d].at := EvI;
      else link[d].rsp := IHitI;
      end;
    else
      switch dev[d].at
      case S: link[d].rsp := SHitSE;
      case E: link[d].rsp := SHitSE; dev[d].at := S;
      case M: link[d].rsp := SFwdM; link[d].up := dev[d].copy; dev[d].at := S;
      case GoS: link[d].rsp := SHitSE;
      case GoE: link[d].rsp := SHitSE; dev[d].at := GoS;
      case EvM: link[d].rsp := SFwdM; link[d].up := dev[d].copy; dev[d].at := EvS;
      case EvE: link[d].rsp := SHitSE; dev[d].at := EvS;
      case EvS: link[d].rsp := SHitSE;
      else link[d].rsp := IHitI;
      end;
    end;
    link[d].snp := NoSnp;
  end;

  rule "Home takes a read" phase = Idle & (link[d].req = RdShared | link[d].req = RdOwn) ==> begin
    requester := d; request := link[d].req; phase := Snooping;
    for e: Dev do
      if e != d & (owner[e] | (link[d].req = RdOwn & sharer[e])) then
        want_rsp[e] := true;
        if link[d].req = RdOwn then link[e].snp := SnpInv; else link[e].snp := SnpData; end;
      end;
    end;
    link[d].req := NoReq;
    try_grant();
  end;

  rule "Home takes an evict" phase = Idle & (link[d].req = CleanEvict | link[d].req = DirtyEvict) ==> begin
    if link[d].req = CleanEvict then link[d].go := Drop;
    else link[d].go := Pull; phase := Pulling; requester := d; counts := owner[d]; end;
    owner[d] := false; sharer[d] := false;
    link[d].req := NoReq;
  end;

  rule "Home takes pulled data" phase = Pulling & requester = d & link[d].up != None ==> begin
    if !link[d].bogus & counts then memory := link[d].up; end;
    link[d].up := None; link[d].bogus := false; phase := Idle; counts := false;
  end;

  rule "Home takes an answer" link[d].rsp != NoRsp ==> begin
    want_rsp[d] := false;
    if link[d].rsp = SFwdM | link[d].rsp = IFwdM then
      if early[d] != None then memory := early[d]; early[d] := None; else want_data[d] := true; end;
    end;
    owner[d] := false;
    sharer[d] := link[d].rsp = SFwdM | link[d].rsp = SHitSE;
    link[d].rsp := NoRsp;
    try_grant();
  end;

  rule "Home takes forwarded data" phase = Snooping & link[d].up != None ==> begin
    if want_data[d] then memory := link[d].up; want_data[d] := false; link[d].up := None; try_grant();
    else early[d] := link[d].up; link[d].up := None; end;
  end;
end;

invariant "single writer"
  forall d: Dev do forall e: Dev do
    d = e | !((dev[d].at = E | dev[d].at = M) & (dev[e].at = S | dev[e].at = E | dev[e].at = M))
  end end;
invariant "value"
  forall d: Dev do (dev[d].at = S | dev[d].at = E | dev[d].at = M) -> dev[d].copy = Current end;
