//! A request becomes lines and steps, by the tables or by a conversion that was kept (`bridge` §2, §3, §9.7).
//!
//! Modelled: window, rights and legality are looked at in this order; a kept conversion takes the place of all three, and what it lacks,
//! data, enables and the operation of an atomic, comes from the request. Left out: what is sent when. A walk: a source reads two lines of a
//! block as it did before; the key is found, so the children are made of the kept places and steps.

use super::OutboundBridge;
use super::host_lines::HostLine;
use super::request::BridgeRequest;
use super::transaction::{AwaitedAnswers, Child, Transaction};
use crate::cache::sector::SectorState;
use crate::cache::templates::{Template, TemplateKey};
use crate::commands::{AccessKind, CommandAction};
use crate::flows::{self, FlowStep, LineOperation};
use crate::io::tlps;
use crate::lines::{BLOCK_BYTES, BLOCK_LINES, TouchedLine};
use crate::window::{AccessRights, WindowClass};
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_memory::ALL_BYTES;
use scalepool_protocols::ualink::code::Status;

/// The line in its block.
fn line_in_block(line: &TouchedLine) -> usize {
    (line.address / 64) as usize % BLOCK_LINES
}

/// Whether something is sent for a line.
fn is_sent(access: AccessKind, line: &TouchedLine) -> bool {
    access == AccessKind::Read || line.mask != 0
}

/// Whether a request is accepted and has the form of one.
fn is_legal(request: &BridgeRequest) -> bool {
    request.action == CommandAction::Lines && request.is_legal
}

/// The children of a request whose lines go where a conversion says.
fn children(request: &BridgeRequest, template: &Template) -> Vec<Child> {
    let child = |(n, line): (usize, &TouchedLine)| {
        let has_data = request.access != AccessKind::Read;
        let is_done = !is_sent(request.access, line);
        Child {
            port: template.port,
            line: LineAddr(template.first.0 + line_in_block(line) as u64),
            class: template.class,
            operation: LineOperation::of(request.access, line.mask),
            mask: line.mask,
            data: request.data.get(n).copied().unwrap_or(CacheLine::of([0; 64])),
            atomic: request.atomic,
            steps: template.steps[line_in_block(line)],
            step: 0,
            host: HostLine::NOTHING,
            awaited: AwaitedAnswers::default(),
            read: None,
            before: None,
            failed: None,
            is_done,
            has_buffer: has_data && !is_done,
            advances: 0,
            verdict: None,
            cached: None,
            granted: SectorState::Valid,
            waits_for_room: false,
            room_moves: None,
            is_held: false,
        }
    };
    request.lines.iter().enumerate().map(child).collect()
}

/// A request to the control window by one who has these rights there: a read, or a write, of one line, of which nothing is sent.
fn control(request: &BridgeRequest, rights: AccessRights) -> Result<Vec<Child>, Status> {
    if !rights.allow(request.access) {
        return Err(Status::ProtectionViolation);
    }
    if !is_legal(request) || request.lines.len() != 1 || request.access == AccessKind::Atomic {
        return Err(Status::TargetAbort);
    }
    let nowhere = Template { port: 0, class: WindowClass::Mn, first: LineAddr(0), steps: [&[]; BLOCK_LINES] };
    let mut children = children(request, &nowhere);
    for child in &mut children {
        (child.is_done, child.has_buffer) = (true, false);
    }
    Ok(children)
}

impl OutboundBridge {
    /// The children of a request, or the status with which it ends.
    pub(super) fn converted(&mut self, entry: u16) -> Result<Vec<Child>, Status> {
        let Some(transaction) = self.table.get(entry) else { return Ok(Vec::new()) };
        if matches!(transaction.request.action, CommandAction::Ended | CommandAction::Flush) {
            return Ok(Vec::new());
        }
        if let Some(window) = self.config.control.filter(|window| window.holds(transaction.request.address)) {
            let group = self.config.windows.group(transaction.request.source);
            return control(&transaction.request, window.rights[group]);
        }
        // Conversions of class IO are not kept: a key does not tell DWs and enables apart.
        let leads_to = |address| self.config.windows.translated(address).map(|route| route.class);
        let is_kept = self.templates.is_some() && leads_to(transaction.request.address) != Some(WindowClass::Io);
        let key = is_kept.then(|| self.template_key(transaction)).flatten();
        let kept = match (key, &mut self.templates) {
            (Some(key), Some(templates)) => templates.look_up(key),
            _ => None,
        };
        self.cache_counts.template_hits += u64::from(kept.is_some());
        self.cache_counts.template_misses += u64::from(key.is_some() && kept.is_none());
        let Some(transaction) = self.table.get(entry) else { return Ok(Vec::new()) };
        let template = match kept {
            Some(template) => template,
            None => self.looked_up(&transaction.request)?,
        };
        let children = children(&transaction.request, &template);
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.is_templated = kept.is_some();
            transaction.conversion = key.map(|key| (key, template));
        }
        Ok(children)
    }

    /// What the tables make of a request: window, rights, legality, in this order.
    fn looked_up(&self, request: &BridgeRequest) -> Result<Template, Status> {
        let touched = &request.lines;
        let route = self.config.windows.route(request.source, request.address, request.access)?;
        if route.class == WindowClass::Hp && !self.is_exported(route.address) {
            return Err(Status::DecodeError);
        }
        let mut steps: [&'static [FlowStep]; BLOCK_LINES] = [&[]; BLOCK_LINES];
        for line in touched {
            steps[line_in_block(line)] = flows::steps(route.class, LineOperation::of(request.access, line.mask));
        }
        let are_known = match route.class {
            // Its TLPs are made of the whole request.
            WindowClass::Io => tlps::fits(request),
            _ => touched.iter().all(|line| !steps[line_in_block(line)].is_empty()),
        };
        if !is_legal(request) || !are_known {
            return Err(Status::TargetAbort);
        }
        Ok(Template::new(route, steps))
    }

    /// What the conversion of a request is kept under; `None`: it is refused or sends nothing, whatever its window.
    fn template_key(&self, transaction: &Transaction) -> Option<TemplateKey> {
        let Transaction { request, port, .. } = transaction;
        let bits = |is_in: &dyn Fn(&TouchedLine) -> bool| {
            request.lines.iter().filter(|line| is_in(line)).fold(0, |bits, line| bits | 1 << line_in_block(line))
        };
        let sent = bits(&|line| is_sent(request.access, line));
        let full = bits(&|line| request.access == AccessKind::Write && line.mask == ALL_BYTES);
        let operation = LineOperation::of(request.access, if sent == full { ALL_BYTES } else { 0 });
        let key = TemplateKey {
            port: *port,
            group: self.config.windows.group(request.source),
            block: request.address / BLOCK_BYTES,
            operation,
            touched: sent,
            full,
            epoch: self.epoch(),
        };
        (is_legal(request) && sent != 0).then_some(key)
    }

    /// A message of a request leaves that was converted: the conversion is kept.
    pub(super) fn keep_conversion(&mut self, entry: u16) {
        let Some(transaction) = self.table.get_mut(entry) else { return };
        let is_new = !std::mem::replace(&mut transaction.is_converted, true) && !transaction.is_templated;
        if let (Some((key, template)), Some(templates)) =
            (transaction.conversion.filter(|_| is_new), &mut self.templates)
        {
            templates.keep(key, template);
        }
    }
}
