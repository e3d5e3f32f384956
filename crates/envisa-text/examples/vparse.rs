//! Parses files and prints their diagnostics.
fn main() {
    let mut bad = 0;
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut files = envisa_diag::Files::new();
        let id = files.add_text(path.clone(), text.clone());
        let t = std::time::Instant::now();
        let r = envisa_text::parse(&text, id, &Default::default());
        let dt = t.elapsed();
        eprintln!(
            "{path}: {} errors, {} insts, {:.1} MB/s",
            r.diagnostics.len(),
            r.module.objects.iter().map(|o| o.insts.len()).sum::<usize>(),
            text.len() as f64 / dt.as_secs_f64() / 1e6
        );
        bad += (!r.complete) as u32;
        let n = r.diagnostics.len().min(3);
        if n > 0 {
            print!("{}", envisa_diag::render_text(&files, &r.diagnostics[..n], &Default::default()));
        }
    }
    eprintln!("{bad} incomplete");
}
