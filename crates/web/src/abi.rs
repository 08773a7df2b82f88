//! Interface to JavaScript. The caller writes a request to the address that [`input`] returns; [`call`]
//! answers it; the answer is at the address that [`output`] returns.
//!
//! There is one session per instance. A panic, which is a bug, is a trap in WebAssembly: [`call`] does not
//! return, and [`output`] has the panic's message and place.
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

/// Allocates space for a request of `bytes` bytes. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|room| {
        room.clear();
        room.resize(bytes, 0);
        room.as_mut_ptr()
    })
}

/// Answers the request. Returns the length of the answer in bytes.
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

/// Address of the last answer; after a trap, of the panic's message.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// Length in bytes of the data at [`output`].
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}
