//! Types, values and names out of tokens: the part of the grammar that all declarations share.

use crate::schema::capnp::ast::{Applied, Element, Expr, ExprKind, Word};
use crate::schema::capnp::lexer::{Fault, Kind, Lexer};

/// How deep expressions may nest, suffixes counted: the linker recurses over them.
const DEPTH: usize = 100;

/// Tokens, and what they say of the file as a whole.
pub struct Tokens<'a> {
    /// The tokens.
    pub lexer: Lexer<'a>,
    /// Files that are imported.
    pub imports: Vec<Word>,
    depth: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text.
    ///
    /// # Errors
    /// What cannot be a token.
    pub fn new(text: &'a str) -> Result<Tokens<'a>, Fault> {
        Ok(Tokens { lexer: Lexer::new(text)?, imports: Vec::new(), depth: 0 })
    }

    /// The fault that something else was expected.
    pub fn wrong(&self, expected: &str) -> Fault {
        let fault = Fault::new(self.lexer.at, format!("expected {expected}, here is {}", self.lexer.told()));
        match self.lexer.kind {
            // Signs that stand together are one token, as in `=-1`.
            Kind::Op(op) if op.len() > 1 && !matches!(op, "->") => fault.help("signs are kept apart by spaces"),
            _ => fault,
        }
    }

    /// Whether the current token is this bracket, comma or semicolon.
    pub fn is(&self, sign: char) -> bool {
        self.lexer.kind == Kind::Sign(sign)
    }

    /// Passes a bracket or comma if it is there.
    ///
    /// # Errors
    /// What cannot be a token behind it.
    pub fn pass(&mut self, sign: char) -> Result<bool, Fault> {
        let is = self.is(sign);
        if is {
            self.lexer.advance()?;
        }
        Ok(is)
    }

    /// Passes signs if they are there.
    ///
    /// # Errors
    /// What cannot be a token behind them.
    pub fn pass_op(&mut self, op: &str) -> Result<bool, Fault> {
        let is = self.lexer.kind == Kind::Op(op);
        if is {
            self.lexer.advance()?;
        }
        Ok(is)
    }

    /// Passes a keyword if it is there.
    ///
    /// # Errors
    /// What cannot be a token behind it.
    pub fn pass_word(&mut self, word: &str) -> Result<bool, Fault> {
        let is = self.lexer.kind == Kind::Word(word);
        if is {
            self.lexer.advance()?;
        }
        Ok(is)
    }

    /// Passes signs that must stand here.
    ///
    /// # Errors
    /// Something else stands here.
    pub fn expect_op(&mut self, op: &str, behind: &str) -> Result<(), Fault> {
        if self.pass_op(op)? { Ok(()) } else { Err(self.wrong(&format!("`{op}` {behind}"))) }
    }

    /// A name.
    ///
    /// # Errors
    /// Something else stands here.
    pub fn word(&mut self, what: &str) -> Result<Word, Fault> {
        let Kind::Word(text) = self.lexer.kind else { return Err(self.wrong(what)) };
        let at = self.lexer.at;
        self.lexer.advance()?;
        Ok(Word { text: text.to_string(), at })
    }

    /// A list in brackets, the opening one being here; a comma may stand behind the last.
    ///
    /// # Errors
    /// What cannot stand in it.
    pub fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = Vec::new();
        if !self.pass(open)? {
            return Err(self.wrong(&format!("`{open}`")));
        }
        while !self.is(close) {
            items.push(item(self)?);
            if !self.pass(',')? && !self.is(close) {
                return Err(self.wrong(&format!("`,` or `{close}`")));
            }
        }
        self.lexer.advance()?;
        Ok(items)
    }

    /// Annotations, `$name(value) $name`.
    ///
    /// # Errors
    /// What is no annotation.
    pub fn annotations(&mut self) -> Result<Vec<Applied>, Fault> {
        let mut all = Vec::new();
        while self.pass_op("$")? {
            let name = self.expression("the name of an annotation")?;
            all.push(applied(name));
        }
        Ok(all)
    }

    /// A type, a value or a name.
    ///
    /// # Errors
    /// What is none, or nests too deep.
    pub fn expression(&mut self, what: &str) -> Result<Expr, Fault> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEPTH {
            return Err(self.too_deep());
        }
        let at = self.lexer.at;
        let mut expr = self.base(what)?;
        loop {
            if self.pass_op(".")? {
                let name = self.word("the rest of a name")?;
                let depth = expr.depth.saturating_add(1);
                expr = Expr { at, depth, kind: ExprKind::Member(Box::new(expr), name) };
            } else if self.is('(') {
                let elements = self.elements()?;
                let depth = deepest(elements.iter().map(|one| &one.value)).max(expr.depth).saturating_add(1);
                expr = Expr { at, depth, kind: ExprKind::Apply(Box::new(expr), elements) };
            } else {
                break;
            }
            if expr.depth > DEPTH {
                return Err(self.too_deep());
            }
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(expr)
    }

    fn too_deep(&self) -> Fault {
        Fault::new(self.lexer.at, format!("nested more than {DEPTH} deep"))
    }

    fn elements(&mut self) -> Result<Vec<Element>, Fault> {
        self.list('(', ')', |tokens| {
            let value = tokens.expression("a type or value")?;
            match value.kind {
                ExprKind::Name(ref text) if tokens.pass_op("=")? => {
                    let name = Some(Word { text: text.clone(), at: value.at });
                    Ok(Element { name, value: tokens.expression("a value")? })
                }
                _ => Ok(Element { name: None, value }),
            }
        })
    }

    /// An expression without what may stand behind it.
    fn base(&mut self, what: &str) -> Result<Expr, Fault> {
        let at = self.lexer.at;
        let simple = |kind: ExprKind| Expr { at, depth: 1, kind };
        let kind = match self.lexer.kind.clone() {
            Kind::Int(number) => ExprKind::Int(number),
            Kind::Float(number) => ExprKind::Float(number),
            Kind::Binary(bytes) => ExprKind::Binary(bytes),
            Kind::Text(_) => return Ok(simple(ExprKind::Text(self.text("a string")?))),
            Kind::Op("-") => return Ok(simple(self.negative()?)),
            Kind::Op(".") => {
                self.lexer.advance()?;
                return Ok(simple(ExprKind::Absolute(self.word("a name behind the dot")?.text)));
            }
            Kind::Word("import") => {
                self.lexer.advance()?;
                let place = self.lexer.at;
                let name = String::from_utf8_lossy(&self.text("the name of a file in quotes")?).into_owned();
                self.imports.push(Word { text: name.clone(), at: place });
                return Ok(simple(ExprKind::Import(name)));
            }
            Kind::Word("embed") => {
                self.lexer.advance()?;
                let name = self.text("the name of a file in quotes")?;
                return Ok(simple(ExprKind::Embed(String::from_utf8_lossy(&name).into_owned())));
            }
            Kind::Word(name) => ExprKind::Name(name.to_string()),
            Kind::Sign('[') => {
                let items = self.list('[', ']', |tokens| tokens.expression("a value"))?;
                let depth = deepest(items.iter()).saturating_add(1);
                return Ok(Expr { at, depth, kind: ExprKind::List(items) });
            }
            Kind::Sign('(') => {
                let mut elements = self.elements()?;
                // One value in brackets is that value.
                if elements.len() == 1 && elements.iter().all(|one| one.name.is_none()) {
                    return elements.pop().map(|one| one.value).ok_or_else(|| self.wrong(what));
                }
                let depth = deepest(elements.iter().map(|one| &one.value)).saturating_add(1);
                return Ok(Expr { at, depth, kind: ExprKind::Tuple(elements) });
            }
            Kind::Op(_) | Kind::Sign(_) | Kind::End => return Err(self.wrong(what)),
        };
        self.lexer.advance()?;
        Ok(simple(kind))
    }

    fn negative(&mut self) -> Result<ExprKind, Fault> {
        self.lexer.advance()?;
        let kind = match self.lexer.kind {
            Kind::Int(number) => ExprKind::Negative(number),
            Kind::Float(number) => ExprKind::Float(-number),
            Kind::Word("inf") => ExprKind::Float(f64::NEG_INFINITY),
            _ => return Err(self.wrong("a number behind the minus sign")),
        };
        self.lexer.advance()?;
        Ok(kind)
    }

    /// A string; strings that stand behind one another are one.
    fn text(&mut self, what: &str) -> Result<Vec<u8>, Fault> {
        let mut all: Option<Vec<u8>> = None;
        while let Kind::Text(part) = &mut self.lexer.kind {
            all.get_or_insert_default().append(part);
            self.lexer.advance()?;
        }
        all.ok_or_else(|| self.wrong(what))
    }
}

fn deepest<'a>(all: impl Iterator<Item = &'a Expr>) -> usize {
    all.map(|one| one.depth).max().unwrap_or(0)
}

/// An annotation that was read as the application of a name to a value.
fn applied(name: Expr) -> Applied {
    let Expr { at, depth, kind } = name;
    match kind {
        ExprKind::Apply(name, mut elements) => {
            let is_value = elements.len() == 1 && elements.iter().all(|one| one.name.is_none());
            let only = if is_value { elements.pop().map(|one| one.value) } else { None };
            let value = only.unwrap_or(Expr { at, depth, kind: ExprKind::Tuple(elements) });
            Applied { name: *name, value: Some(value) }
        }
        kind => Applied { name: Expr { at, depth, kind }, value: None },
    }
}
