//! A fiber: a stack of its own, to which the processor is switched without the kernel.
//!
//! - It keeps what the platform's calls keep, and nothing else: the floating-point control words are nobody's here.
//! - This one counts how often it was switched to, and touches as much of its stack as it was told.
//! - x86-64 only: another processor's would be code that nobody here has run.

use crate::error::KubError;

/// A fiber; its stack is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Fiber {
    #[cfg(target_arch = "x86_64")]
    inner: x86_64::Inner,
}

impl Fiber {
    /// A fiber that touches this many bytes of its stack each time.
    pub(crate) fn create(touched_bytes: usize) -> Result<Self, KubError> {
        #[cfg(target_arch = "x86_64")]
        return Ok(Self { inner: x86_64::Inner::create(touched_bytes)? });
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = touched_bytes;
            Err(KubError::unavailable("fibers are written for x86-64 only"))
        }
    }

    /// Switches to it, and back.
    #[inline]
    #[allow(clippy::needless_pass_by_ref_mut)] // it is changed where there is one
    pub(crate) fn switch_to_and_back(&mut self) {
        #[cfg(target_arch = "x86_64")]
        self.inner.switch_to_and_back();
    }

    /// How often it was switched to.
    pub(crate) fn passes(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return self.inner.passes();
        #[cfg(not(target_arch = "x86_64"))]
        0
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::super::mapping::{Mapping, page_bytes};
    use crate::error::{KubError, Refused};
    use std::arch::naked_asm;
    use std::cell::UnsafeCell;
    use std::hint::black_box;

    const STACK_BYTES: usize = 256 << 10;

    /// What the fiber has besides what it was told to touch.
    const ROOM_BYTES: usize = 32 << 10;

    #[derive(Debug)]
    pub(super) struct Inner {
        /// Where each is while the other runs, and what the fiber counts; not moved while the fiber lives.
        state: Box<UnsafeCell<State>>,
        _stack: Mapping,
    }

    #[derive(Debug)]
    #[repr(C)]
    struct State {
        caller: *mut u8,
        fiber: *mut u8,
        passes: u64,
        touched_bytes: usize,
    }

    // SAFETY: the state and the stack are reached through this value alone, whoever has it.
    unsafe impl Send for Inner {}

    impl Inner {
        pub(super) fn create(touched_bytes: usize) -> Result<Self, KubError> {
            let bytes = (STACK_BYTES + touched_bytes).next_multiple_of(page_bytes());
            let stack = Mapping::private(bytes)?;
            // SAFETY: the lowest page of a stack that nothing uses yet; a fiber that needs more ends the program
            // there instead of writing elsewhere.
            let guarded = unsafe {
                let none = rustix::mm::MprotectFlags::empty();
                rustix::mm::mprotect(stack.base().as_ptr().cast(), page_bytes(), none)
            };
            guarded.or_refused("a stack's guard")?;
            let touched_bytes = touched_bytes.min(bytes - ROOM_BYTES);
            let caller = std::ptr::null_mut();
            let state = State { caller, fiber: std::ptr::null_mut(), passes: 0, touched_bytes };
            let state = Box::new(UnsafeCell::new(state));
            // SAFETY: the highest words of the stack: what `switch` takes from it at first, r15 to rbp, where the
            // third is r13's, and where it returns to. The stack is a multiple of 16 before that call's return
            // address would be on it, as the platform demands.
            unsafe {
                let top = stack.base().as_ptr().add(bytes).cast::<usize>().sub(2);
                top.sub(1).write(begin as *const () as usize);
                top.sub(5).write(state.get() as usize); // r13
                (*state.get()).fiber = top.sub(7).cast();
            }
            Ok(Self { state, _stack: stack })
        }

        #[inline]
        pub(super) fn switch_to_and_back(&mut self) {
            let state = self.state.get();
            // SAFETY: the state is this value's; the fiber's stack holds what `switch` left there, or what
            // `create` did, and the fiber only ever switches back.
            unsafe { switch(&raw mut (*state).caller, (*state).fiber) }
        }

        pub(super) fn passes(&self) -> u64 {
            // SAFETY: the fiber does not run now.
            unsafe { (*self.state.get()).passes }
        }
    }

    /// Keeps where the caller is, and goes on where another was.
    #[unsafe(naked)]
    unsafe extern "C" fn switch(kept: *mut *mut u8, to: *mut u8) {
        naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            // Not by `ret`: the processor would take it for the return of another call, and guess wrong every time.
            "pop rcx",
            "jmp rcx",
        )
    }

    /// Where a fiber begins: its state is in r13.
    #[unsafe(naked)]
    unsafe extern "C" fn begin() {
        naked_asm!("mov rdi, r13", "call {run}", "ud2", run = sym run)
    }

    /// What the fiber does for ever.
    extern "C" fn run(state: *mut State) -> ! {
        loop {
            // SAFETY: the state lives as long as the fiber, and only one of the two runs at a time.
            unsafe {
                (*state).passes += 1;
                if (*state).touched_bytes > 0 {
                    touch((*state).touched_bytes);
                }
                switch(&raw mut (*state).fiber, (*state).caller);
            }
        }
    }

    /// Writes to one place of each cache line of the stack below.
    #[inline(never)]
    fn touch(bytes: usize) {
        const PART: usize = 4096;
        let mut part = [0_u8; PART];
        for place in (0..PART.min(bytes)).step_by(64) {
            part[place] = 1;
        }
        black_box(&mut part);
        if bytes > PART {
            touch(bytes - PART);
            black_box(&mut part);
        }
    }
}
