//! `envisa check`: the verifier.

use crate::cmd::{Done, Exit, Failure, Report, USAGE, load, text_options};
use crate::io;
use envisa::diag::{
    Diagnostic, FileId, Files, Severity, Tool, render_json, render_sarif, render_text, unknown,
};
use envisa::isa::{Platform, Platforms};
use envisa::verify::{Code, Example, Level, Options, Rule, rule};
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  envisa check kernel.visaasm --platform dg2
  envisa check kernel.zebin --platform all --format sarif > findings.sarif
  envisa check kernel.visaasm --deny dead-write --allow V0207
  envisa check --explain two-registers

In the text, `// envisa: allow(RULE)` allows a rule on its line (or on the next line, if it stands alone), and \
`// envisa: allow-file(RULE)` allows it in the whole file.";

/// Check vISA against every rule that the specification states.
///
/// Takes vISA text, CISA binaries and zebins. The exit code is 1 if there are errors, and 2 if a file could not be read.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The files to check; `-` is standard input.
    #[arg(required_unless_present_any = ["explain", "list"])]
    files: Vec<PathBuf>,
    /// The platform to check for, several platforms separated by commas, or `all`. An error on only some of several
    /// platforms is a warning. Without this option, everything is legal that is legal on at least one platform.
    #[arg(long, value_name = "PLATFORM", value_parser = parse_platforms)]
    platform: Option<Platforms>,
    /// Make violations of this rule errors; `warnings` stands for all rules that would only warn.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// Make violations of this rule warnings.
    #[arg(long, value_name = "RULE")]
    warn: Vec<String>,
    /// Do not report violations of this rule; `lints` stands for all lints.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Explain a rule, with examples.
    #[arg(long, value_name = "RULE", conflicts_with = "files")]
    explain: Option<String>,
    /// List all rules.
    #[arg(long, conflicts_with_all = ["files", "explain"])]
    list: bool,
    /// How to print findings on standard output.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text, default_value_if("message_format", "json", "json"))]
    format: Format,
    /// Report every warning. Without this option, only the first three warnings of each rule are shown, and vISA that a
    /// compiler wrote gets no warnings that only the compiler's authors could act on.
    #[arg(long)]
    all: bool,
    /// Print nothing if there are no findings.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// As text.
    Text,
    /// As one JSON object per line.
    Json,
    /// As a SARIF 2.1.0 log.
    Sarif,
}

fn parse_platforms(s: &str) -> Result<Platforms, String> {
    let mut set = Platforms::NONE;
    for name in s.split(',').map(str::trim) {
        if name.eq_ignore_ascii_case("all") {
            set = Platforms::ALL;
            continue;
        }
        let known = || std::iter::once("all").chain(Platform::ALL.map(Platform::name));
        let p = Platform::from_name(name).ok_or_else(|| unknown("platform", name, known()))?;
        set = set.union(Platforms::of(&[p]));
    }
    Ok(set)
}

fn find(id: &str) -> Result<&'static Rule, Failure> {
    rule::find(id).ok_or_else(|| {
        let lower = id.to_ascii_lowercase();
        let like: Vec<&str> =
            rule::all().map(|r| r.name).filter(|n| n.contains(lower.as_str())).take(4).collect();
        let hint = if like.is_empty() { "see `envisa check --list`".to_string() } else { like.join(", ") };
        Failure(format!("unknown rule `{id}`; {hint}"))
    })
}

/// Runs the command.
///
/// # Errors
/// Unknown rules, unreadable files.
pub fn run(args: Args) -> Done {
    if let Some(id) = &args.explain {
        io::print(&explain_rule(find(id)?))?;
        return Ok(Exit::Fine);
    }
    if args.list {
        io::print(&list())?;
        return Ok(Exit::Fine);
    }
    let mut options = Options { platforms: args.platform.unwrap_or(Platforms::ALL), ..Options::default() };
    if args.all {
        options.repeats = usize::MAX;
    }
    let mut deny_warnings = false;
    for (ids, level) in [(&args.allow, Level::Allow), (&args.warn, Level::Warn), (&args.deny, Level::Deny)] {
        for id in ids {
            match id.as_str() {
                "lints" if level == Level::Allow => options.lints = false,
                "warnings" if level == Level::Deny => deny_warnings = true,
                _ => options.levels.push((find(id)?.code, level)),
            }
        }
    }
    // Regions of text are read in registers of one size: the set's, where it has one.
    let sizes: Vec<Platform> = options.platforms.iter().collect();
    let platform = match sizes.as_slice() {
        [] => None,
        [first, rest @ ..] if rest.iter().all(|p| p.grf_bytes() == first.grf_bytes()) => Some(*first),
        _ => None,
    };
    let mut files = Files::new();
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut unreadable = false;
    let mut spared = false;
    for path in &args.files {
        let mut report = Report { files: std::mem::take(&mut files), ..Report::default() };
        let loaded = match load::load_file(path, platform, &mut report) {
            Ok(loaded) => loaded,
            Err(Failure(why)) => {
                // What the other files have is told all the same.
                unreadable = true;
                report.diagnostics.push(Diagnostic::error(USAGE, why));
                None
            }
        };
        if loaded.iter().flatten().any(|l| l.kernel.is_some())
            && let Ok(bytes) = io::read(path)
        {
            load::report_unwritten_registers_of_zebin(&load::display(path), &bytes, &mut report.diagnostics);
        }
        files = report.files;
        diagnostics.append(&mut report.diagnostics);
        for l in loaded.into_iter().flatten() {
            let compiled = l.kernel.is_some() || l.files.iter().any(|id| is_dump(&files, *id));
            let mut options = options.clone();
            if compiled && !args.all {
                let quiet = rule::COMPILERS.iter().map(|c| (*c, Level::Allow));
                options.levels = quiet.chain(options.levels).collect();
                spared = true;
            }
            check_loaded(&l, &options, args.platform.is_none(), &files, &mut diagnostics);
        }
    }
    if deny_warnings {
        for d in &mut diagnostics {
            if d.severity == Severity::Warning {
                d.severity = Severity::Error;
            }
        }
    }
    match print_diagnostics(&args, &files, &diagnostics, spared)? {
        _ if unreadable => Ok(Exit::Usage),
        exit => Ok(exit),
    }
}

