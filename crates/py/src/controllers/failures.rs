//! The first exception that a controller raised in the run of this thread.

use multihop_core::Time;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use std::cell::RefCell;

create_exception!(
    multihop._core,
    CallbackError,
    PyRuntimeError,
    "A method of a controller raised an exception, which is the cause of this one."
);

thread_local! {
    static FIRST: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Forgets the exception of an earlier run.
pub fn forget() {
    FIRST.with_borrow_mut(|first| *first = None);
}

/// Whether a method of a controller has failed.
pub fn failed() -> bool {
    FIRST.with_borrow(Option::is_some)
}

/// Returns the first exception.
///
/// # Errors
/// The exception, if a method has failed.
pub fn take() -> PyResult<()> {
    FIRST.with_borrow_mut(Option::take).map_or(Ok(()), Err)
}

/// Records the exception of a controller's method at this virtual time, unless an earlier one is recorded.
pub(super) fn record(py: Python<'_>, error: PyErr, name: &str, method: &str, place: &str, now: Time) {
    if failed() {
        return;
    }
    let error = if error.is_instance_of::<PyException>(py) {
        let kind = error.get_type(py).qualname().map(|name| name.to_string()).unwrap_or_default();
        let message = error.value(py).to_string();
        let colon = if message.is_empty() { "" } else { ": " };
        let seconds = now.seconds();
        let raised = CallbackError::new_err(format!(
            "{name}: {method} raised {kind}{colon}{message} at {seconds:.6} s of virtual time, {place}"
        ));
        raised.set_cause(py, Some(error));
        raised
    } else {
        error // KeyboardInterrupt and SystemExit
    };
    FIRST.with_borrow_mut(|first| *first = Some(error));
}
