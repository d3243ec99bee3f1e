//! `.fbs` source as declarations. Nothing here calls itself: brackets nest as deep as the grammar lets them.

use crate::schema::fbs::lexer::{Fault, Kind, Lexer, Token};
use crate::schema::fbs::syntax::{
    Attribute, CallDecl, EnumDecl, FieldDecl, Item, Many, Name, Record, ServiceDecl, Source, TypeName, Value,
    ValueDecl, ValueKind,
};

/// Functions around one value, and brackets of data: as many as flatc takes.
const DEPTH: usize = 64;

/// Words that a declaration begins with.
const DECLARATIONS: &str = "expected table, struct, enum, union, namespace, root_type, file_identifier, file_extension, attribute or \
     rpc_service";

/// Reads a source.
///
/// # Errors
/// The first thing in it that may not stand there.
pub fn parse(text: &str) -> Result<Source, Fault> {
    let mut lexer = Lexer::new(text);
    let token = lexer.read()?;
    let mut parser = Parser { lexer, token };
    if parser.token.kind == Kind::End {
        return Err(Fault::new(parser.token.at, "holds no declaration"));
    }
    let mut source = Source { includes: parser.includes()?, ..Source::default() };
    while parser.token.kind != Kind::End {
        if parser.is('{') {
            parser.data(&mut source)?;
            break;
        }
        let item = parser.item()?;
        source.items.push(item);
    }
    Ok(source)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
}

