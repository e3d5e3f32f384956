//! Reading: every field, what is unknown, what is wrong, and files that mean harm.

use std::path::Path;
use std::time::{Duration, Instant};

use envisa_zebin::elf::{SHT_ZEBIN_MISC, SHT_ZEBIN_SPIRV};
use envisa_zebin::ze_info::{
    AccessType, AddrMode, AddrSpace, AllocationType, ArgType, ImageType, L1CachePolicy, MemoryUsage,
    SamplerAddrMode, SamplerFilterMode, SamplerType, ThreadSchedulingMode,
};
use envisa_zebin::{
    DataKind, DeviceFamily, Error, Notes, RelocKind, Relocation, Section, Symbol, VisaOwner, Writer, ZeInfo,
    ZebinFile,
};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// A text with every field of the specification.
const FULL: &str = include_str!("data/full.yaml");

#[test]
fn every_field() {
    let (info, warnings) = ZeInfo::parse(FULL).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(info.version, "1.73");
    assert_eq!(info.l1_cache_policy, Some(L1CachePolicy::WriteBack));
    let k = info.kernel("full").unwrap();
    let user = &k.user_attributes;
    assert_eq!(user.intel_reqd_sub_group_size, Some(16));
    assert_eq!(user.intel_reqd_workgroup_walk_order, Some([2, 1, 0]));
    assert_eq!(user.invalid_kernel.as_deref(), Some("a reason"));
    assert_eq!(user.reqd_work_group_size, Some([8, 4, 1]));
    assert_eq!(user.vec_type_hint.as_deref(), Some("float4"));
    assert_eq!(user.work_group_size_hint, Some([8, 1, 1]));
    assert_eq!(user.intel_reqd_thread_group_dispatch_size, Some(4));
    let env = &k.execution_env;
    assert_eq!((env.barrier_count, env.grf_count, env.simd_size), (1, 256, 16));
    assert_eq!((env.slm_size, env.slm_alloc_mode, env.private_size, env.spill_size), (4096, 1, 512, 64));
    assert_eq!((env.indirect_stateless_count, env.inline_data_payload_size), (3, 64));
    assert_eq!((env.offset_to_skip_per_thread_data_load, env.offset_to_skip_set_ffid_gp), (192, 16));
    assert_eq!((env.required_sub_group_size, env.required_work_group_size), (16, Some([8, 4, 1])));
    assert_eq!(env.thread_scheduling_mode, Some(ThreadSchedulingMode::RoundRobinStall));
    assert_eq!(env.work_group_walk_order_dimensions, [2, 1, 0]);
    assert_eq!((env.eu_thread_count, env.quantum_size), (8, 2));
    assert_eq!((env.quantum_walk_order, env.quantum_partition_dimension), (1, 2));
    let flags = [
        env.disable_mid_thread_preemption,
        env.has_4gb_buffers,
        env.has_device_enqueue,
        env.has_dpas,
        env.has_fence_for_image_access,
        env.has_global_atomics,
        env.has_multi_scratch_spaces,
        env.has_no_stateless_write,
        env.has_stack_calls,
        env.has_printf_calls,
        env.require_assert_buffer,
        env.require_sync_buffer,
        env.has_indirect_calls,
        env.require_disable_eufusion,
        env.subgroup_independent_forward_progress,
        env.has_sample,
        env.has_rtcalls,
        env.generate_local_id,
        env.has_lsc_stores_with_non_default_l1_cache_controls,
        env.require_iab,
        env.has_bindless_image_read,
    ];
    assert_eq!(flags, [true; 21]);
    let a = &k.payload_arguments[0];
    assert_eq!((a.arg_type, a.offset, a.size, a.arg_index), (ArgType::ArgBypointer, 16, 8, Some(0)));
    assert_eq!((a.addrmode, a.addrspace), (Some(AddrMode::Bindless), Some(AddrSpace::Image)));
    assert_eq!(
        (a.access_type, a.image_type),
        (Some(AccessType::Readwrite), Some(ImageType::Image2dArrayMsaa))
    );
    assert_eq!((a.sampler_index, a.source_offset, a.slm_alignment), (Some(2), Some(4), 16));
    assert_eq!((a.sampler_type, a.bti_value), (Some(SamplerType::Erode), Some(7)));
    assert!(a.image_transformable && a.is_pipe && a.is_ptr);
    let b = &k.payload_arguments[1];
    assert_eq!((b.arg_type, b.arg_index, b.sampler_index), (ArgType::GlobalIdOffset, None, None));
    assert_eq!(k.per_thread_payload_arguments[0].arg_type, ArgType::LocalId);
    assert_eq!((k.per_thread_payload_size(), k.cross_thread_payload_size()), (96, 24));
    assert_eq!((k.bti(0), k.bti(1)), (Some(3), None));
    let m = &k.per_thread_memory_buffers[0];
    assert_eq!((m.allocation, m.usage), (AllocationType::Scratch, MemoryUsage::SingleSpace));
    assert_eq!((m.size, m.slot, m.is_simt_thread), (1024, 1, true));
    let s = &k.inline_samplers[0];
    assert_eq!((s.addrmode, s.filtermode), (SamplerAddrMode::ClampEdge, SamplerFilterMode::Linear));
    assert_eq!((s.sampler_index, s.normalized), (0, true));
    let e = &k.experimental_properties;
    assert_eq!(e.has_non_kernel_arg_load, Some(1));
    assert_eq!((e.has_non_kernel_arg_store, e.has_non_kernel_arg_atomic), (Some(0), None));
    assert_eq!((k.debug_env.sip_surface_bti, k.debug_env.sip_surface_offset), (Some(0), Some(64)));
    assert_eq!(info.functions[0].name, "callee");
    assert_eq!(info.global_host_access_table[0].host_name, "host");
    assert_eq!(info.kernels_cost_info[0].kcm_args_sym[0].arg_no, 1);
    assert_eq!(info.kernels_cost_info[0].kcm_loop_count_exps[0].c, -0.5);
    assert_eq!(info.kernels_cost_info[0].kcm_loop_costs[0].cycle, 100);
    let args = info.arguments(k);
    assert_eq!(args.len(), 2);
    assert_eq!(args[0].info.unwrap().name.as_deref(), Some("img"));
    assert_eq!(args[0].info.unwrap().type_and_size(), ("image2d_t", Some(8)));
    assert_eq!((args[0].payload.len(), args[0].bti), (1, Some(3)));
    assert_eq!((args[1].index, args[1].payload.len(), args[1].bti), (1, 0, None));
    // Everything can be printed for people and tools.
    assert!(serde_json::to_string(&info).unwrap().contains("\"arg_type\":\"arg_bypointer\""));
}

