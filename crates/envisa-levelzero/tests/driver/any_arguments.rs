//! Every entry point, with arguments that are made of its signature: null, destroyed and foreign handles, handles of every
//! other kind, numbers that cannot be, structures that are empty, or in which everything points to themselves.
//!
//! It runs in a process of its own, so that an entry point that breaks down is named.

use std::io::Write as _;
use std::process::Command;

use crate::ze::*;

/// Set in the process that calls: the entry point to begin with.
const FIRST: &str = "ENVISA_HOSTILE_FIRST";
/// How often each is called.
const ROUNDS: usize = 400;
/// Bytes of what a pointer points to.
const ROOM: usize = 1 << 20;
/// Most parameters of an entry point.
const MOST: usize = 14;

/// What arguments are chosen from.
struct Callers {
    seed: u64,
    handles: Vec<usize>,
    /// Memory that the device has, too.
    shared: usize,
    /// For each parameter, memory in which is nothing, and such that points to itself.
    rooms: Vec<[Vec<u64>; 2]>,
}

extern "C" fn nothing(_: *mut u8) {}

impl Callers {
    /// For an entry point: what all of them share is not given to those that destroy.
    fn new(d: &Driver, module: usize, name: &str) -> Callers {
        let (list, closed) = (d.regular(0), d.regular(0));
        d.ok("zeCommandListClose", &[closed]);
        let events = d.events(2);
        d.ok("zeEventHostSignal", &[events[0]]);
        let queue = d.queue();
        let context = d.make("zeContextCreate", &[d.driver, zeros()]);
        let pool = d.make("zeEventPoolCreate", &[d.context, of(&[0u64, 0, 1 << 32]), 0, 0]);
        let fence = d.make("zeFenceCreate", &[queue, zeros()]);
        let physical = d.make("zePhysicalMemCreate", &[d.context, d.device, of(&[0u64, 0, 0, 1 << 16])]);
        let (kernel, empty) = (d.kernel(module, "f", 1024), d.kernel(module, "f", 1024));
        let x = d.shared(&[0u8; 1 << 16]);
        d.arg(kernel, 0, x.as_ptr());
        // Two dimensions, four by four texels of four bytes.
        let image = [0u64, 0, 2 << 32, 4, 1 << 32, 2 | 3 << 32, 4, 4 | 1 << 32, 0];
        let image = d.make("zeImageCreate", &[d.context, d.device, of(&image)]);
        let sampler = d.make("zeSamplerCreate", &[d.context, d.device, of(&[0u64, 0, 2, 1])]);
        let (mut one, mut memory) = (1u32, 0usize);
        d.ok("zesDeviceEnumMemoryModules", &[d.device, at(&mut one), at(&mut memory)]);
        let gone = events[1];
        d.ok("zeEventDestroy", &[gone]);
        let live = [
            d.driver,
            d.device,
            context,
            d.context,
            list,
            closed,
            d.immediate(1),
            queue,
            events[0],
            pool,
            fence,
            physical,
            kernel,
            empty,
            module,
            image,
            sampler,
            memory,
        ];
        let ours = |h: &usize| name.ends_with("Destroy") && [d.context, module].contains(h);
        let live = live.into_iter().filter(|h| !ours(h));
        let handles = live.chain([0, gone, 0xdead_0000, FOREVER, zeros()]).collect();
        let rooms = (0..MOST).map(|_| [vec![0u64; ROOM / 8], vec![0u64; ROOM / 8]]).collect();
        Callers { seed: 0x9e37_79b9_7f4a_7c15, handles, shared: x.as_ptr() as usize, rooms }
    }

