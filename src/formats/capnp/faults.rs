//! What can be wrong in a message: kept small while objects are looked for, put into words when the bytes are told.

use crate::formats::capnp::wire::{ElementSize, WORD};
use crate::model::diag::{Code, Diagnostic, Severity};
use crate::model::num::{bytes, count};

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

/// What is wrong. Offsets are absolute, in the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// There are no bytes.
    Empty,
    /// Too few bytes for a root pointer; so many are there.
    NoRoot(u64),
    /// The input ends inside a segment table: bytes that are there, and that it has at least.
    TableCut(u64, u64),
    /// A table announces so many segments, more than readers take.
    Segments(u64),
    /// A segment of so many words reaches past the end of the input: bytes that are missing.
    SegmentPastEnd(u64, u64),
    /// The first segment has no word, so that there is no root pointer.
    SegmentEmpty,
    /// So many bytes behind the last message.
    Trailing(u64),
    /// Bytes at the end of a flat message that are no whole word.
    PartWord(u64),
    /// A pointer leads in front of the input, or of its segment, by so many words.
    BeforeSegment(i64),
    /// A pointer leads past the end of its segment: where to, and where the segment ends.
    PastSegment(u64, u64),
    /// An object reaches past the end of its segment: its words, and those that are there.
    TooLong(u64, u64),
    /// A pointer leads to words that were lost with the end of the input: how many of how many.
    Lost(u64, u64),
    /// A struct is due.
    NoStruct(Is),
    /// A list is due.
    NoList(Is),
    /// A capability is due.
    NoCapability(Is),
    /// The reserved bits of a pointer of kind 3 are not zero.
    Reserved,
    /// A far pointer names a segment that is not there: its number, and how many there are.
    NoSegment(u32, u32),
    /// A landing pad lies outside its segment: where, and where the segment ends.
    PadOutside(u64, u64),
    /// The landing pad of a single far pointer is a far pointer itself.
    PadIsFar,
    /// The first word of a two-word pad is no far pointer of one word.
    PadNotFar,
    /// The second word of a two-word pad is no struct or list pointer.
    PadNoObject,
    /// The second word of a two-word pad has an offset, which readers ignore.
    PadOffset,
    /// The tag of a list of structs is no struct pointer.
    TagKind,
    /// The tag announces more words than the list has: both.
    TagTooMuch(u64, u64),
    /// The tag announces fewer words than the list has: both.
    TagTooLittle(u64, u64),
    /// Elements are stored otherwise than the schema says.
    Elements(ElementSize, ElementSize),
    /// A text has no byte, not even its NUL.
    TextEmpty,
    /// The last byte of a text is not NUL but this.
    NoTerminator(u8),
    /// A text is not UTF-8 from this offset on.
    InvalidUtf8(u64),
    /// Pointers within each other past the limit.
    Depth(u64),
    /// A pointer leads back to the object it stands in, which begins there.
    Loop(u64),
    /// Following every pointer visits so many words.
    Traversal(u64),
    /// Bytes that another object has as well: where that one ends.
    Overlap(u64),
    /// The same bytes are read as two types: the other object begins there.
    TwoTypes(u64),
    /// The tag of a union has a number that no member has.
    UnionUnknown(u16),
    /// An enum has a number without a name.
    EnumUnknown(u16),
    /// Bits that no field has are set.
    Padding,
    /// Words that nothing points at are not zero; some of them could not be reached.
    Unreachable(u64, bool),
}

/// What a pointer is instead of what is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    /// A struct pointer.
    Struct,
    /// A list pointer.
    List(ElementSize),
    /// A capability.
    Capability,
}

impl Is {
    fn words(self) -> String {
        match self {
            Is::Struct => "a struct pointer".to_string(),
            Is::List(size) => format!("a pointer to a list {}", of(size)),
            Is::Capability => "a capability pointer".to_string(),
        }
    }
}

/// `of bytes`, `of 4 bytes`.
fn of(size: ElementSize) -> String {
    let name = size.name(2);
    if name.starts_with("of ") { name.to_string() } else { format!("of {name}") }
}

impl Fault {
    /// The finding in words.
    pub fn told(&self) -> Diagnostic {
        let (message, help) = self.what.words();
        Diagnostic::new(self.what.code(), self.start, self.end, message).help(help)
    }
}

impl Wrong {
    /// Whether the input ends before what its segment table announces.
    pub fn is_cut(self) -> bool {
        matches!(self, Wrong::TableCut(..) | Wrong::SegmentPastEnd(..))
    }

