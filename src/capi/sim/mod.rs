//! Runs of built-in scenarios: text in, metrics out, step by step, with ports that can be watched, disturbed and driven.
//!
//! A scenario is a text of TOML: `scenario` names it, `seed`, `cycles`, `threads`, `stimulus` (a file) and `external` (a port
//! whose end is the caller's) may follow, and every other key is one of the scenario's own, dotted or in tables:
//! `link.ber = 1e-5`. The same text gives the same bytes, however it is stepped: metrics, traces and waves after some steps
//! are those of one run to the same cycle. Other settings or another seed are for the next run, which begins at the start.
//!
//! A walk through one [`sp_sim_step`]: the scenario is built if no run is under way; the kernel goes on from where
//! it stands; functions of hooks and log are called as things happen; units that passed a watched wire wait ([`port`]).

pub mod hook;
pub mod port;
mod run;

use super::call::{Caller, call};
use super::status::{Failure, SP_EMPTY, SP_ERR_INPUT, SP_FINDING, SP_OK};
use super::table::Table;
use run::{Output, Sim};
use scalepool::forms::FormError;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, Request, RunError};
use scalepool::trace::log::{LogFilter, LogTo};
use serde_json::Value;
use std::ffi::{c_char, c_void};
use std::path::PathBuf;

/// Most cycles of the reference clock of one run.
pub const SP_MAX_CYCLES: u64 = 10_000_000;

/// Most threads of one run.
const MAX_THREADS: u64 = 64;

/// Most dots of a line. A key with a dot for each table goes as deep as it has dots, and nobody should need a stack for it.
const MAX_DOTS: usize = 64;

static SIMS: Table<Sim> = Table::new(2, "simulation");

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        Failure::new(SP_ERR_INPUT, error.to_string())
    }
}

/// Puts the keys of a table into a request; `path` is what stands in front of them.
fn read(table: &toml::Table, path: &str, request: &mut Request) -> Result<(), Failure> {
    let number = |key: &str, value: &toml::Value, highest: u64| {
        let number = value.as_integer().and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= highest);
        number.ok_or_else(|| FormError::new(key, value.to_string(), format!("a whole number from 0 to {highest}")))
    };
    let text = |key: &str, value: &toml::Value| {
        value.as_str().map(str::to_owned).ok_or_else(|| FormError::new(key, value.to_string(), "a text in quotes"))
    };
    for (key, value) in table {
        let key = format!("{path}{key}");
        match (key.as_str(), value) {
            ("scenario", _) => request.scenario = text(&key, value)?,
            ("seed", _) => request.seed = number(&key, value, i64::MAX as u64)?,
            ("cycles", _) => request.cycles = Some(number(&key, value, SP_MAX_CYCLES)?),
            ("threads", _) => request.threads = number(&key, value, MAX_THREADS)?.max(1) as usize,
            ("external", _) => request.external = Some(text(&key, value)?),
            ("stimulus", _) => request.stimulus = Some(PathBuf::from(text(&key, value)?)),
            (_, toml::Value::Table(table)) => read(table, &format!("{key}."), request)?,
            (_, toml::Value::Array(items)) => {
                let items: Vec<String> = items.iter().map(plain).collect();
                request.set.push(format!("{key}={}", items.join(",")));
            }
            _ => request.set.push(format!("{key}={}", plain(value))),
        }
    }
    Ok(())
}

/// A value as `--set` takes it: without quotes, `on` and `off` for truth.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Boolean(yes) => if *yes { "on" } else { "off" }.into(),
        other => other.to_string(),
    }
}

/// Refuses a request that no run could be made of, as far as that can be seen beforehand.
fn check(request: &Request) -> Result<(), Failure> {
    let requests = scenario::split(request)?;
    for request in &requests {
        scenario::check(request)?;
    }
    match requests.len() {
        1 => Ok(()),
        n => Err(RunError::Modes { found: n }.into()),
    }
}

