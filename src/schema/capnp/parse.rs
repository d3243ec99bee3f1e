//! `.capnp` source as declarations.

use crate::model::words::nearest;
use crate::schema::capnp::ast::{Decl, DeclKind, ExprKind, File, Number, Param, Params, Word};
use crate::schema::capnp::expr::Tokens;
use crate::schema::capnp::lexer::{Fault, Kind};

/// How deep declarations may stand in one another: the parser and the linker recurse over them.
const DEPTH: usize = 64;

/// Words that begin a declaration.
const DECLARATIONS: [&str; 6] = ["using", "const", "annotation", "enum", "struct", "interface"];

/// What an annotation may stand on, in the order of `schema.capnp`.
pub const TARGETS: [&str; 12] = [
    "file",
    "const",
    "enum",
    "enumerant",
    "struct",
    "field",
    "union",
    "group",
    "interface",
    "method",
    "param",
    "annotation",
];

/// Ordinals end below it.
const ORDINALS: u64 = 65536;

/// Ids begin with it.
const IDS: u64 = 1 << 63;

/// Reads a file.
///
/// # Errors
/// The first thing that the grammar does not allow.
pub fn parse(text: &str) -> Result<File, Fault> {
    let mut parser = Parser { tokens: Tokens::new(text)?, file: File::default(), depth: 0 };
    while parser.tokens.lexer.kind != Kind::End {
        parser.statement()?;
    }
    let Parser { tokens, mut file, .. } = parser;
    file.imports = tokens.imports;
    Ok(file)
}

/// Where a declaration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    File,
    Struct,
    Enum,
    Interface,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    file: File,
    depth: usize,
}

