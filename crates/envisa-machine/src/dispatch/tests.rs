//! Launches of a kernel that IGC compiled: images, and what is refused.

use super::*;
use crate::memory::{Memory, Surface, SurfaceTable};
use envisa_zebin::ZeInfo;
use envisa_zebin::ze_info::{ImageType, Kernel};

/// The metadata of `vadd(a, b, c, n)` as IGC wrote it for dg2, cut to what matters.
const VADD: &str = "
version: '1.20'
kernels:
  - name: vadd
    execution_env: { grf_count: 128, simd_size: 32, slm_size: 416 }
    payload_arguments:
      - { arg_type: global_id_offset, offset: 0, size: 12 }
      - { arg_type: local_size, offset: 12, size: 12 }
      - { arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global, access_type: readonly }
      - { arg_type: buffer_address, offset: 32, size: 8, arg_index: 0 }
      - { arg_type: arg_byvalue, offset: 56, size: 4, arg_index: 1 }
      - { arg_type: buffer_offset, offset: 60, size: 4, arg_index: 0 }
      - { arg_type: enqueued_local_size, offset: 72, size: 12 }
      - { arg_type: arg_bypointer, offset: 88, size: 8, arg_index: 2, addrmode: slm, addrspace: local, access_type: readwrite, slm_alignment: 64 }
    per_thread_payload_arguments:
      - { arg_type: local_id, offset: 0, size: 192 }
    binding_table_indices:
      - { bti_value: 0, arg_index: 0 }
    per_thread_memory_buffers:
      - { type: scratch, usage: single_space, size: 2048 }
";

fn ready(edit: impl FnOnce(&mut Launch)) -> (Memory, Result<Prepared, LaunchError>) {
    ready_as(VADD, 32, edit)
}

fn ready_as(
    info: &str,
    grf_bytes: u32,
    edit: impl FnOnce(&mut Launch),
) -> (Memory, Result<Prepared, LaunchError>) {
    let (info, _) = ZeInfo::parse(info).unwrap();
    let memory = Memory::new(1 << 24);
    let a = memory.allocate("a", 400).unwrap();
    let mut launch = Launch {
        dims: 2,
        global: [100, 3, 1],
        local: [64, 2, 1],
        offset: [7, 0, 0],
        args: vec![Arg::Buffer(a, 16), Arg::Value(vec![5, 0, 0, 0]), Arg::Local(256)],
    };
    edit(&mut launch);
    let prepared = prepare_launch(
        &info.kernels[0],
        &launch,
        Resources {
            memory: &memory,
            grf_bytes,
            local_memory: 64 << 10,
            dummy_local_ids: false,
            slots: 4,
            least_image: 288,
            const_base: 0,
            global_base: 0,
            stack_calls: false,
            partial_groups: true,
            images: true,
            red_zone: 0,
        },
    );
    (memory, prepared)
}

fn dword(image: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(image[at..at + 4].try_into().unwrap())
}

#[test]
fn the_image_is_laid_out_as_the_compiler_expects() {
    let (memory, prepared) = ready(|_| {});
    let p = prepared.unwrap();
    assert_eq!(p.groups, [2, 2, 1]);
    assert_eq!(p.slm_bytes, 1024, "more than 416 + 256: as the hardware gives it");
    let mut image = p.image.clone();
    // The far corner: 36 x 1 work-items.
    let group = [1, 1, 0];
    let class = p.class(group);
    assert_eq!((class.local, class.threads, class.tail_mask), ([36, 1, 1], 2, 0xf));
    p.patch_group(&mut image, group, class);
    p.patch_thread(&mut image, 1, 2);
    p.patch_payload(&mut image, p.payload_of(class, 1));
    // r0: thread index, group ids, scratch of slot 2.
    assert_eq!([dword(&image, 4), dword(&image, 24), dword(&image, 28)], [1, 1, 0]);
    assert_eq!(dword(&image, 8), 1);
    assert_eq!(dword(&image, 20), 1024 + 2 * 2048);
    // Local ids of channels 32 to 35.
    assert_eq!(image[32], 32);
    assert_eq!(image[32 + 6], 35);
    // The cross-thread payload starts at 32 + 192.
    let base = 224;
    assert_eq!(dword(&image, base), 7);
    assert_eq!([dword(&image, base + 12), dword(&image, base + 16)], [36, 1]);
    let a = memory.map().iter().next().unwrap().base + 16;
    assert_eq!(dword(&image, base + 32), a as u32);
    assert_eq!(dword(&image, base + 36), (a >> 32) as u32);
    assert_eq!(dword(&image, base + 56), 5);
    // The kernel adds the offset, so the surface starts with the allocation.
    assert_eq!(dword(&image, base + 60), 16);
    assert_eq!([dword(&image, base + 72), dword(&image, base + 76)], [64, 2]);
    assert_eq!(dword(&image, base + 88), 0);
    match &p.surfaces.get(0).surface {
        Surface::Buffer(b) => assert_eq!((b.start, b.len), (0, 400)),
        other => panic!("{other:?}"),
    }
}

