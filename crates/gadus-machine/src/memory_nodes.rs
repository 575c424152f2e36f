//! Which memory node pages lie on, and moving them to another.
//!
//! - Memory that nobody has written yet lies nowhere: it comes from the node of whoever writes it first, unless
//!   it was bound to another.
//! - Whole pages alone lie somewhere: what begins or ends within a page has that page's node.

#![allow(unsafe_code)] // two system calls, which are given addresses; see each place

use crate::error::{ErrorKind, MachineError};
use std::io;

/// Nodes that a mask of the kernel's may name here.
const NODES_MAX: usize = 1024;

/// Of mbind: what lies elsewhere is moved. The C library's crate has no name for it.
const MOVE: libc::c_int = 1 << 1;

const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// Where the pages of some memory lie, in their order; none for a page that has no memory yet.
///
/// # Errors
/// `Unknown` where the kernel does not tell, as in some containers.
pub fn memory_nodes(memory: &[u8]) -> Result<Vec<Option<u32>>, MachineError> {
    if memory.is_empty() {
        return Ok(Vec::new());
    }
    let page = page_bytes();
    let first = memory.as_ptr().addr() / page * page;
    let end = memory.as_ptr().addr() + memory.len();
    let mut pages =
        (first..end).step_by(page).map(|at| at as *mut libc::c_void).collect::<Vec<_>>();
    let mut found = vec![0_i32; pages.len()];
    // SAFETY: the kernel reads as many addresses as there are and writes as many numbers; with no nodes given it
    // moves nothing.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            pages.len(),
            pages.as_mut_ptr(),
            std::ptr::null::<i32>(),
            found.as_mut_ptr(),
            0,
        )
    };
    match done {
        // A negative number says why there is none.
        0 => Ok(found.into_iter().map(|node| u32::try_from(node).ok()).collect()),
        _ => Err(refused("the kernel does not tell where memory lies")),
    }
}

/// Has the whole pages of some memory lie on a node, also those that lie elsewhere now. Where the node has no more
/// memory, the rest comes from others.
///
/// # Errors
/// `Request` with the node, where there is none or this process may not have its memory.
pub fn bind_memory(memory: &mut [u8], node: u32) -> Result<(), MachineError> {
    let page = page_bytes();
    let first = memory.as_ptr().addr().next_multiple_of(page);
    let end = (memory.as_ptr().addr() + memory.len()) / page * page;
    if first >= end {
        return Ok(());
    }
    let mut mask = [0 as libc::c_ulong; NODES_MAX / WORD_BITS];
    let (word, bit) = (node as usize / WORD_BITS, node as usize % WORD_BITS);
    match mask.get_mut(word) {
        Some(word) => *word |= 1 << bit,
        None => return Err(no_node(node, "a kernel has no so many")),
    }
    // SAFETY: the pages are the caller's alone, which keep their contents wherever they lie; the kernel reads as
    // many bits as it is told, one less than there are.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            first,
            end - first,
            libc::MPOL_PREFERRED,
            mask.as_ptr(),
            NODES_MAX,
            MOVE,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(no_node(node, &io::Error::last_os_error().to_string())),
    }
}

fn page_bytes() -> usize {
    rustix::param::page_size()
}

fn refused(what: &str) -> MachineError {
    MachineError::new(ErrorKind::Unknown, format!("{what}: {}", io::Error::last_os_error()))
}

fn no_node(node: u32, why: &str) -> MachineError {
    let message = format!("no memory can lie on memory node {node}: {why}");
    MachineError::new(ErrorKind::Request, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On any machine, node 0 has memory, and node 1000 has none.
    #[test]
    fn memory_lies_where_it_was_bound() {
        let mut memory = vec![0; 16 * page_bytes()];
        match memory_nodes(&memory) {
            Ok(_) => {}
            Err(error) => return println!("skipped: {error}"),
        }
        if let Err(error) = bind_memory(&mut memory, 0) {
            return println!("skipped: {error}");
        }
        memory.fill(1);
        let nodes = memory_nodes(&memory).unwrap();
        assert!(nodes.len() >= 16);
        // The first and the last page may be others' as well.
        assert!(nodes[1..nodes.len() - 1].iter().all(|node| *node == Some(0)), "{nodes:?}");
        for node in [1000, 5000] {
            let refused = bind_memory(&mut memory, node).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Request);
            assert!(refused.to_string().contains(&format!("memory node {node}: ")), "{refused}");
        }
        assert!(memory.iter().all(|byte| *byte == 1), "its contents are kept");
        assert!(bind_memory(&mut memory[..1], 0).is_ok() && memory_nodes(&[]).unwrap().is_empty());
    }
}
