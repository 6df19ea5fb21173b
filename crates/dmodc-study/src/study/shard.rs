//! Shards: every n-th cell of the plan, from the i-th on.
//!
//! Neighbouring cells cost about the same, so taking every n-th one balances the work. A process learns its shard from the
//! command line, or from the environment in which Slurm or MPI started it.

use std::fmt;
use std::str::FromStr;

/// The greatest number of shards: file names have four digits for it.
const MOST: u32 = 9999;

/// Part `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    /// The number of this shard, from 1.
    pub index: u32,
    /// The number of all shards.
    pub count: u32,
}

impl Shard {
    /// The only shard of an undivided study.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    fn new(index: u32, count: u32) -> Option<Self> {
        ((1..=MOST).contains(&count) && (1..=count).contains(&index))
            .then_some(Shard { index, count })
    }

    /// Returns whether the cell with this number is in the shard.
    pub fn has(self, cell: usize) -> bool {
        cell % self.count as usize + 1 == self.index as usize
    }

    /// Returns the shard from the environment of a Slurm array, of MPI ranks or of a Slurm step, and the names of the
    /// variables. Each task of an array may start ranks of its own: then all ranks of all tasks count. Returns `None`
    /// outside of such an environment.
    ///
    /// # Errors
    /// If the variables make no sense.
    pub fn from_environment(
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<(Self, String)>, String> {
        let number = |name: &str| -> Result<Option<u32>, String> {
            let Some(text) = lookup(name).filter(|text| !text.is_empty()) else { return Ok(None) };
            let wrong = |_| {
                format!(
                    "the environment variable {name} should be a number, but is '{text}'; give --shard I/N"
                )
            };
            text.parse().map(Some).map_err(wrong)
        };
        // To measure the whole study in each of many processes would be the wrong guess.
        let uncounted = |name: &str| {
            format!(
                "the environment variable {name} is set, but not the number of tasks; give --shard I/N"
            )
        };
        let array = match (number("SLURM_ARRAY_TASK_ID")?, number("SLURM_ARRAY_TASK_COUNT")?) {
            (Some(task), Some(count)) => {
                let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
                let last = number("SLURM_ARRAY_TASK_MAX")?;
                if last.is_some_and(|last| last.wrapping_sub(first).wrapping_add(1) != count) {
                    return Err(format!(
                        "the {count} tasks of this Slurm array do not have successive numbers; give --shard I/N"
                    ));
                }
                Some((task.wrapping_sub(first), count, "SLURM_ARRAY_TASK_ID"))
            }
            (Some(_), None) => return Err(uncounted("SLURM_ARRAY_TASK_ID")),
            _ => None,
        };
        let ranks = [
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
            ("PMI_RANK", "PMI_SIZE"),
            ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
            ("SLURM_PROCID", "SLURM_NTASKS"),
        ];
        // The script of a job has SLURM_PROCID and SLURM_NTASKS, but is no step: it runs only once.
        let is_script = lookup("SLURM_JOB_ID").is_some() && lookup("SLURM_STEP_ID").is_none();
        let (mut rank, mut alone) = (None, None);
        for (name, size) in ranks {
            if rank.is_none() && !(is_script && name == "SLURM_PROCID") {
                let (index, size) = (number(name)?, number(size)?);
                rank = index.zip(size).map(|(index, size)| (index, size, name));
                alone = alone.or(index.map(|_| name));
            }
        }
        match (rank, alone) {
            (None, Some(name)) => return Err(uncounted(name)),
            (Some((index, size, name)), _) if index >= size => {
                let index = u64::from(index) + 1;
                return Err(format!(
                    "{name}: there is no shard {index} of {size}; give --shard I/N"
                ));
            }
            _ => {}
        }
        let (index, count, variables) = match (array, rank) {
            (None, None) => return Ok(None),
            (Some(only), None) | (None, Some(only)) => (only.0, only.1, only.2.to_string()),
            (Some(array), Some(rank)) => (
                array.0.saturating_mul(rank.1).saturating_add(rank.0),
                array.1.saturating_mul(rank.1),
                format!("{} and {}", array.2, rank.2),
            ),
        };
        let shard = Shard::new(index.saturating_add(1), count).ok_or_else(|| {
            let index = u64::from(index) + 1;
            format!("{variables}: there is no shard {index} of {count}; give --shard I/N")
        })?;
        Ok(Some((shard, variables)))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(index, count)| Shard::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| format!("expected a shard such as 3/64 (part 3 of 64), not '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shard that follows from these variables.
    fn shard_of(variables: &[(&str, &str)]) -> Result<Option<String>, String> {
        let lookup = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Shard::from_environment(lookup).map(|found| found.map(|(shard, _)| shard.to_string()))
    }

    #[test]
    fn shards_follow_from_slurm_and_mpi() {
        let expect = |shard: &str| Ok(Some(shard.to_string()));
        assert_eq!(shard_of(&[]), Ok(None));
        let array = [("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_ARRAY_TASK_COUNT", "8")];
        assert_eq!(shard_of(&array), expect("3/8"));
        let from_1 = [
            ("SLURM_ARRAY_TASK_ID", "8"),
            ("SLURM_ARRAY_TASK_COUNT", "8"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", "8"),
        ];
        assert_eq!(shard_of(&from_1), expect("8/8"));
        assert_eq!(shard_of(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), expect("1/4"));
        let step = [("SLURM_JOB_ID", "1"), ("SLURM_STEP_ID", "0"), ("SLURM_PROCID", "1")];
        assert_eq!(shard_of(&[&step[..], &[("SLURM_NTASKS", "2")]].concat()), expect("2/2"));
        let ompi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
        assert_eq!(shard_of(&ompi), expect("2/2"));
        assert_eq!(shard_of(&[("PMI_RANK", "4"), ("PMI_SIZE", "5")]), expect("5/5"));
        // mpirun inside a job starts its daemons by srun; the ranks are mpirun's.
        assert_eq!(shard_of(&[&ompi[..], &step, &[("SLURM_NTASKS", "1")]].concat()), expect("2/2"));
        assert_eq!(shard_of(&[&array[..], &ompi].concat()), expect("6/16"));
        // The script of a job with four tasks runs only once.
        let script = [("SLURM_JOB_ID", "1"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
        assert_eq!(shard_of(&script), Ok(None));
        assert_eq!(shard_of(&[&array[..], &script].concat()), expect("3/8"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let gaps = [
            ("SLURM_ARRAY_TASK_ID", "6"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_TASK_MIN", "2"),
            ("SLURM_ARRAY_TASK_MAX", "6"),
        ];
        assert!(
            shard_of(&gaps).unwrap_err().contains(
                "2 tasks of this Slurm array do not have successive numbers; give --shard"
            )
        );
        assert!(
            shard_of(&[("PMI_RANK", "x"), ("PMI_SIZE", "5")]).unwrap_err().contains("PMI_RANK")
        );
        assert!(shard_of(&[("PMI_RANK", "5"), ("PMI_SIZE", "5")]).unwrap_err().contains("6 of 5"));
        assert!(
            shard_of(&[("PMI_RANK", "5")])
                .unwrap_err()
                .contains("PMI_RANK is set, but not the number of tasks")
        );
        assert!(shard_of(&[("SLURM_ARRAY_TASK_ID", "5")]).unwrap_err().contains("give --shard"));
        // Whether these are 1 … 8 or 0 … 7 is unknown: two tasks must not take the same shard.
        let last = [("SLURM_ARRAY_TASK_ID", "8"), ("SLURM_ARRAY_TASK_COUNT", "8")];
        assert!(shard_of(&last).unwrap_err().contains("9 of 8"));
        // A rank beyond its size would be another task's shard.
        let array = [("SLURM_ARRAY_TASK_ID", "0"), ("SLURM_ARRAY_TASK_COUNT", "2")];
        let beyond = [&array[..], &[("PMI_RANK", "3"), ("PMI_SIZE", "2")]].concat();
        assert!(shard_of(&beyond).unwrap_err().contains("4 of 2"));
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "1/3/2", "1/10000"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn shards_share_the_cells_without_rest() {
        for count in [1, 2, 3, 7] {
            for cell in 0..20 {
                let owners = (1..=count).filter(|&index| Shard { index, count }.has(cell));
                assert_eq!(owners.count(), 1);
            }
        }
    }
}
