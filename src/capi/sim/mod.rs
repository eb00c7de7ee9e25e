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
pub mod placement;
pub mod port;
mod run;

use super::call::{Caller, call};
use super::status::{Failure, SP_EMPTY, SP_ERR_INPUT, SP_FINDING, SP_OK};
use super::table::ObjectTable;
use run::{RunOutput, Sim};
use scalepool::forms::FormError;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, RunError, ScenarioRequest};
use scalepool::trace::log::{LogFilter, LogTo};
use serde_json::Value;
use std::ffi::{c_char, c_void};
use std::path::PathBuf;

/// Highest number of cycles of the reference clock in one run.
pub const SP_MAX_CYCLES: u64 = 10_000_000;

/// Most threads of one run.
const MAX_THREADS: u64 = 64;

/// Most dots of a line. A key with a dot for each table goes as deep as it has dots, and nobody should need a stack for it.
const MAX_DOTS: usize = 64;

static SIMS: ObjectTable<Sim> = ObjectTable::new(2, "simulation");

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        Failure::new(SP_ERR_INPUT, error.to_string())
    }
}

/// Puts the keys of a table into a request; `path` is what stands in front of them.
fn read(table: &toml::Table, path: &str, request: &mut ScenarioRequest) -> Result<(), Failure> {
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
fn check(request: &ScenarioRequest) -> Result<(), Failure> {
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
        return Err(FormError::new(what, path.display().to_string(), "a file, or a name that is not in use").into());
    }
    Ok(Some(path))
}

/// Makes a simulation. `text` is TOML. With `format = 1` it is the description of a system, as `run FILE.toml` takes it;
/// its seed is 1 until sp_sim_seed. Otherwise it names a scenario or the file of a description: the line
/// `scenario = "cxl68-expander"`, and after it, one on a line, `seed = 1`, `link.ber = 1e-6`, `host.accesses = 1000` and
/// whatever else `scalepool describe SCENARIO` lists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_new(text: *const c_char, text_length: usize, sim: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let sim = caller.place("sim", sim)?;
        let text = caller.text("text", text, text_length)?;
        if let Some(line) = text.lines().position(|line| line.matches('.').count() > MAX_DOTS) {
            return Err(Failure::range(&format!("line {}", line + 1), format!("more than {MAX_DOTS} dots"), "fewer"));
        }
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            Failure::new(SP_ERR_INPUT, format!("text: found invalid TOML: {}", e.message()))
        })?;
        let mut request = ScenarioRequest { threads: 1, seed: scenario::DEFAULT_SEED, ..ScenarioRequest::default() };
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

/// Changes a setting, such as `link.ber=1e-5`, for the next run. The next step, or the next call that names a port,
/// restarts the simulation with the new value.
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

/// Changes the seed for the next run. The next step restarts the simulation with the new seed.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_seed(sim: u64, seed: u64) -> i32 {
    call(|| {
        SIMS.with(sim, |sim| {
            sim.ask(ScenarioRequest { seed, ..sim.request.clone() });
            Ok(SP_OK)
        })
    })
}

/// Writes waves: a VCD file at this path, and GTKWave files beside it. An empty path switches them off. If a run has
/// begun, the wave shows it from here on, and a file that is switched off is completed at once; otherwise the setting
/// is for the next runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_wave(sim: u64, path: *const c_char, path_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let path = output("path", caller.text("path", path, path_length)?)?;
        SIMS.with(sim, |sim| {
            let outputs = Outputs { vcd: path, ..sim.request.outputs.clone() };
            sim.show(RunOutput::Wave, outputs).map(|()| SP_OK)
        })
    })
}

/// Writes the transaction trace as JSON lines at this path. An empty path switches it off. If a run has begun, the same
/// holds as for sp_sim_wave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_trace(sim: u64, path: *const c_char, path_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let path = output("path", caller.text("path", path, path_length)?)?;
        SIMS.with(sim, |sim| {
            let outputs = Outputs { trace: path, ..sim.request.outputs.clone() };
            sim.show(RunOutput::Trace, outputs).map(|()| SP_OK)
        })
    })
}

/// Callback for one line of the log. `line` has neither a line end nor a NUL and is valid during the call only. The
/// callback runs inside sp_sim_step and sp_sim_run, in the thread of that call, and has to return, as sp_hook has to.
pub type SpLog = Option<unsafe extern "C" fn(user: *mut c_void, line: *const c_char, line_length: usize)>;

/// Passes every event that the filter selects to `function`, as one line of text; null switches the log off. If a run
/// has begun, the same holds as for sp_sim_wave. The filter is that of `scalepool run --log`:
/// `link=debug,scenario=info`, or one level for all layers. The layers are link, coherence and scenario, the levels
/// off, warn, info, debug and trace. A line has the transaction id that stands in the trace, too. `user` is passed to
/// the function unchanged.
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
            sim.show(RunOutput::Log, outputs).map(|()| SP_OK)
        })
    })
}

/// Advances the simulation by this number of cycles of the reference clock. The run time of the call grows with it.
/// The first step, and the first after a setting was changed, starts a run at cycle 0. Returns SP_EMPTY if nothing is
/// left to do, because the work is done or the `cycles` of the text are over; waves and traces are complete then.
/// Returns SP_ERR_RANGE if the run would exceed SP_MAX_CYCLES. Broken rules are listed by sp_sim_metrics.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_step(sim: u64, cycles: u64) -> i32 {
    call(|| SIMS.with(sim, |sim| sim.step(cycles)))
}

/// Advances the simulation to a cycle of the reference clock, 1 to SP_MAX_CYCLES, or until the work is done if that is
/// earlier. 0 stands for the `cycles` of the text, or for SP_MAX_CYCLES if it names none. If the simulation is past
/// that cycle, it restarts. A million cycles take about a second. Waves and traces end here: later steps are not in
/// them. Returns SP_FINDING if a rule is broken.
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

/// Gives the metrics of the run so far, as `scalepool run --json` prints them. Returns SP_EMPTY before the first step.
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

/// Gives the state of the run as a JSON object: `cycle`, `over` (whether the run has ended) and `ports`. Each port is a
/// link end with `name`, `protocol`, `unit_bytes`, `external`, `driven` (number of units that wait to be sent), and
/// `rx` and `tx` with `watched` and the numbers of units `waiting` and `lost`. Behind the link ends of a component with
/// `external = "messages"` follow its channels of messages, which have `layout` too, the layout of their messages.
/// `bad_answers` counts the answers of hooks that were not allowed, and `bad_answer` is the last one.
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

/// Puts a simulation back to where sp_sim_new left it: settings, seed and outputs are those of the text, and metrics,
/// driven units and samples are gone. Hooks and watches stay, and hooks count their items from 0 again.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_reset(sim: u64) -> i32 {
    call(|| SIMS.with(sim, |sim| sim.reset().map(|()| SP_OK)))
}

/// Destroys a simulation; its handle is invalid from then on. Waves and traces of a run that has begun are completed.
#[unsafe(no_mangle)]
pub extern "C" fn sp_sim_destroy(sim: u64) -> i32 {
    call(|| {
        // A file that cannot be written keeps no handle alive.
        let _ = SIMS.with(sim, Sim::end);
        SIMS.remove(sim).map(|()| SP_OK)
    })
}
