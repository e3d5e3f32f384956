//! The process that compiles for the driver; see `envisa_ocloc::server`.

fn main() -> std::process::ExitCode {
    match envisa_ocloc::server::serve_requests() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("envisa-compiler: {e}");
            std::process::ExitCode::FAILURE
        }
    }
}
