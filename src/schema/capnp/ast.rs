//! What a `.capnp` file declares, before names are resolved.

/// A name with its place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Word {
    /// The name.
    pub text: String,
    /// Its place.
    pub at: usize,
}

/// A number with its place.
pub type Number = (u64, usize);

/// A file.
#[derive(Debug, Default)]
pub struct File {
    /// Its id, where it says one.
    pub id: Option<Number>,
    /// Annotations of the file itself.
    pub annotations: Vec<Applied>,
    /// What it declares.
    pub decls: Vec<Decl>,
    /// Files that it imports, each name once.
    pub imports: Vec<Word>,
    /// A method of it is declared `-> stream`.
    pub streams: bool,
}

/// A declaration.
#[derive(Debug)]
pub struct Decl {
    /// Its name; empty for an unnamed union.
    pub name: Word,
    /// Its id, where it says one.
    pub id: Option<Number>,
    /// Its ordinal, where it has one.
    pub ordinal: Option<Number>,
    /// What it is.
    pub kind: DeclKind,
    /// Names of its type parameters.
    pub parameters: Vec<Word>,
    /// Annotations.
    pub annotations: Vec<Applied>,
    /// What it declares inside.
    pub inner: Vec<Decl>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
}

/// What a declaration is.
#[derive(Debug)]
pub enum DeclKind {
    /// Another name for something.
    Using(Expr),
    /// A constant: type and value.
    Const(Expr, Expr),
    /// An enum.
    Enum,
    /// A name of an enum.
    Enumerant,
    /// A struct.
    Struct,
    /// A field: type and default.
    Field(Expr, Option<Expr>),
    /// A union.
    Union,
    /// A group.
    Group,
    /// An interface with those it extends.
    Interface(Vec<Expr>),
    /// A method.
    Method {
        /// What it takes.
        takes: Params,
        /// What it gives.
        gives: Params,
    },
    /// An annotation: targets and type.
    Annotation(Vec<Word>, Expr),
}

/// Parameters or results of a method.
#[derive(Debug)]
pub enum Params {
    /// One by one.
    Listed(Vec<Param>),
    /// As a struct.
    Struct(Expr),
    /// `stream`
    Stream(usize),
}

/// A parameter or result.
#[derive(Debug)]
pub struct Param {
    /// Its name.
    pub name: Word,
    /// Its type.
    pub ty: Expr,
    /// Its default.
    pub default: Option<Expr>,
    /// Annotations.
    pub annotations: Vec<Applied>,
}

/// An annotation where it is applied.
#[derive(Debug)]
pub struct Applied {
    /// What it is called.
    pub name: Expr,
    /// What it is applied with.
    pub value: Option<Expr>,
}

/// A type, a value or a name.
#[derive(Debug, Clone)]
pub struct Expr {
    /// Its place.
    pub at: usize,
    /// How deep it nests.
    pub depth: usize,
    /// What it is.
    pub kind: ExprKind,
}

/// An element of a tuple.
#[derive(Debug, Clone)]
pub struct Element {
    /// What it is assigned to.
    pub name: Option<Word>,
    /// Its value.
    pub value: Expr,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A whole number.
    Int(u64),
    /// A whole number behind a minus sign.
    Negative(u64),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A string.
    Text(Vec<u8>),
    /// Bytes.
    Binary(Vec<u8>),
    /// `[...]`
    List(Vec<Expr>),
    /// `(a = 1, ...)`
    Tuple(Vec<Element>),
    /// A name.
    Name(String),
    /// A name with a dot in front.
    Absolute(String),
    /// `import "file"`
    Import(String),
    /// `embed "file"`
    Embed(String),
    /// `Name(...)`
    Apply(Box<Expr>, Vec<Element>),
    /// `Name.member`
    Member(Box<Expr>, Word),
}

impl Expr {
    /// A name as the source writes it, without what it is applied to.
    pub fn told(&self) -> String {
        match &self.kind {
            ExprKind::Name(name) => name.clone(),
            ExprKind::Absolute(name) => format!(".{name}"),
            ExprKind::Import(name) => format!("import \"{}\"", name.escape_debug()),
            ExprKind::Apply(of, _) => of.told(),
            ExprKind::Member(of, name) => format!("{}.{}", of.told(), name.text),
            _ => "a value".to_string(),
        }
    }
}
