//! Files that give the hosts of a job their order, for MPI libraries and Slurm.
//!
//! | file | line of rank 5 on host `n3`, the second of two |
//! |---|---|
//! | host file | `n3`, or `n3 slots=2` for all ranks of the host |
//! | rank file of Open MPI | `rank 5=n3 slot=1` |
//! | `SLURM_HOSTFILE` | `n3`, once for each rank |

use std::io::{self, Write};

/// Writes a host file: one host in each line, with its number of slots if one is given.
///
/// # Errors
/// The error of the writer.
pub fn write_hostfile(hosts: &[&str], slots: Option<u32>, out: &mut impl Write) -> io::Result<()> {
    for host in hosts {
        match slots {
            Some(slots) => writeln!(out, "{host} slots={slots}")?,
            None => writeln!(out, "{host}")?,
        }
    }
    Ok(())
}

/// Writes a rank file of Open MPI: the ranks of a host are next to each other.
///
/// # Errors
/// The error of the writer.
pub fn write_rankfile(hosts: &[&str], slots: u32, out: &mut impl Write) -> io::Result<()> {
    let places = hosts.iter().flat_map(|host| (0..slots).map(move |slot| (host, slot)));
    for (rank, (host, slot)) in places.enumerate() {
        writeln!(out, "rank {rank}={host} slot={slot}")?;
    }
    Ok(())
}

/// Writes a file for `SLURM_HOSTFILE` (`srun --distribution=arbitrary`): one host for each task.
///
/// # Errors
/// The error of the writer.
pub fn write_slurm(hosts: &[&str], slots: u32, out: &mut impl Write) -> io::Result<()> {
    for host in hosts {
        for _ in 0..slots {
            writeln!(out, "{host}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_file_has_its_lines() {
        let hosts = ["b", "a"];
        assert_eq!(written(|out| write_hostfile(&hosts, None, out)), "b\na\n");
        assert_eq!(written(|out| write_hostfile(&hosts, Some(2), out)), "b slots=2\na slots=2\n");
        let ranks = "rank 0=b slot=0\nrank 1=b slot=1\nrank 2=a slot=0\nrank 3=a slot=1\n";
        assert_eq!(written(|out| write_rankfile(&hosts, 2, out)), ranks);
        assert_eq!(written(|out| write_slurm(&hosts, 2, out)), "b\nb\na\na\n");
        assert_eq!(written(|out| write_rankfile(&[], 1, out)), "");
    }
}
