//! `nvlink.pod`: GPUs behind one stage of NVLink switches.
//!
//! Modelled: link l of each GPU leads to switch l modulo the switches; a switch has a port for each of these links, GPU by
//! GPU, and behind these bridge by bridge, which have as many links. The generation of the switches says how many ports they have at most, and the rate of the links. Left out: several
//! stages.

use super::{Generating, GeneratorKind};
use crate::document::{self, DocumentItem, Value};
use crate::field::{Config, FieldRange, config};
use crate::kinds::nvlink_switch::generation;
use crate::quantity::Unit;

/// The kind.
pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "nvlink.pod",
    about: "GPUs behind one stage of NVLink switches: link l of each GPU leads to switch l modulo the switches",
    fields: NvPod::fields,
    generate,
};

config! {
    /// GPUs behind switches.
    pub struct NvPod {
        gpus: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a GPU; the generator sets its count and its links";
        switches: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a switch; the generator sets its count, its generation and its ports";
        link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between them; the generator sets what it joins, and its generation";
        gpu_count: usize = "8" [Unit::Of("GPUs")] in FieldRange::Int(2, 72), "number of GPUs (nvlink §5: up to 72)";
        generation: String = "4" [Unit::Of("-")] in FieldRange::Words(&["1", "2", "3", "4"]), "switch generation, with 18, 36, 64 or 72 ports and its links (nvlink §5)";
        link_count: usize = "1" [Unit::Of("links per GPU")] in FieldRange::Int(1, 18), "links, spread over the switches (nvlink §4: up to 18)";
        switch_count: usize = "0" [Unit::Of("switches")] in FieldRange::Int(0, 18), "number of switches; 0 = as few as have enough ports";
        bridges: Option<String> = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a bridge behind the GPUs, with as many links as a GPU; the generator sets its count and its links; left out, there is none";
        bridge_count: usize = "1" [Unit::Of("bridges")] in FieldRange::Int(1, 64), "number of bridges, where there are any";
    }
}

impl NvPod {
    /// Links of each GPU to a switch.
    fn links_to(&self, switch: usize, switches: usize) -> usize {
        (self.link_count - switch).div_ceil(switches)
    }

    /// Bridges behind the GPUs.
    fn bridges(&self) -> usize {
        self.bridges.as_ref().map_or(0, |_| self.bridge_count)
    }

    /// GPUs and bridges.
    fn nodes(&self) -> usize {
        self.gpu_count + self.bridges()
    }

    /// Switches; or the field that does not fit, and why.
    fn switches(&self) -> Result<usize, (&'static str, String)> {
        let most = generation(&self.generation).ports;
        if self.nodes() > most {
            let beside = match self.bridges() {
                0 => String::new(),
                bridges => format!(" beside {bridges} bridges"),
            };
            let text = format!(
                "found {}{beside}, expected at most the {most} ports of switch {}",
                self.gpu_count, self.generation
            );
            return Err(("gpu_count", text));
        }
        let fits = |switches: usize| self.nodes() * self.link_count.div_ceil(switches) <= most;
        match self.switch_count {
            // One for each link always fits.
            0 => Ok((1..=self.link_count).find(|&switches| fits(switches)).unwrap_or(self.link_count)),
            given if given <= self.link_count && fits(given) => Ok(given),
            given => {
                let links = self.link_count;
                let text = format!("found {given}, expected at most {links}, each with ports for all of its links");
                Err(("switch_count", text))
            }
        }
    }
}

fn generate(own: &mut Generating<'_>) {
    let pod: NvPod = own.read();
    let switches = match pod.switches() {
        Ok(switches) => switches,
        Err((key, text)) => return own.refuse(key, text),
    };
    let number = |n: usize| Value::Number(n.to_string());
    own.set_of("gpus", &pod.gpus, &[("count", number(pod.gpu_count)), ("links", number(pod.link_count))]);
    let generated = [("count", number(switches)), ("generation", Value::Text(pod.generation.clone()))];
    own.set_of("switches", &pod.switches, &generated);
    for switch in 0..switches {
        let path = ["component", &pod.switches, "at", &switch.to_string(), "ports"].map(str::to_owned);
        let ports = number(pod.nodes() * pod.links_to(switch, switches));
        document::edit(own.root, &path, DocumentItem { place: own.place, value: ports });
    }
    let place = own.place;
    if let Some(bridges) = &pod.bridges {
        own.bridges("bridges", bridges, pod.bridge_count, pod.link_count);
    }
    let end_of = |node: usize, link: usize| match (node.checked_sub(pod.gpu_count), &pod.bridges) {
        (Some(bridge), Some(name)) => format!("{name}[{bridge}].x[{link}]"),
        _ => format!("{}[{node}].link[{link}]", pod.gpus),
    };
    let ends = (0..pod.nodes()).flat_map(|node| (0..pod.link_count).map(move |link| (node, link)));
    let pairs = ends.map(|(node, link)| {
        let switch = link % switches;
        let port = node * pod.links_to(switch, switches) + link / switches;
        let ports = [end_of(node, link), format!("{}[{switch}].port[{port}]", pod.switches)];
        DocumentItem { place, value: own.pair(ports) }
    });
    let pairs = Value::List(pairs.collect());
    own.join("link", &pod.link, pairs);
    let rate = generation(&pod.generation).link_generation.to_string();
    own.set("link", &pod.link, "generation", Value::Text(rate));
}
