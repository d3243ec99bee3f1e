//! What can be wrong in a buffer: kept small while objects are looked for, put into words when the bytes are told.

use crate::model::diag::{Code, Diagnostic, Severity};
use crate::model::num::bytes;

/// A finding at a range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the first byte it speaks of.
    pub start: u64,
    /// Offset behind the last.
    pub end: u64,
    /// What it is.
    pub what: Wrong,
}

/// What is wrong. Offsets are absolute; `end` is where the buffer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// There are no bytes.
    Empty,
    /// The buffer is too short for a root offset; so many bytes are there.
    NoRoot(u64),
    /// An offset leads past the end of the buffer: to the offset, and where the buffer ends.
    PastEnd(u64, u64),
    /// An offset is 0, where that is not allowed.
    Zero(&'static str),
    /// What an offset leads to stands at no multiple of its alignment: the offset, and the alignment.
    Unaligned(u64, u64),
    /// A field in place stands at no multiple of its alignment.
    FieldUnaligned(u64, u64),
    /// A vtable would stand outside the buffer, at this place.
    VtableOutside(i64),
    /// A vtable stands at an odd offset.
    VtableOdd(u64),
    /// A table is its own vtable.
    VtableIsTable,
    /// The size of a vtable is no even number of at least 4.
    VtableSize(u64),
    /// A vtable reaches past the end of the buffer: its size, and where the buffer ends.
    VtablePastEnd(u64, u64),
    /// The size of a table is below 4.
    TableSize(u64),
    /// A table reaches past the end of the buffer: its size, and where the buffer ends.
    TablePastEnd(u64, u64),
    /// A slot leads into the soffset.
    SlotInSoffset(u64),
    /// A slot leads past the end of the table: its voffset, the bytes of the field, the size of the table.
    SlotPastTable(u64, u64, u64),
    /// Two slots lead to the same bytes: the voffset of the later one.
    SlotsOverlap(u64),
    /// A string reaches past the end: its length, and where the buffer ends.
    StringPastEnd(u64, u64),
    /// No NUL behind a string; this byte.
    NoTerminator(u8),
    /// A string is not UTF-8, from this offset on.
    InvalidUtf8(u64),
    /// A vector reaches past the end: its count, the bytes of an element, and where the buffer ends.
    VectorPastEnd(u64, u64, u64),
    /// The types and the values of a union vector differ in number.
    UnionLengths(u64, u64),
    /// A union has a value and the type NONE.
    UnionWithoutType,
    /// A union has a type and no value.
    UnionWithoutValue(u64),
    /// The type of a union is none that the schema knows.
    UnionTypeUnknown(u64),
    /// A field that is required is absent: its slot.
    RequiredMissing(u16),
    /// The key of a table is absent: its slot.
    KeyMissing(u16),
    /// Tables within each other past the limit.
    Depth(u64),
    /// Tables past the number that verifiers visit.
    Tables(u64),
    /// Objects that lie on each other so often that the rest is not looked at.
    TooMuch,
    /// Bytes that another object has claimed before: where that one ends.
    Overlap(u64),
    /// The same bytes are read as two types: where the other reading comes from.
    TwoTypes(u64),
    /// A size prefix that does not fit: what it says, and what is there.
    SizePrefix(u64, u64),
    /// An identifier other than that of the schema.
    Identifier([u8; 4]),
    /// No identifier, where the schema has one; where it would stand.
    NoIdentifier([u8; 4], u64),
    /// Zeros stand in front of the buffer: where it begins.
    LeadingZeros(u64),
    /// The size of the buffer is no multiple of an offset's alignment.
    Size(u64),
    /// Elements of a vector are not sorted by their key: the first that is smaller than the one before.
    KeyOrder(u64),
    /// A bool that is neither 0 nor 1.
    BoolValue(u8),
    /// A gap in a struct, or around fields, that is not zero.
    PaddingNotZero,
    /// Bytes that nothing points at.
    Unreferenced(u64),
    /// Bytes that nothing points at which could be read.
    Unreached(u64),
}

impl Fault {
    /// The finding in words. `name` says how the schema calls a slot of the table around it.
    pub fn told(&self, name: &dyn Fn(u16) -> String) -> Diagnostic {
        let (message, help) = self.what.words(self, name);
        Diagnostic::new(self.what.code(), self.start, self.end, message).help(help)
    }
}