    fn one_of(&mut self, all: &[usize]) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        all[(self.seed >> 20) as usize % all.len()]
    }

    /// The memory that the parameter at a place points to.
    fn pointer(&mut self, place: usize) -> usize {
        match self.one_of(&[0, 1, 1, 2, 2, 2]) {
            0 => 0,
            which => {
                let room = &mut self.rooms[place][which - 1];
                let itself = room.as_ptr() as u64;
                room[..512].fill(if which == 1 { 0 } else { itself });
                itself as usize
            }
        }
    }

    fn argument(&mut self, place: usize, name: &str, kind: &str) -> usize {
        let handles = self.handles.clone();
        match kind {
            "Handle" => self.one_of(&handles),
            // Nothing waits for longer.
            "u64" if name == "timeout" => self.one_of(&[0, 1, 1000]),
            "u32" | "u64" => self.one_of(&[0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]),
            "usize" if name.contains("size") || ["align", "width", "height", "offset"].contains(&name) => {
                self.one_of(&[0, 1, 3, 64, 4096, 1 << 16, (1 << 47) - 1, 1 << 63, FOREVER])
            }
            "usize" => {
                let shared = self.shared;
                self.one_of(&[0, shared, shared, shared + 3, shared + 65_535, 1 << 63, FOREVER])
            }
            _ if kind.starts_with("Option") => self.one_of(&[0, nothing as *const () as usize]),
            "* const Handle" | "*const Handle" => {
                let at = self.pointer(place);
                let some = self.one_of(&handles);
                if at != 0 && self.one_of(&[0, 1]) == 1 {
                    let room = self.rooms[place].iter_mut().find(|r| r.as_ptr() as usize == at);
                    room.expect("it points there")[..8].fill(some as u64);
                }
                at
            }
            _ if kind.starts_with('*') => self.pointer(place),
            other => panic!("parameters of the type {other} are new: say what to pass"),
        }
    }

    /// Arguments as they lie in registers and behind them on the stack.
    fn arguments(&mut self, parameters: &[(&str, &str)]) -> Vec<usize> {
        let (mut registers, mut stack) = (Vec::new(), Vec::new());
        for (place, (name, kind)) in parameters.iter().enumerate() {
            let words = match *kind {
                "IpcHandle" => {
                    stack.extend((0..8).map(|_| self.one_of(&[0, 1, FOREVER])));
                    continue;
                }
                "Triple" => (0..2).map(|_| self.one_of(&[0, 1, 1 << 32 | 1, FOREVER])).collect(),
                kind => vec![self.argument(place, name, kind)],
            };
            if registers.len() + words.len() <= 6 { registers.extend(words) } else { stack.extend(words) }
        }
        if !stack.is_empty() {
            registers.resize(6, 0);
        }
        registers.into_iter().chain(stack).collect()
    }
}

/// Calls all entry points from one on; names each before.
fn call_all(d: &Driver, first: &str) {
    let module = d.program("kernel void f(global int *x) { x[get_global_id(0) % 64] = 1; }");
    let from = envisa_ze::tables::signatures().skip_while(|(name, _)| *name != first);
    for (name, parameters) in from.filter(|(name, _)| *name != "zeDriverGetDefaultContext") {
        writeln!(std::io::stdout(), "calls {name}").expect("somebody reads");
        let mut callers = Callers::new(d, module, name);
        for _ in 0..ROUNDS {
            let arguments = callers.arguments(parameters);
            let result = d.call(name, &arguments);
            let refused = (0x7000_0000..0x7fff_fffe).contains(&result);
            if result != SUCCESS && result != NOT_READY && !refused {
                writeln!(std::io::stdout(), "{name}({arguments:x?}) = {result:#x}").expect("somebody reads");
                std::process::exit(3);
            }
        }
    }
    writeln!(std::io::stdout(), "calls nothing more").expect("somebody reads");
}

#[test]
fn every_entry_point_bears_any_arguments() {
    let Some(d) = driver() else { return };
    if let Ok(first) = std::env::var(FIRST) {
        return call_all(d, &first);
    }
    let mut first = envisa_ze::tables::signatures().next().expect("there are some").0.to_owned();
    let mut broken = Vec::new();
    loop {
        let own = std::env::current_exe().expect("the test is a file");
        let name = "any_arguments::every_entry_point_bears_any_arguments";
        let done = Command::new("timeout")
            .arg("300")
            .arg(own)
            .args(["--exact", name, "--nocapture"])
            .env(FIRST, &first)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        // The first is behind the test's name.
        let (_, last) = said.rsplit_once("calls ").expect("it calls something");
        let last = last.lines().next().unwrap_or_default().to_owned();
        if done.status.success() && last == "nothing more" {
            break;
        }
        let end: Vec<&str> = said.lines().rev().take(2).collect();
        broken.push(format!("{last}: {}; {end:?}", done.status));
        let next = envisa_ze::tables::signatures().skip_while(|(name, _)| *name != last).nth(1);
        let Some((next, _)) = next else { break };
        next.clone_into(&mut first);
    }
    assert!(broken.is_empty(), "{} break down:\n{}", broken.len(), broken.join("\n"));
}