/// Where a surface starts, its length, and what the kernel is told to add to accesses.
#[test]
fn surfaces_start_where_the_kernel_expects_it() {
    let place = |info: &str, part: bool| {
        let (_, prepared) = ready_as(info, 32, |l| {
            let Arg::Buffer(a, offset) = l.args[0] else { panic!("a pointer") };
            if part {
                l.args[0] = Arg::Part(a, offset, 100);
            }
        });
        let p = prepared.unwrap();
        let Surface::Buffer(b) = p.surfaces.get(0).surface else { panic!("a buffer") };
        (b.start, b.len, dword(&p.image, 224 + 60))
    };
    assert_eq!(place(VADD, false), (0, 400, 16));
    assert_eq!(place(VADD, true), (16, 100, 0));
    let line = "      - { arg_type: buffer_offset, offset: 60, size: 4, arg_index: 0 }\n";
    let without = VADD.replace(line, "");
    assert_ne!(without, VADD);
    assert_eq!(place(&without, false), (16, 384, 0));
}

#[test]
fn data_behind_the_inline_ones_start_at_a_register() {
    let inline = VADD.replace("simd_size:", "inline_data_payload_size: 32, simd_size:");
    assert_ne!(inline, VADD);
    for (grf, gap) in [(32, 0), (64, 32)] {
        let (memory, prepared) = ready_as(&inline, grf, |_| {});
        let image = prepared.unwrap().image;
        let base = grf as usize + 192;
        assert_eq!(dword(&image, base), 7);
        let a = memory.map().iter().next().unwrap().base + 16;
        assert_eq!(dword(&image, base + gap + 32), a as u32);
        assert_eq!(dword(&image, base + gap + 56), 5);
    }
}

#[test]
fn groups_are_numbered_x_fastest() {
    let (_, prepared) = ready(|_| {});
    let p = prepared.unwrap();
    assert_eq!(p.group_count(), 4);
    assert_eq!([p.group_id(1), p.group_id(2)], [[1, 0, 0], [0, 1, 0]]);
    assert_eq!(p.class([0, 0, 0]).local, [64, 2, 1]);
    assert_eq!(p.class([1, 0, 0]).local, [36, 2, 1]);
    assert_eq!(p.class([0, 1, 0]).local, [64, 1, 1]);
}

