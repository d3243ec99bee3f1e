//! What is open while a message is written.

use crate::model::capnp::Type;
use crate::model::schema::MessageId;

/// A field that takes a value: of which struct, and the object it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The object in the arena.
    pub at: usize,
    /// The struct or group.
    pub id: MessageId,
    /// Position of the field.
    pub field: usize,
}

/// What is due next in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A name.
    Name,
    /// The value of a field.
    Value(Target),
    /// The name of the member that is set, of the union in this struct.
    Tag(usize, MessageId),
    /// A value that cannot be placed before the union's tag has come.
    Held,
    /// A value that is left out.
    Ignored,
}

/// A container of the input, by what it becomes.
#[derive(Debug, Clone, Copy)]
pub enum Frame {
    /// A struct or group.
    Struct {
        /// Its object in the arena.
        at: usize,
        /// What it is.
        id: MessageId,
        /// What comes next.
        due: Due,
        /// It is an object, not a group in one.
        own: bool,
    },
    /// A list; its elements begin at these places in the bytes and pointers of open lists.
    List {
        /// Type of the elements.
        of: Type,
        /// Elements that have come.
        count: u64,
        /// Where its bytes begin.
        bytes: usize,
        /// Where its pointers begin.
        pointers: usize,
    },
    /// Bytes as an array of numbers.
    Bytes {
        /// Where they begin.
        bytes: usize,
    },
    /// An array of JSON values, for the `Value` struct at a place.
    JsonArray {
        /// The struct.
        at: usize,
        /// Its type.
        id: MessageId,
        /// Where its elements begin.
        pointers: usize,
    },
    /// An object of JSON values, likewise; its innermost member waits for its value.
    JsonObject {
        /// The struct.
        at: usize,
        /// Its type.
        id: MessageId,
        /// Where its members begin.
        pointers: usize,
        /// The member whose name has come.
        member: Option<usize>,
    },
    /// Held back until a union's tag comes; so many containers are open in it.
    Hold {
        /// Open containers.
        depth: usize,
    },
    /// Left out; so many containers are open in it.
    Skip {
        /// Open containers.
        depth: usize,
    },
}
