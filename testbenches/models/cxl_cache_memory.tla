-------------------------- MODULE CxlCacheMemory --------------------------
(* CXL.cache with the home's memory behind a port: device caches, a host with home agent and core, and a device with HDM-H
   (sheet coherence 2.1 to 2.8, 3.2). The home is a composite: a home of CXL.cache, and a requester of CXL.mem.

   It is the Murphi model cxl_cache.m with MEMORY_BEHIND, said once more in TLA+: the same scope, the same choices, the same
   names of states and of invariants. A state of the system is one record, an action a guard and an operator that makes the next
   record. What Murphi reports as an error when a message is taken is here an invariant about messages that can be taken.

   Left out, besides what is left out there: rules that are broken. The tests of this project check the syntax of this text and
   nothing else: no checker runs it. *)
EXTENDS Naturals

Devices == 1..2

(* What may be begun besides stores. "Waiting": RdOwn and RdOwnNoData with a store that waits for them. *)
Menu == {
  "RdCurr", "RdOwn", "RdShared", "RdAny", "RdOwnNoData", "ItoMWr", "WrCur",
  "CLFlush", "CleanEvict", "DirtyEvict", "CleanEvictNoData", "WOWrInv", "WOWrInvF", "WrInv",
  "Waiting", "Core"}

(* Choices of the sheet: CleanEvict of the owner is answered GO_WritePull (2.2); a clean copy is dropped without a message
   (2.1). *)
CleanEvictPulls == FALSE
DropS == TRUE
DropE == FALSE

VARIABLE sys

No == "none"       \* no message, no value, no operation
Core == 0          \* the requester that is no device

Evicts == {"CleanEvict", "DirtyEvict", "CleanEvictNoData"}
PartWrites == {"WrInv", "WOWrInv"}
Writes == {"ItoMWr", "WrCur", "WrInv", "WOWrInv", "WOWrInvF"}
Reads == {"RdOwn", "RdShared", "RdAny"}
NeedLine == Reads \union {"RdCurr", "CoreRead", "CoreWrite"} \union PartWrites

(* States as in the Murphi model. *)
Stable == {"I", "S", "E", "M"}
Evicting == {"EvM", "EvE", "EvS", "NdE", "NdS"}
MayLoad(at) == at \in {"S", "E", "M", "UpS"}
MayStore(at) == at \in {"E", "M"}
IsDirty(at) == at \in {"M", "EvM"}
BearsGo(rsp) == rsp \notin {No, "WritePull", "ExtCmp"}

Each(value) == [d \in Devices |-> value]

Start == [
  \* Of each device: its state, its request, its copy, a store that waits.
  at |-> Each("I"), op |-> Each(No), copy |-> Each(No), store |-> Each(FALSE),
  \* Under way, at most one of each class and device: D2H Req, Rsp, Data with its Bogus; H2D Rsp, Data, Req.
  req |-> Each(No), answer |-> Each(No), given |-> Each(No), bogus |-> Each(FALSE),
  go |-> Each(No), fill |-> Each(No), snp |-> Each(No),
  \* The home: directory, transaction, snoops without an answer, answers without data, data without an answer, pulls, and
  \* whether the data of a pull counts.
  holding |-> Each("Nothing"), request |-> No, requester |-> Core, asked |-> {}, late |-> Each(No), early |-> Each(No),
  pull |-> Each(No), counts |-> Each(FALSE),
  \* Where the transaction is, the line in hand, whether a holder that was snooped has kept a copy.
  stage |-> "Snooping", hand |-> No, kept |-> FALSE,
  \* The memory, and what is under way to it and from it: MemRd, MemWr, Cmp, MemData.
  memory |-> "Current", mem_rd |-> FALSE, mem_wr |-> No, cmp |-> FALSE, mem_data |-> No]

-----------------------------------------------------------------------------
(* Values: a value is known by whether it is the last store in coherence order. *)

Age(v) == IF v = "Current" THEN "Stale" ELSE v
AgeEach(f) == [d \in Devices |-> Age(f[d])]