fn check_loaded(l: &load::Loaded, options: &Options, any: bool, files: &Files, out: &mut Vec<Diagnostic>) {
    let mut options = options.clone();
    // Comments of text files; an object's file is looked up once each.
    let mut seen = Vec::new();
    for id in &l.files {
        if seen.contains(id) {
            continue;
        }
        seen.push(*id);
        let Some(f) = files.get(*id) else { continue };
        if f.is_binary() {
            continue;
        }
        let Ok(text) = std::str::from_utf8(f.bytes()) else { continue };
        let (allow, unknown) = envisa::verify::parse_allow_comments(text);
        // Spans of several files overlap: only a single text's allowances are certain.
        if l.files.iter().all(|o| o == id) {
            options.allowances.extend(allow);
        }
        for (span, name) in unknown {
            out.push(
                Diagnostic::warning("W0600", format!("there is no rule called `{name}`"))
                    .primary(*id, span, "")
                    .help("`envisa check --list` lists all rules"),
            );
        }
    }
    for f in envisa::verify::check(&l.module, &options) {
        // Without a platform, what one of them takes is fine.
        if any && f.platforms != options.platforms {
            continue;
        }
        let file = l.files.get(f.object).or(l.files.first()).copied().unwrap_or_default();
        out.push(f.diagnostic(file));
    }
}

/// Is it a text as the reference compiler dumps it? Its comments say so.
fn is_dump(files: &Files, id: FileId) -> bool {
    let start = files.get(id).filter(|f| !f.is_binary()).map_or(&[][..], |f| f.bytes());
    let start = &start[..start.len().min(4096)];
    String::from_utf8_lossy(start).contains("VISA Predefined Variables")
}

fn print_diagnostics(args: &Args, files: &Files, diagnostics: &[Diagnostic], spared: bool) -> Done {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    match args.format {
        Format::Json => io::print(&render_json(files, diagnostics))?,
        Format::Sarif => {
            let tool = Tool {
                name: "envisa".into(),
                version: env!("CARGO_PKG_VERSION").into(),
                information_uri: "https://github.com/envisa/envisa".into(),
            };
            let rules: Vec<envisa::diag::Rule> = rule::all()
                .map(|r| envisa::diag::Rule {
                    id: r.code.to_string(),
                    name: r.name.into(),
                    short: format!("{}.", r.brief),
                    full: r.text.into(),
                    help_uri: String::new(),
                    severity: r.severity,
                })
                .collect();
            io::print(&render_sarif(files, diagnostics, &tool, &rules))?;
        }
        Format::Text => {
            let mut text = render_text(files, diagnostics, &text_options(&std::io::stdout()));
            if errors + warnings > 0 {
                let s = |n: usize| if n == 1 { "" } else { "s" };
                let _ = writeln!(text, "{errors} error{}, {warnings} warning{}", s(errors), s(warnings));
            } else if !args.quiet {
                text.push_str("nothing wrong\n");
            }
            if spared && !args.quiet {
                text.push_str("compiled code: `--all` also shows the rules that its compiler breaks\n");
            }
            io::print(&text)?;
        }
    }
    Ok(if errors > 0 { Exit::Findings } else { Exit::Fine })
}

/// What `--explain` prints.
pub fn explain_rule(r: &Rule) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {} ({})\n", r.code, r.name, level_name(r));
    let _ = writeln!(out, "{}.\n\n{}\n", r.brief, r.text);
    if !r.page.is_empty() {
        let _ = writeln!(out, "Page: {}\n", r.page);
    }
    match r.example {
        Example::Text { bad, good } => {
            let _ = writeln!(out, "Wrong:\n\n{}\n\nRight:\n\n{}", indent_lines(bad), indent_lines(good));
            if !bad.contains(".version") {
                let _ = writeln!(
                    out,
                    "\nThe examples belong to a kernel that declares `V<type>` of 64 elements for each type,"
                );
                let _ = writeln!(out, "predicates P8, P16, P32, addresses A0, surface T6 and sampler S0.");
            }
        }
        Example::Binary(how) => {
            let _ = writeln!(out, "Text cannot express it, or the parser reports it first. Example: {how}.");
        }
        Example::None => out.push_str("Not checked statically.\n"),
    }
    out
}

fn indent_lines(s: &str) -> String {
    s.lines().map(|l| format!("    {l}")).collect::<Vec<_>>().join("\n")
}

fn level_name(r: &Rule) -> &'static str {
    use envisa::verify::Kind;
    match (r.kind, r.severity) {
        (Kind::Runtime, _) => "checked at run time",
        (Kind::Unchecked, _) => "not checked",
        (_, Severity::Error) => "error",
        (_, Severity::Warning) => "warning",
        _ => "off by default",
    }
}

fn list() -> String {
    let mut out = String::new();
    for (group, rules) in rule::GROUPS {
        let _ = writeln!(out, "{group}");
        for r in *rules {
            let code: Code = r.code;
            let _ = writeln!(out, "  {code} {:<24} {:<20} {}", r.name, level_name(r), r.brief);
        }
    }
    out
}
