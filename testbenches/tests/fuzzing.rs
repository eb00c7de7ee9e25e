//! The fuzz targets on seeded bytes, so that they are known to build and to hold without a fuzzer: on any bytes, and on
//! sound input in which some bytes were changed, which gets further.

use scalepool::forms::{flit_io, flit256, message};
use scalepool::golden::text::VectorFileForm;
use scalepool::golden::{Spec, VectorContent, VectorSource};
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::framing::{EDB, EDS, IDL, frame_dllp, frame_tlp};
use scalepool_protocols::cxl::cxlio::non_flit_mode::tlp_bytes;
use scalepool_protocols::cxl::cxlio::tlp::{Size, TlpParts};
use scalepool_protocols::registry;
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::ualink::message::MESSAGES;
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::fuzzing;
use scalepool_testbenches::legal::{Random, random_message};
use scalepool_testbenches::soak::is_soak;

/// Inputs of each kind; a fuzzer does more.
const INPUTS: u64 = 300;
/// Units in a stream.
const UNITS: usize = 32;
/// Most changes of an input.
const CHANGES: u64 = 20;
/// Most changes of a text, which has to stay one for the most part.
const TEXT_CHANGES: u64 = 3;

/// What texts are made of.
const TEXT: &[u8] = b"0123456789abcdefx \n\",:{}[]=#/";

/// Changes up to `most` places behind the first `keep` bytes: bits flip, bytes get another value, short runs go or come twice.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>, keep: usize, most: u64) {
    for _ in 0..=rng.below(most) {
        let behind = bytes.len().saturating_sub(keep) as u64;
        if behind == 0 {
            return;
        }
        let at = keep + rng.below(behind) as usize;
        let end = bytes.len().min(at + 1 + rng.below(8) as usize);
        match rng.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let run = bytes[at..end].to_vec();
                bytes.splice(at..at, run);
            }
            2 => bytes[at] = TEXT[rng.below(TEXT.len() as u64) as usize],
            3 => bytes[at] = rng.below(256) as u8,
            _ => bytes[at] ^= 1 << rng.below(8),
        }
    }
}

/// Flips bits behind the first byte: the units keep their places.
fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    for _ in 0..rng.below(CHANGES) {
        let bit = 8 + rng.below(8 * (bytes.len() as u64 - 1)) as usize;
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Units of a legal stream, header filled in, CRC right.
fn legal_stream(dir: Dir, random: &mut Random) -> Vec<u8> {
    let mut packer = Packer::new(dir, Cxl68Config::default());
    for _ in 0..UNITS {
        packer.push(&random_message(random, dir)).expect("a legal message");
    }
    let mut bytes = Vec::new();
    let mut credits = [1000; 10];
    loop {
        let slots = match packer.pack(&mut credits, usize::MAX) {
            Packed::Nothing => return bytes,
            Packed::AllData(slots) => slots,
            Packed::Protocol(header, mut slots) => {
                slots[0] |= header.to_bits().expect("the packer's header fits");
                slots
            }
        };
        bytes.extend_from_slice(&Cxl68Unit::from_slots(pid::CACHEMEM, &slots).0);
    }
}

/// Sound flits of 256 bytes, a stream for each protocol and direction: traffic, every slot format, broken rules.
fn streams_of_256() -> Vec<(Option<Mode>, Dir, Vec<Cxl256Flit>)> {
    let spec = Spec { count: 16, ..Spec::default() };
    let sources = spec.sources().into_iter().filter_map(|source| match source {
        VectorSource::Flits256(mode, dir) => Some((source, Some(mode), dir)),
        VectorSource::FlitsIo(dir) => Some((source, None, dir)),
        _ => None,
    });
    let streams = sources.map(|(source, mode, dir)| {
        let VectorContent::Flits256(_, groups) = source.vectors(&spec).content else { panic!("flits of 256 bytes") };
        (mode, dir, groups.into_iter().flat_map(|g| g.cases).flat_map(|c| c.units).collect())
    });
    let streams: Vec<_> = streams.collect();
    assert_eq!(streams.len(), 8, "three modes and cxl-io, two directions");
    streams
}

/// As [`fuzzing::flit256`] reads it: direction and mode.
fn choice(mode: Option<Mode>, dir: Dir) -> u8 {
    dir as u8 | mode.map_or(0, |mode| (Mode::ALL.iter().position(|&m| m == mode).expect("a mode") as u8) << 2)
}

/// Every target, from no byte to some flits; a quarter of the inputs have exactly 256 bytes behind the choice.
#[test]
fn every_target_takes_any_bytes() {
    for (name, target) in fuzzing::TARGETS {
        let mut rng = Rng::for_name(1, name);
        for n in 0..if is_soak() { 4 } else { 2 } * INPUTS {
            let mut bytes = vec![0; if n % 4 == 0 { 257 } else { rng.below(2000) as usize }];
            rng.fill_bytes(&mut bytes);
            if n % 3 == 0 {
                // Mostly ASCII, so that text readers get beyond UTF-8.
                bytes.iter_mut().skip(1).for_each(|b| *b &= 0x7f);
            }
            target(&bytes);
        }
    }
}

/// A target has a file and a binary of its name.
#[test]
fn every_target_is_a_binary() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("the manifest of the targets");
    let mut files: Vec<_> = std::fs::read_dir(folder.join("fuzz_targets"))
        .expect("the folder of the targets")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    files.sort();
    let mut names: Vec<_> = fuzzing::TARGETS.iter().map(|(name, _)| format!("{name}.rs")).collect();
    names.sort();
    assert_eq!(files, names);
    for (name, _) in fuzzing::TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let text = std::fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs"))).expect("a target");
        assert!(text.contains(&format!("fuzzing::{name}(bytes)")), "{name}");
    }
}