impl Parser<'_> {
    /// A declaration of the file, its id, or an annotation of it.
    fn statement(&mut self) -> Result<(), Fault> {
        match self.tokens.lexer.kind {
            Kind::Op("@") => {
                let at = self.tokens.lexer.at;
                let id = self.id()?;
                if self.file.id.is_some() {
                    return Err(Fault::new(at, "a file has one id, here is a second"));
                }
                self.file.id = id;
                self.end("behind the id")?;
            }
            Kind::Op("$") => {
                let mut annotations = self.tokens.annotations()?;
                self.file.annotations.append(&mut annotations);
                self.end("behind the annotation")?;
            }
            _ => {
                let decl = self.decl(Around::File)?;
                self.file.decls.push(decl);
            }
        }
        Ok(())
    }

    /// A declaration without a block ends here; gives its doc comment.
    fn end(&mut self, behind: &str) -> Result<Vec<String>, Fault> {
        if !self.tokens.is(';') {
            return Err(self.tokens.wrong(&format!("`;` {behind}")));
        }
        let doc = self.tokens.lexer.doc();
        self.tokens.lexer.advance()?;
        Ok(doc)
    }

    fn decl(&mut self, around: Around) -> Result<Decl, Fault> {
        let Kind::Word(word) = self.tokens.lexer.kind else {
            return Err(self.tokens.wrong("a declaration"));
        };
        let at = self.tokens.lexer.at;
        let first = self.tokens.word("a declaration")?;
        // Fields, enumerants and methods may have the names of keywords.
        let is_name = matches!(self.tokens.lexer.kind, Kind::Word(_));
        match (word, around) {
            ("using", _) if self.is_general(around, is_name || self.is_path()) => self.using(),
            ("const", _) if self.is_general(around, is_name) => self.constant(),
            ("annotation", _) if self.is_general(around, is_name) => self.annotation(),
            ("enum", _) if self.is_general(around, is_name) => {
                let decl = self.head(DeclKind::Enum, "the name of the enum")?;
                self.finish(decl, Around::Enum)
            }
            ("struct", _) if self.is_general(around, is_name) => self.structure(),
            ("interface", _) if self.is_general(around, is_name) => self.interface(),
            ("union", Around::Struct) if self.tokens.is('{') => {
                let name = Word { text: String::new(), at };
                self.block(blank(name, DeclKind::Union), Around::Struct)
            }
            (_, Around::Struct) => self.member(first),
            (_, Around::Enum) => {
                let mut decl = blank(first, DeclKind::Enumerant);
                decl.ordinal = Some(self.ordinal("behind the name of an enumerant")?);
                self.rest_of_line(decl)
            }
            (_, Around::Interface) => self.method(first),
            (other, Around::File) => Err(not_a_declaration(at, other)),
        }
    }

    /// Whether a word that begins other declarations does so here.
    fn is_general(&self, around: Around, follows: bool) -> bool {
        around != Around::Enum && follows
    }

    /// `using .Foo.Bar` has no name in front.
    fn is_path(&self) -> bool {
        self.tokens.lexer.kind == Kind::Op(".")
    }

    /// Name and id of a declaration.
    fn head(&mut self, kind: DeclKind, what: &str) -> Result<Decl, Fault> {
        let mut decl = blank(self.tokens.word(what)?, kind);
        decl.id = self.id()?;
        Ok(decl)
    }

    /// `@0x...`, if it is there.
    fn id(&mut self) -> Result<Option<Number>, Fault> {
        if !self.tokens.pass_op("@")? {
            return Ok(None);
        }
        let at = self.tokens.lexer.at;
        let Kind::Int(id) = self.tokens.lexer.kind else {
            return Err(self.tokens.wrong("an id, as `capnp id` makes one"));
        };
        if id < IDS {
            return Err(Fault::new(at, format!("an id has its highest bit set, {} has not", self.tokens.lexer.told()))
                .help("`capnp id` makes one"));
        }
        self.tokens.lexer.advance()?;
        Ok(Some((id, at)))
    }

    fn ordinal(&mut self, behind: &str) -> Result<Number, Fault> {
        self.tokens.expect_op("@", &format!("and an ordinal {behind}"))?;
        let at = self.tokens.lexer.at;
        let Kind::Int(ordinal) = self.tokens.lexer.kind else {
            return Err(self.tokens.wrong("an ordinal"));
        };
        if ordinal >= ORDINALS {
            return Err(Fault::new(at, format!("ordinals end at 65535, here is {}", self.tokens.lexer.told())));
        }
        self.tokens.lexer.advance()?;
        Ok((ordinal, at))
    }

    /// Annotations and the end of a declaration without a block.
    fn rest_of_line(&mut self, mut decl: Decl) -> Result<Decl, Fault> {
        decl.annotations = self.tokens.annotations()?;
        decl.doc = self.end(&format!("behind `{}`", decl.name.text))?;
        Ok(decl)
    }

    /// Annotations and the block of a declaration.
    fn finish(&mut self, mut decl: Decl, inside: Around) -> Result<Decl, Fault> {
        decl.annotations = self.tokens.annotations()?;
        self.block(decl, inside)
    }

    fn block(&mut self, mut decl: Decl, inside: Around) -> Result<Decl, Fault> {
        let start = self.tokens.lexer.at;
        if !self.tokens.is('{') {
            return Err(self.tokens.wrong(&format!("`{{` behind `{}`", decl.name.text)));
        }
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEPTH {
            return Err(Fault::new(start, format!("declarations nested more than {DEPTH} deep")));
        }
        decl.doc = self.tokens.lexer.doc();
        self.tokens.lexer.advance()?;
        while !self.tokens.is('}') {
            if self.tokens.lexer.kind == Kind::End {
                return Err(Fault::new(start, "a block begins here that never ends").help("close it with }"));
            }
            let inner = self.decl(inside)?;
            decl.inner.push(inner);
        }
        if decl.doc.is_empty() {
            decl.doc = self.tokens.lexer.doc();
        }
        self.tokens.lexer.advance()?;
        self.depth = self.depth.saturating_sub(1);
        Ok(decl)
    }

    fn using(&mut self) -> Result<Decl, Fault> {
        let target = self.tokens.expression("what the name is to stand for")?;
        if self.tokens.pass_op("=")? {
            let ExprKind::Name(text) = target.kind else {
                return Err(Fault::new(target.at, "expected one name in front of `=`"));
            };
            let name = Word { text, at: target.at };
            let target = self.tokens.expression("what the name is to stand for")?;
            return self.rest_of_line_bare(blank(name, DeclKind::Using(target)));
        }

        let ExprKind::Member(_, name) = &target.kind else {
            return Err(Fault::new(target.at, "this needs a name: `using Name = ...`"));
        };
        let name = name.clone();
        self.rest_of_line_bare(blank(name, DeclKind::Using(target)))
    }

    fn rest_of_line_bare(&mut self, mut decl: Decl) -> Result<Decl, Fault> {
        decl.doc = self.end(&format!("behind `{}`", decl.name.text))?;
        Ok(decl)
    }

    fn constant(&mut self) -> Result<Decl, Fault> {
        let name = self.tokens.word("the name of the constant")?;
        let id = self.id()?;
        self.tokens.expect_op(":", "and the type of the constant")?;
        let ty = self.tokens.expression("a type")?;
        self.tokens.expect_op("=", "and the value of the constant")?;
        let value = self.tokens.expression("a value")?;
        let mut decl = blank(name, DeclKind::Const(ty, value));
        decl.id = id;
        self.rest_of_line(decl)
    }

    fn annotation(&mut self) -> Result<Decl, Fault> {
        let name = self.tokens.word("the name of the annotation")?;
        let id = self.id()?;
        let targets = self.tokens.list('(', ')', |tokens| {
            let at = tokens.lexer.at;
            if tokens.pass_op("*")? {
                return Ok(Word { text: "*".into(), at });
            }
            tokens.word("what the annotation may stand on")
        })?;
        check_targets(&targets)?;
        self.tokens.expect_op(":", "and the type of the annotation")?;
        let ty = self.tokens.expression("a type")?;
        let mut decl = blank(name, DeclKind::Annotation(targets, ty));
        decl.id = id;
        self.rest_of_line(decl)
    }

    fn parameters(&mut self, open: char, close: char) -> Result<Vec<Word>, Fault> {
        if !self.tokens.is(open) {
            return Ok(Vec::new());
        }
        self.tokens.list(open, close, |tokens| tokens.word("the name of a type parameter"))
    }

    fn structure(&mut self) -> Result<Decl, Fault> {
        let mut decl = self.head(DeclKind::Struct, "the name of the struct")?;
        decl.parameters = self.parameters('(', ')')?;
        self.finish(decl, Around::Struct)
    }

    fn interface(&mut self) -> Result<Decl, Fault> {
        let mut decl = self.head(DeclKind::Interface(Vec::new()), "the name of the interface")?;
        decl.parameters = self.parameters('(', ')')?;
        if self.tokens.pass_word("extends")? {
            let extends = self.tokens.list('(', ')', |tokens| tokens.expression("the name of an interface"))?;
            decl.kind = DeclKind::Interface(extends);
        }
        self.finish(decl, Around::Interface)
    }

    /// A field, a named union or a group.
    fn member(&mut self, name: Word) -> Result<Decl, Fault> {
        if self.tokens.lexer.kind == Kind::Op(":") {
            self.tokens.lexer.advance()?;
            let kind = match self.tokens.lexer.kind {
                Kind::Word("union") => DeclKind::Union,
                Kind::Word("group") => DeclKind::Group,
                _ => {
                    let fault = Fault::new(name.at, format!("the field `{}` has no ordinal", name.text));
                    return Err(fault.help("expected `@` and a number behind the name"));
                }
            };
            self.tokens.lexer.advance()?;
            return self.finish(blank(name, kind), Around::Struct);
        }
        let mut decl = blank(name, DeclKind::Union);
        decl.ordinal = Some(self.ordinal("behind the name of a field")?);
        let retroactive = self.tokens.pass_op("!")?;
        self.tokens.expect_op(":", "and the type of the field")?;
        if self.tokens.lexer.kind == Kind::Word("union") {
            if !retroactive {
                let at = decl.ordinal.map_or(decl.name.at, |(_, at)| at);
                return Err(Fault::new(at, "a union needs no ordinal")
                    .help("leave it out; if old messages need it, write `!` behind the number"));
            }
            self.tokens.lexer.advance()?;
            return self.finish(decl, Around::Struct);
        }
        let ty = self.tokens.expression("the type of the field")?;
        let default = match self.tokens.pass_op("=")? {
            true => Some(self.tokens.expression("the default of the field")?),
            false => None,
        };
        decl.kind = DeclKind::Field(ty, default);
        self.rest_of_line(decl)
    }

    fn method(&mut self, name: Word) -> Result<Decl, Fault> {
        let ordinal = self.ordinal("behind the name of a method")?;
        let parameters = self.parameters('[', ']')?;
        let takes = self.params()?;
        let gives = if self.tokens.pass_op("->")? {
            let at = self.tokens.lexer.at;
            if self.tokens.pass_word("stream")? {
                self.file.streams = true;
                Params::Stream(at)
            } else {
                self.params()?
            }
        } else {
            Params::Listed(Vec::new())
        };
        let mut decl = blank(name, DeclKind::Method { takes, gives });
        decl.ordinal = Some(ordinal);
        decl.parameters = parameters;
        self.rest_of_line(decl)
    }

    fn params(&mut self) -> Result<Params, Fault> {
        if !self.tokens.is('(') {
            return Ok(Params::Struct(self.tokens.expression("parameters in brackets, or the name of a struct")?));
        }
        let listed = self.tokens.list('(', ')', |tokens| {
            let name = tokens.word("the name of a parameter")?;
            tokens.expect_op(":", "and the type of the parameter")?;
            let ty = tokens.expression("a type")?;
            let default = match tokens.pass_op("=")? {
                true => Some(tokens.expression("a default")?),
                false => None,
            };
            Ok(Param { name, ty, default, annotations: tokens.annotations()? })
        })?;
        Ok(Params::Listed(listed))
    }
}

