//! Inner loops: slices in, slices out. The only unsafe code of this crate is in `x86`.
//!
//! * [`rows`](self): bytes about 64 destination switches, for costs as bytes;
//! * `choices`: closer sets by destination switch, from masks by group;
//! * `spread`: from those to entries, eqs. (3) and (4) for 64 destination switches;
//! * `lost`: the same for some entries of a row, where the others stay;
//! * `transpose`: masks by group into masks by destination switch;
//! * `differ`: where two rows of entries differ;
//! * `past_cache`: whole lines written past the cache.
//!
//! Each loop that has a faster twin for some processors is called through a [`Kernel`], which says
//! which twin; all twins give the same bytes, and the tests hold every one this machine has against
//! the portable one.

mod choices;
mod differ;
mod divide;
mod lost;
mod past_cache;
mod rows;
mod spread;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use choices::Choices;
pub(crate) use differ::{Difference, Fields};
pub(crate) use divide::{Divisor, SIZES, divide_by_count};
pub(crate) use lost::LostPieces;
pub(crate) use past_cache::RowCopier;
pub(crate) use rows::{CostRow, INFINITE, UNREACHED, equal, finite, keep, one_less, relax};
pub(crate) use spread::{Cycles, SLACK, Spread, chains};

/// Which form of the inner loops is used: the portable one, or one for the processor at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Form);

/// Values other than `Portable` hold proof that the processor has what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Kernel {
    /// The form that every processor can run.
    pub const PORTABLE: Kernel = Kernel(Form::Portable);

    /// Returns every form that this processor can run, the slowest first.
    pub fn all() -> Vec<Kernel> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "one form only"))]
        let mut forms = vec![Kernel::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            forms.extend(x86::Avx2::detect().map(|proof| Kernel(Form::Avx2(proof))));
            forms.extend(x86::Avx512::detect().map(|proof| Kernel(Form::Avx512(proof))));
        }
        forms
    }

    /// Returns the fastest form that this processor can run.
    pub fn best() -> Kernel {
        *Kernel::all().last().expect("the portable form is always there")
    }

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            Form::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(_) => "avx512",
        }
    }

    /// Runs `work`, compiled for the processor features of this kernel. Only code that is inlined into `work` benefits.
    #[inline]
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self.0 {
            Form::Portable => work(),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::run_avx2(proof, work),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::run_avx2(proof.avx2(), work),
        }
    }

    /// Does what [`run`](Self::run) does, but with registers as wide as the processor has. This is for loops over
    /// consecutive elements. Loops that collect words from many places are slower with wide registers.
    #[inline]
    pub(crate) fn run_wide<T>(self, work: impl FnOnce() -> T) -> T {
        match self.0 {
            Form::Portable => work(),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::run_avx2(proof, work),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::run_avx512(proof, work),
        }
    }

    /// Asks the processor to bring these bytes into its cache, because they are needed soon. Forms other than the portable
    /// one do so.
    #[inline]
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "nothing is fetched")
    )]
    pub(crate) fn prefetch(self, bytes: &[u8]) {
        match self.0 {
            Form::Portable => {}
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(_) | Form::Avx512(_) => x86::prefetch(bytes),
        }
    }

    /// Transposes closer sets: from `through` (for each group, the targets that it is closer to) to `choices` (for each
    /// target, the groups that are closer to it).
    #[inline]
    pub(crate) fn gather(self, choices: &mut Choices, targets: u64, through: &[u64]) {
        match self.0 {
            Form::Portable => choices.gather::<choices::OneByOne>(targets, through),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::gather_avx2(proof, choices, targets, through),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::gather_avx512(proof, choices, targets, through),
        }
    }

    /// Returns the difference between two rows of a tile, whose targets are the fields.
    #[inline]
    pub(crate) fn differ(self, old: &[u8], new: &[u8], fields: &Fields) -> Difference {
        match self.0 {
            Form::Portable => differ::rows::<differ::Portable>(old, new, fields),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::differ_avx2(proof, old, new, fields),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::differ_avx512(proof, old, new, fields),
        }
    }

    /// Writes the entries of one switch for some destination switches of a tile. May write up to
    /// [`SLACK`] bytes behind the last of them, so the segments of a row are to be written ascending.
    #[inline]
    pub(crate) fn spread(self, spread: &Spread<'_>, cycles: &mut Cycles, row: &mut [u8]) {
        match self.0 {
            Form::Portable => spread::portable(spread, cycles, row),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::spread_avx2(proof, spread, cycles, row),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::spread_avx512(proof, spread, cycles, row),
        }
    }

    /// Writes the lost entries of one switch, whose groups have these ports. The row has [`SLACK`] behind its entries.
    #[inline]
    pub(crate) fn write_lost(
        self,
        ports: &[u8; 64],
        pieces: LostPieces<'_>,
        cycles: &mut Cycles,
        row: &mut [u8],
    ) {
        match self.0 {
            Form::Portable => lost::write::<spread::BitByBit>(ports, pieces, cycles, row),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::write_lost_avx2(proof, ports, pieces, cycles, row),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::write_lost_avx512(proof, ports, pieces, row),
        }
    }

    /// Calls `each` with the index of each piece that has lost entries, and with the group that the first of them takes. Runs
    /// what is inlined into `each` as [`run`](Self::run) does.
    #[inline]
    pub(crate) fn each_lost(self, pieces: LostPieces<'_>, each: impl FnMut(usize, usize)) {
        match self.0 {
            Form::Portable => lost::each_first_group::<spread::BitByBit>(pieces, each),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::each_lost_avx2(proof, pieces, each),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::each_lost_avx2(proof.avx2(), pieces, each),
        }
    }

    /// Writes the lost entries of one switch if they differ, and returns what that changes. The row needs no slack.
    #[inline]
    pub(crate) fn patch_lost(
        self,
        ports: &[u8; 64],
        pieces: LostPieces<'_>,
        cycles: &mut Cycles,
        row: &mut [u8],
    ) -> Difference {
        match self.0 {
            Form::Portable => {
                lost::patch::<spread::BitByBit, differ::Portable>(ports, pieces, cycles, row)
            }
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(proof) => x86::patch_lost_avx2(proof, ports, pieces, cycles, row),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(proof) => x86::patch_lost_avx512(proof, ports, pieces, row),
        }
    }
}
