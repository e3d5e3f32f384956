//! Commands that fail by a panic.

use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Code(i32);

impl Failure for Code {
    const OF_WHAT_IT_WAITED_FOR: Code = Code(-1);
    const OF_A_PANIC: Code = Code(-2);

    fn code(self) -> i32 {
        self.0
    }
}

/// It runs on the queue's thread or on one that waits: neither is lost, and nobody waits for ever.
#[test]
fn a_panic_is_the_failure_of_its_command() {
    for waits_at_once in [true, false] {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let queue = Queue::<Code>::new(false);
            let enqueue = |work: Work<Code>| {
                let event =
                    queue.enqueue("command", Order::Normal, Vec::new(), None, work).expect("a thread");
                if !waits_at_once {
                    // Long enough for the queue's thread to take it.
                    look_until(|| event.is_over(), Duration::from_secs(20));
                }
                event.wait()
            };
            let panics = enqueue(Box::new(|| panic!("on purpose")));
            let succeeds = enqueue(Box::new(|| Ok(())));
            sender.send((panics, succeeds, queue.finish(), queue.finish())).expect("who asked is there");
        });
        let told = receiver.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever");
        assert_eq!(told, (-2, status::COMPLETE, Err(-2), Ok(())), "waits at once: {waits_at_once}");
    }
}
