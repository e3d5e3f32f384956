//! The compiler's service, as this process uses it.

use std::path::PathBuf;
use std::sync::OnceLock;

use envisa_ocloc::Service;
use envisa_ocloc::cache::Cache;

/// The one service.
pub fn compiler_service() -> &'static Service {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    SERVICE.get_or_init(|| {
        let cache = Cache::of_environment();
        if let Some(why) = cache.as_ref().and_then(Cache::refused) {
            crate::log::print_warning(&format!("{why}: the compiler's cache is not used"));
        }
        Service::new(find_helper_program(), cache)
    })
}

/// The helper's program: `ENVISA_COMPILER`, or what lies next to this library.
fn find_helper_program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ENVISA_COMPILER").filter(|p| !p.is_empty()) {
        return Some(PathBuf::from(path));
    }
    envisa_ocloc::client::helper_beside(&crate::process::library_path()?)
}