    /// The code that users search for.
    pub fn code(self) -> Code {
        match self {
            Wrong::Empty => Code::EmptyInput,
            Wrong::NoRoot(_) | Wrong::TableCut(..) | Wrong::SegmentPastEnd(..) => Code::CpCut,
            Wrong::Segments(_) | Wrong::SegmentEmpty => Code::CpSegments,
            Wrong::Trailing(_) | Wrong::PartWord(_) => Code::CpTrailing,
            Wrong::BeforeSegment(_) | Wrong::PastSegment(..) | Wrong::TooLong(..) => Code::CpOutOfBounds,
            Wrong::Lost(..) => Code::CpLost,
            Wrong::NoStruct(_) | Wrong::NoList(_) | Wrong::NoCapability(_) | Wrong::Reserved => Code::CpPointerKind,
            Wrong::NoSegment(..) | Wrong::PadOutside(..) | Wrong::PadIsFar | Wrong::PadNotFar | Wrong::PadNoObject => {
                Code::CpFar
            }
            Wrong::TagKind | Wrong::TagTooMuch(..) => Code::CpTag,
            Wrong::TagTooLittle(..) => Code::CpTagShort,
            Wrong::Elements(..) => Code::CpElementSize,
            Wrong::TextEmpty | Wrong::NoTerminator(_) => Code::CpNoTerminator,
            Wrong::InvalidUtf8(_) => Code::CpInvalidUtf8,
            Wrong::Depth(_) => Code::CpDepth,
            Wrong::Loop(_) => Code::CpLoop,
            Wrong::Traversal(_) => Code::CpTraversal,
            Wrong::Overlap(_) | Wrong::TwoTypes(_) => Code::CpOverlap,
            Wrong::UnionUnknown(_) | Wrong::EnumUnknown(_) => Code::CpUnknownNumber,
            Wrong::Padding | Wrong::PadOffset => Code::CpPadding,
            Wrong::Unreachable(..) => Code::CpUnreachable,
        }
    }

    /// How bad it is.
    pub fn severity(self) -> Severity {
        self.code().severity()
    }

    /// What was expected and what stands there, and what to try.
    fn words(self) -> (String, String) {
        let plain = |text: String| (text, String::new());
        match self {
            Wrong::Empty => plain("no bytes: a message has at least a root pointer".into()),
            Wrong::NoRoot(there) => plain(format!("a root pointer of 8 bytes is due, {} there", are(there))),
            Wrong::TableCut(there, due) => (
                format!(
                    "the input ends inside the segment table: {} of it {}, {}{due} are needed",
                    bytes(there),
                    is_or_are(there),
                    if there < 4 { "at least " } else { "" }
                ),
                "the rest was lost; if the input has no table, -f capnp/flat".into(),
            ),
            Wrong::Segments(number) => (
                format!("a segment table of {number} segments; readers take at most 512"),
                "no framed message begins here: try -f capnp/packed or capnp/flat".into(),
            ),
            Wrong::SegmentPastEnd(words, missing) => (
                format!(
                    "a segment of {} ({}) reaches past the end of the input: {} of it {}",
                    count(words, "word", "words"),
                    bytes(words.saturating_mul(WORD)),
                    bytes(words.saturating_mul(WORD).saturating_sub(missing)),
                    is_or_are(words.saturating_mul(WORD).saturating_sub(missing))
                ),
                "the end was lost, or this is no segment table (-f capnp/flat, capnp/packed)".into(),
            ),
            Wrong::SegmentEmpty => plain("the first segment has no words, so that there is no root pointer".into()),
            Wrong::Trailing(there) => (
                format!("{} behind the last message, too few or too strange for another one", bytes(there)),
                "they belong to something else, or a message was cut".into(),
            ),
            Wrong::PartWord(there) => plain(format!("{} at the end that are no whole word", bytes(there))),
            _ => self.pointer_words(),
        }
    }

