//! A process with namespaces of its own: when it ends, all that it has started and made in them ends with it.

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getegid, geteuid};
use std::path::PathBuf;
use std::{fs, io};

/// Gives this process, which must have one thread, network, mounts and host name of its own, and its next
/// child processes of its own, of which that child is the first. Where that takes privileges that the process
/// has not, it becomes root of a user namespace, whose root is the user outside.
///
/// # Errors
/// If the kernel, or a setting of it, does not allow that.
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
    // Without this the kernel takes no map of groups from an ordinary user.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// The kernel kills this process when the thread that has started it ends.
///
/// # Errors
/// Never, on Linux.
pub fn die_with_parent() -> io::Result<()> {
    Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
}

/// Mounts of this process are seen by no other: `/proc` shows its own processes, and each second file is the
/// first instead.
///
/// # Errors
/// If mounts cannot be made.
pub fn private_mounts(files: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    let nothing = None::<&str>;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
    // Containers that hide parts of /proc allow no other. Programs then see the processes outside, which they can do nothing to.
    let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing);
    for (file, instead_of) in files {
        mount(Some(file), instead_of, nothing, MsFlags::MS_BIND, nothing)?;
    }
    Ok(())
}