#[test]
fn flit68_on_any_bytes() {
    let mut rng = Rng::for_name(1, "fuzzing.any");
    for n in 0..INPUTS {
        let mut bytes = vec![0; 1 + 68 * UNITS];
        rng.fill_bytes(&mut bytes);
        bytes[0] = n as u8;
        if n % 2 == 0 {
            bytes[1..].chunks_exact_mut(68).for_each(|unit| unit[..2].copy_from_slice(&pid::CACHEMEM.to_le_bytes()));
        }
        fuzzing::flit68(&bytes);
    }
}

#[test]
fn flit68_on_mutated_streams() {
    let (mut rng, mut random) = (Rng::for_name(1, "fuzzing.mutated"), Random::new(1));
    for n in 0..INPUTS {
        let dir = if n % 2 == 0 { Dir::Down } else { Dir::Up };
        let mut bytes = vec![n as u8 & 3];
        bytes.extend(legal_stream(dir, &mut random));
        flip(&mut rng, &mut bytes);
        fuzzing::flit68(&bytes);
    }
}

/// With a header of each type, so that the bytes are read as slots, TLPs and ALMPs; sealed in half of the streams.
#[test]
fn flit256_on_any_bytes() {
    let mut rng = Rng::for_name(1, "fuzzing.any256");
    for n in 0..INPUTS {
        let mut bytes = vec![0; 1 + 256 * 8];
        rng.fill_bytes(&mut bytes);
        // Two directions, sealed or not, three modes; then the type.
        bytes[0] = (n % 12) as u8;
        let flit_type = (n / 12 % 4) as u8;
        bytes[1..].chunks_exact_mut(256).for_each(|flit| flit[0] = flit[0] & 0x3f | flit_type << 6);
        fuzzing::flit256(&bytes);
        fuzzing::flit_io(&bytes);
    }
}

#[test]
fn flit256_on_mutated_streams() {
    let mut rng = Rng::for_name(1, "fuzzing.mutated256");
    for (mode, dir, flits) in streams_of_256() {
        for (n, run) in flits.chunks(UNITS).enumerate() {
            for sealed in [0, 2] {
                let mut bytes = vec![choice(mode, dir) | sealed];
                bytes.extend(run.iter().flat_map(|flit| flit.0));
                if n > 0 {
                    flip(&mut rng, &mut bytes);
                }
                if mode.is_some() { fuzzing::flit256(&bytes) } else { fuzzing::flit_io(&bytes) }
            }
        }
    }
}

