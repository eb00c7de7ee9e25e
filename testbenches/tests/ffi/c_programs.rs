//! `testbenches/c/smoke.c` as C11 and as C++17, as it is, under valgrind and with AddressSanitizer.

use crate::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder of the shared library. Cargo links no cdylib for the tests of its package, so the first test asks for one,
/// with the packages and the profile of the tests, so that only the link is left to do.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().expect("a test has a path");
        let folder = test.ancestors().nth(2).expect("a test lies in target/PROFILE/deps");
        let target = folder.parent().expect("a profile has a folder in the target folder");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(root()).args(["build", "--quiet", "--workspace", "--lib", "--profile", profile]);
        assert_good(&run(build.arg("--target-dir").arg(target)), "build of the shared library");
        assert!(folder.join("libscalepool.so").is_file(), "no libscalepool.so in {}", folder.display());
        folder.to_owned()
    })
}

fn run(command: &mut Command) -> Output {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().unwrap_or_else(|e| panic!("{program}: {e}"))
}

fn assert_good(output: &Output, what: &str) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}: {}\n{out}\n{err}", output.status);
}

/// Compiles the program and gives its path.
fn compile(folder: &Path, name: &str, compiler: &str, options: &[&str]) -> PathBuf {
    let (program, library) = (folder.join(name), library());
    let source = root().join("testbenches/c/smoke.c");
    let mut command = Command::new(compiler);
    command.args(options).args(["-g", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-o"]);
    command.arg(&program).arg(source).args(["-x", "none"]).arg(library.join("libscalepool.so"));
    command.arg(format!("-Wl,-rpath,{}", library.display()));
    assert_good(&run(&mut command), name);
    program
}

const C11: [&str; 3] = ["-std=c11", "-x", "c"];
const CPP17: [&str; 3] = ["-std=c++17", "-x", "c++"];

#[test]
fn as_c_and_as_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, compiler, options) in [("c11", "cc", C11), ("cpp17", "c++", CPP17)] {
        let output = run(&mut Command::new(compile(folder.path(), name, compiler, &options)));
        assert_good(&output, name);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "smoke: all calls answer as they should\n");
    }
}

/// No wrong access, and nothing that is lost.
#[test]
fn under_valgrind() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), "valgrind", "cc", &C11);
    let options = ["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"];
    assert_good(&run(Command::new("valgrind").args(options).arg(program)), "valgrind");
}

/// The side of the caller, with every copy that goes over the border by `memcpy`.
#[test]
fn with_address_sanitizer() {
    let folder = tempfile::tempdir().expect("a folder");
    let sanitizers = [&C11[..], &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]].concat();
    let program = compile(folder.path(), "asan", "cc", &sanitizers);
    assert_good(&run(&mut Command::new(program)), "AddressSanitizer");
}
