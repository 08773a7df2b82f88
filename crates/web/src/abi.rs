//! What JavaScript calls. A request is written where [`input`] says, [`call`] answers it, and the answer is
//! read where [`output`] says.
//!
//! There is one session to an instance. A panic, which would be a bug, is a trap in WebAssembly; its message
//! and place are what [`output`] has then, and [`call`] has not returned.
#![allow(
    unsafe_code,
    reason = "exports need names, and attributes that give them are unsafe; nothing else here is"
)]

use crate::requests::Session;
use std::cell::RefCell;
use std::panic;
use std::sync::Once;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
}

/// Room for a request of so many bytes. Returns where it is.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|room| {
        room.clear();
        room.resize(bytes, 0);
        room.as_mut_ptr()
    })
}

/// Answers the request. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let message = format!("{info}").into_bytes();
            OUTPUT.with_borrow_mut(|output| *output = message);
        }));
    });
    let request = INPUT.take();
    let answer = SESSION.with_borrow_mut(|session| session.answer(&request));
    OUTPUT.with_borrow_mut(|output| {
        *output = answer;
        output.len()
    })
}

/// Where the last answer is; after a trap, the message of the panic.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// Length of what [`output`] has.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}
