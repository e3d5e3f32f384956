//! Miscompiles planted in compiled kernels: `envisa_diff` names the instruction, or the statement, that was made wrong.

use envisa::zebin::ZebinFile;
use envisa::{Config, Module, Source};
use envisa_diff::{Difference, Element, Watched};
use envisa_harness::values::ElemType;
use envisa_smith::plant::{Kind, Plant, plants};
use envisa_suite::corpus::{corpus_folder, corpus_path};
use envisa_suite::envisa_engine::Loaded;
use envisa_suite::kernel::{CORPUS_DEVICES, Device, KernelFile, discover, kernel_folder};
use envisa_suite::launch::{ArgValue, Launch, SizeSet};
use std::collections::BTreeMap;
use std::path::Path;

/// Groups of kernels: those whose launches are small.
const GROUPS: [&str; 9] = ["arith", "asm", "convert", "data", "flow", "local", "math", "subgroup", "vector"];
/// Of each kind so many are planted; of one kernel and device one of each kind.
const OF_KIND: usize = 6;
/// Plants of a kernel that are tried until one changes a result.
const TRIES: usize = 8;
/// Of those planted, so many may be named wrongly: three of thirty.
const MISSES_OF_30: usize = 3;

#[test]
fn planted_miscompiles_are_named() {
    let only = std::env::var("ENVISA_ONLY").unwrap_or_default();
    let mut planted: BTreeMap<Kind, Vec<(String, bool)>> = BTreeMap::new();
    let all = discover(&kernel_folder()).expect("kernels");
    let small = |k: &&KernelFile| GROUPS.iter().any(|g| k.id.starts_with(g)) && k.id.contains(&only);
    for (n, kernel) in all.iter().filter(small).enumerate() {
        for device in [Device::Dg2, Device::Skl] {
            if !kernel.devices().contains(&device) || kernel.header.vector {
                continue;
            }
            let wanted = |k: &Kind| planted.get(k).map_or(0, Vec::len) < OF_KIND;
            let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(wanted).collect();
            for kind in kinds {
                if let Some((plant, named)) = hold(kernel, device, kind, n) {
                    let said = format!("{} on {}: {}", kernel.id, device.name(), plant.before.trim());
                    planted.entry(kind).or_default().push((said, named));
                }
            }
        }
    }
    let count = planted.values().map(Vec::len).sum::<usize>();
    let missed: Vec<String> = planted
        .iter()
        .flat_map(|(kind, all)| all.iter().filter(|p| !p.1).map(move |p| format!("{}: {}", kind.name(), p.0)))
        .collect();
    let kinds: Vec<String> = planted.iter().map(|(k, all)| format!("{} {}", all.len(), k.name())).collect();
    eprintln!("{} of {count} named ({})", count - missed.len(), kinds.join(", "));
    if only.is_empty() {
        assert!(count >= 30 && planted.len() == Kind::ALL.len(), "only {count} planted: {kinds:?}");
    }
    assert!(missed.len() * 30 <= count * MISSES_OF_30, "not named:\n{}", missed.join("\n"));
}

/// Plants one of a kind that changes a result: which, and whether it was named.
fn hold(kernel: &KernelFile, device: Device, kind: Kind, seed: usize) -> Option<(Plant, bool)> {
    let path = corpus_path(&corpus_folder(), device, kernel);
    let bytes = std::fs::read(&path).ok()?;
    let file = ZebinFile::parse(&bytes).ok()?;
    let visa = file.kernel_visa(kernel.function()).ok()?;
    let (text, section) = (file.visa_text(visa).into_owned(), visa.section);
    let mut all: Vec<Plant> = plants(&text).into_iter().filter(|p| p.kind == kind).collect();
    if all.is_empty() {
        return None;
    }
    let at = seed * 7 % all.len();
    all.rotate_left(at);
    let launch = envisa_suite::launch::launch(kernel, SizeSet::Conformance, false).ok()?;
    for plant in all.into_iter().take(TRIES) {
        let mut wrong = file.clone();
        wrong.elf.sections[section].data = plant.of(&text).into_bytes();
        let Ok(wrong) = wrong.write() else { continue };
        match differ(kernel, &path, [&bytes, &wrong], &launch) {
            Ok(Some(found)) => {
                let named = names(&found, &plant);
                if !named {
                    eprintln!("{}: {plant:?}\n{found:#?}", kernel.id);
                }
                return Some((plant, named));
            }
            Ok(None) => {}
            Err(why) => eprintln!("{}: {why}: {plant:?}", kernel.id),
        }
    }
    None
}

/// Is it among what is named: the instruction as it is, or as it was made?
fn names(found: &Difference, plant: &Plant) -> bool {
    let plain = |t: &str| t.split_whitespace().collect::<Vec<_>>().join(" ");
    found.origins.iter().any(|e| {
        let said = plain(&e.instruction);
        !said.is_empty() && (said == plain(&plant.before) || said == plain(&plant.after))
    })
}

fn differ(
    kernel: &KernelFile,
    path: &Path,
    products: [&[u8]; 2],
    launch: &Launch,
) -> Result<Option<Difference>, String> {
    let load = |bytes: &[u8]| Loaded::of(kernel, path, bytes, launch, (1, false)).map_err(|e| e.to_string());
    let (a, b) = (load(products[0])?, load(products[1])?);
    let mut watched = Vec::new();
    for ((arg, left), right) in launch.args.iter().zip(a.memory()).zip(b.memory()) {
        let (ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(left), Some(right)) =
            (&arg.value, left, right)
        else {
            continue;
        };
        let bytes = v.elem.size() as u32;
        let float = matches!(v.elem, ElemType::F16 | ElemType::F32 | ElemType::F64);
        let element = if float { Element::Float(bytes) } else { Element::Bits(bytes) };
        watched.push(Watched { name: arg.name.clone(), buffers: [left.clone(), right.clone()], element });
    }
    let start = |l: &Loaded<'_>| l.start().map_err(|e| e.to_string());
    let (left, right) = (start(&a)?, start(&b)?);
    let found = left.stage(|left| right.stage(|right| envisa_diff::diff(left, right, &watched)));
    found.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?
}

/// Nothing reads registers that nothing writes in any kernel of the corpus, whose results are right.
#[test]
fn sound_kernels_read_what_is_written() {
    let mut looked_at = 0;
    let mut found = Vec::new();
    for kernel in discover(&kernel_folder()).expect("kernels").iter().filter(|k| !k.header.vector) {
        for device in CORPUS_DEVICES.into_iter().filter(|d| kernel.devices().contains(d)) {
            let path = corpus_path(&corpus_folder(), device, kernel);
            let bytes = std::fs::read(&path).expect("a product");
            let form = Source::Zebin(&bytes);
            let platform = form.platform().expect("a zebin").expect("a known platform");
            let gpu = envisa::Device::new(Config::new(platform));
            let module = Module::load(&gpu, &kernel.id, form).expect("a module");
            for name in module.kernel_names() {
                let loaded = module.kernel(&name).expect("a kernel");
                looked_at += 1;
                found.extend(
                    loaded.unwritten().iter().map(|u| format!("{}: {}", kernel.id, u.message(&loaded))),
                );
            }
        }
    }
    assert!(looked_at > 400, "{looked_at} kernels");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
