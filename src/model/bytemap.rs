//! The byte map: leaves that partition a layer, the groups they belong to, and the size causes.
//!
//! A finished map is a sorted run of leaves: the first starts at 0, each touches the next, none is
//! empty, the last ends at the layer's size. [`Partition`] checks that as the leaves come in, in
//! release builds too. A leaf carries no text: names, values and sizes follow from its kind and its
//! bytes when somebody asks.

use crate::model::num::push_number;

/// Number of a group within one layer, in the order in which the groups open; the root is 0. Numbers
/// wrap around after 2^32 - 2: only groups that are open at once need different ones.
pub type GroupId = u32;

/// The number behind `id`.
pub fn next_group(id: GroupId) -> GroupId {
    let next = id.wrapping_add(1);
    if next == NO_GROUP { 1 } else { next }
}

/// The parent of the root group, and the group of nothing.
pub const NO_GROUP: GroupId = u32::MAX;

/// The target of a leaf that points nowhere.
pub const NO_TARGET: u64 = u64::MAX;

/// Why a byte is there: the closed list of size causes that every ledger adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A value, at the fewest whole bytes that hold it.
    Payload,
    /// What an integer or float spends beyond that (counted per leaf, see `Format::width`).
    Width,
    /// A field number, a field name or a map key.
    Key,
    /// A length or count.
    Length,
    /// A byte that only says the type.
    Type,
    /// An offset or pointer.
    Pointer,
    /// A vtable, or an soffset to one.
    Table,
    /// Bytes that only keep the rest in place, and white space.
    Padding,
    /// The NUL behind a string.
    Terminator,
    /// A stored value that the reader cannot tell from an absent one.
    Default,
    /// What carries the message and is no part of it.
    Framing,
    /// Field names that travel with the message (OmniBuf Field #0).
    Names,
    /// Quotes, brackets, colons and commas of a text format.
    Punctuation,
    /// Bytes that nobody could place.
    Unread,
}

impl Cause {
    /// All causes in the order in which ledgers list them.
    pub const ALL: [Cause; 14] = [
        Cause::Payload,
        Cause::Width,
        Cause::Key,
        Cause::Length,
        Cause::Type,
        Cause::Pointer,
        Cause::Table,
        Cause::Padding,
        Cause::Terminator,
        Cause::Default,
        Cause::Framing,
        Cause::Names,
        Cause::Punctuation,
        Cause::Unread,
    ];

    /// The name that ledgers and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Payload => "payload",
            Cause::Width => "width",
            Cause::Key => "key",
            Cause::Length => "length",
            Cause::Type => "type",
            Cause::Pointer => "pointer",
            Cause::Table => "table",
            Cause::Padding => "padding",
            Cause::Terminator => "terminator",
            Cause::Default => "default",
            Cause::Framing => "framing",
            Cause::Names => "names",
            Cause::Punctuation => "punctuation",
            Cause::Unread => "unread",
        }
    }

    /// The letter that bars and grids use, so that a cause reads without colour.
    pub fn letter(self) -> char {
        match self {
            Cause::Payload => 'p',
            Cause::Width => 'w',
            Cause::Key => 'k',
            Cause::Length => 'l',
            Cause::Type => 'y',
            Cause::Pointer => 'o',
            Cause::Table => 'v',
            Cause::Padding => '.',
            Cause::Terminator => '0',
            Cause::Default => 'd',
            Cause::Framing => 'f',
            Cause::Names => 'n',
            Cause::Punctuation => 'u',
            Cause::Unread => '?',
        }
    }

    /// Position in [`Cause::ALL`], for tables indexed by cause.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What a leaf is, as a number that its owner (a format, or [`Kind::COMMON`]) can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Position of the format in `formats::ALL`, or [`Kind::COMMON`].
    pub owner: u8,
    /// Position in that owner's table of kinds.
    pub code: u8,
}

/// Name and cause of a kind; each format has a table of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindInfo {
    /// The standard's own word, lower case: `fixstr`, `uint16`, `varint`.
    pub name: &'static str,
    /// What the leaf's bytes count as, but for those that count as width.
    pub cause: Cause,
}

impl Kind {
    /// Owner of the kinds that every format shares, see [`COMMON_KINDS`].
    pub const COMMON: u8 = u8::MAX;
    /// Bytes that nobody could place.
    pub const UNREAD: Kind = Kind { owner: Self::COMMON, code: 0 };
    /// Zeros, or anything else that only keeps the rest in place.
    pub const PADDING: Kind = Kind { owner: Self::COMMON, code: 1 };
    /// Bytes around the message.
    pub const FRAMING: Kind = Kind { owner: Self::COMMON, code: 2 };
    /// In a layer that carries another: the digits or bytes that become the inner layer.
    pub const CARRIER: Kind = Kind { owner: Self::COMMON, code: 3 };
}