impl Parser<'_> {
    fn next(&mut self) -> Result<Token, Fault> {
        let next = self.lexer.read()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is(&self, sign: char) -> bool {
        self.token.kind == Kind::Sign(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.token.text == word
    }

    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        Err(Fault::new(self.token.at, format!("expected {what}, found {}", self.token.shown())))
    }

    fn sign(&mut self, sign: char, where_: &str) -> Result<(), Fault> {
        if !self.is(sign) {
            return self.expected(&format!("`{sign}` {where_}"));
        }
        self.next()?;
        Ok(())
    }

    fn word(&mut self, what: &str) -> Result<Name, Fault> {
        if self.token.kind != Kind::Word {
            return self.expected(what);
        }
        let token = self.next()?;
        Ok(Name { text: token.text, at: token.at })
    }

    fn text(&mut self, what: &str) -> Result<Name, Fault> {
        if self.token.kind != Kind::Text {
            return self.expected(what);
        }
        let token = self.next()?;
        Ok(Name { text: token.text, at: token.at })
    }

    /// A name with dots.
    fn dotted(&mut self, what: &str) -> Result<Name, Fault> {
        let mut name = self.word(what)?;
        while self.is('.') {
            self.next()?;
            let part = self.word("a name behind `.`")?;
            name.text.push('.');
            name.text.push_str(&part.text);
        }
        Ok(name)
    }

    fn includes(&mut self) -> Result<Vec<Name>, Fault> {
        let mut includes = Vec::new();
        loop {
            let is_native = self.is_word("native_include");
            if !is_native && !self.is_word("include") {
                return Ok(includes);
            }
            self.next()?;
            let name = self.text("the name of a file in quotes")?;
            self.sign(';', "behind the name of the file")?;
            if !is_native {
                includes.push(Name { text: name.text.replace('\\', "/"), at: name.at });
            }
        }
    }

    fn item(&mut self) -> Result<Item, Fault> {
        if self.token.kind != Kind::Word {
            return Err(Fault::new(self.token.at, format!("{DECLARATIONS}, found {}", self.token.shown())));
        }
        match self.token.text.as_str() {
            "namespace" => self.namespace(),
            "table" | "struct" => Ok(Item::Record(self.record()?)),
            "enum" | "union" => Ok(Item::Enum(self.enumeration()?)),
            "root_type" => {
                self.next()?;
                let name = self.dotted("the name of a table")?;
                self.sign(';', "behind the root type")?;
                Ok(Item::Root(name))
            }
            "file_identifier" => self.quoted("four characters in quotes").map(Item::Identifier),
            "file_extension" => self.quoted("an extension in quotes").map(Item::Extension),
            "attribute" => self.attribute_item(),
            "rpc_service" => Ok(Item::Service(self.service()?)),
            "include" | "native_include" => {
                let message = "an include behind a declaration";
                Err(Fault::helped(self.token.at, message, "move all includes to the top of the file"))
            }
            other => {
                let words = ["table", "struct", "enum", "union", "namespace", "root_type", "rpc_service"];
                let near = crate::model::words::nearest(other, words.into_iter());
                let help = near.first().map(|near| format!("did you mean {near}?")).unwrap_or_default();
                Err(Fault::helped(self.token.at, format!("{DECLARATIONS}, found {}", self.token.shown()), help))
            }
        }
    }

    fn quoted(&mut self, what: &str) -> Result<Name, Fault> {
        self.next()?;
        let text = self.text(what)?;
        self.sign(';', "behind the string")?;
        Ok(text)
    }

    fn attribute_item(&mut self) -> Result<Item, Fault> {
        self.next()?;
        let what = "the name of an attribute";
        let name = if self.token.kind == Kind::Word { self.word(what)? } else { self.text(what)? };
        self.sign(';', "behind the attribute")?;
        Ok(Item::Attribute(name))
    }

    fn namespace(&mut self) -> Result<Item, Fault> {
        self.next()?;
        let name = if self.is(';') { Name::default() } else { self.dotted("a name, or `;`")? };
        self.sign(';', "behind the namespace")?;
        Ok(Item::Namespace(name.text))
    }

    fn record(&mut self) -> Result<Record, Fault> {
        let keyword = self.next()?;
        let is_struct = keyword.text == "struct";
        let name = self.word(if is_struct { "the name of the struct" } else { "the name of the table" })?;
        let attributes = self.attributes()?;
        self.sign('{', "before the fields")?;
        let mut fields = Vec::new();
        while !self.is('}') {
            fields.push(self.field()?);
        }
        self.next()?;
        Ok(Record { name, is_struct, attributes, fields, docs: keyword.docs })
    }

    fn field(&mut self) -> Result<FieldDecl, Fault> {
        let docs = self.token.docs.clone();
        let name = self.word("the name of a field, or `}`")?;
        self.sign(':', "and a type behind the name of the field")?;
        let ty = self.ty()?;
        let mut default = None;
        if self.is('=') {
            self.next()?;
            default = Some(self.value()?);
        }
        let attributes = self.attributes()?;
        self.sign(';', "behind the field")?;
        Ok(FieldDecl { name, ty, default, attributes, docs })
    }

    fn ty(&mut self) -> Result<TypeName, Fault> {
        if !self.is('[') {
            return Ok(TypeName { many: Many::One, name: self.dotted("a type")? });
        }
        self.next()?;
        if self.is('[') {
            let message = "a vector of vectors: vectors hold no vectors";
            return Err(Fault::helped(self.token.at, message, "put the inner vector into a table"));
        }
        let name = self.dotted("the type of the elements")?;
        let mut many = Many::Vector;
        if self.is(':') {
            self.next()?;
            many = Many::Array(self.array_len()?);
        }
        self.sign(']', "behind the type of the elements")?;
        Ok(TypeName { many, name })
    }

    fn array_len(&mut self) -> Result<u16, Fault> {
        let len = match self.token.kind {
            Kind::Int => crate::schema::fbs::number::integer(&self.token.text),
            _ => None,
        };
        match len.and_then(|len| u16::try_from(len).ok()).filter(|len| *len > 0) {
            Some(len) => {
                self.next()?;
                Ok(len)
            }
            None => self.expected("the length of the array, 1 to 65535"),
        }
    }

    fn enumeration(&mut self) -> Result<EnumDecl, Fault> {
        let keyword = self.next()?;
        let is_union = keyword.text == "union";
        let name = self.word(if is_union { "the name of the union" } else { "the name of the enum" })?;
        let mut base = None;
        if self.is(':') {
            self.next()?;
            base = Some(self.ty()?);
        } else if !is_union {
            let message = format!("expected `:` and an integer type, found {}", self.token.shown());
            return Err(Fault::helped(self.token.at, message, format!("write `enum {}:byte`", name.text)));
        }
        let attributes = self.attributes()?;
        self.sign('{', "before the values")?;
        let mut values = Vec::new();
        while !self.is('}') {
            values.push(self.enum_value(is_union)?);
            if !self.is(',') {
                break;
            }
            self.next()?;
        }
        self.sign('}', "or `,` behind the value")?;
        Ok(EnumDecl { name, is_union, base, attributes, values, docs: keyword.docs })
    }

    fn enum_value(&mut self, is_union: bool) -> Result<ValueDecl, Fault> {
        let docs = self.token.docs.clone();
        let mut ty = None;
        let name = if is_union {
            let name = self.dotted("the type of a member, or `}`")?;
            if self.is(':') {
                self.next()?;
                ty = Some(self.ty()?);
            }
            name
        } else {
            self.word("the name of a value, or `}`")?
        };
        let mut number = None;
        if self.is('=') {
            self.next()?;
            if self.token.kind != Kind::Int {
                return self.expected("an integer");
            }
            let token = self.next()?;
            number = Some(Name { text: token.text, at: token.at });
        }
        let attributes = self.attributes()?;
        Ok(ValueDecl { name, ty, number, attributes, docs })
    }

    fn attributes(&mut self) -> Result<Vec<Attribute>, Fault> {
        let mut attributes = Vec::new();
        if !self.is('(') {
            return Ok(attributes);
        }
        self.next()?;
        loop {
            let what = "the name of an attribute";
            let name = if self.token.kind == Kind::Text { self.text(what)? } else { self.word(what)? };
            let mut value = None;
            if self.is(':') {
                self.next()?;
                value = Some(self.value()?);
            }
            attributes.push(Attribute { name, value });
            if self.is(')') {
                self.next()?;
                return Ok(attributes);
            }
            self.sign(',', "or `)` behind the attribute")?;
        }
    }

    /// A value with the functions around it.
    fn value(&mut self) -> Result<Value, Fault> {
        let at = self.token.at;
        let mut functions = Vec::new();
        let mut value = loop {
            let mut sign = String::new();
            if self.is('+') || self.is('-') {
                sign = self.next()?.text;
                if self.token.kind != Kind::Word {
                    return self.expected("a name behind the sign");
                }
            }
            if !(self.token.kind == Kind::Word && self.token.call) {
                break self.leaf(sign)?;
            }
            if functions.len() >= DEPTH {
                return Err(Fault::new(self.token.at, format!("functions nest deeper than {DEPTH} levels")));
            }
            let name = self.next()?;
            functions.push(Name { text: format!("{sign}{}", name.text), at: name.at });
            self.sign('(', "behind the function")?;
        };
        for _ in &functions {
            self.sign(')', "behind the argument of the function")?;
        }
        value.at = at;
        value.functions = functions;
        Ok(value)
    }

    fn leaf(&mut self, mut text: String) -> Result<Value, Fault> {
        let kind = match self.token.kind {
            Kind::Word => ValueKind::Word,
            Kind::Text => ValueKind::Text,
            Kind::Int => ValueKind::Int,
            Kind::Float => ValueKind::Float,
            Kind::Sign('[') => ValueKind::Empty,
            Kind::End | Kind::Sign(_) => return self.expected("a value"),
        };
        let token = self.next()?;
        if kind == ValueKind::Empty {
            self.sign(']', "at once: the default of a vector is `[]`")?;
        }
        text.push_str(&token.text);
        Ok(Value { kind, text, at: token.at, plain: token.plain, functions: Vec::new() })
    }

    fn service(&mut self) -> Result<ServiceDecl, Fault> {
        let keyword = self.next()?;
        let name = self.word("the name of the service")?;
        let attributes = self.attributes()?;
        self.sign('{', "before the calls")?;
        let mut calls = Vec::new();
        loop {
            let docs = self.token.docs.clone();
            let name = self.word("the name of a call")?;
            self.sign('(', "and the table that is sent")?;
            let request = self.dotted("the table that is sent")?;
            self.sign(')', "behind the table that is sent")?;
            self.sign(':', "and the table that comes back")?;
            let response = self.dotted("the table that comes back")?;
            let attributes = self.attributes()?;
            self.sign(';', "behind the call")?;
            calls.push(CallDecl { name, request, response, attributes, docs });
            if self.is('}') {
                break;
            }
        }
        self.next()?;
        Ok(ServiceDecl { name, attributes, calls, docs: keyword.docs })
    }

    /// Data in JSON behind the schema: its brackets have to match, and nothing may follow.
    fn data(&mut self, source: &mut Source) -> Result<(), Fault> {
        let at = self.token.at;
        if source.items.is_empty() && source.includes.is_empty() {
            let message = "holds data, no declaration";
            return Err(Fault::helped(at, message, "a schema declares tables: `table T { … }`"));
        }
        let mut open = Vec::new();
        while self.token.kind != Kind::End {
            match self.token.kind {
                Kind::Sign('{') => open.push('}'),
                Kind::Sign('[') => open.push(']'),
                Kind::Sign(sign @ ('}' | ']')) if open.pop() != Some(sign) => {
                    return self.expected("data with matching brackets");
                }
                _ => {}
            }
            if open.len() > DEPTH {
                return Err(Fault::new(self.token.at, format!("data nests deeper than {DEPTH} levels")));
            }
            self.next()?;
        }
        if let Some(sign) = open.pop() {
            return self.expected(&format!("`{sign}`"));
        }
        source.data = Some(at);
        Ok(())
    }
}
