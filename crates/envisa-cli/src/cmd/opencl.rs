//! `envisa opencl`: the driver for every program, not only those that `envisa exec` starts.

use super::exec::driver;
use super::{Done, Exit, Failure};
use std::path::{Path, PathBuf};

/// Install the OpenCL driver for all programs, or remove it.
///
/// OpenCL loaders read the paths of drivers from files `*.icd` in a folder. `install` writes such a file. Programs then
/// find envisa's devices in addition to those of other drivers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  sudo envisa opencl install
  envisa opencl install --folder ~/opencl && OCL_ICD_VENDORS=~/opencl ./app
  envisa opencl remove --folder ~/opencl")]
pub struct Args {
    #[command(subcommand)]
    command: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Write `envisa.icd`, which contains the driver's path.
    Install {
        #[command(flatten)]
        place: Place,
        /// The driver's file. By default, `libenvisa_opencl.so` next to this command.
        #[arg(long, value_name = "FILE")]
        driver: Option<PathBuf>,
    },
    /// Remove `envisa.icd`.
    Remove {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(clap::Args)]
struct Place {
    /// The folder in which the loader looks for drivers.
    #[arg(long, value_name = "FOLDER", default_value = "/etc/OpenCL/vendors")]
    folder: PathBuf,
}

const FILE: &str = "envisa.icd";

/// Runs the command.
///
/// # Errors
/// If the driver is not there, or the file cannot be written or removed.
pub fn run(args: &Args) -> Done {
    match &args.command {
        Verb::Install { place, driver: given } => install(&place.folder, given.as_deref()),
        Verb::Remove { place } => remove(&place.folder),
    }
}

/// What cannot be done to a file, and what would help.
pub(super) fn failed(path: &Path, e: &std::io::Error) -> Failure {
    let hint = match e.kind() {
        std::io::ErrorKind::PermissionDenied => "; as root, or into a folder of your own with --folder",
        _ => "",
    };
    Failure(format!("{}: {e}{hint}", path.display()))
}

fn install(folder: &Path, given: Option<&Path>) -> Done {
    let driver = driver(given)?;
    let path = folder.join(FILE);
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
    std::fs::write(&path, format!("{}\n", driver.display())).map_err(|e| failed(&path, &e))?;
    println!("{} -> {}", path.display(), driver.display());
    if folder != Path::new("/etc/OpenCL/vendors") {
        println!("programs find it with OCL_ICD_VENDORS={}", folder.display());
    }
    Ok(Exit::Fine)
}

fn remove(folder: &Path) -> Done {
    let path = folder.join(FILE);
    std::fs::remove_file(&path).map_err(|e| failed(&path, &e))?;
    println!("{} removed", path.display());
    Ok(Exit::Fine)
}
