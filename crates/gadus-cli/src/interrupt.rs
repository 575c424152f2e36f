//! Ctrl-C: ends what runs, not the program, unless it is pressed again where nobody types.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gadus::CancelHandle;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// What shells expect of a program that Ctrl-C ended.
const EXIT_CODE: i32 = 130;

/// Whether Ctrl-C was pressed since it was last asked to forget.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    pressed: Arc<AtomicBool>,
}

impl Interrupt {
    /// Cancels the running statement on Ctrl-C. Without a person at a prompt, who could go on
    /// otherwise, a second Ctrl-C ends the program: an acknowledged commit is safe whenever that is.
    pub(crate) fn watch(cancel: CancelHandle, prompt: bool) -> Result<Self, Failure> {
        Self::tell(move || cancel.cancel(), prompt)
    }

    /// The same for what is no statement, which is told.
    pub(crate) fn tell(told: impl Fn() + Send + 'static, prompt: bool) -> Result<Self, Failure> {
        let interrupt = Self::default();
        let pressed = interrupt.pressed.clone();
        let mut signals = Signals::new([SIGINT])?;
        gadus_base::spawn("interrupts", move || {
            for _ in &mut signals {
                if pressed.swap(true, Ordering::Relaxed) && !prompt {
                    std::process::exit(EXIT_CODE);
                }
                told();
            }
        })?;
        Ok(interrupt)
    }

    /// Forgets earlier presses: something new begins.
    pub(crate) fn forget(&self) {
        self.pressed.store(false, Ordering::Relaxed);
    }

    /// Ends long work between two statements.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.pressed.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }
}