(* A store has its place in coherence order: every other value is old. *)
AllAged(s) ==
  [s EXCEPT !.memory = Age(@), !.hand = Age(@), !.mem_wr = Age(@), !.mem_data = Age(@), !.copy = AgeEach(@),
            !.given = AgeEach(@), !.fill = AgeEach(@), !.early = AgeEach(@)]

(* What becomes of a value: a part of a line over an old value stays old. *)
Written(v, part) == IF part /\ v # "Current" THEN "Stale" ELSE "Current"

Stored(s, d) == [AllAged(s) EXCEPT !.at[d] = "M", !.copy[d] = Written(s.copy[d], TRUE)]

-----------------------------------------------------------------------------
(* The device. *)

(* The state behind the issue of a request (2.2); the same state where it must not be issued. *)
Issued(at, op) ==
  CASE at = "I" /\ op = "RdCurr" -> "Cur"
    [] at = "I" /\ op \in Reads -> "Wait"
    [] at = "I" /\ op = "RdOwnNoData" -> "UpI"
    [] at = "I" /\ op = "CLFlush" -> "Fl"
    [] at = "I" /\ op \in Writes -> "Wr"
    [] at = "S" /\ op = "RdOwnNoData" -> "UpS"
    [] at = "S" /\ op = "CleanEvictNoData" -> "NdS"
    [] at = "E" /\ op = "CleanEvict" -> "EvE"
    [] at = "E" /\ op = "CleanEvictNoData" -> "NdE"
    [] at = "M" /\ op = "DirtyEvict" -> "EvM"
    [] OTHER -> at

(* The request has ended in a stable state; a store that waited is made where the state allows it. *)
Closed(s, d, at) ==
  LET ended == [s EXCEPT !.at[d] = at, !.op[d] = No, !.store[d] = FALSE, !.copy[d] = IF at = "I" THEN No ELSE @]
  IN IF s.store[d] /\ MayStore(at) THEN Stored(ended, d) ELSE ended

Filled(s, d, v, at) == Closed([s EXCEPT !.copy[d] = v], d, at)

Request(d) ==
  \E op \in Menu, waits \in BOOLEAN :
    /\ Issued(sys.at[d], op) # sys.at[d]
    /\ waits => "Waiting" \in Menu /\ op \in {"RdOwn", "RdOwnNoData"}
    /\ sys' = [sys EXCEPT !.at[d] = Issued(@, op), !.op[d] = op, !.store[d] = waits, !.req[d] = op]

Store(d) == MayStore(sys.at[d]) /\ sys' = Stored(sys, d)

Drop(d) ==
  /\ (sys.at[d] = "S" /\ DropS) \/ (sys.at[d] = "E" /\ DropE)
  /\ sys' = [sys EXCEPT !.at[d] = "I", !.copy[d] = No]

(* The device takes an answer: what it is from then on. What was snooped away is sent all the same, as Bogus (2.5). *)
Answered(s, d, go) ==
  LET at == s.at[d]
      pulled == go = "GO_WritePull"
  IN CASE at = "Wait" ->
            [s EXCEPT !.at[d] = IF go = "GO_S" THEN "GoS" ELSE IF s.store[d] THEN "GoESt" ELSE "GoE"]
       [] at = "Data" -> Closed(s, d, IF go = "GO_S" THEN "S" ELSE "E")
       [] at = "UpS" -> Closed(s, d, "E")
       \* Ownership without bytes: it is given up, and the line is asked for.
       [] at = "UpI" -> [s EXCEPT !.at[d] = "Wait", !.op[d] = "RdOwn", !.req[d] = "RdOwn"]
       [] at \in {"Fl", "NdE", "NdS", "NdI", "WrSent"} -> Closed(s, d, "I")
       [] at = "Wr" ->
            LET sent == [s EXCEPT !.given[d] = "New"]
            IN IF pulled THEN Closed(sent, d, "I") ELSE [sent EXCEPT !.at[d] = "WrSent"]
       [] at \in {"EvM", "EvE", "EvS", "EvI"} ->
            LET sent == [s EXCEPT !.given[d] = s.copy[d], !.bogus[d] = at \in {"EvS", "EvI"}]
            IN Closed(IF pulled THEN sent ELSE s, d, "I")

TakeH2dRsp(d) ==
  /\ sys.go[d] # No
  /\ sys' = Answered([sys EXCEPT !.go[d] = No], d, sys.go[d])