/// A kernel with further lines at the given place.
fn kernel(env: &str, rest: &str) -> String {
    format!(
        "version: '1.20'\nkernels:\n  - name: k\n    execution_env:\n      grf_count: 128\n      simd_size: 8\n{env}{rest}"
    )
}

#[test]
fn unknown_is_ignored_with_a_warning() {
    let text = kernel(
        "      foo: 3\n      thread_scheduling_mode: by_mood\n",
        "    payload_arguments:\n      - arg_type: new_kind\n        offset: 0\n        size: 4\n        bar: [1, {a: b}]\n",
    );
    let (info, warnings) = ZeInfo::parse(&text).unwrap();
    let seen: Vec<_> = warnings.iter().map(|w| (w.path.as_str(), w.line)).collect();
    let expected = [
        ("kernels[0].execution_env.foo", 7),
        ("kernels[0].execution_env.thread_scheduling_mode", 8),
        ("kernels[0].payload_arguments[0].arg_type", 10),
        ("kernels[0].payload_arguments[0].bar", 13),
    ];
    assert_eq!(seen, expected);
    assert!(warnings[2].message.contains("new_kind"));
    assert_eq!(info.kernels[0].payload_arguments[0].arg_type, ArgType::Unknown);
    assert_eq!(info.kernels[0].execution_env.thread_scheduling_mode, None);
}

#[test]
fn wrong_is_an_error_with_path_and_line() {
    let cases: &[(String, &str, u32)] = &[
        (kernel("      slm_size: many\n", ""), "kernels[0].execution_env.slm_size", 7),
        (kernel("      slm_size: -1\n", ""), "kernels[0].execution_env.slm_size", 7),
        (kernel("      slm_size: 2147483648\n", ""), "kernels[0].execution_env.slm_size", 7),
        (kernel("      slm_size: '16'\n", ""), "kernels[0].execution_env.slm_size", 7),
        (kernel("      slm_size: --1\n", ""), "kernels[0].execution_env.slm_size", 7),
        (kernel("      slm_size: [1]\n", ""), "kernels[0].execution_env.slm_size", 7),
        (kernel("      has_dpas: 1\n", ""), "kernels[0].execution_env.has_dpas", 7),
        (
            kernel("      required_work_group_size: [1, 2]\n", ""),
            "kernels[0].execution_env.required_work_group_size",
            7,
        ),
        (kernel("      simd_size: 8\n", ""), "kernels[0].execution_env", 7),
        (
            kernel("", "    payload_arguments:\n      - offset: 0\n        size: 1\n"),
            "kernels[0].payload_arguments[0]",
            8,
        ),
        ("kernels:\n  - name: k\n".into(), "kernels[0]", 2),
        ("version: '1.20'\n".into(), "", 1),
        ("kernels: 3\n".into(), "kernels", 1),
        (
            "kernels:\n  - name: k\n    execution_env: {grf_count: 128, simd_size: 7}\n".into(),
            "kernels[0].execution_env.simd_size",
            2,
        ),
        ("- a\n".into(), "", 1),
    ];
    for (text, path, line) in cases {
        let error = ZeInfo::parse(text).unwrap_err();
        assert_eq!((error.path.as_str(), error.line), (*path, *line), "{text}\n{error}");
    }
}

