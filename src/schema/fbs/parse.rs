//! `.fbs` source as declarations. The grammar nests nowhere without end, so nothing here recurses on input.

use crate::model::flat::Scalar;
use crate::schema::fbs::ast::{
    Attribute, Base, Enum, EnumValue, Field, File, Given, Head, Name, Object, Service, Shape, Type, Value,
};
use crate::schema::fbs::lexer::{Fault, Kind, Lexer};

/// Words that begin a declaration.
const DECLARATIONS: [&str; 13] = [
    "include",
    "native_include",
    "namespace",
    "attribute",
    "table",
    "struct",
    "enum",
    "union",
    "rpc_service",
    "root_type",
    "file_identifier",
    "file_extension",
    "object",
];

/// Functions in one another that flatc reads (`FLATBUFFERS_MAX_PARSING_DEPTH`).
const MOST_FUNCTIONS: usize = 64;

/// Reads a file.
///
/// # Errors
/// The first thing that the grammar does not allow.
pub fn parse(text: &str) -> Result<File, Fault> {
    let mut parser = Parser { lexer: Lexer::new(text)?, space: String::new(), begun: false, file: File::default() };
    if parser.lexer.kind == Kind::End {
        return Err(parser.wrong("a declaration").help("flatc refuses a file without one, too"));
    }
    while parser.lexer.kind != Kind::End {
        parser.declaration()?;
    }
    Ok(parser.file)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    space: String,
    /// A declaration was there: includes come in front of all.
    begun: bool,
    file: File,
}

impl<'a> Parser<'a> {
    fn wrong(&self, expected: &str) -> Fault {
        Fault::new(self.lexer.at, format!("expected {expected}, here is {}", self.lexer.kind.told()))
    }

    fn is(&self, sign: char) -> bool {
        self.lexer.kind == Kind::Sign(sign)
    }

    /// Passes a sign if it is there.
    fn pass(&mut self, sign: char) -> Result<bool, Fault> {
        let is = self.is(sign);
        if is {
            self.lexer.advance()?;
        }
        Ok(is)
    }

    fn expect(&mut self, sign: char, behind: &str) -> Result<(), Fault> {
        if self.pass(sign)? { Ok(()) } else { Err(self.wrong(&format!("`{sign}` {behind}"))) }
    }