(* The device takes data: it fills a line, or it is used once, or it is owed to the home. *)
GotData(s, d, v) ==
  LET at == s.at[d]
      stored == Written(v, TRUE)
      owed == [AllAged(s) EXCEPT !.given[d] = stored, !.copy[d] = stored, !.store[d] = FALSE]
  IN CASE at \in {"Cur", "Once"} -> Closed(s, d, "I")
       [] at = "Wait" -> [s EXCEPT !.at[d] = "Data", !.copy[d] = v]
       [] at = "GoS" -> Filled(s, d, v, "S")
       [] at \in {"GoE", "GoESt"} -> Filled(s, d, v, "E")
       [] at = "OweI" -> Closed(owed, d, "I")
       [] at = "OweS" -> Closed(owed, d, "S")

TakeH2dData(d) ==
  /\ sys.fill[d] # No
  /\ sys' = GotData([sys EXCEPT !.fill[d] = No], d, sys.fill[d])

(* Answer to a snoop, next state, and whether the copy is forwarded and whether it is lost (2.3, 2.4). *)
SnoopRow(at, snp) ==
  LET row(answer, next, gives, loses) == [answer |-> answer, next |-> next, gives |-> gives, loses |-> loses]
      clean(shared, gone, loses) ==
        CASE snp = "SnpCur" -> row("RspVHitV", at, FALSE, FALSE)
          [] snp = "SnpData" -> row("RspSHitSE", shared, FALSE, FALSE)
          [] snp = "SnpInv" -> row("RspIHitSE", gone, FALSE, loses)
      dirty(shared, gone, loses) ==
        CASE snp = "SnpCur" -> row("RspVFwdV", at, TRUE, FALSE)
          [] snp = "SnpData" -> row("RspSFwdM", shared, TRUE, FALSE)
          [] snp = "SnpInv" -> row("RspIFwdM", gone, TRUE, loses)
  IN CASE at = "M" -> dirty("S", "I", TRUE)
       [] at = "EvM" -> dirty("EvS", "EvI", FALSE)
       \* A store waits, so the line is as good as dirty; its data is owed.
       [] at = "GoESt" /\ snp = "SnpData" -> row("RspSFwdM", "OweS", FALSE, FALSE)
       [] at = "GoESt" /\ snp = "SnpInv" -> row("RspIFwdM", "OweI", FALSE, FALSE)
       [] at = "GoESt" /\ snp = "SnpCur" -> row("RspVHitV", at, FALSE, FALSE)
       [] at = "S" -> clean("S", "I", TRUE)
       [] at = "E" -> clean("S", "I", TRUE)
       [] at = "UpS" -> clean("UpS", "UpI", TRUE)
       [] at = "GoS" -> clean("GoS", "Once", FALSE)
       [] at = "GoE" -> clean("GoS", "Once", FALSE)
       [] at = "EvE" -> clean("EvS", "EvI", FALSE)
       [] at = "EvS" -> clean("EvS", "EvI", FALSE)
       [] at = "NdE" -> clean("NdS", "NdI", TRUE)
       [] at = "NdS" -> clean("NdS", "NdI", TRUE)
       [] OTHER -> row("RspIHitI", at, FALSE, FALSE)

(* A snoop can be taken when it has pushed the GOs before it (O1), and then at once, whatever the device waits for (O7). *)
CanTakeSnoop(s, d) == s.snp[d] # No /\ ~BearsGo(s.go[d])

TakeH2dReq(d) ==
  /\ CanTakeSnoop(sys, d)
  /\ LET row == SnoopRow(sys.at[d], sys.snp[d])
     IN sys' = [sys EXCEPT !.snp[d] = No, !.answer[d] = row.answer, !.at[d] = row.next,
                           !.given[d] = IF row.gives THEN sys.copy[d] ELSE @,
                           !.copy[d] = IF row.loses THEN No ELSE @]

-----------------------------------------------------------------------------
(* The home. *)

Released(s) == [s EXCEPT !.request = No, !.requester = Core, !.stage = "Snooping", !.hand = No, !.kept = FALSE]