#[test]
fn tlps_on_mutated_streams() {
    let mut rng = Rng::for_name(1, "fuzzing.tlp");
    for (mode, _, flits) in streams_of_256().into_iter().filter(|s| s.0.is_none_or(|mode| mode == Mode::Pbr)) {
        for run in flits.chunks(UNITS) {
            let mut bytes = vec![u8::from(mode.is_some())];
            bytes.extend(run.iter().flat_map(|flit| flit.body(Mode::Standard).take(236)));
            change(&mut rng, &mut bytes, 1, CHANGES);
            fuzzing::tlp_flit_mode(&bytes);
        }
    }
    // Whole TLPs: any first DW, and as many bytes as it announces; on a link with port based routing behind a header.
    let mut whole = 0;
    for n in 0..20 * INPUTS {
        let mut dw0 = [n as u8, rng.below(256) as u8, rng.below(256) as u8 & 0xfc, rng.below(16) as u8];
        let pbr = n % 3 == 0;
        let dw = Size::of(dw0).map_or(4, |size| size.dw()) + usize::from(pbr);
        let mut bytes = vec![0; 1 + 4 * dw];
        rng.fill_bytes(&mut bytes);
        bytes[0] = u8::from(pbr);
        let at = if pbr { 5 } else { 1 };
        if pbr {
            // Both high bits: such a header (`cxl-io` §3.8).
            bytes[1] |= 0xc0;
        }
        bytes[at..at + 4].copy_from_slice(&dw0);
        whole += usize::from(TlpParts::split(&bytes[1..], pbr).is_ok());
        fuzzing::tlp_flit_mode(&bytes);
        dw0[2] &= 0x7c;
        let mut bytes = vec![0; tlp_bytes(dw0).unwrap_or(16)];
        rng.fill_bytes(&mut bytes);
        bytes[..4].copy_from_slice(&dw0);
        fuzzing::tlp_non_flit_mode(&bytes);
    }
    assert!(whole as u64 > 3 * INPUTS, "{whole} whole TLPs");
}

#[test]
fn framing_on_mutated_streams() {
    let mut rng = Rng::for_name(1, "fuzzing.framing");
    for _ in 0..INPUTS {
        let mut bytes = Vec::new();
        for _ in 0..UNITS {
            match rng.below(6) {
                0 => bytes.extend(frame_dllp(Dllp(std::array::from_fn(|_| rng.below(256) as u8)))),
                1 => bytes.extend(EDB),
                2 => bytes.extend(EDS),
                3 => bytes.extend([IDL; 4]),
                _ => {
                    let mut tlp = vec![0; 4 * (1 + rng.below(16) as usize)];
                    rng.fill_bytes(&mut tlp);
                    let (token, lcrc) = frame_tlp(rng.below(4096) as u16, &tlp).expect("a short TLP of whole DW");
                    bytes.extend([&token[..], &tlp, &lcrc].concat());
                }
            }
        }
        fuzzing::framing(&bytes);
        change(&mut rng, &mut bytes, 0, CHANGES);
        fuzzing::framing(&bytes);
    }
}

/// Every layout: any bits, and its object with some characters changed.
#[test]
fn messages_of_every_layout() {
    let mut rng = Rng::for_name(1, "fuzzing.message");
    for (n, def) in registry::layouts().enumerate() {
        for round in 0..INPUTS / 3 {
            let mut bytes = vec![0; 2 + 16];
            rng.fill_bytes(&mut bytes);
            bytes[..2].copy_from_slice(&(n as u16).to_le_bytes());
            fuzzing::message(&bytes);
            let bits = u128::from_le_bytes(*bytes.last_chunk().expect("16 bytes")) >> (128 - def.bits);
            let mut form = message::message_to_json(def, bits);
            if round % 2 == 0 {
                // Another value, that may fit or not.
                let field = &def.fields[rng.below(def.fields.len() as u64) as usize];
                let value = rng.next_u64() >> rng.below(64);
                form["fields"][field.name] = if round % 4 == 0 { value.into() } else { format!("{value:#x}").into() };
            }
            let mut object = form.to_string().into_bytes();
            if round % 2 == 1 {
                change(&mut rng, &mut object, 0, TEXT_CHANGES);
            }
            fuzzing::message_object(&object);
        }
    }
}