    fn word(&mut self, what: &str) -> Result<&'a str, Fault> {
        match self.lexer.kind {
            Kind::Word(word) if !word.starts_with(['+', '-']) => {
                self.lexer.advance()?;
                Ok(word)
            }
            _ => Err(self.wrong(what)),
        }
    }

    fn text(&mut self, what: &str) -> Result<String, Fault> {
        match &self.lexer.kind {
            Kind::Text(text) => {
                let text = text.to_string();
                self.lexer.advance()?;
                Ok(text)
            }
            _ => Err(self.wrong(what)),
        }
    }

    fn dotted(&mut self, what: &str) -> Result<Name, Fault> {
        let at = self.lexer.at;
        let mut text = self.word(what)?.to_string();
        while self.pass('.')? {
            text.push('.');
            text.push_str(self.word("the rest of a name")?);
        }
        Ok(Name { text, space: self.space.clone(), at })
    }

    /// Name, doc comments and place of what is declared here; attributes come later.
    fn head(&mut self, doc: Vec<String>, what: &str) -> Result<Head, Fault> {
        let at = self.lexer.at;
        let name = self.word(what)?.to_string();
        Ok(Head { name, space: self.space.clone(), attributes: Vec::new(), doc, at })
    }

    fn declaration(&mut self) -> Result<(), Fault> {
        let at = self.lexer.at;
        let doc = std::mem::take(&mut self.lexer.doc);
        if self.is('{') {
            return self.data();
        }
        let word = match self.lexer.kind {
            Kind::Word(word) => word,
            _ => return Err(self.wrong("a declaration")),
        };
        if matches!(word, "include" | "native_include") && self.begun {
            return Err(Fault::new(at, format!("`{word}` stands behind a declaration"))
                .help("includes come in front of all declarations"));
        }
        self.begun |= !matches!(word, "include" | "native_include");
        self.lexer.advance()?;
        match word {
            "include" => {
                let place = self.lexer.at;
                let name = self.text("the name of a file in quotes")?;
                self.file.includes.push((name, place));
                self.expect(';', "behind the name of a file")
            }
            "native_include" => {
                self.text("the name of a file in quotes")?;
                self.expect(';', "behind the name of a file")
            }
            "namespace" => self.namespace(),
            "attribute" => self.attribute(),
            "table" => self.object(doc, false),
            "struct" => self.object(doc, true),
            "enum" => self.enumeration(doc),
            "union" => self.union(doc),
            "rpc_service" => self.service(doc),
            "root_type" => {
                let root = self.dotted("the name of a table")?;
                self.file.roots.push(root);
                self.expect(';', "behind the root type")
            }
            "file_identifier" => self.identifier(),
            "file_extension" => {
                self.file.extension = Some(self.text("an extension in quotes")?);
                self.expect(';', "behind the extension")
            }
            other => {
                let near = crate::model::words::nearest(other, DECLARATIONS.into_iter());
                let help = near.first().map_or(String::new(), |near| format!("did you mean `{near}`?"));
                Err(Fault::new(at, format!("expected a declaration, here is `{other}`")).help(help))
            }
        }
    }

    /// Data in JSON, as files for the compiler may have it, of the root type.
    fn data(&mut self) -> Result<(), Fault> {
        let at = self.lexer.at;
        if self.file.roots.is_empty() {
            return Err(Fault::new(at, "expected a declaration, here is `{`")
                .help("data in JSON stands behind the `root_type` that it is of"));
        }
        if self.file.data.is_some() {
            return Err(Fault::new(at, "a second object in JSON: a file has one").help("give each a file of its own"));
        }
        self.file.data = Some(at);
        self.skip_object()
    }

    fn skip_object(&mut self) -> Result<(), Fault> {
        let (start, mut depth) = (self.lexer.at, 0u64);
        loop {
            match self.lexer.kind {
                Kind::Sign('{' | '[') => depth = depth.saturating_add(1),
                Kind::Sign('}' | ']') => depth = depth.saturating_sub(1),
                Kind::End => return Err(Fault::new(start, "an object begins here that never ends")),
                _ => {}
            }
            self.lexer.advance()?;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn namespace(&mut self) -> Result<(), Fault> {
        self.space.clear();
        if self.pass(';')? {
            return Ok(());
        }
        self.space = self.dotted("the name of a namespace")?.text;
        self.expect(';', "behind the namespace")
    }

    fn attribute(&mut self) -> Result<(), Fault> {
        let at = self.lexer.at;
        let name = match self.lexer.kind {
            Kind::Text(_) => self.text("the name of an attribute")?,
            _ => self.word("the name of an attribute")?.to_string(),
        };
        self.file.attributes.push((name, at));
        self.expect(';', "behind the name of an attribute")
    }

    fn identifier(&mut self) -> Result<(), Fault> {
        let at = self.lexer.at;
        let text = self.text("four characters in quotes")?;
        let four = <[u8; 4]>::try_from(text.as_bytes());
        let Ok(four) = four else {
            let message = format!("a file identifier has 4 characters, \"{}\" has {}", text.escape_debug(), text.len());
            return Err(Fault::new(at, message));
        };
        self.file.identifier = Some(four);
        self.expect(';', "behind the identifier")
    }

    /// `(name, name: value)`, if there are any.
    fn attributes(&mut self) -> Result<Vec<Attribute>, Fault> {
        let mut attributes = Vec::new();
        if !self.pass('(')? {
            return Ok(attributes);
        }
        loop {
            let at = self.lexer.at;
            let name = match self.lexer.kind {
                Kind::Text(_) => self.text("the name of an attribute")?,
                _ => self.word("the name of an attribute")?.to_string(),
            };
            let (value, given) =
                if self.pass(':')? { self.attribute_value()? } else { (String::new(), Given::Nothing) };
            attributes.push(Attribute { name, value, given, at });
            if self.pass(')')? {
                return Ok(attributes);
            }
            self.expect(',', "or `)` behind an attribute")?;
        }
    }

    fn attribute_value(&mut self) -> Result<(String, Given), Fault> {
        let number = |text| super::numbers::integer(text).filter(|number| i32::try_from(*number).is_ok());
        let value = match &self.lexer.kind {
            Kind::Text(text) => Some((text.to_string(), Given::Text)),
            Kind::Number(text) => number(text).map(|number| (number.to_string(), Given::Number)),
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.wrong("the value of an attribute, an integer of 32 bits or a string in quotes"));
        };
        self.lexer.advance()?;
        Ok(value)
    }

    fn object(&mut self, doc: Vec<String>, is_struct: bool) -> Result<(), Fault> {
        let mut head = self.head(doc, if is_struct { "the name of a struct" } else { "the name of a table" })?;
        head.attributes = self.attributes()?;
        self.expect('{', "in front of the fields")?;
        let mut fields = Vec::new();
        while !self.is('}') {
            fields.push(self.field()?);
        }
        self.lexer.advance()?;
        self.file.objects.push(Object { head, is_struct, fields });
        Ok(())
    }

    fn field(&mut self) -> Result<Field, Fault> {
        let doc = std::mem::take(&mut self.lexer.doc);
        let mut head = self.head(doc, "a field or `}`")?;
        self.expect(':', "behind the name of a field")?;
        let ty = self.ty()?;
        let default = if self.pass('=')? {
            let at = self.lexer.at;
            Some((self.value()?, at))
        } else {
            None
        };
        head.attributes = self.attributes()?;
        self.expect(';', "behind a field")?;
        Ok(Field { head, ty, default })
    }

    fn ty(&mut self) -> Result<Type, Fault> {
        let at = self.lexer.at;
        if !self.pass('[')? {
            return Ok(Type { of: self.base()?, shape: Shape::One, at });
        }
        if self.is('[') {
            return Err(Fault::new(self.lexer.at, "a vector of vectors: elements are no vectors")
                .help("put the inner one into a table"));
        }
        let of = self.base()?;
        let shape = if self.pass(':')? { Shape::Array(self.array_len()?) } else { Shape::Vector };
        self.expect(']', "behind the type of the elements")?;
        Ok(Type { of, shape, at })
    }

    fn array_len(&mut self) -> Result<u16, Fault> {
        let len = match self.lexer.kind {
            Kind::Number(text) => super::numbers::integer(text).and_then(|len| u16::try_from(len).ok()),
            _ => None,
        };
        let Some(len) = len.filter(|len| *len > 0) else {
            return Err(self.wrong("the length of an array, 1 to 65535"));
        };
        self.lexer.advance()?;
        Ok(len)
    }

    fn base(&mut self) -> Result<Base, Fault> {
        let name = self.dotted("a type")?;
        Ok(base_of(name))
    }

    fn value(&mut self) -> Result<Value, Fault> {
        match &self.lexer.kind {
            Kind::Number(text) => {
                let text = (*text).to_string();
                self.lexer.advance()?;
                Ok(Value::Number(text))
            }
            Kind::Text(text) => {
                let text = text.to_string();
                self.lexer.advance()?;
                Ok(Value::Text(text))
            }
            Kind::Word(word) => {
                let mut text = (*word).to_string();
                self.lexer.advance()?;
                while self.pass('.')? {
                    text.push('.');
                    text.push_str(self.word("the rest of a name")?);
                }
                if self.is('(') && super::numbers::function(&text, 0.0).is_some() {
                    return self.function(&text);
                }
                Ok(Value::Word(text))
            }
            Kind::Sign('[') => {
                self.lexer.advance()?;
                self.expect(']', "behind `[`: the only default of a vector is `[]`")?;
                Ok(Value::Empty)
            }
            _ => Err(self.wrong("a default")),
        }
    }

    /// `deg(90)`, `sin(rad(30))`: functions of the compiler, in one another.
    fn function(&mut self, name: &str) -> Result<Value, Fault> {
        let mut names = vec![name.to_string()];
        self.expect('(', "behind the name of a function")?;
        let value = loop {
            let text = match &self.lexer.kind {
                Kind::Number(text) | Kind::Word(text) => (*text).to_string(),
                Kind::Text(text) => text.trim_matches(' ').to_string(),
                _ => return Err(self.wrong("a number")),
            };
            let fault = self.wrong("a number, or deg, rad, cos, sin, tan, acos, asin or atan of one");
            self.lexer.advance()?;
            if self.pass('(')? {
                names.push(text);
            } else {
                break super::numbers::float(&text).ok_or(fault)?;
            }
            if names.len() > MOST_FUNCTIONS {
                return Err(Fault::new(fault.at, format!("more than {MOST_FUNCTIONS} functions in one another")));
            }
        };
        let mut result = value;
        for name in names.iter().rev() {
            result = super::numbers::function(name, result).ok_or_else(|| {
                Fault::new(self.lexer.at, format!("no function `{name}`"))
                    .help("there are deg, rad, cos, sin, tan, acos, asin, atan")
            })?;
            self.expect(')', "behind a number")?;
        }
        Ok(Value::Computed(result.to_string()))
    }

    fn enumeration(&mut self, doc: Vec<String>) -> Result<(), Fault> {
        let mut head = self.head(doc, "the name of an enumeration")?;
        let at = self.lexer.at;
        if !self.pass(':')? {
            return Err(self.wrong("`:` and an integer type, as in `enum Color : ubyte`"));
        }
        let base = Some((self.ty()?, at));
        head.attributes = self.attributes()?;
        let values = self.values(false)?;
        self.file.enums.push(Enum { head, is_union: false, base, values });
        Ok(())
    }

    fn union(&mut self, doc: Vec<String>) -> Result<(), Fault> {
        let mut head = self.head(doc, "the name of a union")?;
        let at = self.lexer.at;
        let base = if self.pass(':')? { Some((self.ty()?, at)) } else { None };
        head.attributes = self.attributes()?;
        let values = self.values(true)?;
        self.file.enums.push(Enum { head, is_union: true, base, values });
        Ok(())
    }

    /// `{ a, b = 3, alias: Type }`
    fn values(&mut self, is_union: bool) -> Result<Vec<EnumValue>, Fault> {
        self.expect('{', "in front of the values")?;
        let mut values = Vec::new();
        while !self.pass('}')? {
            values.push(self.enum_value(is_union)?);
            if !self.pass(',')? && !self.is('}') {
                return Err(self.wrong("`,` or `}` behind a value"));
            }
        }
        Ok(values)
    }

    fn enum_value(&mut self, is_union: bool) -> Result<EnumValue, Fault> {
        let doc = std::mem::take(&mut self.lexer.doc);
        let at = self.lexer.at;
        let name = if is_union {
            self.dotted("a member or `}`")?
        } else {
            Name { text: self.word("a value or `}`")?.to_string(), space: self.space.clone(), at }
        };
        let mut head =
            Head { name: name.text.replace('.', "_"), space: self.space.clone(), attributes: Vec::new(), doc, at };
        let aliased = is_union && self.pass(':')?;
        let member = match is_union {
            false => None,
            true if aliased => Some(self.base()?),
            true => Some(Base::Named(name)),
        };
        let number = if self.pass('=')? {
            let place = self.lexer.at;
            let text = match self.lexer.kind {
                Kind::Number(text) => text.to_string(),
                _ => return Err(self.wrong("a number")),
            };
            self.lexer.advance()?;
            Some((text, place))
        } else {
            None
        };
        head.attributes = self.attributes()?;
        Ok(EnumValue { head, member, aliased, number })
    }

    fn service(&mut self, doc: Vec<String>) -> Result<(), Fault> {
        let mut head = self.head(doc, "the name of a service")?;
        head.attributes = self.attributes()?;
        self.expect('{', "in front of the calls")?;
        let mut calls = Vec::new();
        loop {
            let doc = std::mem::take(&mut self.lexer.doc);
            let mut call = self.head(doc, "a call or `}`")?;
            self.expect('(', "in front of the request")?;
            let request = self.dotted("the table that is sent")?;
            self.expect(')', "behind the request")?;
            self.expect(':', "in front of the response")?;
            let response = self.dotted("the table that comes back")?;
            call.attributes = self.attributes()?;
            self.expect(';', "behind a call")?;
            calls.push((call, request, response));
            if self.pass('}')? {
                break;
            }
        }
        self.file.services.push(Service { head, calls });
        Ok(())
    }
}

/// A scalar, `string`, or a name to look up.
fn base_of(name: Name) -> Base {
    match name.text.as_str() {
        "string" => Base::Text,
        text => match scalar(text) {
            Some(scalar) => Base::Scalar(scalar),
            None => Base::Named(name),
        },
    }
}

/// A scalar type by either of its names.
pub fn scalar(name: &str) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|scalar| scalar.name() == name || scalar.sized_name() == name)
}