    /// What is wrong with pointers.
    fn pointer_words(self) -> (String, String) {
        let plain = |text: String| (text, String::new());
        match self {
            Wrong::BeforeSegment(words) => plain(format!("the pointer leads {words} words in front of its segment")),
            Wrong::PastSegment(to, end) => {
                plain(format!("the pointer leads to {to:#04x}, past the end of its segment at {end:#04x}"))
            }
            Wrong::TooLong(words, there) => plain(format!(
                "the pointer announces {}, and {} there to the end of the segment",
                count(words, "word", "words"),
                if there == 1 { "1 is".to_string() } else { format!("{there} are") }
            )),
            Wrong::Lost(lost, words) if lost == words => plain(format!(
                "what this pointer leads to was lost with the end of the input: {}",
                count(words, "word", "words")
            )),
            Wrong::Lost(lost, words) => {
                plain(format!("{lost} of the {words} words were lost with the end of the input"))
            }
            Wrong::NoStruct(is) => (
                format!("a struct is due, and this is {}", is.words()),
                "the schema or the type is another than the writer's".into(),
            ),
            Wrong::NoList(is) => (
                format!("a list is due, and this is {}", is.words()),
                "the schema or the type is another than the writer's".into(),
            ),
            Wrong::NoCapability(is) => plain(format!("a capability is due, and this is {}", is.words())),
            Wrong::Reserved => plain("a pointer of kind 3 whose 30 reserved bits are not zero".into()),
            Wrong::NoSegment(number, there) => plain(format!(
                "a far pointer to segment {number}; the message has {}",
                count(u64::from(there), "segment", "segments")
            )),
            Wrong::PadOutside(at, end) => {
                plain(format!("the landing pad would stand at {at:#04x}, past the end of its segment at {end:#04x}"))
            }
            Wrong::PadIsFar => plain("a landing pad of one word that is a far pointer again".into()),
            Wrong::PadNotFar => {
                plain("the first word of a two-word landing pad must be a far pointer of one word".into())
            }
            Wrong::PadNoObject => {
                plain("the second word of a two-word landing pad must be a struct or list pointer".into())
            }
            Wrong::PadOffset => {
                plain("the second word of a two-word landing pad has an offset, which readers ignore".into())
            }
            Wrong::Depth(limit) => {
                (format!("more than {limit} pointers within each other"), "--limit-depth follows more".into())
            }
            Wrong::Loop(at) => plain(format!("the pointer leads back to {at:#04x}, which it stands in")),
            Wrong::Traversal(words) => plain(format!(
                "a reader that follows every pointer visits {}; readers stop at {} ({} MiB)",
                if words == u64::MAX { "words without end".to_string() } else { format!("{words} words") },
                crate::model::limits::CAPNP_TRAVERSAL,
                crate::model::limits::CAPNP_TRAVERSAL.saturating_mul(WORD) >> 20
            )),
            _ => self.object_words(),
        }
    }

    /// What is wrong with objects.
    fn object_words(self) -> (String, String) {
        let plain = |text: String| (text, String::new());
        match self {
            Wrong::TagKind => plain("the tag of a list of structs must look like a struct pointer".into()),
            Wrong::TagTooMuch(tag, list) => {
                plain(format!("the tag announces {tag} words of elements, the list pointer {list}"))
            }
            Wrong::TagTooLittle(tag, list) => {
                plain(format!("the tag announces {tag} words of elements, the list pointer {list}: the rest is unused"))
            }
            Wrong::Elements(due, there) => (
                format!("a list {} is due, and this is one {}", of(due), of(there)),
                "the schema or the type is another than the writer's".into(),
            ),
            Wrong::TextEmpty => plain("a text has at least a NUL, and this list has no bytes".into()),
            Wrong::NoTerminator(byte) => plain(format!("the last byte of a text is NUL, and this is {byte:02x}")),
            Wrong::InvalidUtf8(at) => plain(format!("the text is not UTF-8 at {at:#04x}")),
            Wrong::Overlap(end) => plain(format!("another object has these bytes as well, up to {end:#04x}")),
            Wrong::TwoTypes(at) => plain(format!("two pointers read what stands at {at:#04x} as different types")),
            Wrong::UnionUnknown(number) => (
                format!("the union's tag is {number}, which no member of this schema has"),
                "the writer's schema is newer, or the type is another".into(),
            ),
            Wrong::EnumUnknown(number) => (
                format!("{number} is no value of the enum in this schema"),
                "the writer's schema is newer, or the type is another".into(),
            ),
            Wrong::Padding => (
                "bits are set that no field of this schema has".into(),
                "the writer's schema is newer, or the type is another".into(),
            ),
            Wrong::Unreachable(words, partial) => plain(format!(
                "{} that {} points at",
                count(words, "word", "words"),
                if partial { "nothing that could be read" } else { "nothing" }
            )),
            _ => plain(String::new()),
        }
    }
}

fn are(number: u64) -> String {
    if number == 1 { "1 is".to_string() } else { format!("{number} are") }
}

fn is_or_are(number: u64) -> &'static str {
    if number == 1 { "is there" } else { "are there" }
}