/// Lines of `flit decode`, with some characters changed.
#[test]
fn flit_objects_on_mutated_lines() {
    let mut rng = Rng::for_name(1, "fuzzing.flit_object");
    for (mode, dir, flits) in streams_of_256() {
        let mut of_mode = flit256::Cxl256FlitDecoder::new(mode.unwrap_or(Mode::Standard), dir);
        let mut of_io = flit_io::IoFlitDecoder::new(dir);
        // As `fuzzing::flit_object` reads it.
        let protocol = mode.map_or(3, |mode| choice(Some(mode), dir) >> 2);
        for (n, flit) in flits.iter().enumerate() {
            let mut form = match mode {
                Some(_) => {
                    let (decoded, findings) = of_mode.read(flit);
                    flit256::to_json(&decoded, &findings, n as u64)
                }
                None => of_io.read(flit, n as u64).0,
            };
            if n % 2 == 0
                && let Some(form) = form.as_object_mut()
            {
                form.retain(|key, _| !["hex", "fec", "violations", "lints"].contains(&key.as_str()));
            }
            let mut bytes = vec![protocol << 1 | dir as u8];
            bytes.extend(form.to_string().bytes());
            fuzzing::flit_object(&bytes);
            for _ in 0..4 {
                let mut changed = bytes.clone();
                change(&mut rng, &mut changed, 1, TEXT_CHANGES);
                fuzzing::flit_object(&changed);
            }
        }
    }
    let mut random = Random::new(2);
    for n in 0..INPUTS / 10 {
        let dir = if n % 2 == 0 { Dir::Down } else { Dir::Up };
        let mut decoder = scalepool::forms::flit68::Cxl68UnitDecoder::new(dir);
        for (index, chunk) in legal_stream(dir, &mut random).chunks_exact(68).enumerate() {
            let (decoded, findings) = decoder.read(&Cxl68Unit::from_bytes(chunk).expect("68 bytes"));
            let form = scalepool::forms::flit68::to_json(&decoded, &findings, index as u64);
            let mut bytes = vec![5 << 1 | dir as u8];
            bytes.extend(form.to_string().bytes());
            change(&mut rng, &mut bytes, 1, TEXT_CHANGES);
            fuzzing::flit_object(&bytes);
        }
    }
}

/// A file of each kind, with some characters changed.
#[test]
fn vector_files_on_mutated_files() {
    let (rounds, step) = if is_soak() { (20, 8) } else { (2, 24) };
    let mut rng = Rng::for_name(1, "fuzzing.vectors");
    let spec = Spec { count: 16, ..Spec::default() };
    // Every 24th set, in a soak every eighth: messages of all families.
    for source in spec.sources().into_iter().filter(|s| matches!(s, VectorSource::Layout(_))).step_by(step) {
        let set = source.vectors(&spec);
        for form in [VectorFileForm::Hex, VectorFileForm::Rsp] {
            let text = form.text(&set, &spec).into_bytes();
            for round in 0..rounds {
                let mut bytes = text.clone();
                if round > 0 {
                    change(&mut rng, &mut bytes, 0, TEXT_CHANGES);
                }
                fuzzing::vectors(&bytes);
            }
        }
    }
}

#[test]
fn stimulus_on_mutated_traces() {
    let mut rng = Rng::for_name(1, "fuzzing.stimulus");
    let lackey = "==1== Lackey\nI  0023C790,2\n S BE80199C,4\n L 1ffeffe7e0,8\n M 0421C7CC,4\nI  4000,5\n==1== end\n";
    let csv = "time,op,address,size\n# comment\n0,read,0x1000,64\n3,write,4096,4096\n7,read,0xffffffffffffffc0,64\n";
    for text in [lackey, csv] {
        for n in 0..10 * INPUTS {
            let mut bytes = vec![n as u8 & 3];
            bytes.extend(text.bytes());
            if n > 3 {
                change(&mut rng, &mut bytes, 1, TEXT_CHANGES);
            }
            fuzzing::stimulus(&bytes);
        }
    }
}

