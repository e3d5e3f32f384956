//! `envisa opencl`: the driver for every program, not only those that `envisa exec` starts.

use super::exec::find_driver;
use super::{Done, Exit, Failure};
use std::path::{Path, PathBuf};

/// Install the OpenCL driver for all programs, or remove it.
///
/// OpenCL loaders read the paths of drivers from files `*.icd` in a folder, by default `/etc/OpenCL/vendors`. `install`
/// writes such a file, `envisa.icd`. Programs then find envisa's devices in addition to those of other drivers.
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

/// What is done with a driver that programs find in a folder.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Enter the driver in the folder.
    Install {
        #[command(flatten)]
        place: Place,
        /// The driver's file. By default, it is next to this command.
        #[arg(long, value_name = "FILE")]
        driver: Option<PathBuf>,
    },
    /// Remove the entry.
    Remove {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(clap::Args)]
pub(super) struct Place {
    /// Another folder than the default, which the loader searches too.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Verb {
    /// Calls one of the functions, with the folder.
    pub(super) fn run(
        &self,
        default: &str,
        install: fn(&Path, Option<&Path>) -> Done,
        remove: fn(&Path) -> Done,
    ) -> Done {
        let folder = |p: &Place| p.folder.clone().unwrap_or_else(|| default.into());
        match self {
            Verb::Install { place, driver } => install(&folder(place), driver.as_deref()),
            Verb::Remove { place } => remove(&folder(place)),
        }
    }
}

const FILE: &str = "envisa.icd";
const FOLDER: &str = "/etc/OpenCL/vendors";

/// Runs the command.
///
/// # Errors
/// If the driver is not there, or the file cannot be written or removed.
pub fn run(args: &Args) -> Done {
    args.command.run(FOLDER, install_driver, remove)
}

/// What cannot be done to a file, and what would help.
pub(super) fn file_failure(path: &Path, e: &std::io::Error) -> Failure {
    let hint = match e.kind() {
        std::io::ErrorKind::PermissionDenied => "; as root, or into a folder of your own with --folder",
        _ => "",
    };
    Failure(format!("{}: {e}{hint}", path.display()))
}

fn install_driver(folder: &Path, given: Option<&Path>) -> Done {
    let driver = find_driver(given)?;
    let path = folder.join(FILE);
    std::fs::create_dir_all(folder).map_err(|e| file_failure(folder, &e))?;
    std::fs::write(&path, format!("{}\n", driver.display())).map_err(|e| file_failure(&path, &e))?;
    println!("{} -> {}", path.display(), driver.display());
    if folder != Path::new(FOLDER) {
        println!("programs find it with OCL_ICD_VENDORS={}", folder.display());
    }
    Ok(Exit::Fine)
}

fn remove(folder: &Path) -> Done {
    let path = folder.join(FILE);
    std::fs::remove_file(&path).map_err(|e| file_failure(&path, &e))?;
    println!("{} removed", path.display());
    Ok(Exit::Fine)
}
