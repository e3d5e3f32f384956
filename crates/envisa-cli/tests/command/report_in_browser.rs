//! Pages of findings as people see them: a browser opens those of real runs, in narrow and in wide windows, light and dark.

use crate::browser::{self, Browser};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is seen of a page: what it is, how it is found, and how many there are at least.
type Wanted<'a> = &'a [(&'a str, &'a str, u32)];

/// Windows of a telephone, a half screen and a large one.
const WINDOWS: [(u32, u32); 3] = [(390, 760), (900, 900), (1920, 1080)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The page of a run, in a folder.
fn page_of(folder: &Path, name: &str, run: &[&str]) -> PathBuf {
    let page = folder.join(format!("{name}.html"));
    let out = Command::new(env!("CARGO_BIN_EXE_envisa"))
        .current_dir(root())
        .arg("run")
        .args(run)
        .arg("--report")
        .arg(&page)
        .output()
        .expect("it runs");
    assert!(page.exists(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    page
}

/// Looks at a page in all windows; pictures go to the folder that `ENVISA_PICTURES` names.
fn look_at(browser: &mut Browser, page: &Path, wanted: Wanted<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    let script = include_str!("report_in_browser.js");
    let wanted: Vec<Value> = wanted.iter().map(|w| serde_json::json!([w.0, w.1, w.2])).collect();
    for window in WINDOWS {
        for scheme in ["light", "dark"] {
            browser.open(page, window, scheme);
            let script = script
                .replace("WANTED", &Value::from(wanted.clone()).to_string())
                .replace("DARK", if scheme == "dark" { "true" } else { "false" });
            let place =
                format!("{} {} {scheme}", page.file_stem().unwrap_or_default().to_string_lossy(), window.0);
            if let Some(folder) = std::env::var_os("ENVISA_PICTURES") {
                let file = Path::new(&folder).join(format!("{}.png.base64", place.replace(' ', "-")));
                std::fs::write(file, browser.picture()).expect("written");
            }
            let said = browser.evaluate(&script);
            let said = said.as_array().unwrap_or_else(|| panic!("{place}: {said}")).iter();
            wrong.extend(said.map(|s| format!("{place}: {}", s.as_str().unwrap_or_default())));
            wrong.extend(browser.complaints.drain(..).map(|c| format!("{place}: the page complains: {c}")));
        }
    }
    wrong
}

/// Long lines and names, a race after many barriers, indices beyond an array and beyond a buffer, what nobody wrote.
const KERNEL: &str = r#"
struct element_of_the_tile_with_a_name_that_is_far_too_long_for_any_line { float weights_of_the_neighbours[4]; int count_of_the_neighbours; };
kernel void several_mistakes_in_one_kernel_whose_name_is_long(global const float *values_that_are_read_from_memory, global float *results_that_are_written_to_memory)
{
    local float tile_of_the_values_in_shared_local_memory[64];
    int place = get_local_id(0);
    float sum = 0, none;
    struct element_of_the_tile_with_a_name_that_is_far_too_long_for_any_line element = { { 1, 2, 3, 4 }, 4 };
    for (int round = 0; round < 14; round++) {
        tile_of_the_values_in_shared_local_memory[place] = values_that_are_read_from_memory[get_global_id(0)] + round; barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile_of_the_values_in_shared_local_memory[63 - place];
    }
    for (int k = 0; k <= 4; k++) { sum += element.weights_of_the_neighbours[(k + place / 64) % 5] * tile_of_the_values_in_shared_local_memory[place]; }
    if (place == 5) sum += none;
    results_that_are_written_to_memory[get_global_id(0) + 1] = sum;
}
"#;

/// The page of [`KERNEL`]; `None` without the compiler.
fn page_of_several(folder: &Path) -> Option<PathBuf> {
    if Command::new("ocloc").arg("--help").output().is_err() {
        envisa_harness::testing::not_run("ocloc is not there: a page of several findings is not looked at");
        return None;
    }
    let file = folder.join("several<mistakes>&long-names.cl");
    std::fs::write(&file, KERNEL).expect("written");
    let values = "values_that_are_read_from_memory=iota:f32:128";
    let results = "results_that_are_written_to_memory=zeros:f32:128";
    let kernel = file.to_str().expect("UTF-8");
    let run = [
        kernel, "--device", "dg2", "--global", "128", "--local", "64", "--check", "--arg", values, "--arg",
        results,
    ];
    Some(page_of(folder, "several", &run))
}

#[test]
fn pages_of_findings_are_seen_in_a_browser() {
    let Some(program) = browser::find() else {
        return envisa_harness::testing::not_run(
            "there is no browser: pages of findings are not looked at (chromium-headless-shell, or ENVISA_BROWSER)",
        );
    };
    let folder = tempfile::tempdir().expect("made");
    let race = page_of(folder.path(), "race", &["examples/race/job.toml", "--check"]);
    let mut browser = Browser::start(&program);
    let wanted: Wanted<'_> = &[
        ("the title", "h1", 1),
        ("what was found", "section.finding h2", 1),
        ("lines with findings", "pre.source div.here", 1),
        ("the other side", "pre.source div.here.other", 1),
        ("the source", "pre.source span.n", 20),
        ("both sides of the race", "svg.race circle", 2),
        ("what the sides do", "svg.race text", 4),
        ("maps of bytes", "svg.map rect", 32),
        ("links", "a[href]", 2),
    ];
    let mut wrong = look_at(&mut browser, &race, wanted);
    if let Some(several) = page_of_several(folder.path()) {
        let wanted: Wanted<'_> = &[
            ("the list", "ol.all li a", 3),
            ("what was found", "section.finding h2", 3),
            ("lines with findings", "pre.source div.here", 3),
            ("both sides of the race", "svg.race circle", 2),
            ("what is between them", "svg.race line.order", 2),
            ("maps of bytes", "svg.map rect", 256),
        ];
        wrong.extend(look_at(&mut browser, &several, wanted));
    }
    let none = page_of(
        folder.path(),
        "none",
        &[
            "examples/vadd/vadd.zebin",
            "--global",
            "64",
            "--arg",
            "a=iota:f32:64",
            "--arg",
            "b=iota:f32:64",
            "--arg",
            "c=zeros:f32:64",
            "--arg",
            "n=64",
            "--check",
        ],
    );
    wrong.extend(look_at(
        &mut browser,
        &none,
        &[("what is said", "h1, p", 2), ("maps of bytes", "svg.map rect", 32)],
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
