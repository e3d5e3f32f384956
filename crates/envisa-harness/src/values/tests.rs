//! Values from texts and files, and what is refused.

use super::*;

const LIMIT: u64 = 1 << 20;

fn make(text: &str) -> HostValue {
    ValueSpec::parse(text).unwrap().materialize(LIMIT).unwrap()
}

#[test]
fn splitmix64_gives_the_published_sequence() {
    // First outputs for state 1234567, as published with the algorithm's reference code.
    let mut rng = SplitMix64::new(1_234_567);
    assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
    assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    assert_eq!(rng.next_u64(), 9_817_491_932_198_370_423);
}

#[test]
fn values_made_in_place_are_the_same() {
    let n = 2 * PART + 5;
    for form in ["zeros:f32:", "fill:u16x3:7:", "iota:u8:", "iota:f16x4:", "rand:f64:", "rand:i32:"] {
        let text = match form.strip_suffix("7:") {
            Some(fill) => format!("{fill}{n}:7"),
            None => format!("{form}{n}"),
        };
        let spec = ValueSpec::parse(&text).unwrap();
        let bytes = spec.generated_bytes(LIMIT).unwrap().unwrap();
        let mut out = vec![0; bytes as usize];
        spec.generate(&mut out);
        assert!(out == spec.materialize(LIMIT).unwrap().bytes, "{text}");
        assert!(spec.generated_bytes(bytes - 1).is_err(), "{text}");
    }
    assert!(matches!(ValueSpec::parse("local:4").unwrap().generated_bytes(LIMIT), Ok(None)));
}

#[test]
fn generated_values_have_type_shape_and_content() {
    let v = make("iota:i16:2*3");
    assert_eq!((v.elem, &v.shape[..]), (ElemType::I16, &[6][..]));
    assert_eq!((0..6).map(|i| v.get_int(i).unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(make("iota:u8:300").get_int(299), Some(43));
    assert_eq!(make("iota:f16:5").display(4).unwrap(), "4");
    let v = make("fill:f32x4:2:1.5");
    assert_eq!(&v.shape[..], [2, 4]);
    assert!((0..8).all(|i| v.get_f64(i) == Some(1.5)));
    assert!(make("zeros:u64:3").bytes.iter().all(|b| *b == 0));
    assert_eq!(make("i32x2:-1,0xffffffff").bytes, [0xff; 8]);
}

#[test]
fn random_values_respect_range_and_seed() {
    for ty in ElemType::ALL {
        let v = make(&format!("rand:{ty}:500:9:10..20"));
        assert!((0..500).all(|i| (10.0..=20.0).contains(&v.get_f64(i).unwrap())), "{ty}");
        assert_ne!(v, make(&format!("rand:{ty}:500:8:10..20")), "{ty}");
    }
    let v = make("rand:f32:1000");
    assert!((0..1000).all(|i| (-1.0..1.0).contains(&v.get_f64(i).unwrap())));
    assert_eq!(v, make("rand:f32:1000:0"));
    let full = make("rand:i64:4:3:-9223372036854775808..9223372036854775808");
    assert_eq!(full.len(), 4);
}

#[test]
fn numbers_must_fit() {
    assert!(parse_scalar(ElemType::U8, "256").is_err());
    assert!(parse_scalar(ElemType::U8, "-1").is_err());
    assert!(parse_scalar(ElemType::I8, "0x100").is_err());
    assert_eq!(parse_scalar(ElemType::I8, "0xff").unwrap(), [0xff]);
    assert_eq!(parse_scalar(ElemType::I64, "-9223372036854775808").unwrap(), i64::MIN.to_le_bytes());
    assert!(parse_scalar(ElemType::I32, "--5").is_err());
    assert!(parse_scalar(ElemType::I32, "1.5").is_err());
    assert_eq!(parse_scalar(ElemType::F32, "0.1").unwrap(), 0.1f32.to_le_bytes());
}

#[test]
fn bad_texts_are_errors() {
    for text in [
        "",
        ":",
        "zeros",
        "zeros:f32",
        "zeros:f33:4",
        "zeros:f32x5:4",
        "zeros:f32:-1",
        "zeros:f32:1:2",
        "rand:i32:4:x",
        "rand:i32:4:1:5",
        "rand:i32:4:1:5..5",
        "rand:u8:4:1:0..257",
        "rand:f32:4:1:0..inf",
        "rand:i32:4:1:0..1:9",
        "iota:f32:99999999999999999999",
        "i32x2:1,2,3",
        "f32x2:1",
        "@",
        "hello",
        "local:",
        "local:x",
        "fill:u8:4:300",
        "f32xx4:1",
        "zeros:u8:18446744073709551615*2",
    ] {
        assert!(ValueSpec::parse(text).is_err(), "{text}");
    }
    assert_eq!(ValueSpec::parse("-5").unwrap(), ValueSpec::Number("-5".into()));
    assert_eq!(ValueSpec::parse("local:4*64").unwrap(), ValueSpec::Local(256));
}

#[test]
fn sizes_are_bounded() {
    for text in ["zeros:f64:18446744073709551615", "zeros:u8:1048577", "rand:f64x16:8193"] {
        let e = ValueSpec::parse(text).unwrap().materialize(LIMIT).unwrap_err();
        assert!(matches!(e, ValueError::TooLarge { .. }), "{e}");
    }
}

#[test]
fn files_read_back_as_written() {
    let dir = tempfile::tempdir().unwrap();
    for ty in ElemType::ALL {
        let mut v = make(&format!("rand:{ty}:24:5"));
        v.shape = vec![2, 3, 4];
        let path = dir.path().join("a.npy");
        v.write(&path).unwrap();
        assert_eq!(HostValue::read(&path, LIMIT).unwrap(), v);
        if matches!(ty, ElemType::U8 | ElemType::U16) {
            let path = dir.path().join("a.png");
            v.write(&path).unwrap();
            assert_eq!(HostValue::read(&path, LIMIT).unwrap(), v);
        }
    }
    let v = make("rand:u8:7:1");
    let path = dir.path().join("a.bin");
    v.write(&path).unwrap();
    assert_eq!(HostValue::read(&path, LIMIT).unwrap(), v);
    assert!(matches!(HostValue::read(&path, 6), Err(ValueError::TooLarge { .. })));
    // Nothing is left behind when a picture cannot be written.
    let path = dir.path().join("bad.png");
    assert!(make("iota:f32:4").write(&path).is_err());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn damaged_npy_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.npy");
    make("iota:i32:16").write(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    for cut in 0..good.len() {
        std::fs::write(&path, &good[..cut]).unwrap();
        assert!(HostValue::read(&path, LIMIT).is_err(), "cut at {cut}");
    }
    for i in 0..good.len().min(128) {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[i] ^= 1 << bit;
            std::fs::write(&path, &bytes).unwrap();
            // Any outcome but a panic or a large allocation is fine.
            let _ = HostValue::read(&path, LIMIT);
        }
    }
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    std::fs::write(&path, &bytes).unwrap();
    assert!(HostValue::read(&path, LIMIT).unwrap_err().to_string().contains("overflows"));
}