/// Files of users, with some characters changed.
#[test]
fn files_on_mutated_files() {
    let map = include_str!("../maps/waves_cxl68.toml");
    let linked = "[[interface]]\nname = \"a\"\nprotocol = \"ualink\"\ndir = \"down\"\nclock = \"c\"\ndata = \"d[7:0]\"\n\
                  [[interface]]\nname = \"b\"\nprotocol = \"ualink\"\ndir = \"up\"\nclock = \"c\"\ndata = \"e\"\n\
                  [[link]]\nname = \"l\"\nsends = \"a\"\nreceives = \"b\"\nreaction_flits = 18446744073709551615\n";
    let case = "kind = \"hdm-db\"\nstart = \"SS\"\nprograms = [[\"MemRdA\"], [\"MemInv\", \"Load\", \"Store\"]]\n\
                [config.mem]\none_access = false\n";
    let trace = "{\"format\":\"scalepool-trace\",\"format_version\":1}\n\
                 {\"t_fs\":5,\"where\":\"a.b\",\"fields\":{\"tag\":7,\"list\":[1,2]}}\n";
    let traces = format!("{trace}\0{trace}");
    let digits = "01".repeat(272);
    let wave = format!(
        "$timescale 1ps $end\n$scope module t $end\n$var wire 1 ! c $end\n$var wire 1 # v $end\n\
         $var wire 544 \" d [543:0] $end\n$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n0!\n1#\nb{digits} \"\n\
         $end\n#5\n1!\n#7\n0!\nbx \"\n#9\n1!\n"
    );
    let files: [(fuzzing::Target, &str); 5] = [
        (("maps", fuzzing::maps), map),
        (("maps.linked", fuzzing::maps), linked),
        (("litmus", fuzzing::litmus), case),
        (("traces", fuzzing::traces), &traces),
        (("waves", fuzzing::waves), &wave),
    ];
    for ((name, target), text) in files {
        let mut rng = Rng::for_name(1, &format!("fuzzing.files.{name}"));
        for n in 0..3 * INPUTS {
            let mut bytes = text.as_bytes().to_vec();
            if n > 0 {
                change(&mut rng, &mut bytes, 0, TEXT_CHANGES);
            }
            target(&bytes);
        }
    }
}

/// The lock file of the targets names what its packages of this repository depend on now.
#[test]
fn the_lock_of_the_targets_is_not_stale() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lock = read("testbenches/fuzz/Cargo.lock");
    let mut manifests = 0;
    for path in ["testbenches/fuzz/Cargo.toml", "testbenches/Cargo.toml", "protocols/Cargo.toml", "Cargo.toml"] {
        let manifest = read(path);
        let section = |name: &str| {
            let behind = manifest.split_once(&format!("[{name}]\n")).map_or("", |(_, behind)| behind);
            behind.lines().take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "))
        };
        let package = section("package").find(|(key, _)| *key == "name").expect("a name").1;
        let mut wanted: Vec<&str> =
            section("dependencies").map(|(name, _)| name.split('.').next().unwrap_or(name)).collect();
        wanted.sort();
        let locked = lock.split("[[package]]\n").find(|entry| entry.starts_with(&format!("name = {package}\n")));
        let listed = locked.and_then(|entry| entry.split_once("dependencies = [\n")).map_or("", |(_, list)| list);
        let name = |line: &str| line.trim().trim_matches([',', '"']).split(' ').next().map(str::to_owned);
        let found: Vec<String> = listed.lines().take_while(|line| *line != "]").filter_map(name).collect();
        assert_eq!(found, wanted, "{path}: testbenches/fuzz/Cargo.lock is stale");
        manifests += 1;
    }
    assert_eq!(manifests, 4);
}