impl Wrong {
    /// The code that users search for.
    pub fn code(self) -> Code {
        match self {
            Wrong::Empty => Code::EmptyInput,
            Wrong::NoRoot(_) => Code::FbCut,
            Wrong::PastEnd(..) => Code::FbOffsetPastEnd,
            Wrong::Zero(_) => Code::FbOffsetZero,
            Wrong::Unaligned(..) | Wrong::FieldUnaligned(..) => Code::FbUnaligned,
            Wrong::VtableOutside(_)
            | Wrong::VtableOdd(_)
            | Wrong::VtableIsTable
            | Wrong::VtableSize(_)
            | Wrong::VtablePastEnd(..)
            | Wrong::TableSize(_)
            | Wrong::TablePastEnd(..)
            | Wrong::SlotInSoffset(_)
            | Wrong::SlotPastTable(..)
            | Wrong::SlotsOverlap(_) => Code::FbVtable,
            Wrong::StringPastEnd(..) | Wrong::VectorPastEnd(..) => Code::FbLengthPastEnd,
            Wrong::NoTerminator(_) => Code::FbNoTerminator,
            Wrong::InvalidUtf8(_) => Code::FbInvalidUtf8,
            Wrong::UnionLengths(..)
            | Wrong::UnionWithoutType
            | Wrong::UnionWithoutValue(_)
            | Wrong::UnionTypeUnknown(_) => Code::FbUnion,
            Wrong::RequiredMissing(_) => Code::FbRequiredMissing,
            Wrong::KeyMissing(_) => Code::FbKeyMissing,
            Wrong::Depth(_) => Code::FbDepth,
            Wrong::Tables(_) => Code::FbTables,
            Wrong::TooMuch | Wrong::Overlap(_) | Wrong::TwoTypes(_) => Code::FbOverlap,
            Wrong::SizePrefix(..) => Code::FbSizePrefix,
            Wrong::Identifier(_) | Wrong::NoIdentifier(..) => Code::FbIdentifier,
            Wrong::LeadingZeros(_) => Code::FbLeadingZeros,
            Wrong::Size(_) => Code::FbSize,
            Wrong::KeyOrder(_) => Code::FbKeyOrder,
            Wrong::BoolValue(_) => Code::FbBool,
            Wrong::PaddingNotZero => Code::FbPadding,
            Wrong::Unreferenced(_) | Wrong::Unreached(_) => Code::FbUnreferenced,
        }
    }

    /// How bad it is.
    pub fn severity(self) -> Severity {
        self.code().severity()
    }
}

const VERIFIER: &str = "the official verifiers refuse this buffer here";

impl Wrong {
    fn words(self, fault: &Fault, name: &dyn Fn(u16) -> String) -> (String, &'static str) {
        match self {
            Wrong::Empty
            | Wrong::NoRoot(_)
            | Wrong::PastEnd(..)
            | Wrong::Zero(_)
            | Wrong::Unaligned(..)
            | Wrong::FieldUnaligned(..) => self.of_offsets(fault),
            Wrong::VtableOutside(_)
            | Wrong::VtableOdd(_)
            | Wrong::VtableIsTable
            | Wrong::VtableSize(_)
            | Wrong::VtablePastEnd(..)
            | Wrong::TableSize(_)
            | Wrong::TablePastEnd(..)
            | Wrong::SlotInSoffset(_)
            | Wrong::SlotPastTable(..)
            | Wrong::SlotsOverlap(_) => self.of_vtables(fault),
            Wrong::StringPastEnd(..)
            | Wrong::NoTerminator(_)
            | Wrong::InvalidUtf8(_)
            | Wrong::VectorPastEnd(..)
            | Wrong::KeyOrder(_) => self.of_vectors(),
            Wrong::UnionLengths(..)
            | Wrong::UnionWithoutType
            | Wrong::UnionWithoutValue(_)
            | Wrong::UnionTypeUnknown(_)
            | Wrong::RequiredMissing(_)
            | Wrong::KeyMissing(_)
            | Wrong::BoolValue(_) => self.of_schema(name),
            Wrong::Depth(_)
            | Wrong::Tables(_)
            | Wrong::TooMuch
            | Wrong::Overlap(_)
            | Wrong::TwoTypes(_)
            | Wrong::SizePrefix(..)
            | Wrong::Identifier(_)
            | Wrong::NoIdentifier(..)
            | Wrong::LeadingZeros(_)
            | Wrong::Size(_)
            | Wrong::PaddingNotZero
            | Wrong::Unreferenced(_)
            | Wrong::Unreached(_) => self.of_buffers(fault),
        }
    }

