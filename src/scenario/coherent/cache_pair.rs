//! `cxl-cache-pair`: devices that share the host's memory over CXL.cache.

use super::build::{Common, Strand, attach, message_layouts};
use super::links::{self, Counted, Line};
use super::outcome::{Outcome, Watching, start};
use super::{keys, stimulus};
use crate::coherence::cache::device::Device;
use crate::coherence::cache::home::Home;
use crate::coherence::clocked::accessor::Accessor;
use crate::coherence::clocked::cache::Sparse;
use crate::coherence::clocked::core::NoCore;
use crate::coherence::clocked::node::{Node, NodeConfig, NodeResult, Watch};
use crate::coherence::clocked::watcher::{Handle, Watcher};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content;
use crate::kernel::{Clock, Rng, SimError, Simulation, Time};
use crate::scenario::faults::faults;
use crate::scenario::report::Report;
use crate::scenario::settings::Settings;
use crate::scenario::{Request, RunError, Scenario};
use crate::trace::{Hub, PlaceKind};
use scalepool_protocols::cxl::cxl256::Mode;
use std::sync::{Arc, Mutex};

/// The scenario.
pub const CACHE_PAIR: Scenario = Scenario {
    name: "cxl-cache-pair",
    doc: "caching devices that share the host's memory over CXL.cache, each over its own link",
    keys: keys::CACHE_PAIR,
    run: |request, settings, on_window| match settings.word("link.mode") {
        "cxl-68b" => run(links::cxl68(settings)?, request, settings, on_window),
        "cxl-256b-lopt" => run(links::cxl256(Mode::LatencyOptimised, settings), request, settings, on_window),
        "cxl-256b-pbr" => run(links::cxl256(Mode::Pbr, settings), request, settings, on_window),
        _ => run(links::cxl256(Mode::Standard, settings), request, settings, on_window),
    },
};

type DeviceResult = NodeResult<Device<content::Line>, Accessor>;
type HomeResult = NodeResult<Home<content::Line, Sparse>, NoCore>;

fn run<E: Counted>(
    line: Line<E>,
    request: &Request,
    settings: &Settings,
    on_window: &mut dyn FnMut(Time),
) -> Result<Report, RunError> {
    let faults = faults(settings, line.unit_bytes)?;
    let config =
        CoherenceConfig { home_filter_lines: settings.int("home.filter_lines") as usize, ..CoherenceConfig::default() };
    let devices = settings.int("devices") as usize;
    let mut hub = Hub::new(request.outputs.any());
    let mut sim = Simulation::new(request.seed);
    let build_error = |e| RunError::Build(SimError::Build(e));
    let common = Common::of(settings, &line).map_err(build_error)?;
    let agent_clock = Clock::with_period_fs(settings.int("host.clock_fs")).map_err(build_error)?;
    let names: Vec<String> = (0..devices).map(|n| format!("dev[{n}].cache")).collect();

    let layouts: &'static [_] = build_layouts(line.form);
    let home_tap = hub.tap("host.home", PlaceKind::Messages(layouts));
    let device_taps: Vec<_> = names.iter().map(|name| hub.tap(name, PlaceKind::Messages(layouts))).collect();
    let mut strands = Vec::new();
    for n in 0..devices {
        let faults = if n == 0 { faults.clone() } else { [Vec::new(), Vec::new()] };
        strands.push(Strand::new(&mut sim, &mut hub, &common, n, &line, faults).map_err(build_error)?);
    }
    let ports: Vec<_> = strands.iter().map(|s| s.results.clone()).collect();
    let home_result: Arc<Mutex<HomeResult>> = Arc::default();
    let device_results: Vec<Arc<Mutex<DeviceResult>>> = (0..devices).map(|_| Arc::default()).collect();

    let (pattern, lines) = (settings.word("core.pattern").to_owned(), settings.int("core.lines"));
    let (count, window) = (settings.int("core.accesses"), settings.int("core.outstanding") as usize);
    let cache_lines = settings.int("core.cache_lines") as usize;
    let (seed, watch) = (request.seed, settings.is_on("watch"));
    let (home, results) = (home_result.clone(), device_results.clone());
    sim.partition(move |p| {
        let core = p.clock("agents", agent_clock)?;
        let all: Vec<String> = std::iter::once("host.home".to_owned()).chain(names.clone()).collect();
        let watcher = watch.then(|| Watcher::new(config.clone(), all));
        let mut at_host = Vec::new();
        for (n, (strand, (tap, result))) in strands.into_iter().zip(device_taps.into_iter().zip(results)).enumerate() {
            let [host, device] = strand.build(p, &common)?;
            at_host.push(host);
            let mut rng = Rng::for_name(seed, &names[n]);
            let core_of =
                Accessor::new(stimulus::accesses(&pattern, n, lines, count, &mut rng), window, cache_lines);
            let watch = watcher.clone().map(|w| Box::new(Handle(w)) as Box<dyn Watch<Device<content::Line>>>);
            let config = config.clone();
            p.module(&names[n], core, |bind| {
                let links = vec![attach(bind, device, n, common.form, false)];
                let node = NodeConfig { number: n + 1, agent: Device::new(), core: core_of, config, links, tap, watch };
                Node::new(node, result)
            })?;
        }
        let watch = watcher.map(|w| Box::new(Handle(w)) as Box<dyn Watch<Home<content::Line, Sparse>>>);
        p.module("host.home", core, |bind| {
            let links =
                at_host.into_iter().enumerate().map(|(n, ends)| attach(bind, ends, n, common.form, true)).collect();
            let agent = Home::new(Sparse::default());
            Node::new(NodeConfig { number: 0, agent, core: NoCore, config, links, tap: home_tap, watch }, home)
        })?;
        Ok(())
    });

    let outcome = Outcome { request, settings, line: &line, ports: &ports };
    let ended = start(sim, request, settings, &mut hub, on_window)?;
    let watching: Vec<Watching> = std::iter::once(Watching::of("host.home", &home_result))
        .chain(device_results.iter().enumerate().map(|(n, r)| Watching::of(&format!("dev[{n}].cache"), r)))
        .collect();
    let measured = device_results.iter().filter_map(|r| super::outcome::measured(r)).collect();
    outcome.report(ended, watching, measured)
}

/// Layouts of the messages of a form; they live as long as the program, once each.
fn build_layouts(form: scalepool_protocols::cxl::message::Form) -> &'static [&'static scalepool_protocols::wire::LayoutDef] {
    use std::sync::OnceLock;
    static LAYOUTS: [OnceLock<Vec<&'static scalepool_protocols::wire::LayoutDef>>; 3] =
        [OnceLock::new(), OnceLock::new(), OnceLock::new()];
    use scalepool_protocols::cxl::message::Form;
    let n = match form {
        Form::Cxl68 => 0,
        Form::Hbr => 1,
        Form::Pbr => 2,
    };
    LAYOUTS[n].get_or_init(|| message_layouts(form))
}