Nobody == Each("Nothing")
OwnedBy(d) == [Nobody EXCEPT ![d] = "Owns"]

(* The line goes to the memory; the transaction goes on with its Cmp. *)
Sent(s, next) == [s EXCEPT !.mem_wr = s.hand, !.stage = next]

(* The pull ends: its bytes are where they belong. *)
PullEnded(s, d) ==
  LET last == CASE s.pull[d] = "WrInv" -> "GO_I"
                [] s.pull[d] \in {"WOWrInv", "WOWrInvF"} -> "ExtCmp"
                [] OTHER -> s.go[d]
  IN Released([s EXCEPT !.go[d] = last, !.pull[d] = No, !.counts[d] = FALSE])

(* All snoops are answered, and the line is here if it is needed: the requester gets what it asked for. *)
Served(s) ==
  LET op == s.request
      d == s.requester
      ended == Released(s)
      \* A read: who holds the line from then on, and the GO.
      granted(holding, go) == [ended EXCEPT !.holding = holding, !.go[d] = go, !.fill[d] = s.hand]
      shared == [s.holding EXCEPT ![d] = "Shares"]
      \* A pull keeps the line that it is to be merged with.
      pulled(holding, go, counts) ==
        [ended EXCEPT !.holding = holding, !.go[d] = go, !.pull[d] = op, !.counts[d] = counts, !.hand = s.hand]
      is_owner == s.holding[d] = "Owns"
      left == [s.holding EXCEPT ![d] = "Nothing"]
  IN CASE op = "CoreRead" -> ended
       [] op = "CoreWrite" ->
            Sent([AllAged(s) EXCEPT !.holding = Nobody, !.hand = Written(s.hand, TRUE)], "Ending")
       [] op = "RdCurr" -> [ended EXCEPT !.fill[d] = s.hand]
       [] op = "RdShared" -> granted(shared, "GO_S")
       [] op = "RdAny" -> IF \E g \in Devices \ {d} : s.holding[g] # "Nothing"
                          THEN granted(shared, "GO_S")
                          ELSE granted(OwnedBy(d), "GO_E")
       [] op = "RdOwn" -> granted(OwnedBy(d), "GO_E")
       [] op = "RdOwnNoData" -> [ended EXCEPT !.holding = OwnedBy(d), !.go[d] = "GO_E"]
       [] op = "CLFlush" -> [ended EXCEPT !.holding = Nobody, !.go[d] = "GO_I"]
       [] op \in {"ItoMWr", "WrCur"} -> pulled(Nobody, "GO_WritePull", TRUE)
       [] op = "WrInv" -> pulled(Nobody, "WritePull", TRUE)
       [] op \in {"WOWrInv", "WOWrInvF"} -> pulled(Nobody, "Fast_GO_WritePull", TRUE)
       \* O12: an evicting device is out of the directory when its GO leaves.
       [] op = "CleanEvictNoData" -> [ended EXCEPT !.holding = left, !.go[d] = "GO_I"]
       [] op = "CleanEvict" /\ ~(is_owner /\ CleanEvictPulls) ->
            [ended EXCEPT !.holding = left, !.go[d] = "GO_WritePull_Drop"]
       [] op \in {"CleanEvict", "DirtyEvict"} -> pulled(left, "GO_WritePull", is_owner)

(* Behind the last snoop answer: bytes that no holder has given are fetched; what a holder gave back is stored, unless the
   request writes the line anyhow. *)
Ready(s) ==
  IF s.hand # No /\ s.request \notin Writes \union {"CoreWrite"} THEN Sent(s, "Storing")
  ELSE IF s.hand = No /\ s.request \in NeedLine THEN [s EXCEPT !.stage = "Fetching", !.mem_rd = TRUE]
  ELSE Served(s)

IsFree(s) == s.request = No /\ \A d \in Devices : s.pull[d] = No