#[test]
fn hostile_yaml() {
    let bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n";
    assert!(ZeInfo::parse(bomb).unwrap_err().message.contains("aliases"));
    let begin = Instant::now();
    let deep = "[".repeat(100_000);
    assert!(ZeInfo::parse(&deep).is_err());
    let deep = format!("kernels: {}", "{a: ".repeat(100_000));
    assert!(ZeInfo::parse(&deep).is_err());
    let deep: String = (0..3000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert!(ZeInfo::parse(&deep).is_err());
    let wide = format!("kernels: [{}]", "x,".repeat(2_100_000));
    assert!(ZeInfo::parse(&wide).is_err());
    let long = " ".repeat(40 << 20);
    assert!(ZeInfo::parse(&long).unwrap_err().message.contains("bytes"));
    for text in [
        "",
        "---\n...\n",
        "\0",
        "\u{feff}",
        "%YAML 9.9\n---\n",
        "? [a]\n: b\n",
        "a: !!int b",
        "'",
        "\"\\x\"",
        "|",
        "{",
        "a:\n\t- b",
    ] {
        assert!(ZeInfo::parse(text).is_err(), "{text:?}");
    }
    let unknown: String = (0..50_000).map(|i| format!("field{i}: 0\n")).collect();
    let (_, warnings) = ZeInfo::parse(&format!("{unknown}kernels: []\n")).unwrap();
    assert_eq!(warnings.len(), 1000);
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}

#[test]
fn program_data_of_a_real_module() {
    for (name, device) in [("data.dg2.zebin", DeviceFamily::Dg2), ("data.tgllp.zebin", DeviceFamily::Tgllp)] {
        let zebin = ZebinFile::parse(&data(name)).unwrap();
        assert_eq!(zebin.notes.device(), Some(device));
        assert_eq!(zebin.notes.zebin_version.as_deref(), Some("1.20"));
        let section = zebin.data_sections().find(|d| d.kind == DataKind::Const).unwrap();
        let words: Vec<u32> =
            section.bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
        // `tab`, then `cptr` with the addends in place.
        assert_eq!(words, [10, 20, 30, 40, 4, 0, 12, 0]);
        let tab = zebin.data_symbols().find(|s| s.name == "tab").unwrap();
        assert_eq!((tab.section, tab.value, tab.size), (Some(section.index), 0, 16));
        let relocs: Vec<_> = zebin.data_relocations().collect();
        assert_eq!(relocs.len(), 2);
        for (reloc, offset) in relocs.iter().zip([16, 24]) {
            assert_eq!((reloc.section, reloc.offset, reloc.kind), (section.index, offset, RelocKind::Addr64));
            assert_eq!((zebin.elf.symbols[reloc.symbol].name.as_str(), reloc.addend), ("tab", None));
        }
        let strings = zebin.data_sections().find(|d| d.kind == DataKind::ConstString).unwrap();
        assert_eq!(strings.bytes, b"hello\n\0");
        assert!(
            zebin
                .ze_info
                .kernel("hello")
                .unwrap()
                .payload_arguments
                .iter()
                .any(|a| a.arg_type == ArgType::PrintfBuffer)
        );
    }
}

#[test]
fn arguments_join_names_and_payload() {
    let zebin = ZebinFile::parse(&data("vadd.skl.zebin")).unwrap();
    let kernel = zebin.ze_info.kernel("vadd").unwrap();
    let args = zebin.ze_info.arguments(kernel);
    let names: Vec<_> = args.iter().map(|a| a.info.unwrap().name.as_deref().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c", "n"]);
    assert_eq!(args.iter().map(|a| a.bti).collect::<Vec<_>>(), [Some(0), Some(1), Some(2), None]);
    assert_eq!(args[3].info.unwrap().type_and_size(), ("int", Some(4)));
    assert_eq!(args[0].info.unwrap().address_qualifier, "__global");
    let error = zebin.kernel_visa("vsub").unwrap_err().to_string();
    assert_eq!(error, "no kernel `vsub`; there are: vadd");
}

const TWO: &str = "version: '1.20'
kernels:
  - name: one
    execution_env: { grf_count: 128, simd_size: 8 }
  - name: two
    execution_env: { grf_count: 128, simd_size: 8 }
";

#[test]
fn unnamed_text_is_matched_by_order_and_named_by_name() {
    let text = |name: &str| format!(".version 4.1\n.kernel \"{name}\"\n");
    let owners = |writer: Writer| {
        let zebin = ZebinFile::parse(&writer.finish().unwrap()).unwrap();
        let owners: Vec<_> = zebin.visa.iter().map(|v| v.owner).collect();
        (owners, zebin.warnings.len())
    };
    use VisaOwner::{Function, Kernel, Unknown};
    let new = || Writer::new(TWO);
    let unnamed = text("kernel");
    assert_eq!(owners(new().visa(None, &unnamed).visa(None, &unnamed)), (vec![Kernel(0), Kernel(1)], 0));
    assert_eq!(
        owners(new().visa(None, &text("two")).visa(None, &text("one"))),
        (vec![Kernel(1), Kernel(0)], 0)
    );
    assert_eq!(owners(new().visa(None, &text("two")).visa(None, &unnamed)), (vec![Kernel(1), Kernel(0)], 0));
    let with_function = new().visa(None, &text("one")).visa(Some("f"), &text("one")).visa(None, &text("two"));
    assert_eq!(owners(with_function), (vec![Kernel(0), Function, Kernel(1)], 0));
    assert_eq!(
        owners(new().visa(Some("two"), &unnamed).visa(Some("one"), &unnamed)),
        (vec![Kernel(1), Kernel(0)], 0)
    );
    assert_eq!(owners(new().visa(None, &unnamed)), (vec![Unknown], 1));
    assert_eq!(owners(new().visa(None, &text("three"))), (vec![Unknown], 1));
    let none = ZebinFile::parse(&new().finish().unwrap()).unwrap();
    assert!(matches!(none.kernel_visa("one"), Err(Error::NoVisa { .. })));
}

#[test]
fn parts_round_trip() {
    let symbol = |name: &str, section, value, binding| Symbol {
        name: name.into(),
        section,
        undefined: section.is_none(),
        value,
        size: 4,
        kind: 1,
        binding,
    };
    let mut zeros = Section::new(".bss.global", 8, 3, Vec::new());
    zeros.size = 1 << 20;
    let notes = Notes {
        product_family: Some(DeviceFamily::Pvc.product()),
        zebin_version: Some("1.73".into()),
        indirect_access_buffer_major_version: Some(3),
        ..Notes::default()
    };
    let bytes = Writer::new(TWO)
        .notes(notes.clone())
        .section(Section::new(".data.global", 1, 3, vec![7u8; 24]))
        .section(zeros)
        .section(Section::new(".spv", SHT_ZEBIN_SPIRV, 0, b"\x03\x02\x23\x07".to_vec()))
        .section(Section::new(".misc.buildOptions", SHT_ZEBIN_MISC, 0, b"-cl-fast\0".to_vec()))
        .section(Section::new(".data.new", 1, 3, b"?".to_vec()))
        .symbol(symbol("global", Some(0), 8, 1))
        .symbol(symbol("local", Some(1), 16, 0))
        .symbol(symbol("absent", None, 0, 1))
        .relocation(Relocation { section: 0, offset: 0, symbol: 1, kind: RelocKind::Addr64, addend: None })
        .relocation(Relocation {
            section: 0,
            offset: 20,
            symbol: 0,
            kind: RelocKind::Addr32Hi,
            addend: Some(-4),
        })
        .relocation(Relocation { section: 0, offset: 8, symbol: 2, kind: RelocKind::Addr64, addend: None })
        .finish()
        .unwrap();
    let zebin = ZebinFile::parse(&bytes).unwrap();
    assert_eq!(zebin.notes, notes);
    assert_eq!(zebin.notes.device(), Some(DeviceFamily::Pvc));
    assert_eq!(zebin.unresolved(), ["absent"]);
    assert_eq!(zebin.spirv(), Some(&b"\x03\x02\x23\x07"[..]));
    assert_eq!(zebin.build_options().as_deref(), Some("-cl-fast"));
    assert_eq!(zebin.warnings.len(), 1);
    assert_eq!(zebin.warnings[0].path, ".data.new");
    let kinds: Vec<_> = zebin.data_sections().map(|d| (d.kind, d.size)).collect();
    assert_eq!(kinds, [(DataKind::Global, 24), (DataKind::ZeroGlobal, 1 << 20)]);
    let relocs: Vec<_> = zebin
        .elf
        .relocations
        .iter()
        .map(|r| (r.offset, zebin.elf.symbols[r.symbol].name.as_str(), r.kind, r.addend))
        .collect();
    let expected = [
        (0, "local", RelocKind::Addr64, None),
        (8, "absent", RelocKind::Addr64, None),
        (20, "global", RelocKind::Addr32Hi, Some(-4)),
    ];
    assert_eq!(relocs, expected);
    let again = ZebinFile::parse(&zebin.write().unwrap()).unwrap();
    assert_eq!(again, zebin);
    let stripped = zebin.strip();
    assert!(stripped.unresolved().is_empty() && stripped.spirv().is_none());
    assert_eq!(stripped.elf.relocations.len(), 2);
    assert_eq!(ZebinFile::parse(&stripped.write().unwrap()).unwrap().data_sections().count(), 2);
}

#[test]
fn wrong_parts_are_refused() {
    let reloc = Relocation { section: 0, offset: 0, symbol: 0, kind: RelocKind::Addr64, addend: None };
    assert!(matches!(Writer::new(TWO).relocation(reloc).finish(), Err(Error::Write { .. })));
    let mut symbol = Symbol {
        name: "s".into(),
        section: Some(9),
        undefined: false,
        value: 0,
        size: 0,
        kind: 0,
        binding: 0,
    };
    assert!(matches!(Writer::new(TWO).symbol(symbol.clone()).finish(), Err(Error::Write { .. })));
    symbol.section = None;
    symbol.name = "a\0b".into();
    assert!(matches!(Writer::new(TWO).symbol(symbol).finish(), Err(Error::Write { .. })));
}

#[test]
fn other_formats_are_named() {
    let cases: [(&[u8], &str); 8] = [
        (b"", "empty"),
        (b"\x03\x02\x23\x07\0\0", "SPIR-V"),
        (b"!<arch>\n", "several devices"),
        (b"CISA\x03\x06", ".isa"),
        (b".version 4.1\n", "vISA text"),
        (b"\x7fELF\x01\x01", "32-bit"),
        (b"\x7fELF\x02\x02", "big-endian"),
        (b"hello", "no known format"),
    ];
    for (bytes, expected) in cases {
        let error = ZebinFile::parse(bytes).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let mut no_info = ZebinFile::parse(&data("vadd.skl.zebin")).unwrap().elf;
    no_info.sections.retain(|s| s.name != ".ze_info");
    (no_info.symbols, no_info.relocations) = (Vec::new(), Vec::new());
    assert_eq!(ZebinFile::parse(&no_info.write().unwrap()), Err(Error::NoZeInfo));
}

/// A small file to damage: data, symbols, relocations and notes are in it.
fn victim() -> Vec<u8> {
    let zebin = ZebinFile::parse(&data("data.dg2.zebin")).unwrap();
    let mut elf = zebin.elf.clone();
    for section in &mut elf.sections {
        if section.name.starts_with(".visaasm") {
            section.data.truncate(60);
        }
    }
    elf.write().unwrap()
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = victim();
    assert!(ZebinFile::parse(&bytes).is_ok());
    for len in 0..bytes.len() {
        assert!(ZebinFile::parse(&bytes[..len]).is_err(), "{len} of {}", bytes.len());
    }
}

#[test]
fn damage_never_panics() {
    let bytes = victim();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize
    };
    let mut survived = 0;
    // Half of the flips go to the tables at the end, where the structure is.
    let tables = bytes.len() - 64 * 12;
    for round in 0..4000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + next() % 4 {
            let at = match round % 4 {
                0 => next() % 64,
                1 | 2 => tables + next() % (bytes.len() - tables),
                _ => next() % bytes.len(),
            };
            damaged[at] = match next() % 3 {
                0 => 0xff,
                1 => 0,
                _ => damaged[at] ^ (1 << (next() % 8)),
            };
        }
        if let Ok(zebin) = ZebinFile::parse(&damaged) {
            survived += 1;
            let _ = zebin.unresolved();
            let _ = (zebin.data_relocations().count(), zebin.data_symbols().count(), zebin.spirv());
            for visa in &zebin.visa {
                let _ = zebin.visa_text(visa);
            }
            // What was read can be written and is then the same but for what ELF cannot say.
            let written = zebin.strip().write().unwrap();
            ZebinFile::parse(&written).unwrap();
        }
    }
    assert!(survived > 100, "{survived}");
}
