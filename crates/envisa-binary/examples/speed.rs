//! Speed of reader and writer, on a generated module of 200,000 instructions.
use envisa_binary::{WriteOptions, read, write};
use envisa_smith::generate::{Options, module};
use std::time::Instant;

fn main() {
    let m = module(1, &Options { insts: 200_000, ..Options::default() });
    let bytes = write(&m, &WriteOptions::default()).unwrap();
    let mb = bytes.len() as f64 / 1e6;
    println!("{} instructions, {mb:.1} MB", m.objects[0].insts.len());
    for _ in 0..3 {
        let t = Instant::now();
        let b = write(&m, &WriteOptions::default()).unwrap();
        let w = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let again = read(&b).unwrap();
        let r = t.elapsed().as_secs_f64();
        println!("write {:.0} MB/s, read {:.0} MB/s ({} objects)", mb / w, mb / r, again.objects.len());
    }
}
