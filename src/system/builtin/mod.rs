//! Descriptions that come with the program, to run and to start from.

/// A description of the program.
#[derive(Debug)]
pub struct Builtin {
    /// Its file, as messages name it.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! builtin {
    ($file:literal) => {
        Builtin { file: $file, text: include_str!($file) }
    };
}

/// Those that run in seconds, so that whoever goes over all of them may.
pub static ALL: [Builtin; 25] = [
    builtin!("cxl68-expander.toml"),
    builtin!("cxl256-expander.toml"),
    builtin!("cxl256-lopt-expander.toml"),
    builtin!("cxl-pbr-pair.toml"),
    builtin!("pooled-pair.toml"),
    builtin!("pool-16.toml"),
    builtin!("pbr-rack.toml"),
    builtin!("cxlio-enumerate.toml"),
    builtin!("ualink-pair.toml"),
    builtin!("ualink-pod.toml"),
    builtin!("bridge-ualink.toml"),
    builtin!("supercluster-small.toml"),
    builtin!("nvlink-pair.toml"),
    builtin!("nvlink-pod.toml"),
    builtin!("cxl-cache-pair.toml"),
    builtin!("cxl-cache-switch.toml"),
    builtin!("cxl-cache-peers.toml"),
    builtin!("hdm-db-share.toml"),
    builtin!("hdm-db-fabric.toml"),
    builtin!("share-16.toml"),
    builtin!("snoop-filter-thrash.toml"),
    builtin!("bias-flip.toml"),
    builtin!("fabric-vc-router.toml"),
    builtin!("fabric-crossbar.toml"),
    builtin!("queue-md1.toml"),
];

/// Those of thousands of components, whose runs take minutes.
pub static LARGE: [Builtin; 2] = [builtin!("pbr-4096.toml"), builtin!("supercluster-rack.toml")];