    fn of_offsets(self, fault: &Fault) -> (String, &'static str) {
        let from = fault.start;
        match self {
            Wrong::Empty => ("expected a FlatBuffer, found no byte".to_string(), ""),
            Wrong::PastEnd(to, end) if to < end => (
                format!(
                    "the offset at {from:#04x} leads to {to:#04x}, too near to the end of the buffer, {end:#04x}: {} left",
                    are(end.saturating_sub(to))
                ),
                "cut off, or not this type; the official verifiers refuse the buffer here",
            ),
            Wrong::PastEnd(to, end) => (
                format!("the offset at {from:#04x} leads to {to:#04x}, the buffer ends at {end:#04x}"),
                "cut off, or not this type; the official verifiers refuse the buffer here",
            ),
            Wrong::Zero(what) => (
                format!("the offset of {what} is 0, which leads to itself, {from:#04x}"),
                "absent is said by a 0 in the vtable, never by an offset of 0; a reader that does not verify takes these \
                 bytes for the object itself",
            ),
            Wrong::Unaligned(to, align) => {
                (format!("the offset leads to {to:#04x}, which is no multiple of {align}"), VERIFIER)
            }
            Wrong::FieldUnaligned(at, align) => {
                (format!("the field stands at {at:#04x}, which is no multiple of {align}"), VERIFIER)
            }
            Wrong::NoRoot(there) => {
                (format!("a buffer begins with the offset of its root in 4 bytes, here {} there", are(there)), "")
            }
            _ => (String::new(), ""),
        }
    }

    fn of_vtables(self, fault: &Fault) -> (String, &'static str) {
        let at = fault.start;
        let message = match self {
            Wrong::VtableOutside(place) if place < 0 => {
                format!("the vtable would stand {} before the start of the input", bytes(place.unsigned_abs()))
            }
            Wrong::VtableOutside(place) => format!("the vtable would stand at {place:#04x}, outside the buffer"),
            Wrong::VtableOdd(place) => format!("the vtable would stand at {place:#04x}, which is no multiple of 2"),
            Wrong::VtableIsTable => format!("soffset 0: the table at {at:#04x} would be its own vtable"),
            Wrong::VtableSize(size) => {
                format!("a vtable of {}: an even number, at least 4, was expected", bytes(size))
            }
            Wrong::VtablePastEnd(size, end) => {
                format!("a vtable of {} reaches past the end of the buffer, {end:#04x}", bytes(size))
            }
            Wrong::TableSize(size) => format!("a table of {}: its soffset alone has 4", bytes(size)),
            Wrong::TablePastEnd(size, end) => {
                format!("a table of {} reaches past the end of the buffer, {end:#04x}", bytes(size))
            }
            Wrong::SlotInSoffset(voffset) => {
                format!("the slot leads to +{voffset}, into the soffset of the table, which has the first 4 bytes")
            }
            Wrong::SlotPastTable(voffset, width, size) if voffset.saturating_add(width) <= size => {
                format!("the slot leads to {} at +{voffset}, where the buffer has ended", bytes(width))
            }
            Wrong::SlotPastTable(voffset, width, size) => {
                format!("the slot leads to {} at +{voffset}, the table has {size}", bytes(width))
            }
            Wrong::SlotsOverlap(voffset) => {
                format!("the field at +{voffset} lies on bytes of the field before it")
            }
            _ => String::new(),
        };
        (message, "")
    }