/// The kinds that belong to no format, indexed by [`Kind::code`].
pub const COMMON_KINDS: [KindInfo; 4] = [
    KindInfo { name: "unread", cause: Cause::Unread },
    KindInfo { name: "padding", cause: Cause::Padding },
    KindInfo { name: "framing", cause: Cause::Framing },
    KindInfo { name: "carrier", cause: Cause::Payload },
];

/// How a leaf stands, and in which role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// Nothing to say.
    pub const NONE: Flags = Flags(0);
    /// A diagnostic of severity error speaks of this leaf.
    pub const ERROR: Flags = Flags(1);
    /// A diagnostic of severity warning speaks of this leaf.
    pub const WARNING: Flags = Flags(2);
    /// Part of a map key or of a field's name: counts as key, whatever its kind.
    pub const KEY: Flags = Flags(4);
    /// Inside a map key that is a container.
    pub const NESTED: Flags = Flags(16);
    /// A piece of a longer run of one value (a string too long to hold at once).
    pub const PIECE: Flags = Flags(8);

    /// The reader cannot tell the value from an absent one: counts as default, not as payload.
    pub const DEFAULT: Flags = Flags(32);

    /// An element of a packed run.
    pub const ELEMENT: Flags = Flags(64);

    /// The leaf holds many values of its kind, one after the other, each of the same width.
    pub const MANY: Flags = Flags(128);

    /// Says how many bytes of the leaf count as width, at most 8, where kind and bytes alone do not.
    #[must_use]
    pub fn wide(self, bytes: u64) -> Flags {
        let told = u16::try_from(bytes.min(8)).unwrap_or(8).saturating_add(1);
        Flags(self.0 & !Self::WIDE | told << Self::WIDE_AT)
    }

    /// The bytes that count as width, where that is said.
    pub fn told_width(self) -> Option<u64> {
        u64::from((self.0 & Self::WIDE) >> Self::WIDE_AT).checked_sub(1)
    }

    const WIDE_AT: u16 = 8;
    const WIDE: u16 = 0x0f00;

    /// Whether all of `other` is set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A run of bytes with one meaning. Offsets are bytes from the start of the layer, half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
    /// Where an offset or pointer leads, or [`NO_TARGET`].
    pub target: u64,
    /// The group the bytes belong to.
    pub group: GroupId,
    /// What the bytes are.
    pub kind: Kind,
    /// Status and role.
    pub flags: Flags,
}

impl Leaf {
    /// A leaf without target and flags.
    pub fn new(start: u64, end: u64, group: GroupId, kind: Kind) -> Leaf {
        Leaf { start, end, target: NO_TARGET, group, kind, flags: Flags::NONE }
    }

    /// The same leaf with more flags set.
    #[must_use]
    pub fn flagged(self, flags: Flags) -> Leaf {
        Leaf { flags: self.flags.with(flags), ..self }
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the leaf has no byte; never true in a finished map.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One bit field of a leaf. Bit 0 is the lowest bit of the leaf's first byte, bit 8 the lowest of
/// its second; a value in several pieces has one entry a piece under the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    /// Highest bit, inclusive.
    pub hi: u32,
    /// Lowest bit, inclusive.
    pub lo: u32,
    /// What the bits say, in the standard's words.
    pub name: &'static str,
    /// The bits as an unsigned number.
    pub value: u64,
}

/// What a group of leaves is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    /// The whole layer.
    Root,
    /// A record with named or numbered fields.
    Record,
    /// A map of keys and values.
    Map,
    /// A list of elements.
    List,
    /// A single value with its key and head.
    Value,
    /// What serves the object around it and is no value of its own: an offset to a vtable, padding.
    Part,
    /// An element of a packed run: its bytes stand in the row of the run.
    Element,
    /// An element of a packed run of fixed width, with a row of its own.
    Item,
}

