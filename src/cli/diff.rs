//! `scalepool diff`: the first difference of two traces.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::CommandStatus;
use scalepool_trace::RecordKind;
use scalepool_trace::diff::{DiffError, DiffInput, Policy, diff_of_kinds};

/// Compare two traces and show the first difference.
///
/// Exit 0: equal, 1: different, 2: a file cannot be compared.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// Expected trace, JSON lines
    expected: PathBuf,
    /// Trace to compare with it, JSON lines
    found: PathBuf,
    /// How the records of the two traces are paired
    #[arg(long, value_enum, default_value_t = PolicyName::InOrder)]
    policy: PolicyName,
    /// Fields that make up the key of `--policy by-key`, inner fields with dots [default: where,id]
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    key: Vec<String>,
    /// Fields to ignore, in the header too; inner fields with dots
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    mask: Vec<String>,
    /// Compare only records of these kinds: begin, mark, end, flit, violation, value
    #[arg(long, value_name = "KIND,..", value_delimiter = ',', value_parser = kind_of)]
    kind: Vec<RecordKind>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn kind_of(name: &str) -> Result<RecordKind, String> {
    let names = || RecordKind::ALL.map(RecordKind::name).join(", ");
    RecordKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("expected one of {}", names()))
}

/// Names of the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyName {
    /// Record n of one trace with record n of the other
    InOrder,
    /// Records of the same key in order, wherever they stand in the traces
    ByKey,
}

/// What stops the command; exit status 2.
#[derive(Debug, thiserror::Error)]
enum DiffCommandError {
    /// The traces cannot be compared.
    #[error(transparent)]
    Diff(#[from] DiffError),
    /// A key without the policy that has one.
    #[error("found `--key` with `--policy in-order`, expected `--policy by-key`")]
    KeyInOrder,
    /// The answer cannot be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl DiffArgs {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        Ok(compare(&self, out)?)
    }
}

fn compare(args: &DiffArgs, out: &mut dyn Write) -> Result<CommandStatus, DiffCommandError> {
    let policy = match args.policy {
        PolicyName::InOrder if !args.key.is_empty() => return Err(DiffCommandError::KeyInOrder),
        PolicyName::InOrder => Policy::InOrder,
        PolicyName::ByKey if args.key.is_empty() => Policy::ByKey(["where", "id"].map(str::to_owned).into()),
        PolicyName::ByKey => Policy::ByKey(args.key.clone()),
    };
    let difference = diff_of_kinds(open(&args.expected)?, open(&args.found)?, &policy, &args.mask, &args.kind)?;
    let text = match (&difference, args.json) {
        (None, true) => "{\"equal\":true}\n".to_owned(),
        (None, false) => String::new(),
        (Some(difference), true) => format!("{}\n", difference.to_json()),
        (Some(difference), false) => difference.to_string(),
    };
    out.write_all(text.as_bytes())?;
    Ok(if difference.is_none() { CommandStatus::Good } else { CommandStatus::Finding })
}

/// The trace at a path.
pub(super) fn open(path: &Path) -> Result<DiffInput<BufReader<File>>, DiffError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok(DiffInput { name, reader: BufReader::new(file) }),
        Err(error) => Err(DiffError::Unreadable { file: name, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        args: DiffArgs,
    }

    /// Answer of the command for two traces; the texts go through files of the test's own name.
    fn answer(test: &str, texts: [&str; 2], options: &[&str]) -> (Result<CommandStatus, DiffCommandError>, String) {
        let dir = std::env::temp_dir().join(format!("scalepool-diff-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let files = ["a", "b"].map(|name| dir.join(name));
        files.iter().zip(texts).for_each(|(file, text)| std::fs::write(file, text).unwrap());
        let command = Command::try_parse_from(
            [Path::new("diff").as_os_str(), files[0].as_os_str(), files[1].as_os_str()]
                .into_iter()
                .chain(options.iter().map(|o| o.as_ref())),
        );
        let mut out = Vec::new();
        let code = compare(&command.unwrap().args, &mut out);
        std::fs::remove_dir_all(&dir).unwrap();
        (code, String::from_utf8(out).unwrap())
    }

    const HEAD: &str = "{\"format\":\"scalepool-trace\",\"format_version\":1}\n";

    #[test]
    fn exit_status_and_json() {
        let with = |rest: &str| format!("{HEAD}{rest}");
        let (a, b) = (
            with("{\"where\":\"x\",\"id\":1}\n{\"where\":\"y\",\"id\":1}\n"),
            with("{\"where\":\"y\",\"id\":1}\n{\"where\":\"x\",\"id\":1}\n"),
        );
        let (code, out) = answer("same", [&a, &a], &[]);
        assert_eq!((code.unwrap(), out.as_str()), (CommandStatus::Good, ""));
        let (code, out) = answer("same_json", [&a, &a], &["--json"]);
        assert_eq!((code.unwrap(), out.as_str()), (CommandStatus::Good, "{\"equal\":true}\n"));
        let (code, out) = answer("order", [&a, &b], &["--json"]);
        assert_eq!(code.unwrap(), CommandStatus::Finding);
        assert!(out.starts_with("{\"equal\":false,\"what\":\"record\",") && out.ends_with("}\n"), "{out}");
        let (code, _) = answer("default_key", [&a, &b], &["--policy", "by-key"]);
        assert_eq!(code.unwrap(), CommandStatus::Good);
        let (code, _) = answer("key", [&a, &b], &["--policy", "by-key", "--key", "id"]);
        assert_eq!(code.unwrap(), CommandStatus::Finding);
        let (code, _) = answer("mask", [&a, &b], &["--mask", "cycle,where"]);
        assert_eq!(code.unwrap(), CommandStatus::Good);
    }

    #[test]
    fn errors() {
        let (error, out) = answer("key_in_order", [HEAD, HEAD], &["--key", "id"]);
        assert_eq!(
            error.unwrap_err().to_string(),
            "found `--key` with `--policy in-order`, expected `--policy by-key`"
        );
        assert_eq!(out, "");
        let (error, _) = answer("empty", [HEAD, ""], &[]);
        assert!(error.unwrap_err().to_string().contains("found an empty file, expected a header"));
        let missing = open(Path::new("no/such/file")).unwrap_err().to_string();
        assert!(missing.starts_with("no/such/file: cannot be read: "), "{missing}");
    }
}