/// Writes of an NVLink, header by header and as objects, with some bits or characters changed.
#[test]
fn nvlink_on_mutated_streams() {
    use scalepool::forms::flit_nvl;
    use scalepool_protocols::nvlink::stream::Packer as Sealer;
    use scalepool_protocols::nvlink::{NvlHeader, Op, Packet, Vc};

    let mut rng = Rng::for_name(1, "fuzzing.nvlink");
    for n in 0..INPUTS {
        let (mut sealer, mut decoder) = (Sealer::default(), flit_nvl::NvlPacketDecoder::default());
        let mut bytes = vec![n as u8 & 3];
        for _ in 0..8 {
            let mut data = vec![0; 16 * (1 + rng.below(16) as usize)];
            rng.fill_bytes(&mut data);
            let header = NvlHeader { op: Op::WRITE_POSTED, vc: Vc::CREQ1, ..NvlHeader::default() };
            let packet = Packet::build(header, None, None, &data).expect("a legal packet");
            let packet = sealer.seal(&packet);
            let (decoded, findings) = decoder.read(&packet);
            assert_eq!(findings.violations, []);
            let mut object = vec![6 << 1];
            object.extend(flit_nvl::to_json(&decoded, &findings, Dir::Down, 0).to_string().bytes());
            fuzzing::flit_object(&object);
            change(&mut rng, &mut object, 1, TEXT_CHANGES);
            fuzzing::flit_object(&object);
            bytes.extend(packet.bytes());
        }
        for _ in 0..rng.below(4) {
            flip(&mut rng, &mut bytes[1..]);
        }
        fuzzing::nvlink(&bytes);
    }
}

/// Sound DL flits of UALink: traffic, every message and field, broken rules.
fn streams_of_ualink() -> Vec<(Dir, Vec<DlFlit>)> {
    let spec = Spec { count: 16, ..Spec::default() };
    let sources = spec.sources().into_iter().filter(|source| matches!(source, VectorSource::FlitsUal(_)));
    let streams = sources.map(|source| {
        let VectorContent::Ualink(dir, groups) = source.vectors(&spec).content else { panic!("flits of UALink") };
        (dir, groups.into_iter().flat_map(|g| g.cases).flat_map(|c| c.units).collect())
    });
    streams.collect()
}

/// Streams with some bits flipped, with the CRC that fits and without.
#[test]
fn ualink_on_mutated_streams() {
    let mut rng = Rng::for_name(1, "fuzzing.ualink");
    for (dir, flits) in streams_of_ualink() {
        for (n, run) in flits.chunks(16).enumerate() {
            for sealed in [0, 2, 2] {
                let mut bytes = vec![dir as u8 | sealed];
                bytes.extend(run.iter().flat_map(|flit| flit.0));
                if n > 0 {
                    flip(&mut rng, &mut bytes);
                }
                fuzzing::ualink(&bytes);
            }
        }
    }
}

/// Payload of those streams cut at any place, and any bytes whose fields begin with a listed type; and messages.
#[test]
fn ualink_tl_flits_and_messages_on_any_bytes() {
    let mut rng = Rng::for_name(1, "fuzzing.ualink_tl");
    for (_, flits) in streams_of_ualink() {
        for run in flits.chunks(8) {
            let mut bytes = vec![rng.below(8) as u8];
            bytes.extend(run.iter().flat_map(|flit| flit.payload().sectors).flatten());
            fuzzing::ualink_tl(&bytes);
            change(&mut rng, &mut bytes, 1, CHANGES);
            fuzzing::ualink_tl(&bytes);
            fuzzing::ualink_message(&bytes[1..]);
        }
    }
    for n in 0..INPUTS {
        let mut bytes = vec![0; 1 + 65 * UNITS];
        rng.fill_bytes(&mut bytes);
        bytes[0] = n as u8;
        for flit in bytes[1..].chunks_exact_mut(65) {
            // Most halves hold fields or data, and most fields are of a listed type.
            flit[0] &= rng.below(4) as u8 & rng.below(4) as u8;
            flit[1..].chunks_exact_mut(16).for_each(|field| field[15] = field[15] & 0x0f | (rng.below(7) as u8) << 4);
        }
        fuzzing::ualink_tl(&bytes);
        // A class and a type that are listed, for the most part.
        for word in bytes[1..].as_chunks_mut::<4>().0 {
            let def = MESSAGES[rng.below(MESSAGES.len() as u64) as usize];
            let kind = (def.default_bits() as u32).to_le_bytes();
            word[0] = kind[0];
            word[1] = word[1] & 0xf0 | kind[1];
        }
        fuzzing::ualink_message(&bytes[1..]);
    }
}
