//! What threads did when, in the trace-event format that Perfetto and Chrome read.

use super::{FORMAT, summary_line};
use envisa::{Place, Profile, Trace};
use serde_json::{Value as Json, json};

/// The events: a process for each group, a thread for each thread. A microsecond is an executed instruction.
pub fn trace_events(profile: &Profile, trace: &Trace) -> String {
    let mut events: Vec<Json> = Vec::new();
    let (mut group, mut pid) = (None, 0);
    for t in &trace.threads {
        if group != Some(t.group) {
            (group, pid) = (Some(t.group), pid + 1);
            let [x, y, z] = t.group;
            let name = format!("group ({x}, {y}, {z})");
            events.push(json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}));
            events.push(
                json!({"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}),
            );
        }
        let tid = t.thread + 1;
        let name = format!("thread {}", t.thread);
        events
            .push(json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}));
        for s in &t.spans {
            let (at, instruction) =
                (format_place(&s.place), format!("{}:${}", s.place.function, s.place.instruction));
            let name = match s.what {
                "call" => format!("call of {instruction}"),
                what => format!("{what} {at}"),
            };
            let args = json!({"at": at, "instruction": instruction, "instructions": s.end - s.start});
            events.push(json!({
                "ph": "X", "name": name, "cat": s.what, "pid": pid, "tid": tid,
                "ts": s.start, "dur": s.end - s.start, "args": args,
            }));
        }
    }
    let all = json!({
        "displayTimeUnit": "ms",
        "otherData": {
            "format": FORMAT,
            "run": summary_line(profile),
            "time": "a microsecond is one executed instruction; groups are shown as if all had begun at once",
            "groups left out": trace.groups_left_out,
            "spans left out": trace.spans_left_out,
        },
        "traceEvents": events,
    });
    format!("{all}\n")
}

/// Where it is: the line of the source, else of the vISA, else the instruction.
fn format_place(place: &Place) -> String {
    match (&place.source, &place.visa) {
        (Some(line), _) => format!("{}:{}", line.file, line.line),
        (None, Some(line)) => format!("{}:{}", line.file, line.line),
        (None, None) => format!("{}:${}", place.function, place.instruction),
    }
}
