//! Findings: what the checks of a launch saw that no GPU tells.

use crate::fault::Place;
use crate::kernel::Code;
use envisa_diag::Diagnostic;
use serde::Serialize;

/// What a check found: the first time, and how often.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The code that `envisa explain` has a page on: `F0002`.
    pub code: &'static str,
    /// What.
    pub kind: FindingKind,
    /// The variable read, or the address written.
    pub subject: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The channel.
    pub channel: u32,
    /// The thread in its group.
    pub thread: u32,
    /// The group.
    pub group: [u32; 3],
    /// How often; of a race between groups, at how many places.
    pub count: u64,
    /// Of a race, what the instruction does, and with what it races.
    pub race: Option<Race>,
}

/// What a check found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A channel reads register bytes that nothing has written in its thread.
    UninitialisedRead,
    /// Two channels of one store write one place with different values: which one stays is undefined.
    StoreConflict,
    /// Two threads access one place, one of them stores, and nothing orders the two.
    Race,
}

impl FindingKind {
    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            FindingKind::UninitialisedRead => "F0002",
            FindingKind::StoreConflict => "F0003",
            FindingKind::Race => "F0004",
        }
    }
}

/// The two sides of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Race {
    /// What the finding's instruction does: `reads`, `stores to`, …
    pub access: String,
    /// What the other one does.
    pub other_access: String,
    /// Where the other one is.
    pub other: Place,
    /// The other thread in its group.
    pub other_thread: u32,
    /// The other group.
    pub other_group: [u32; 3],
}

impl Finding {
    pub(crate) fn new(code: &Code, f: &envisa_sanitize::Finding) -> Finding {
        let kind = match f.kind {
            envisa_sanitize::FindingKind::UninitialisedRead => FindingKind::UninitialisedRead,
            envisa_sanitize::FindingKind::StoreConflict => FindingKind::StoreConflict,
            envisa_sanitize::FindingKind::Race => FindingKind::Race,
        };
        Finding {
            code: kind.code(),
            kind,
            subject: f.subject.clone(),
            place: Place::new(code, &f.function, f.instruction, f.span),
            channel: f.channel,
            thread: f.thread,
            group: f.group,
            count: f.count,
            race: f.race.as_ref().map(|(access, other)| Race {
                access: access.to_string(),
                other_access: other.access.to_string(),
                other: Place::new(code, &other.function, other.instruction, other.span),
                other_thread: other.thread,
                other_group: other.group,
            }),
        }
    }

    /// In a sentence.
    pub fn message(&self) -> String {
        match self.kind {
            FindingKind::UninitialisedRead => format!("reads {}, which nothing has written", self.subject),
            FindingKind::StoreConflict => {
                format!(
                    "two channels store different values to {}: which one stays is undefined",
                    self.subject
                )
            }
            FindingKind::Race => {
                format!("a data race for {}: nothing orders two accesses to it", self.subject)
            }
        }
    }

    /// As a diagnostic that points into the [files](crate::Kernel::files) of its kernel.
    pub fn diagnostic(&self) -> Diagnostic {
        let [x, y, z] = self.group;
        let times = if self.count == 1 { "once".to_owned() } else { format!("{} times in all", self.count) };
        let d = Diagnostic::error(self.code, self.message());
        let (place, kernel) = (&self.place, &self.place.kernel);
        let Some(race) = &self.race else {
            return d.primary(place.file, place.range(), format!("channel {}", self.channel)).note(format!(
                "first by kernel `{kernel}`, group ({x}, {y}, {z}), thread {}, instruction ${}; {times}",
                self.thread, place.instruction
            ));
        };
        let [u, v, w] = race.other_group;
        let here = format!("thread {} of group ({x}, {y}, {z}) {} it", self.thread, race.access);
        let there = format!("thread {} of group ({u}, {v}, {w}) {} it", race.other_thread, race.other_access);
        d.primary(place.file, place.range(), here).secondary(race.other.file, race.other.range(), there).note(
            format!(
                "kernel `{kernel}`, instructions ${} and ${}; {times}",
                place.instruction, race.other.instruction
            ),
        )
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([x, y, z], p) = (self.group, &self.place);
        write!(f, "{}: {} (instruction ${} of `{}`, ", p.kernel, self.message(), p.instruction, p.function)?;
        match &self.race {
            None => write!(f, "channel {}, thread {} of group {x},{y},{z}; ", self.channel, self.thread)?,
            Some(race) => {
                let [u, v, w] = race.other_group;
                write!(
                    f,
                    "thread {} of group {x},{y},{z} {} it, instruction ${} of `{}`, thread {} of group {u},{v},{w} \
                     {} it; ",
                    self.thread,
                    race.access,
                    race.other.instruction,
                    race.other.function,
                    race.other_thread,
                    race.other_access
                )?;
            }
        }
        write!(f, "{} times)", self.count)
    }
}
