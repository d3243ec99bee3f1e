//! Diagnostics: what is wrong or odd, where, and what to try.
//!
//! Codes stand in [`Code`] and nowhere else. A sentence says what was expected and what stands
//! there: lower case, no full stop, offsets in hex, sizes in decimal.

use crate::model::limits;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, nothing wrong.
    Note,
    /// Odd: readers take it, somebody should look.
    Warning,
    /// What the format's readers refuse.
    Error,
}

impl Severity {
    /// The word in dumps, on stderr and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Declares the codes once: variant, the text users search for, and its severity.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident, $text:literal, $severity:ident;)*) => {
        /// Code of a diagnostic, one for each kind of finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as users see it.
            pub fn text(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// The input has no byte, and the format has no empty message.
    EmptyInput, "empty-input", Error;
    /// No format fits the input.
    UnknownFormat, "unknown-format", Error;
    /// A format that was told fits clearly worse than another.
    FormatDoubt, "format-doubt", Warning;
    /// Several types of the schema fit the message equally well.
    TypeTied, "type-tied", Note;
    /// A schema was told, and the format has no use for it.
    SchemaUnused, "schema-unused", Note;
    /// Text that was told to hold bytes in some notation has something else in it.
    EncodingBad, "encoding-bad", Error;
    /// A dump read as input has offsets that do not fit the bytes before them.
    DumpOffset, "dump-offset", Warning;

    /// MessagePack: the input ends inside an object.
    MpCut, "mp-cut", Error;
    /// MessagePack: byte 0xc1, which the standard never uses.
    MpNeverUsed, "mp-never-used", Error;
    /// MessagePack: containers within each other past the limit.
    MpDepth, "mp-depth", Error;
    /// MessagePack: a shorter form of the same object exists.
    MpNonMinimal, "mp-non-minimal", Warning;
    /// MessagePack: a str that is not UTF-8.
    MpInvalidUtf8, "mp-invalid-utf8", Warning;
    /// MessagePack: a map has a key twice.
    MpDuplicateKey, "mp-duplicate-key", Warning;
    /// MessagePack: more keys than are remembered to look for duplicates.
    MpKeysNotCompared, "mp-keys-not-compared", Note;
    /// MessagePack: ext type -1 with a length that is none of 4, 8 and 12.
    MpTimestampLength, "mp-timestamp-length", Error;
    /// MessagePack: a timestamp with more than 999,999,999 nanoseconds.
    MpTimestampNanos, "mp-timestamp-nanos", Error;

    /// Protobuf: no byte, which is a message without fields.
    PbEmpty, "pb-empty", Note;
    /// Protobuf: the bytes end inside a field.
    PbFieldCut, "pb-field-cut", Error;
    /// Protobuf: a length that reaches past the end of what is around it.
    PbLengthPastEnd, "pb-length-past-end", Error;
    /// Protobuf: a varint of more than ten bytes, or a tag of more than five.
    PbVarintTooLong, "pb-varint-too-long", Error;
    /// Protobuf: a varint with bits past the 64th.
    PbVarintOverflow, "pb-varint-overflow", Warning;
    /// Protobuf: a field number of 0 or above 2^29 - 1.
    PbFieldNumber, "pb-field-number", Error;
    /// Protobuf: wire type 6 or 7.
    PbWireTypeUnknown, "pb-wire-type-unknown", Error;
    /// Protobuf: a group that never ends.
    PbGroupUnended, "pb-group-unended", Error;
    /// Protobuf: the end of a group that is not open.
    PbGroupEnd, "pb-group-end", Error;
    /// Protobuf: messages within each other past the limit.
    PbDepth, "pb-depth", Error;
    /// Protobuf: a packed run whose length is no multiple of its elements.
    PbPackedRemainder, "pb-packed-remainder", Error;
    /// Protobuf: a string that is not UTF-8, where readers refuse that.
    PbInvalidUtf8, "pb-invalid-utf8", Error;
    /// Protobuf: a string that is not UTF-8, where readers take it.
    PbInvalidUtf8Lax, "pb-invalid-utf8-lax", Warning;
    /// Protobuf: a required field is not there.
    PbRequiredMissing, "pb-required-missing", Error;
    /// Protobuf: a field has another wire type than the schema says.
    PbWireType, "pb-wire-type", Warning;
    /// Protobuf: without a schema, a field that stands in two wire types.
    PbMixedWireTypes, "pb-mixed-wire-types", Warning;
    /// Protobuf: a tag, length or value longer than it need be.
    PbNonMinimal, "pb-non-minimal", Warning;
    /// Protobuf: a field that may stand once stands again.
    PbLastWins, "pb-last-wins", Note;
    /// Protobuf: a message field that may stand once stands again: the parts are merged.
    PbMerged, "pb-merged", Note;
    /// Protobuf: another member of a oneof stood before.
    PbOneofReplaced, "pb-oneof-replaced", Note;
    /// Protobuf: a map has a key twice.
    PbMapKeyTwice, "pb-map-key-twice", Note;
    /// Protobuf: a point or span of time past what its type allows.
    PbTimeRange, "pb-time-range", Warning;
    /// Protobuf: content past the depth limit that could be a message, where no schema says so.
    PbDepthUnopened, "pb-depth-unopened", Note;
    /// Protobuf: bits of a value that its type has no room for.
    PbTruncated, "pb-truncated", Warning;
    /// Protobuf: the prefix of a message in a stream is cut or makes no sense.
    PbFrameCut, "pb-frame-cut", Error;
    /// Protobuf: flags of a gRPC frame that gRPC does not define.
    PbFrameFlags, "pb-frame-flags", Error;
    /// Protobuf: a compressed frame that cannot be undone.
    PbFrameCompressed, "pb-frame-compressed", Error;
    /// FlatBuffers: the buffer is too short for what must stand in it.
    FbCut, "fb-cut", Error;
    /// FlatBuffers: an offset that leads past the end of the buffer.
    FbOffsetPastEnd, "fb-offset-past-end", Error;
    /// FlatBuffers: an offset of 0.
    FbOffsetZero, "fb-offset-zero", Error;
    /// FlatBuffers: something at an offset that its alignment does not allow.
    FbUnaligned, "fb-unaligned", Error;
    /// FlatBuffers: a vtable that makes no sense.
    FbVtable, "fb-vtable", Error;
    /// FlatBuffers: a length or count that reaches past the end of the buffer.
    FbLengthPastEnd, "fb-length-past-end", Error;
    /// FlatBuffers: no NUL behind a string.
    FbNoTerminator, "fb-no-terminator", Error;
    /// FlatBuffers: a string that is not UTF-8.
    FbInvalidUtf8, "fb-invalid-utf8", Error;
    /// FlatBuffers: type and value of a union do not go together.
    FbUnion, "fb-union", Error;
    /// FlatBuffers: a required field is absent.
    FbRequiredMissing, "fb-required-missing", Error;
    /// FlatBuffers: a table without its key.
    FbKeyMissing, "fb-key-missing", Warning;
    /// FlatBuffers: tables within each other past the limit.
    FbDepth, "fb-depth", Error;
    /// FlatBuffers: more tables than verifiers visit.
    FbTables, "fb-tables", Error;
    /// FlatBuffers: bytes that belong to two objects.
    FbOverlap, "fb-overlap", Error;
    /// FlatBuffers: a size prefix that does not fit the input.
    FbSizePrefix, "fb-size-prefix", Error;
    /// FlatBuffers: an identifier other than the schema's, or none.
    FbIdentifier, "fb-identifier", Warning;
    /// FlatBuffers: zeros in front of the buffer.
    FbLeadingZeros, "fb-leading-zeros", Warning;
    /// FlatBuffers: a size that is no multiple of the alignment.
    FbSize, "fb-size", Note;
    /// FlatBuffers: a vector that is not sorted by key.
    FbKeyOrder, "fb-key-order", Warning;
    /// FlatBuffers: a bool that is neither 0 nor 1.
    FbBool, "fb-bool", Warning;
    /// FlatBuffers: padding that is not zero.
    FbPadding, "fb-padding", Warning;
    /// FlatBuffers: bytes that nothing points at.
    FbUnreferenced, "fb-unreferenced", Warning;
    /// Cap'n Proto: the input ends inside the segment table, or before what the table announces.
    CpCut, "cp-cut", Error;
    /// Cap'n Proto: a segment table that readers refuse.
    CpSegments, "cp-segments", Error;
    /// Cap'n Proto: bytes behind the last message.
    CpTrailing, "cp-trailing", Warning;
    /// Cap'n Proto: a pointer that leads out of its segment.
    CpOutOfBounds, "cp-out-of-bounds", Error;
    /// Cap'n Proto: a pointer leads to words that were lost with the end of the input.
    CpLost, "cp-lost", Warning;
    /// Cap'n Proto: a pointer of another kind than the schema says, or of none that is known.
    CpPointerKind, "cp-pointer-kind", Error;
    /// Cap'n Proto: a far pointer or its landing pad makes no sense.
    CpFar, "cp-far", Error;
    /// Cap'n Proto: the tag of a list of structs does not fit the list.
    CpTag, "cp-tag", Error;
    /// Cap'n Proto: a list of structs with words that its tag has no use for.
    CpTagShort, "cp-tag-short", Warning;
    /// Cap'n Proto: a list whose elements are stored otherwise than the schema says.
    CpElementSize, "cp-element-size", Error;
    /// Cap'n Proto: a text without a NUL at its end.
    CpNoTerminator, "cp-no-terminator", Error;
    /// Cap'n Proto: a text that is not UTF-8.
    CpInvalidUtf8, "cp-invalid-utf8", Warning;
    /// Cap'n Proto: pointers within each other past the limit.
    CpDepth, "cp-depth", Error;
    /// Cap'n Proto: a pointer leads back to what it stands in.
    CpLoop, "cp-loop", Error;
    /// Cap'n Proto: a reader that follows every pointer visits more words than readers do.
    CpTraversal, "cp-traversal", Error;
    /// Cap'n Proto: two objects have the same bytes.
    CpOverlap, "cp-overlap", Error;
    /// Cap'n Proto: the tag of a union, or an enum, has a number that the schema does not know.
    CpUnknownNumber, "cp-unknown-number", Warning;
    /// Cap'n Proto: bits that no field of the schema has, and that are not zero.
    CpPadding, "cp-padding", Warning;
    /// Cap'n Proto: words that nothing points at, and that are not zero.
    CpUnreachable, "cp-unreachable", Warning;
    /// Cap'n Proto: a packed input ends inside what it announces.
    CpPackedCut, "cp-packed-cut", Error;
    /// Cap'n Proto: a packed input that unpacks to more than is taken.
    CpPackedSize, "cp-packed-size", Error;
    /// A finding in a schema file.
    SchemaFinding, "schema", Warning;

    /// JSON: the text ends inside a value.
    JsonCut, "json-cut", Error;
    /// JSON: a character that cannot stand here.
    JsonSyntax, "json-syntax", Error;
    /// JSON: a number that the grammar does not know.
    JsonNumber, "json-number", Error;
    /// JSON: a literal other than true, false and null.
    JsonLiteral, "json-literal", Error;
    /// JSON: an escape that the grammar does not know, or half of a surrogate pair.
    JsonEscape, "json-escape", Error;
    /// JSON: a control character inside a string.
    JsonControl, "json-control", Error;
    /// JSON: bytes that are not UTF-8.
    JsonInvalidUtf8, "json-invalid-utf8", Error;
    /// JSON: arrays and objects within each other past the limit.
    JsonDepth, "json-depth", Error;
    /// JSON: an object has a name twice.
    JsonDuplicateKey, "json-duplicate-key", Warning;
    /// JSON: more names than are remembered to look for duplicates.
    JsonKeysNotCompared, "json-keys-not-compared", Note;
    /// JSON: a byte order mark in front of the text.
    JsonByteOrderMark, "json-byte-order-mark", Warning;
    /// JSON: a number that does not fit the target of a conversion, or loses digits in most readers.
    JsonNumberRange, "json-number-range", Warning;
}

/// One finding. Offsets are bytes in the layer, half open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of finding.
    pub code: Code,
    /// Offset of the first byte it speaks of.
    pub start: u64,
    /// Offset behind the last.
    pub end: u64,
    /// Path of the group it speaks of; empty for the root.
    pub path: String,
    /// What was expected and what stands there.
    pub message: String,
    /// What to try; empty if there is nothing to say.
    pub help: String,
    /// What it adds to the rows of other leaves, by their offset: `1 begun`.
    pub remarks: Vec<(u64, String)>,
}