#[test]
#[cfg_attr(miri, ignore = "reads metadata again and again")]
fn what_is_missing_is_named() {
    let refused = |edit: fn(&mut Kernel), global: u64, partial_groups: bool, images: bool| {
        let (mut info, _) = ZeInfo::parse(VADD).unwrap();
        let kernel = &mut info.kernels[0];
        edit(kernel);
        let memory = Memory::new(1 << 24);
        let a = memory.allocate("a", 400).unwrap();
        let args = vec![Arg::Buffer(a, 16), Arg::Value(vec![5, 0, 0, 0]), Arg::Local(256)];
        let launch = Launch { dims: 1, global: [global, 1, 1], local: [64, 1, 1], offset: [0; 3], args };
        let with = Resources {
            memory: &memory,
            grf_bytes: 32,
            local_memory: 64 << 10,
            dummy_local_ids: false,
            slots: 4,
            least_image: 288,
            const_base: 0,
            global_base: 0,
            stack_calls: false,
            partial_groups,
            images,
            red_zone: 0,
        };
        prepare_launch(kernel, &launch, with).map(drop)
    };
    assert_eq!(refused(|_| {}, 128, false, false), Ok(()));
    assert_eq!(refused(|_| {}, 100, true, false), Ok(()));
    let whole = refused(|_| {}, 100, false, false).unwrap_err();
    assert!(
        matches!(&whole, LaunchError::Size(s) if s.contains("not a multiple of the group's 64")),
        "{whole}"
    );
    type Edit = fn(&mut Kernel);
    let image: Edit = |k| k.payload_arguments[0].image_type = Some(ImageType::Image2d);
    let edits: [(Edit, &str); 3] = [
        (image, "not supported: the device has no images"),
        (|k| k.execution_env.has_rtcalls = true, "not supported: ray queries"),
        (|k| k.execution_env.simd_size = 2, "not supported: a thread of 2 channels"),
    ];
    for (edit, message) in edits {
        let e = refused(edit, 128, false, false).unwrap_err();
        assert!(matches!(e, LaunchError::Unsupported(_)) && e.to_string().starts_with(message), "{e}");
    }
    // Where the device has images, it is the argument that does not fit.
    assert!(!matches!(refused(image, 128, false, true), Err(LaunchError::Unsupported(_))));
}

#[test]
#[cfg_attr(miri, ignore = "reads metadata again and again")]
fn local_memory_comes_in_powers_of_two() {
    for (bytes, given) in [(256, 1 << 10), (1100, 2 << 10), (3000, 4 << 10), (33 << 10, 64 << 10)] {
        let (_, prepared) = ready(|l| l.args[2] = Arg::Local(bytes));
        assert_eq!(prepared.unwrap().slm_bytes, given, "{bytes} bytes");
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads metadata again and again")]
fn what_does_not_fit_is_said() {
    type Edit = fn(&mut Launch);
    let cases: [(Edit, &str); 8] = [
        (|l| l.args.truncate(2), "argument 2: is not given"),
        (|l| l.args[0] = Arg::Value(vec![1]), "argument 0: the kernel takes a buffer, not a value"),
        (|l| l.args[1] = Arg::Null, "argument 1: the kernel takes a value, not a null pointer"),
        (|l| l.args[1] = Arg::Value(vec![]), "argument 1: 0 bytes given, the kernel reads from byte 0 on"),
        (|l| l.global = [0, 1, 1], "the range is empty"),
        (|l| l.local = [0, 1, 1], "a group has at least one work-item in each dimension"),
        (|l| l.local = [u32::MAX, 1, 1], "a group of 4294967295 work-items: at most 1024 fit"),
        (|l| l.global = [u64::MAX, 1, 1], "18446744073709551615 work-items in dimension 0: ids are 32 bits"),
    ];
    for (edit, message) in cases {
        assert_eq!(ready(edit).1.unwrap_err().to_string(), message);
    }
    assert!(ready(|l| l.args[2] = Arg::Local(1 << 40)).1.is_err());
    assert!(ready(|l| l.args[2] = Arg::Local((64 << 10) - 512)).1.is_ok());
    assert_eq!(
        ready(|l| l.args[2] = Arg::Local(64 << 10)).1.unwrap_err().to_string(),
        "65952 bytes of shared local memory a group: the device has 65536"
    );
}

#[test]
fn ids_of_groups_can_be_counted() {
    let memory = Memory::new(1 << 20);
    for groups in [[1, 1, 1], [3, 2, 4], [1, 5, 2], [4, 1, 3], [7, 1, 1], [1, 1, 6]] {
        let p = prepare_bare(&memory, groups, 1, 8, Vec::new(), SurfaceTable::default(), (0, 0)).unwrap();
        let mut id = p.group_id(0);
        for number in 0..p.group_count() {
            assert_eq!(id, p.group_id(number), "{groups:?}");
            id = p.group_after(id);
        }
        assert_eq!(id, [0; 3], "{groups:?}");
    }
}
