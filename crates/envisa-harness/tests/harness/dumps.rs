//! vISA that a zebin lacks is taken from dumps beside it, and said.

use envisa_harness::job::{Job, JobError, Ready};
use std::path::Path;

fn job(folder: &Path) -> Result<Ready, JobError> {
    let text = "file = \"calls.zebin\"\nglobal = [2]\nlocal = [1]\n\
                args = { 0 = \"iota:u32:32\", 1 = \"zeros:u32:32\", 2 = \"u32:3\" }\n";
    let mut job = Job::parse(text).expect("a job");
    job.file = folder.join("calls.zebin");
    Ready::new(&job)
}

#[test]
fn dumps_beside_the_file() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../envisa/tests/vector/dg2");
    let folder = tempfile::tempdir().expect("a folder");
    let copy = |name: &str, to: &str| {
        std::fs::copy(from.join(name), folder.path().join(to)).expect("a copy");
    };
    copy("calls.zebin", "calls.zebin");
    let error = job(folder.path()).err().expect("its vISA is nowhere").to_string();
    assert!(error.contains("no vISA text for kernel `calls`"), "{error}");
    // As the compiler calls them; those of another build are not taken.
    copy("calls.visaasm", "VC_asm01_calls.visaasm");
    copy("calls_f0.visaasm", "VC_asm01_calls_f0.visaasm");
    copy("calls_f0.visaasm", "VC_asm02_calls_f0.visaasm");
    copy("vadd.visaasm", "VC_asm01_vadd.visaasm");
    let mut ready = job(folder.path()).unwrap_or_else(|e| panic!("{e}"));
    let said: Vec<&String> = ready.warnings().iter().filter(|w| w.contains("it is taken from")).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("VC_asm01_calls.visaasm") && said[1].contains("VC_asm01_calls_f0.visaasm"));
    let outcome = ready.run(None, None).unwrap_or_else(|e| panic!("{e}"));
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    copy("calls.visaasm", "calls.visaasm");
    let error = job(folder.path()).err().expect("there are two").to_string();
    assert!(error.contains("remove one of them from the folder"), "{error}");
}
