//! Lists whose commands can be changed once they were recorded.

use std::collections::HashMap;
use std::sync::Arc;

use super::command::{Action, Command};
use super::error::{Error, Result};
use super::event::Event;
use super::kernel::{Kernel, Launch};

/// What can be changed of a command: `ZE_MUTABLE_COMMAND_EXP_FLAG_*`.
pub mod flag {
    /// Arguments of its kernel.
    pub const ARGUMENTS: u32 = 1;
    /// How many groups.
    pub const GROUPS: u32 = 2;
    /// The size of groups.
    pub const GROUP_SIZE: u32 = 4;
    /// First global ids.
    pub const OFFSET: u32 = 8;
    /// What it signals.
    pub const SIGNAL: u32 = 0x10;
    /// What it waits for.
    pub const WAITS: u32 = 0x20;
    /// Its kernel.
    pub const KERNEL: u32 = 0x40;
    /// All that is supported.
    pub const ALL: u32 = 0x7f;
    /// What is meant if nothing is said.
    pub const USUAL: u32 = ALL & !KERNEL;
}

/// What a list knows of its commands that can be changed.
#[derive(Clone, Default)]
pub struct Mutable {
    /// Commands by their numbers.
    commands: HashMap<u64, Changeable>,
    /// Numbers of the command that is appended next.
    next: Vec<u64>,
    /// How many numbers there were.
    last: u64,
    /// Something was changed since the list was closed.
    changed: bool,
}

/// A command that can be changed.
#[derive(Clone)]
struct Changeable {
    flags: u32,
    /// Kernels that it may be of.
    kernels: Vec<Arc<Kernel>>,
    /// Where it stands in its list, and what it waited for at first; none before it is appended.
    place: Option<(usize, usize)>,
    /// Its kernel or arguments are others than those that its values are of.
    stale: bool,
}

/// A change of a launch.
pub enum Change {
    /// An argument.
    Argument(u32, usize, Option<Vec<u8>>),
    /// How many groups.
    Groups([u32; 3]),
    /// The size of groups.
    GroupSize([u32; 3]),
    /// First global ids.
    Offset([u32; 3]),
    /// Another kernel.
    Kernel(Arc<Kernel>),
}

impl Change {
    fn flag(&self) -> u32 {
        match self {
            Change::Argument(..) => flag::ARGUMENTS,
            Change::Groups(_) => flag::GROUPS,
            Change::GroupSize(_) => flag::GROUP_SIZE,
            Change::Offset(_) => flag::OFFSET,
            Change::Kernel(_) => flag::KERNEL,
        }
    }
}

impl Mutable {
    /// A number for the command that is appended next.
    ///
    /// # Errors
    /// If flags are not known.
    pub fn number(&mut self, flags: u32, kernels: Vec<Arc<Kernel>>) -> Result<u64> {
        if flags & !(flag::ALL | 0x80) != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if flags & !flag::ALL != 0 {
            return Err(Error::UNSUPPORTED_ENUMERATION);
        }
        let flags = if flags == 0 { flag::USUAL } else { flags };
        self.last += 1;
        self.commands.insert(self.last, Changeable { flags, kernels, place: None, stale: false });
        self.next.push(self.last);
        Ok(self.last)
    }

    /// A command is appended at a place.
    pub fn appended(&mut self, place: usize, command: &Command) {
        for number in self.next.drain(..) {
            if let Some(c) = self.commands.get_mut(&number) {
                c.place = Some((place, command.waits.len()));
            }
        }
    }

    /// Was something changed since the list was closed?
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// A command that can be changed in a way, and its place.
    fn find(&mut self, number: u64, flag: u32) -> Result<(&mut Changeable, usize, usize)> {
        let found = self.commands.get_mut(&number).filter(|c| c.flags & flag != 0);
        let found = found.ok_or(Error::INVALID_ARGUMENT)?;
        let (place, waits) = found.place.ok_or(Error::INVALID_ARGUMENT)?;
        Ok((found, place, waits))
    }

    /// Changes a launch.
    ///
    /// # Errors
    /// If there is no such command, it is no launch, or the change does not fit.
    pub fn change(&mut self, list: &mut Arc<Vec<Command>>, number: u64, change: Change) -> Result<()> {
        let (found, place, _) = self.find(number, change.flag())?;
        if let Change::Kernel(kernel) = &change
            && !found.kernels.iter().any(|k| Arc::ptr_eq(k, kernel))
        {
            return Err(Error::INVALID_KERNEL_HANDLE);
        }
        let command = Arc::make_mut(list).get_mut(place).ok_or(Error::INVALID_ARGUMENT)?;
        let (launch, groups): (&mut Launch, _) = match &mut command.does {
            Action::Launch(launch, groups) => (launch, Some(groups)),
            Action::LaunchIndirect(launch, ..) => (launch, None),
            _ => return Err(Error::INVALID_ARGUMENT),
        };
        match change {
            Change::Argument(index, size, bytes) => {
                launch.change_argument(index, size, bytes)?;
                found.stale = true;
            }
            Change::Groups(n) => *groups.ok_or(Error::INVALID_ARGUMENT)? = n,
            Change::GroupSize(size) => launch.change_group(size)?,
            Change::Offset(offset) => launch.change_offset(offset),
            Change::Kernel(kernel) => {
                launch.change_kernel(&kernel);
                found.stale = true;
            }
        }
        self.changed = true;
        Ok(())
    }

    /// Changes what a command signals.
    ///
    /// # Errors
    /// If there is no such command.
    pub fn signal(
        &mut self,
        list: &mut Arc<Vec<Command>>,
        number: u64,
        event: Option<Arc<Event>>,
    ) -> Result<()> {
        let (_, place, _) = self.find(number, flag::SIGNAL)?;
        let command = Arc::make_mut(list).get_mut(place).ok_or(Error::INVALID_ARGUMENT)?;
        event.iter().for_each(|e| e.note_signal_appended());
        command.signals = event;
        self.changed = true;
        Ok(())
    }

    /// Changes what a command waits for; `n` events are named, some of which may be none.
    ///
    /// # Errors
    /// If there is no such command, or it waited for another number of events at first.
    pub fn waits(
        &mut self,
        list: &mut Arc<Vec<Command>>,
        number: u64,
        n: usize,
        events: &[Arc<Event>],
    ) -> Result<()> {
        let (_, place, first) = self.find(number, flag::WAITS)?;
        if n != first {
            return Err(Error::INVALID_SIZE);
        }
        let command = Arc::make_mut(list).get_mut(place).ok_or(Error::INVALID_ARGUMENT)?;
        command.waits = events.iter().map(Event::wait_of).collect();
        self.changed = true;
        Ok(())
    }

    /// The list is closed: what was changed holds.
    ///
    /// # Errors
    /// If a launch cannot be run as it was changed.
    pub fn closed(&mut self, list: &mut Arc<Vec<Command>>) -> Result<()> {
        for found in self.commands.values_mut().filter(|c| c.stale) {
            let Some((place, _)) = found.place else { continue };
            if let Some(command) = Arc::make_mut(list).get_mut(place)
                && let Action::Launch(launch, _) | Action::LaunchIndirect(launch, ..) = &mut command.does
            {
                launch.resolve_arguments_again()?;
            }
            found.stale = false;
        }
        if std::mem::take(&mut self.changed) {
            for command in list.iter() {
                if let Action::Launch(launch, groups) = &command.does {
                    launch.range(*groups)?;
                }
            }
        }
        Ok(())
    }
}
