//! Loops of locked operations at places that are read from rows: native code fetches lines early, and nobody sees it.

use crate::kernels::only_kernel;
use crate::random::Chance;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Fault, Launch};

/// Each channel goes along a row of places in `E`, by so many bytes from one to the next, and changes what is there in
/// `A`, then a byte of it; `B` has where the rows begin, how long they are, and gets what the operations returned.
fn kernel(channels: u32, step: i32, op: &str, operands: &str, made: Made) -> String {
    let (decl, second) = match channels {
        32 => ("align=wordx32", "add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n"),
        _ => ("align=wordx32", ""),
    };
    let n = channels;
    let places = match made {
        Made::Added => {
            "mov (M1, {n}) ToA(0,0)<1> X(0,0)<1;1,0>
add (M1, {n}) ToA(0,0)<1> ToA(0,0)<1;1,0> A(0,0)<0;1,0>"
        }
        Made::Shifted => {
            "shl (M1, {n}) Y(0,0)<1> X(0,0)<1;1,0> 0x1:ud
mov (M1, {n}) ToA(0,0)<1> Y(0,0)<1;1,0>
add (M1, {n}) ToA(0,0)<1> A(0,0)<0;1,0> ToA(0,0)<1;1,0>"
        }
        Made::ByDwords => {
            "shl (M1, {n}) Y(0,0)<1> X(0,0)<1;1,0> 0x1:ud
{dwords}mov (M1, {n}) ToA32(0,0)<2> Low(0,0)<1;1,0>
mov (M1, {n}) ToA32(0,1)<2> High(0,0)<1;1,0>"
        }
    };
    // Eight channels at a time: what is written in halves is read as one.
    let dwords = (0..n / 8).map(|k| {
        let (m, of) = (1 + 2 * k, format!("0,{}", 8 * k));
        format!(
            "addc (M{m}, 8) Low({of})<1> Carry(0,0)<1> A32(0,0)<0;1,0> Y({of})<1;1,0>
add (M{m}, 8) High({of})<1> Carry(0,0)<1;1,0> A32(0,1)<0;1,0>\n"
        )
    });
    let dwords: String = dwords.collect();
    let places = places.replace("{dwords}", &dwords).replace("{n}", &n.to_string());
    let (bytes, twice) = (4 * n, 2 * n);
    format!(
        r#"
.version 3.6
.kernel "lines"
.kernel_attr Target="cm"
.decl A v_type=G type=uq num_elts=1 align=qword
.decl B v_type=G type=uq num_elts=1 align=qword
.decl E v_type=G type=uq num_elts=1 align=qword
.decl Lane v_type=G type=uw num_elts={n} {decl}
.decl At v_type=G type=ud num_elts={n} {decl}
.decl Go v_type=G type=d num_elts={n} {decl}
.decl N v_type=G type=d num_elts={n} {decl}
.decl Y v_type=G type=ud num_elts={n} {decl}
.decl Low v_type=G type=ud num_elts={n} {decl}
.decl High v_type=G type=ud num_elts={n} {decl}
.decl Carry v_type=G type=ud num_elts=8 {decl}
.decl A32 v_type=G type=ud num_elts=2 align=dword alias=<A, 0>
.decl X v_type=G type=d num_elts={n} {decl}
.decl Old v_type=G type=d num_elts={n} {decl}
.decl V v_type=G type=d num_elts={n} {decl}
.decl Sum v_type=G type=d num_elts={n} {decl}
.decl P v_type=P num_elts={n}
.decl To v_type=G type=uq num_elts={n} {decl}
.decl ToE v_type=G type=uq num_elts={n} {decl}
.decl ToA v_type=G type=uq num_elts={n} {decl}
.decl ToA32 v_type=G type=ud num_elts={twice} {decl} alias=<ToA, 0>
.input A offset=64 size=8
.input B offset=72 size=8
.input E offset=80 size=8
.function "lines_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
{second}shl (M1, {n}) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
add (M1, {n}) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>
lsc_load.ugm (M1, {n}) Go:d32 flat[To]:a64
lsc_load.ugm (M1, {n}) N:d32 flat[To+{bytes:#x}]:a64
mov (M1, {n}) Sum(0,0)<1> 0x1:d
mov (M1, {n}) V(0,0)<1> Lane(0,0)<1;1,0>
cmp.gt (M1, {n}) P N(0,0)<1;1,0> 0x0:d
(!P) goto (M1, {n}) behind
again:
mov (M1, {n}) ToE(0,0)<1> Go(0,0)<1;1,0>
add (M1, {n}) ToE(0,0)<1> ToE(0,0)<1;1,0> E(0,0)<0;1,0>
lsc_load.ugm (M1, {n}) X:d32 flat[ToE]:a64
{places}
{op}.ugm (M1, {n}) Old:d32 flat[ToA]:a64 {operands}
mul (M1, {n}) Sum(0,0)<1> Sum(0,0)<1;1,0> 0x1f:d
add (M1, {n}) Sum(0,0)<1> Sum(0,0)<1;1,0> Old(0,0)<1;1,0>
lsc_store.ugm (M1, {n}) flat[ToA]:a64 Sum:d8c32
add (M1, {n}) Go(0,0)<1> Go(0,0)<1;1,0> {step}:d
add (M1, {n}) N(0,0)<1> N(0,0)<1;1,0> -1:d
cmp.gt (M1, {n}) P N(0,0)<1;1,0> 0x0:d
(P) goto (M1, {n}) again
behind:
add (M1, {n}) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>
lsc_store.ugm (M1, {n}) flat[To]:a64 Sum:d32
ret (M1, 1)
"#
    )
}

/// How addresses are made from what is loaded.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Made {
    /// It is added to a scalar.
    Added,
    /// The same, shifted left by one.
    Shifted,
    /// So, too, and dword by dword.
    ByDwords,
}

fn dwords(all: impl IntoIterator<Item = u32>) -> Vec<u8> {
    all.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn what_locked_operations_find_is_the_interpreters() {
    let mut chance = Chance(0xfeed_5eed);
    let (mut whole, mut faults, mut fetching) = (0, 0, 0);
    let ops = [
        ("lsc_atomic_icas", "V Sum"),
        ("lsc_atomic_iadd", "V %null"),
        ("lsc_atomic_umax", "Go %null"),
        ("lsc_atomic_xor", "Sum %null"),
    ];
    for (op, operands) in ops {
        let all = [
            (16, 4, Made::Added),
            (32, 4, Made::Added),
            (32, -4, Made::Added),
            (16, 12, Made::Added),
            (16, 4, Made::Shifted),
            (32, 4, Made::Shifted),
            (16, -4, Made::ByDwords),
            (32, 4, Made::ByDwords),
        ];
        for (channels, step, made) in all {
            let text = kernel(channels, step, op, operands, made);
            for _ in 0..8 {
                let length = [256, 4096, 40_960][chance.below(3) as usize];
                // Seldom a place outside, or one that is not a dword's.
                let bad = if chance.below(4) == 0 { 40 } else { u64::MAX };
                let edges = dwords((0..length / 4).map(|_| {
                    // A dword's, after the shift.
                    let place = if made == Made::Added { 4 } else { 2 } * chance.below(256) as u32;
                    if chance.below(bad) == 0 {
                        place + [1, 1 << 30][chance.below(2) as usize]
                    } else {
                        place
                    }
                }));
                // So often, too, that places are not looked at any more.
                let most = 1 + [12, 100][chance.below(2) as usize];
                let start = |c: &mut Chance| 4 * c.below(length / 4 - 2) as u32;
                let work: Vec<u32> = (0..channels).map(|_| start(&mut chance)).collect();
                let count = work.iter().map(|from| {
                    let n = chance.below(most + 1) as i64;
                    // They end where the row does, but for some.
                    let room = if step < 0 { *from } else { length as u32 - from } / step.unsigned_abs();
                    if chance.below(500) == 0 { n as u32 } else { n.min(room.into()) as u32 }
                });
                let work = dwords(work.iter().copied().chain(count));
                let run = |engine| -> (Vec<u8>, Vec<u8>, Option<Box<Fault>>, bool) {
                    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 22));
                    let kernel = only_kernel(&device, &text);
                    let a = device.buffer_from("a", &[0; 1024]).expect("there is memory");
                    let b = device.buffer_from("b", &work).expect("there is memory");
                    let e = device.buffer_from("e", &edges).expect("there is memory");
                    let launch = Launch::threads(&[1, 1, 1], 1)
                        .arg("A", &a)
                        .arg("B", &b)
                        .arg("E", &e)
                        .engine(engine)
                        .host_threads(1);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    // The operation's lines of three iterations, the store's of two.
                    let fetched = || kernel.native_listing().expect("a listing").matches("prefetchw").count();
                    let fetches = engine == Engine::Native && kernel.is_native() && fetched() >= 5;
                    (a.to_vec(), b.to_vec(), outcome.fault, fetches)
                };
                let [a, b] = [Engine::Unoptimized, Engine::Native].map(run);
                if a.2.is_some() {
                    faults += 1
                } else {
                    whole += 1
                }
                fetching += u32::from(b.3);
                assert_eq!(a.2, b.2, "{op} by {step}, {made:?}: the fault");
                assert!((a.0, a.1) == (b.0, b.1), "{op} by {step}, {made:?}, {length} bytes: memory differs");
            }
        }
    }
    assert!(whole > 60 && faults > 10, "{whole} ended, {faults} faults");
    assert_eq!(fetching, whole + faults, "code that fetches lines");
}
