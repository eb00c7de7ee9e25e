
  // Broken rules that a team knows of, each with a reason and, if it has one, an end: a number of units, a last day, or both. What day it is,
  // nobody but the bench says, so that a run is the same on every day: `today`, which the plusarg +scalepool_today=YYYY-MM-DD sets if the
  // bench does not. A waiver whose last day lies before `today` is not taken, and `remarks` says so.
  class sp_waivers;
    string today; // YYYY-MM-DD; set it before the first waiver with a last day
    protected string rules[$];
    protected string reasons[$];
    protected longint unsigned until_units[$];
    protected bit used[$];
    protected string over[$];

    function new();
      if ($value$plusargs("scalepool_today=%s", today) == 0) today = "";
    endfunction

    // What happens when a waiver is refused, which is a mistake of the bench; override it for another report.
    virtual function void refused(string text);
      $fatal(1, "%s", text);
    endfunction

    // Whether there is such a rule.
    protected function bit known(string what, string rule);
      known = sp_library::knows_rule(rule);
      if (!known) refused({what, ": ", sp_library::why()});
    endfunction

    // Waives the events of a rule: those before the unit `until_unit` of their direction, up to the day `last_day`, that day included.
    function void waive(string rule, string reason, longint unsigned until_unit = '1, string last_day = "");
      int unsigned holds;
      if (!known("waiver", rule)) return;
      if (reason == "") begin
        refused({"waiver of ", rule, ": found no reason, expected why the rule may be broken"});
        return;
      end
      holds = 1;
      if (last_day != "" && today == "") begin
        refused({"waiver of ", rule, ": found the last day ", last_day, " and no `today` to compare it with, expected +scalepool_today=YYYY-MM-DD"});
        return;
      end
      if (last_day != "" && sp_waiver_holds(last_day, today, holds) != SP_OK) begin
        refused({"waiver of ", rule, ": ", sp_library::why()});
        return;
      end
      if (holds == 0) begin
        over.push_back({"the waiver of ", rule, " has expired on ", last_day, ": ", reason});
        return;
      end
      rules.push_back(rule);
      reasons.push_back(reason);
      until_units.push_back(until_unit);
      used.push_back(0);
    endfunction

    // Why an event is waived; empty if it is not.
    function string reason_of(sp_event_t e);
      foreach (rules[n]) if (rules[n] == e.rule && e.unit < until_units[n]) begin
        used[n] = 1;
        return reasons[n];
      end
      return "";
    endfunction

    // What is to be said of the waivers themselves: those that have expired, and those that no event has matched so far.
    function void remarks(ref string lines[$]);
      foreach (over[n]) lines.push_back(over[n]);
      foreach (rules[n]) if (!used[n]) lines.push_back({"the waiver of ", rules[n], " matches nothing: ", reasons[n]});
    endfunction
  endclass
