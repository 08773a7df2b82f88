//! Logs of runs.

mod airlog;
mod framelog;