(* A transaction begins: the owner is snooped, for ownership everybody; the requester itself never. *)
Begun(s, op, requester) ==
  LET snp == CASE op = "RdCurr" -> "SnpCur"
               [] op \in {"RdShared", "RdAny", "CoreRead"} -> "SnpData"
               [] op \in Evicts -> No
               [] OTHER -> "SnpInv"
      holders == {d \in Devices \ {requester} :
                    (s.holding[d] = "Owns" /\ snp # No) \/ (s.holding[d] = "Shares" /\ snp = "SnpInv")}
      begun == [s EXCEPT !.request = op, !.requester = requester, !.asked = holders,
                         !.snp = [d \in Devices |-> IF d \in holders THEN snp ELSE @[d]]]
  IN IF holders = {} THEN Ready(begun) ELSE begun

TakeD2hReq(d) ==
  /\ sys.req[d] # No /\ IsFree(sys)
  /\ sys' = Begun([sys EXCEPT !.req[d] = No], sys.req[d], d)

CoreReads == "Core" \in Menu /\ IsFree(sys) /\ sys' = Begun(sys, "CoreRead", Core)
CoreWrites == "Core" \in Menu /\ IsFree(sys) /\ sys' = Begun(sys, "CoreWrite", Core)

(* A snoop is answered in full: `rsp`, with the data `v` of a Fwd. That of RspVFwdV is for the requester only. *)
SnoopAnswered(s, rsp, v) ==
  LET is_last == s.asked = {} /\ \A d \in Devices : s.late[d] = No
      brought == IF v = No THEN s ELSE [s EXCEPT !.hand = v]
  IN IF rsp = "RspVFwdV" THEN Released([s EXCEPT !.fill[s.requester] = v])
     ELSE IF is_last THEN Ready(brought)
     ELSE brought

TakeD2hRsp(d) ==
  /\ sys.answer[d] # No
  /\ LET rsp == sys.answer[d]
         held == CASE rsp \in {"RspVHitV", "RspVFwdV"} -> sys.holding[d]
                   [] rsp \in {"RspSHitSE", "RspSFwdM"} -> "Shares"
                   [] OTHER -> "Nothing"
         is_kept == rsp \notin {"RspIHitI", "RspIHitSE", "RspIFwdM"}
         heard == [sys EXCEPT !.answer[d] = No, !.asked = @ \ {d}, !.holding[d] = held, !.kept = @ \/ is_kept]
         v == sys.early[d]
     IN sys' = IF rsp \notin {"RspSFwdM", "RspIFwdM", "RspVFwdV"} THEN SnoopAnswered(heard, rsp, No)
               ELSE IF v = No THEN [heard EXCEPT !.late[d] = rsp]
               ELSE SnoopAnswered([heard EXCEPT !.early[d] = No], rsp, v)

(* Data of a pull: Bogus and that of a clean evict is dropped (2.5). *)
Pulled(s, d, v) ==
  LET op == s.pull[d]
      merged == [AllAged(s) EXCEPT !.hand = Written(s.hand, op \in PartWrites)]
  IN CASE op \in Writes -> Sent(merged, "Ending")
       [] op = "DirtyEvict" /\ s.counts[d] -> Sent([s EXCEPT !.hand = v], "Ending")
       [] OTHER -> PullEnded(s, d)

TakeD2hData(d) ==
  /\ sys.given[d] # No
  /\ LET v == sys.given[d]
         heard == [sys EXCEPT !.given[d] = No, !.bogus[d] = FALSE]
     IN sys' = CASE sys.pull[d] # No -> Pulled(heard, d, v)
                 [] sys.late[d] # No -> SnoopAnswered([heard EXCEPT !.late[d] = No], sys.late[d], v)
                 [] OTHER -> [heard EXCEPT !.early[d] = v]

TakeMemData ==
  /\ sys.mem_data # No
  /\ sys' = Served([sys EXCEPT !.mem_data = No, !.hand = sys.mem_data])

TakeCmp ==
  /\ sys.cmp
  /\ LET heard == [sys EXCEPT !.cmp = FALSE]
     IN sys' = IF sys.stage = "Storing" THEN Served(heard)
               ELSE IF sys.request = "CoreWrite" THEN Released(heard)
               ELSE PullEnded(heard, CHOOSE d \in Devices : sys.pull[d] # No)

-----------------------------------------------------------------------------
(* The memory behind the port: one answer to each message. *)

TakeMemRd == sys.mem_rd /\ sys' = [sys EXCEPT !.mem_rd = FALSE, !.mem_data = sys.memory]
TakeMemWr == sys.mem_wr # No /\ sys' = [sys EXCEPT !.mem_wr = No, !.memory = sys.mem_wr, !.cmp = TRUE]

-----------------------------------------------------------------------------

Init == sys = Start

Next ==
  \/ \E d \in Devices :
       \/ Request(d) \/ Store(d) \/ Drop(d)
       \/ TakeH2dRsp(d) \/ TakeH2dData(d) \/ TakeH2dReq(d)
       \/ TakeD2hReq(d) \/ TakeD2hRsp(d) \/ TakeD2hData(d)
  \/ CoreReads \/ CoreWrites
  \/ TakeMemRd \/ TakeMemWr \/ TakeMemData \/ TakeCmp

Spec == Init /\ [][Next]_sys

-----------------------------------------------------------------------------
(* Invariants, by their numbers in the sheet (4). *)

(* Memory has the last store, or the home that is about to write it there. *)
IsKept == "Current" \in {sys.memory, sys.hand, sys.mem_wr}
IsGiven(d) == (sys.given[d] = "Current" /\ ~sys.bogus[d]) \/ sys.early[d] = "Current"

V1OneWriter == \A d, g \in Devices : d = g \/ ~(MayStore(sys.at[d]) /\ MayLoad(sys.at[g]))

V2LastStore == \A d \in Devices : MayLoad(sys.at[d]) => sys.copy[d] = "Current"

V2CleanIsMemory ==
  \A d \in Devices :
    MayLoad(sys.at[d]) /\ ~IsDirty(sys.at[d]) => IsKept \/ \E g \in Devices : IsGiven(g)

V2UsedBeforeGo == \A d \in Devices : sys.at[d] = "Wait" /\ sys.fill[d] # No => sys.fill[d] = "Current"

V2CoreReads == sys.request = "CoreRead" => sys.hand \in {No, "Current"} /\ sys.mem_data \in {No, "Current"}

V3NoLostStore ==
  IsKept \/ \E d \in Devices : (IsDirty(sys.at[d]) /\ sys.copy[d] = "Current") \/ IsGiven(d)

V4Tracking ==
  \A d \in Devices :
    (MayLoad(sys.at[d]) \/ sys.at[d] \in Evicting) /\ ~(sys.at[d] \in Evicting /\ sys.go[d] # No)
    => sys.holding[d] # "Nothing"

V5Expected ==
  /\ \A d \in Devices :
       /\ sys.go[d] # No => sys.at[d] \notin Stable \union {"Cur", "GoS", "GoE", "GoESt", "Once", "OweI", "OweS"}
       /\ sys.at[d] \in {"Wait", "Data"} /\ sys.go[d] # No => sys.go[d] \in {"GO_S", "GO_E"}
       /\ sys.fill[d] # No => sys.at[d] \in {"Cur", "Once", "Wait", "GoS", "GoE", "GoESt", "OweI", "OweS"}
       /\ sys.answer[d] # No => d \in sys.asked
       /\ sys.given[d] # No => sys.pull[d] # No \/ sys.late[d] # No \/ d \in sys.asked
  /\ sys.mem_data # No => sys.stage = "Fetching"
  /\ sys.cmp => sys.stage \in {"Storing", "Ending"}

V7Bogus ==
  \A d \in Devices :
    /\ sys.bogus[d] => sys.pull[d] \in {"DirtyEvict", "CleanEvict"}
    /\ sys.given[d] # No /\ sys.pull[d] \in Evicts => sys.bogus[d] # sys.counts[d]

(* O4, O6: no snoop between the data of a read and its GO, nor before the last one is answered in full. *)
V8Snoops == \A d \in Devices : CanTakeSnoop(sys, d) => sys.at[d] \notin {"Data", "OweI", "OweS"}

(* O13: WrInv ends when its data is in. *)
V8WriteEnds == \A d \in Devices : sys.at[d] = "WrSent" /\ sys.go[d] = "GO_I" => sys.given[d] = No

V14Quiescence ==
  sys.request = No /\ (\A d \in Devices : sys.pull[d] = No /\ sys.at[d] \in Stable)
  => sys.memory = "Current" \/ \E d \in Devices : sys.at[d] = "M"
=============================================================================