    fn of_vectors(self) -> (String, &'static str) {
        match self {
            Wrong::StringPastEnd(length, end) => (
                format!("the length says {}, the buffer ends at {end:#04x}", bytes(length)),
                "cut off, or not a string",
            ),
            Wrong::VectorPastEnd(count, width, end) => (
                format!("the count says {count} elements of {}, the buffer ends at {end:#04x}", bytes(width)),
                "cut off, or not this vector",
            ),
            Wrong::NoTerminator(byte) => (
                format!("a NUL was expected behind the string, here is {byte:#04x}"),
                "text changed without its length?",
            ),
            Wrong::InvalidUtf8(at) => (format!("the string is not UTF-8 at {at:#04x}"), ""),
            Wrong::KeyOrder(index) => (
                format!("not sorted by key: [{index}] is smaller than the one before it"),
                "a lookup by key searches by halves and can miss elements",
            ),
            _ => (String::new(), ""),
        }
    }

    fn of_schema(self, name: &dyn Fn(u16) -> String) -> (String, &'static str) {
        match self {
            Wrong::UnionLengths(types, values) => (
                format!("the vector of types has {types} elements, that of values {values}"),
                "each value takes its type from the same place in the other vector",
            ),
            Wrong::UnionWithoutType => {
                ("the union has a value, its type is NONE".to_string(), "readers ignore the value")
            }
            Wrong::UnionWithoutValue(ty) => (format!("the union has type {ty} and no value"), ""),
            Wrong::UnionTypeUnknown(ty) => {
                (format!("the schema has no type {ty} in this union"), "written by a newer schema?")
            }
            Wrong::RequiredMissing(slot) => (format!("`{}` is required and absent", name(slot)), ""),
            Wrong::KeyMissing(slot) => (format!("`{}` is the key of the table and absent", name(slot)), ""),
            Wrong::BoolValue(byte) => {
                (format!("a bool of {byte}: 0 or 1 was expected"), "most readers take it as true")
            }
            _ => (String::new(), ""),
        }
    }

    fn of_buffers(self, fault: &Fault) -> (String, &'static str) {
        match self {
            Wrong::Depth(limit) => (
                format!("tables lie more than {limit} deep in each other"),
                "--limit-depth N reads on; the official verifiers stop at 64",
            ),
            Wrong::Tables(limit) => (
                format!("read along its offsets the buffer has more than {limit} tables"),
                "the official verifiers stop there; each table counts once for each way that leads to it",
            ),
            Wrong::TooMuch => ("so many objects lie on each other that this one is not looked at".to_string(), ""),
            Wrong::Overlap(end) => (
                format!(
                    "{:#04x}..{:#04x} belong to another object too, which ends at {end:#04x}",
                    fault.start, fault.end
                ),
                "verifiers do not notice, and a change in one object changes the other",
            ),
            Wrong::TwoTypes(other) => (format!("what this leads to is read as another type from {other:#04x}"), ""),
            Wrong::SizePrefix(says, there) => {
                (format!("the size prefix says {}, behind it {} there", bytes(says), are(there)), "")
            }
            Wrong::Identifier(wanted) => (
                format!("the schema says the identifier is \"{}\"", wanted.escape_ascii()),
                "the file of another schema?",
            ),
            Wrong::NoIdentifier(wanted, at) => (
                format!(
                    "expected the identifier \"{}\" of the schema at offset {at}, found none",
                    wanted.escape_ascii()
                ),
                "readers that check it refuse the buffer: its writer finished it without",
            ),
            Wrong::LeadingZeros(start) => (
                format!(
                    "the root offset 0 leads to itself, an empty table for most readers; a buffer begins at {start:#04x}"
                ),
                "a builder fills its array from the end: what was sent has the unused part in front",
            ),
            Wrong::Size(size) => (
                format!("{}, no multiple of 4", bytes(size)),
                "verifiers that compute the size of a buffer round it up, and refuse this one as cut; padding at the end \
                 makes it pass",
            ),
            Wrong::PaddingNotZero => ("padding that is not zero".to_string(), ""),
            Wrong::Unreferenced(len) => {
                (format!("nothing points at {}, {:#04x}..{:#04x}", bytes(len), fault.start, fault.end), "")
            }
            Wrong::Unreached(len) => {
                let (len, start, end) = (bytes(len), fault.start, fault.end);
                (format!("nothing that could be read points at {len}, {start:#04x}..{end:#04x}"), "")
            }
            _ => (String::new(), ""),
        }
    }
}

fn are(count: u64) -> String {
    if count == 1 { "1 byte is".to_string() } else { format!("{count} bytes are") }
}
