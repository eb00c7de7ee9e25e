//! The tables of CXL.mem as Markdown. Everything comes from the rows that the agents walk; nothing is written twice.

use Copy4::{E, I, M, S};
use scalepool_coherence::mem::host_rows;
use scalepool_coherence::mem::tables::{ANSWER_ROWS, Copy4, HDM_H_ROWS, ISSUE_ROWS, REQ_ROWS, RWD_ROWS};

/// Messages, start states, answers, and the steps of the host agent, each a table.
pub fn markdown() -> String {
    let mut text = String::from(
        "## M2S Req to HDM-D and HDM-DB\n\n\
         | rule | opcode | meta | SnpType | NDR | DRS | device cache | record |\n|---|---|---|---|---|---|---|---|\n",
    );
    for r in REQ_ROWS {
        let ops: Vec<_> = r.opcodes.iter().map(|o| o.name().unwrap_or("?")).collect();
        let ndr: Vec<_> = r.ndr.iter().map(|o| o.name().unwrap_or("?")).collect();
        let meta = match r.meta {
            _ if r.meta_ignored => "ignored",
            Some(v) => v.name().unwrap_or("?"),
            None => "NoOp",
        };
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            r.rule,
            ops.join(", "),
            meta,
            r.snp.name().unwrap_or("?"),
            if ndr.is_empty() { "none".to_owned() } else { ndr.join(", ") },
            if r.data { "yes" } else { "no" },
            r.device.name(),
            r.record.name(),
        );
    }
    text += "\n## Host state at issue\n\n| rule | message | M | E | S | I |\n|---|---|---|---|---|---|\n";
    for r in ISSUE_ROWS {
        let cell = |s| if r.states.contains(&s) { "yes" } else { "-" };
        text += &format!("| {} | {} | {} | {} | {} | {} |\n", r.rule, r.message, cell(M), cell(E), cell(S), cell(I));
    }
    text += "\n## Answers to a back-invalidate\n\n\
             | rule | BISnp | host state | answer | state left | write back first |\n|---|---|---|---|---|---|\n";
    for r in ANSWER_ROWS {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            r.rule,
            r.snoop.name().unwrap_or("?"),
            r.from.letter(),
            r.answer.name().unwrap_or("?"),
            r.left.letter(),
            if r.write_back { "yes" } else { "no" },
        );
    }
    text += "\n## M2S RwD to HDM-D and HDM-DB\n\n| rule | opcode | meta | SnpType | legal | record |\n|---|---|---|---|---|---|\n";
    for r in RWD_ROWS {
        let metas: Vec<_> = r.metas.iter().filter_map(|m| m.name()).collect();
        let legal = match (r.legal, r.single_host) {
            (false, _) => "no",
            (true, true) => "one host only",
            (true, false) => "yes",
        };
        text += &format!(
            "| {} | {} | {} | {} | {legal} | {} |\n",
            r.rule,
            r.opcodes.iter().filter_map(|o| o.name()).collect::<Vec<_>>().join(", "),
            if metas.is_empty() { "NoOp".to_owned() } else { metas.join(", ") },
            r.snps.iter().filter_map(|s| s.name()).collect::<Vec<_>>().join(", "),
            r.record.name(),
        );
    }
    text +=
        "\n## M2S to HDM-H\n\n| rule | opcode | Meta0 | NoOp | NDR | DRS | legal |\n|---|---|---|---|---|---|---|\n";
    for r in HDM_H_ROWS {
        let names = r.req.iter().filter_map(|o| o.name()).chain(r.rwd.iter().filter_map(|o| o.name()));
        let cell = |yes: bool| if yes { "yes" } else { "-" };
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            r.rule,
            names.collect::<Vec<_>>().join(", "),
            cell(r.meta0),
            cell(r.noop),
            cell(r.ndr),
            cell(r.data),
            cell(r.legal),
        );
    }
    text += "\n## Host agent: situation and event\n\n| situation | event | rule | what is done |\n|---|---|---|---|\n";
    for r in host_rows::ROWS {
        let act = r.act.map_or_else(|| "impossible: reported and dropped".to_owned(), |a| format!("{a:?}"));
        text += &format!("| {:?} | {:?} | {} | {act} |\n", r.phase, r.input, r.rule);
    }
    text
}