/// A file that can be written without waiting: none yet, or a plain one.
fn output(what: &str, path: String) -> Result<Option<PathBuf>, Failure> {
    if path.is_empty() {
        return Ok(None);
    }
    if let Some(at) = path.find('\0') {
        return Err(FormError::new(what, format!("NUL at byte {at}"), "a path without NUL").into());
    }
    let path = PathBuf::from(path);
    if std::fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
        return Err(FormError::new(what, path.display().to_string(), "a file, or a name that is free").into());
    }
    Ok(Some(path))
}

/// A simulation of a text of TOML. With `format = 1` the text is the description of a system, as `run FILE.toml` takes
/// it; its seed is 1 until sp_sim_seed. Otherwise it names a scenario or the file of a description:
/// `scenario = "cxl68-expander"`, then `seed = 1`, `link.ber = 1e-6`, `host.accesses = 1000` and so on, one a line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_new(text: *const c_char, text_length: usize, sim: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let sim = caller.place("sim", sim)?;
        let text = caller.text("text", text, text_length)?;
        if let Some(line) = text.lines().position(|line| line.matches('.').count() > MAX_DOTS) {
            return Err(Failure::range(&format!("line {}", line + 1), "more dots", format!("at most {MAX_DOTS}")));
        }
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            Failure::new(SP_ERR_INPUT, format!("text: found no TOML: {}", e.message()))
        })?;
        let mut request = Request { threads: 1, seed: scenario::DEFAULT_SEED, ..Request::default() };
        if table.contains_key("format") {
            request.description = Some(text.to_owned());
        } else {
            read(&table, "", &mut request)?;
        }
        if let Some(path) = &request.stimulus
            && !path.is_file()
        {
            return Err(FormError::new("stimulus", path.display().to_string(), "a file").into());
        }
        check(&request)?;
        sim.set(SIMS.insert(Sim::new(request))?);
        Ok(SP_OK)
    })
}

/// Changes a setting of the scenario for the next run, with which the next step, or call that names a port, begins at the
/// start: `link.ber=1e-5`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_set(sim: u64, setting: *const c_char, setting_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let setting = caller.text("setting", setting, setting_length)?;
        SIMS.with(sim, |sim| {
            let mut request = sim.request.clone();
            // The last one counts, so an older one of the same key can go.
            let key = setting.split('=').next().unwrap_or_default().trim().to_owned();
            request.set.retain(|s| s.split('=').next().unwrap_or_default().trim() != key);
            request.set.push(setting);
            check(&request)?;
            sim.ask(request);
            Ok(SP_OK)
        })
    })
}

/// Changes the seed for the next run, with which the next step begins at the start.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_seed(sim: u64, seed: u64) -> i32 {
    call(|| {
        SIMS.with(sim, |sim| {
            sim.ask(Request { seed, ..sim.request.clone() });
            Ok(SP_OK)
        })
    })
}

/// Waves: a VCD file at this path, with GTKWave files beside it; an empty path switches them off. In a run that is under way
/// they show what happens from here on, and a file that is switched off gets its name at once; else they are of the next
/// runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_wave(sim: u64, path: *const c_char, path_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let path = output("path", caller.text("path", path, path_length)?)?;
        SIMS.with(sim, |sim| {
            let outputs = Outputs { vcd: path, ..sim.request.outputs.clone() };
            sim.show(Output::Wave, outputs).map(|()| SP_OK)
        })
    })
}

/// Transaction trace: JSON lines at this path; an empty path switches it off. In a run that is under way as for sp_sim_wave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_trace(sim: u64, path: *const c_char, path_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let path = output("path", caller.text("path", path, path_length)?)?;
        SIMS.with(sim, |sim| {
            let outputs = Outputs { trace: path, ..sim.request.outputs.clone() };
            sim.show(Output::Trace, outputs).map(|()| SP_OK)
        })
    })
}

/// A function that takes a line of the log, without its end and without NUL; `line` is good during the call alone. It runs
/// inside sp_sim_step and sp_sim_run, in the thread of that call, and has to return, as sp_hook has to.
pub type SpLog = Option<unsafe extern "C" fn(user: *mut c_void, line: *const c_char, line_length: usize)>;