fn blank(name: Word, kind: DeclKind) -> Decl {
    Decl {
        name,
        id: None,
        ordinal: None,
        kind,
        parameters: Vec::new(),
        annotations: Vec::new(),
        inner: Vec::new(),
        doc: Vec::new(),
    }
}

fn not_a_declaration(at: usize, word: &str) -> Fault {
    let help = match nearest(word, DECLARATIONS.into_iter()).first() {
        Some(near) if *near != word => format!("did you mean `{near}`?"),
        _ => String::new(),
    };
    Fault::new(at, format!("expected a declaration, here is `{word}`")).help(help)
}

fn check_targets(targets: &[Word]) -> Result<(), Fault> {
    for (before, target) in targets.iter().enumerate() {
        if target.text == "*" && targets.len() > 1 {
            return Err(Fault::new(target.at, "`*` is all targets, and stands alone"));
        }
        if targets.iter().take(before).any(|other| other.text == target.text) {
            return Err(Fault::new(target.at, format!("the target `{}` stands here twice", target.text)));
        }
        if target.text != "*" && !TARGETS.contains(&target.text.as_str()) {
            let near = nearest(&target.text, TARGETS.into_iter());
            let help = near.first().map_or_else(|| TARGETS.join(", "), |near| format!("did you mean `{near}`?"));
            return Err(Fault::new(target.at, format!("no target `{}`", target.text)).help(help));
        }
    }
    Ok(())
}