impl Diagnostic {
    /// A finding without path, help and remarks.
    pub fn new(code: Code, start: u64, end: u64, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic { code, start, end, path: String::new(), message, help: String::new(), remarks: Vec::new() }
    }

    /// The same finding with advice.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: help.into(), ..self }
    }

    /// The same finding at a path.
    #[must_use]
    pub fn at(self, path: impl Into<String>) -> Diagnostic {
        Diagnostic { path: path.into(), ..self }
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Counts findings and says which are still told one by one.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Errors so far.
    pub errors: u64,
    /// Warnings so far.
    pub warnings: u64,
    /// Notes so far.
    pub notes: u64,
    /// Those that were told one by one.
    told: u64,
}

impl Tally {
    /// Counts one finding and says whether it is told: at most [`limits::DIAGNOSTICS`] are, and the
    /// last places of those are kept for errors.
    pub fn count(&mut self, severity: Severity) -> bool {
        let (count, limit) = match severity {
            Severity::Error => (&mut self.errors, limits::DIAGNOSTICS),
            Severity::Warning => (&mut self.warnings, limits::DIAGNOSTICS_BELOW_ERROR),
            Severity::Note => (&mut self.notes, limits::DIAGNOSTICS_BELOW_ERROR),
        };
        *count = count.saturating_add(1);
        let told = self.told < limit;
        self.told = self.told.saturating_add(u64::from(told));
        told
    }

    /// All findings.
    pub fn total(&self) -> u64 {
        self.errors.saturating_add(self.warnings).saturating_add(self.notes)
    }

    /// Findings that are only counted.
    pub fn untold(&self) -> u64 {
        self.total().saturating_sub(self.told)
    }
}