/// How a group is reached from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// It is the root, or adds nothing to the path.
    None,
    /// One of several messages in a row, counted from 0: `#0.`
    Message(u64),
    /// A field or key that is a plain name: `.name`
    Name(&'a str),
    /// Any other map key, in braces: `{key}`
    Key(&'a str),
    /// An element: `[3]`
    Index(u64),
    /// One of the values of a repeated field, which stand apart on the wire: `.items[3]`
    Field(&'a str, u64),
    /// The entry of a map field, by its key: `.labels{env}`
    Entry(&'a str, &'a str),
}

/// A group of leaves: a message, map, list or field. Groups form a tree by parent.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    /// Its number, in the order of opening.
    pub id: GroupId,
    /// The group around it, or [`NO_GROUP`].
    pub parent: GroupId,
    /// What it is.
    pub kind: GroupKind,
    /// The step that leads to it from its parent.
    pub step: Step<'a>,
    /// Offset of its first byte.
    pub start: u64,
    /// It was open before, under the same number, and its bytes go on here: only in formats whose objects lie
    /// apart from what leads to them.
    pub again: bool,
}

/// Appends the text of `step` to a path: `items`, `.sku`, `[3]`, `{a b}`, `#1.`
pub fn push_step(path: &mut String, step: Step<'_>) {
    match step {
        Step::None => {}
        Step::Message(number) => {
            path.push('#');
            push_number(path, number);
            path.push('.');
        }
        Step::Name(name) => push_name(path, name),
        Step::Key(key) => push_braced(path, key),
        Step::Index(index) => push_index(path, index),
        Step::Field(name, index) => {
            push_name(path, name);
            push_index(path, index);
        }
        Step::Entry(name, key) => {
            push_name(path, name);
            push_braced(path, key);
        }
    }
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() && !path.ends_with('.') {
        path.push('.');
    }
    path.push_str(name);
}

fn push_index(path: &mut String, index: u64) {
    path.push('[');
    push_number(path, index);
    path.push(']');
}

fn push_braced(path: &mut String, key: &str) {
    if key.is_empty() {
        path.push_str("{\"\"}");
    } else {
        // Writing to a String cannot fail.
        let _ = push_key(path, key);
    }
}

/// A key in braces, with everything escaped that would break a line or that a terminal would obey.
fn push_key(path: &mut String, key: &str) -> std::fmt::Result {
    use std::fmt::Write as _;
    path.write_char('{')?;
    for c in key.chars() {
        let escaped = c.escape_debug();
        if matches!(c, '\\' | '}') {
            // Without this a name with a backslash reads like an escape, and one with a brace like two steps.
            path.push('\\');
            path.write_char(c)?;
        } else if matches!(c, ' '..='~') || escaped.len() == 1 {
            path.write_char(c)?
        } else {
            write!(path, "{escaped}")?
        }
    }
    path.write_char('}')
}

/// Whether a key can stand in a path as it is: letters, digits, `_`, `-`, `$` and `@`; a digit or `-`
/// not first.
pub fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@');
    name.chars().all(plain) && name.chars().next().is_some_and(|c| !c.is_ascii_digit() && c != '-')
}

/// The break of a partition: a leaf that does not start where the last one ended, or is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenPartition {
    /// Where the next leaf had to start.
    pub due: u64,
    /// Where it starts.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

impl std::fmt::Display for BrokenPartition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BrokenPartition { due, start, end } = self;
        write!(f, "byte map broken: leaf {start:#x}..{end:#x} where one from {due:#x} was due")
    }
}

/// Checks that leaves partition a layer, one leaf at a time.
#[derive(Debug, Clone, Default)]
pub struct Partition {
    at: u64,
}

impl Partition {
    /// Takes the next leaf.
    ///
    /// # Errors
    /// The leaf leaves a gap, overlaps the one before it, or is empty.
    pub fn take(&mut self, leaf: &Leaf) -> Result<(), BrokenPartition> {
        if leaf.start != self.at || leaf.end <= leaf.start {
            return Err(BrokenPartition { due: self.at, start: leaf.start, end: leaf.end });
        }
        self.at = leaf.end;
        Ok(())
    }

    /// Checks that the last leaf ended at the layer's size.
    ///
    /// # Errors
    /// Bytes at the end belong to no leaf.
    pub fn finish(&self, size: u64) -> Result<(), BrokenPartition> {
        if self.at == size { Ok(()) } else { Err(BrokenPartition { due: self.at, start: size, end: size }) }
    }

    /// Offset behind the last leaf taken.
    pub fn at(&self) -> u64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_at_most_32_bytes() {
        assert!(std::mem::size_of::<Leaf>() <= 32);
    }

    #[test]
    fn paths_join_names_indices_and_odd_keys() {
        let mut path = String::new();
        for step in [Step::Message(1), Step::Name("items"), Step::Index(3), Step::Name("sku"), Step::Key("a b")] {
            push_step(&mut path, step);
        }
        assert_eq!(path, "#1.items[3].sku{a b}");
        push_step(&mut path, Step::Key("\u{1b}[2J\n\u{202e}\""));
        assert_eq!(path, "#1.items[3].sku{a b}{\\u{1b}[2J\\n\\u{202e}\"}", "nothing that a terminal obeys");
    }

    #[test]
    fn a_gap_an_overlap_an_empty_leaf_and_a_short_end_are_all_refused() {
        let leaf = |start, end| Leaf::new(start, end, 0, Kind::UNREAD);
        let mut map = Partition::default();
        assert!(map.take(&leaf(0, 2)).is_ok());
        assert!(map.clone().take(&leaf(3, 4)).is_err(), "a gap of one byte");
        assert!(map.clone().take(&leaf(1, 4)).is_err(), "an overlap of one byte");
        assert!(map.clone().take(&leaf(2, 2)).is_err(), "an empty leaf");
        assert!(map.finish(3).is_err() && map.finish(2).is_ok());
    }
}
