//! Panics of the engine, which are bugs: they become Python exceptions with message and place, not a trace on
//! standard error.

use crate::InternalError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Replaces the default panic hook, which prints: message and place are kept for [`caught`] instead.
pub fn remember_where() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}: ", at.file(), at.line())).unwrap_or_default();
        let payload = info.payload();
        let literal = payload.downcast_ref::<&str>().copied();
        let message =
            literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        LAST.with_borrow_mut(|last| *last = Some(format!("{place}{message}")));
    }));
}

/// Calls `work`; returns its result, or an [`InternalError`] if it panics.
pub fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // Nothing that `work` may have left inconsistent is used again.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let what = LAST.with_borrow_mut(Option::take).unwrap_or_else(|| "a panic without a message".into());
        Err(InternalError::new_err(what))
    })
}