/// Log: every event that the filter wants, as a line for `function`; null switches it off. In a run that is under way as for
/// sp_sim_wave. The filter is that of `scalepool run --log`: `link=debug,scenario=info`, or a level for all layers. Layers are
/// link, coherence and scenario; levels off, warn, info, debug and trace. A line has the id of its
/// transaction, which is that of the trace. `user` goes to the function as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_log(
    sim: u64,
    filter: *const c_char,
    filter_length: usize,
    function: SpLog,
    user: *mut c_void,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let filter = caller.text("filter", filter, filter_length)?;
        let filter = LogFilter::parse(&filter).map_err(|e| Failure::new(SP_ERR_INPUT, e.to_string()))?;
        // The pointer of the caller, as a number: nothing here follows it.
        let user = user as usize;
        let log = function.map(|function| {
            // SAFETY: a function of the caller, who promises that it is one of this type and that it returns.
            LogTo::new(filter, move |line| unsafe { function(user as *mut c_void, line.as_ptr().cast(), line.len()) })
        });
        SIMS.with(sim, |sim| {
            let outputs = Outputs { log, ..sim.request.outputs.clone() };
            sim.show(Output::Log, outputs).map(|()| SP_OK)
        })
    })
}

/// Goes on for so many cycles of the reference clock; what it costs is in proportion to them. The first step, and the first
/// one after other settings, begins at the start. SP_EMPTY if nothing is left to do: the work is done, or `cycles` of the
/// text are over; then waves and traces are complete. SP_ERR_RANGE if that would be more than SP_MAX_CYCLES in all. Broken
/// rules are in the metrics.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_step(sim: u64, cycles: u64) -> i32 {
    call(|| SIMS.with(sim, |sim| sim.step(cycles)))
}

/// Goes on to a cycle of the reference clock, 1 to SP_MAX_CYCLES, or until the work is done if that is earlier; 0 takes
/// `cycles` of the text, or SP_MAX_CYCLES. A cycle that is past begins at the start. It takes as long as the scenario asks
/// for: a million cycles are about a second. Waves and traces end here, and a step behind it is not in them. SP_FINDING if a
/// rule is broken.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_run(sim: u64, cycles: u64) -> i32 {
    call(|| {
        if cycles > SP_MAX_CYCLES {
            return Err(Failure::range("cycles", cycles, format!("at most {SP_MAX_CYCLES}")));
        }
        SIMS.with(sim, |sim| {
            let cycles = Some(cycles).filter(|n| *n > 0).or(sim.request.cycles).unwrap_or(SP_MAX_CYCLES);
            let report = sim.run(cycles)?;
            let first = report.violations.first().map(|b| format!("{}: {}", b.place, b.violation));
            first.map_or(Ok(SP_OK), |text| Err(Failure::new(SP_FINDING, text)))
        })
    })
}

/// Metrics of the run so far, as `scalepool run --json` prints them. SP_EMPTY before the first step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_metrics(
    sim: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        SIMS.with(sim, |sim| match sim.report()? {
            Some(report) => json.fill_text(&Value::Object(report.json()).to_string()),
            None => Err(Failure::new(SP_EMPTY, "simulation: no step so far")),
        })
    })
}

/// Where the run stands and what its ports are, as a JSON object: `cycle`, `over`, and `ports` with, for each link end,
/// `name`, `protocol`, `unit_bytes`, `external`, `driven` (units that wait to be sent), `rx` and `tx` with `watched`,
/// `waiting` and `lost` units, and answers of hooks that were not allowed (`bad_answers`, the last ones as `bad_answer`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_state(
    sim: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        SIMS.with(sim, |sim| json.fill_text(&sim.state()?.to_string()))
    })
}

/// As it was made: settings, seed and outputs of the text, no metrics, nothing driven or sampled. Hooks stay, and count
/// their items anew; so do watches.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_reset(sim: u64) -> i32 {
    call(|| SIMS.with(sim, |sim| sim.reset().map(|()| SP_OK)))
}

/// Ends a simulation; its handle names nothing any more. Waves and traces of a run that is under way are completed.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_destroy(sim: u64) -> i32 {
    call(|| {
        // A file that cannot be written keeps no handle alive.
        let _ = SIMS.with(sim, Sim::end);
        SIMS.remove(sim).map(|()| SP_OK)
    })
}
