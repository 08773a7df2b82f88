//! The blocks of a file, and whether they are what was written.

use crate::reader::{ReadError, Window};
use crate::{BLOCK_HEADER, CHECK_SUM, END, MAGIC, Table, VERSION};
use std::fmt;

/// Where a file is not whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gap {
    /// The number of the block, from 1.
    pub block: usize,
    /// Where it begins in the file.
    pub at: usize,
    /// What is wrong with it.
    pub fault: Fault,
    /// The last instant of the blocks of transmissions before it, in nanoseconds; none if there are none.
    pub until: Option<u64>,
}

/// What can be wrong with a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The file ends before it does.
    Missing,
    /// Its check sum is another one.
    CheckSum,
    /// Its check sum is right, its content is not.
    Content,
    /// The end of the log is before it.
    AfterEnd,
    /// With it the log unpacks to more than a file of its size can have.
    TooMuch,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gap { block, at, fault, .. } = self;
        let fault = match fault {
            Fault::Missing => "is missing, or not all of it is there",
            Fault::CheckSum => "has another check sum than it says",
            Fault::Content => "is not what its header says",
            Fault::AfterEnd => "comes after the end of the log",
            Fault::TooMuch => "unpacks to more than a log of this size can have",
        };
        write!(f, "block {block}, at byte {at}, {fault}")
    }
}

impl From<Gap> for ReadError {
    fn from(gap: Gap) -> ReadError {
        ReadError::Damaged { gap }
    }
}

impl Gap {
    /// There is no description that can be used.
    pub(crate) const HEAD: Gap = Gap { block: 1, at: MAGIC.len() + 4, fault: Fault::Content, until: None };

    /// What can be done, of a file that is damaged.
    pub(crate) fn remedy(&self) -> String {
        let before = self.until.map_or_else(String::new, |until| {
            let last = until.saturating_sub(1) as f64 / 1e9;
            format!("; --between \"0 s, {last} s\" is still readable")
        });
        format!("write the log again{before}")
    }

    /// Is all of a window before it?
    fn is_behind(&self, window: Option<Window>) -> bool {
        window.zip(self.until).is_some_and(|([_, to], until)| to < until)
    }
}

pub struct Block<'b> {
    /// Its number, from 1, and where it begins in the file.
    pub number: usize,
    pub at: usize,
    pub table: u8,
    pub rows: u32,
    pub times: [u64; 2],
    pub content: &'b [u8],
}

impl Block<'_> {
    pub fn is_of_transmissions(&self) -> bool {
        self.table == Table::Transmissions as u8
    }

    /// Is it of a table without a window, or does it overlap this one?
    pub fn is_in(&self, window: Option<Window>) -> bool {
        !self.is_of_transmissions()
            || window.is_none_or(|[from, to]| self.times[0] <= to && self.times[1] >= from)
    }
}

/// The blocks of a file.
pub struct Blocks<'b> {
    pub all: Vec<Block<'b>>,
    /// Where they end before the log does.
    pub gap: Option<Gap>,
}

impl<'b> Blocks<'b> {
    /// Those of a file that are whole, until its first gap.
    ///
    /// # Errors
    /// If it is no frame log, or of another version.
    pub fn of(file: &'b [u8]) -> Result<Blocks<'b>, ReadError> {
        let rest = file.strip_prefix(&MAGIC).ok_or(ReadError::NoFrameLog)?;
        let (version, _) = rest.split_first_chunk().ok_or(ReadError::NoFrameLog)?;
        match u32::from_le_bytes(*version) {
            VERSION => Ok(()),
            other => Err(ReadError::Version(other)),
        }?;
        let mut found = Blocks { all: Vec::new(), gap: None };
        let mut at = MAGIC.len() + 4;
        let mut sum = crc32fast::hash(&file[..at]);
        while !found.is_over() {
            match found.next(&file[at..], at, sum) {
                Ok((block, next)) => {
                    (at, sum) = (at + BLOCK_HEADER + block.content.len() + CHECK_SUM, next);
                    found.all.push(block);
                }
                Err(fault) => return Ok(found.with(fault, at)),
            }
        }
        Ok(if at == file.len() { found } else { found.with(Fault::AfterEnd, at) })
    }

    /// The same as far as a reader of a window needs them.
    ///
    /// # Errors
    /// The same; and if a block is damaged, and the window is not before it.
    pub fn of_window(file: &'b [u8], window: Option<Window>) -> Result<Blocks<'b>, ReadError> {
        let found = Blocks::of(file)?;
        match found.gap {
            Some(gap) if gap.fault != Fault::Missing && !gap.is_behind(window) => Err(gap.into()),
            _ => Ok(found),
        }
    }

    /// This one of them is not what its header says.
    pub fn damaged(&self, block: &Block) -> Gap {
        let until = until(&self.all[..block.number - 1]);
        Gap { block: block.number, at: block.at, fault: Fault::Content, until }
    }

    fn is_over(&self) -> bool {
        self.all.last().is_some_and(|block| block.table == END)
    }

    /// The block with which these bytes begin, and its check sum, which goes on from the last one.
    fn next(&self, bytes: &'b [u8], at: usize, sum: u32) -> Result<(Block<'b>, u32), Fault> {
        let header = bytes.get(..BLOCK_HEADER).ok_or(Fault::Missing)?;
        let word =
            |place: usize| u32::from_le_bytes(header[place..place + 4].try_into().expect("four bytes"));
        let long =
            |place: usize| u64::from_le_bytes(header[place..place + 8].try_into().expect("eight bytes"));
        let end = BLOCK_HEADER + word(21) as usize;
        let content = bytes.get(BLOCK_HEADER..end).ok_or(Fault::Missing)?;
        let says = bytes[end..].first_chunk().ok_or(Fault::Missing)?;
        let mut hasher = crc32fast::Hasher::new_with_initial(sum);
        hasher.update(&bytes[..end]);
        let sum = hasher.finalize();
        if u32::from_le_bytes(*says) != sum {
            return Err(Fault::CheckSum);
        }
        let number = self.all.len() + 1;
        Ok((Block { number, at, table: header[0], rows: word(1), times: [long(5), long(13)], content }, sum))
    }

    fn with(mut self, fault: Fault, at: usize) -> Blocks<'b> {
        let until = until(&self.all);
        self.gap = Some(Gap { block: self.all.len() + 1, at, fault, until });
        self
    }
}

/// The last instant of blocks of transmissions.
fn until(blocks: &[Block]) -> Option<u64> {
    blocks.iter().filter(|block| block.is_of_transmissions()).map(|block| block.times[1]).max()
}
