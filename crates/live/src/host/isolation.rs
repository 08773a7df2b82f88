//! Isolation of a process in namespaces: when it ends, everything that it has started and created there ends
//! too.

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getegid, geteuid};
use std::path::PathBuf;
use std::{fs, io};

/// Gives this process, which must have one thread, its own network, mounts and host name, and gives its next
/// child its own process IDs, of which that child is the first. Without the necessary privileges, the process
/// becomes root of a user namespace, whose root is the calling user.
///
/// # Errors
/// If the kernel or its settings do not allow this.
pub fn isolate() -> io::Result<()> {
    let apart = CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWUTS;
    match unshare(apart) {
        Err(Errno::EPERM) => {}
        done => return done.map_err(io::Error::from),
    }
    let (user, group) = (geteuid(), getegid());
    unshare(apart | CloneFlags::CLONE_NEWUSER)?;
    // Otherwise the kernel accepts no group map from an ordinary user.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Makes the kernel kill this process when the thread that started it ends.
///
/// # Errors
/// Never, on Linux.
pub fn die_with_parent() -> io::Result<()> {
    Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
}

/// Makes the mounts of this process private: `/proc` shows its own processes, and the first file of each pair
/// replaces the second.
///
/// # Errors
/// If a mount fails.
pub fn private_mounts(files: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    let nothing = None::<&str>;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
    // Containers that hide parts of /proc allow no other one. Programs then see the processes outside,
    // without access to them.
    let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing);
    for (file, instead_of) in files {
        mount(Some(file), instead_of, nothing, MsFlags::MS_BIND, nothing)?;
    }
    Ok(())
}
