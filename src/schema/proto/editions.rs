//! Source rewritten for a parser that knows no editions: same lines, same structure.
//!
//! An edition is read as proto2: its line becomes a `syntax` line, fields get the label `optional`, and
//! `export`, `local` and the `option` of imports become spaces. In all sources, what has no meaning on the wire
//! and trips the parser becomes spaces: reserved names, options of extension ranges. Places map back
//! through [`Edits`].

use std::ops::Range;

use crate::schema::proto::features;
use crate::schema::proto::lexer::{Fault, Kind, Token};

/// What was changed, in the order of the source.
#[derive(Debug, Clone, Default)]
pub struct Edits(Vec<Edit>);

/// One change.
#[derive(Debug, Clone)]
struct Edit {
    /// What stood in the source.
    old: Range<usize>,
    /// What stands there now.
    new: String,
}

impl Edits {
    /// A place in the source by the place in the rewritten text.
    pub fn original(&self, at: usize) -> usize {
        let mut shift_old = 0usize;
        let mut shift_new = 0usize;
        for edit in &self.0 {
            let start = edit.old.start.saturating_add(shift_new).saturating_sub(shift_old);
            if at < start {
                break;
            }
            if at < start.saturating_add(edit.new.len()) {
                return edit.old.start;
            }
            shift_old = shift_old.saturating_add(edit.old.len());
            shift_new = shift_new.saturating_add(edit.new.len());
        }
        at.saturating_add(shift_old).saturating_sub(shift_new)
    }

    /// The source with all changes.
    fn apply(&self, source: &str) -> String {
        let mut text = String::with_capacity(source.len());
        let mut at = 0;
        for edit in &self.0 {
            text.push_str(source.get(at..edit.old.start).unwrap_or(""));
            text.push_str(&edit.new);
            at = edit.old.end;
        }
        text.push_str(source.get(at..).unwrap_or(""));
        text
    }
}

/// A source that was changed.
#[derive(Debug)]
pub struct Rewritten {
    /// The text as proto2 or proto3.
    pub text: String,
    /// What was changed.
    pub edits: Edits,
    /// The edition's number, if it is one; one that is newer than all known ones is the newest.
    pub edition: Option<i32>,
    /// The edition's name where it is newer than all known ones.
    pub newer: Option<String>,
    /// Positions of the imports that only options use: `import option`.
    pub option_imports: Vec<usize>,
}

/// Rewrites a source; none if there is nothing to change.
///
/// # Errors
/// An edition that there is not, or words that editions do not have.
pub fn rewrite(source: &str, tokens: &[Token]) -> Result<Option<Rewritten>, Fault> {
    let mut shim = Shim {
        source,
        tokens,
        at: 0,
        scopes: Vec::new(),
        edits: Vec::new(),
        is_edition: false,
        imports: 0,
        option_imports: Vec::new(),
    };
    let (mut number, mut newer) = (None, None);
    let name = tokens.get(2).filter(|token| token.kind == Kind::Text && shim.is_sign(1, b'='));
    if let (Some("edition"), Some(keyword), Some(name)) = (shim.word(0), tokens.first(), name) {
        let (known, unknown) = edition(shim.text(name).trim_matches(['"', '\'']), name.span.start)?;
        (number, newer) = (Some(known), unknown);
        shim.edits.push(Edit { old: keyword.span.clone(), new: "syntax".into() });
        shim.edits.push(Edit { old: name.span.clone(), new: "\"proto2\"".into() });
        shim.at = 3;
        shim.is_edition = true;
    }
    shim.run()?;
    if shim.edits.is_empty() {
        return Ok(None);
    }
    let edits = Edits(shim.edits);
    let option_imports = shim.option_imports;
    Ok(Some(Rewritten { text: edits.apply(source), edits, edition: number, newer, option_imports }))
}

/// The number of an edition, and its name if it is newer than all known ones.
fn edition(name: &str, at: usize) -> Result<(i32, Option<String>), Fault> {
    if let Some((_, number)) = features::EDITIONS.iter().find(|(known, _)| *known == name) {
        return Ok((*number, None));
    }
    if name.parse::<u32>().is_ok_and(|year| (2025..3000).contains(&year)) {
        return Ok((features::NEWEST, Some(name.to_string())));
    }
    let message = format!("no edition {name:?}");
    Err(Fault { at, message, help: "there are 2023, 2024 and 2026" })
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    File,
    Message,
    Enum,
    Oneof,
    Extend,
}

struct Shim<'a> {
    source: &'a str,
    tokens: &'a [Token],
    at: usize,
    scopes: Vec<Scope>,
    edits: Vec<Edit>,
    is_edition: bool,
    /// Imports so far.
    imports: usize,
    option_imports: Vec<usize>,
}

impl<'a> Shim<'a> {
    fn token(&self, ahead: usize) -> Option<&'a Token> {
        self.tokens.get(self.at.saturating_add(ahead))
    }

    fn text(&self, token: &Token) -> &'a str {
        self.source.get(token.span.clone()).unwrap_or("")
    }

    fn word(&self, ahead: usize) -> Option<&'a str> {
        self.token(ahead).filter(|token| token.kind == Kind::Word).map(|token| self.text(token))
    }

    fn is_sign(&self, ahead: usize, sign: u8) -> bool {
        self.token(ahead).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(token) = self.token(0) {
            match token.kind {
                Kind::Sign(b'}') => {
                    self.scopes.pop();
                    self.step();
                }
                Kind::Sign(b';') => self.step(),
                _ => self.statement(token)?,
            }
        }
        Ok(())
    }

    fn statement(&mut self, token: &'a Token) -> Result<(), Fault> {
        let scope = self.scopes.last().copied().unwrap_or(Scope::File);
        let word = self.word(0);
        match (scope, word) {
            (Scope::File | Scope::Message, Some("export" | "local")) if self.is_edition && self.declares_a_type(1) => {
                self.blank(0);
                self.step();
            }
            (Scope::File | Scope::Message, Some("message")) => self.open(Scope::Message),
            (Scope::File | Scope::Message, Some("enum")) => self.open(Scope::Enum),
            (Scope::File | Scope::Message, Some("extend")) => self.open(Scope::Extend),
            (Scope::Message, Some("oneof")) => self.open(Scope::Oneof),
            (Scope::File, Some("service")) => self.skip_block(),
            (Scope::File, Some("import")) => self.import(),
            (Scope::Message | Scope::Enum, Some("reserved")) => self.reserved(),
            (Scope::Message, Some("extensions")) => self.extensions(),
            (Scope::Message | Scope::Oneof, Some("option")) | (Scope::File | Scope::Enum, _) => self.skip(),
            (Scope::Message | Scope::Extend | Scope::Oneof, _) => self.field(scope, token)?,
        }
        Ok(())
    }

    /// `message Name {` or `enum Name {`; `local message = 1;` is a field of a type `local`.
    fn declares_a_type(&self, ahead: usize) -> bool {
        matches!(self.word(ahead), Some("message" | "enum"))
            && self.word(ahead.saturating_add(1)).is_some()
            && self.is_sign(ahead.saturating_add(2), b'{')
    }

    fn field(&mut self, scope: Scope, token: &Token) -> Result<(), Fault> {
        let label = self.word(0).filter(|word| matches!(*word, "optional" | "required" | "repeated"));
        let ahead = usize::from(label.is_some());
        if self.word(ahead) == Some("group") && self.word(ahead.saturating_add(1)).is_some() {
            return self.group(ahead);
        }
        let is_map = label.is_none() && self.word(0) == Some("map") && self.is_sign(1, b'<');
        if self.is_edition && scope != Scope::Oneof && !is_map {
            self.label(label, token)?;
        }
        self.skip();
        Ok(())
    }

    fn group(&mut self, ahead: usize) -> Result<(), Fault> {
        match self.token(ahead) {
            Some(token) if self.is_edition => Err(Fault {
                at: token.span.start,
                message: "`group` is no word of editions".into(),
                help: "[features.message_encoding = DELIMITED] on a message field is the same",
            }),
            _ => {
                self.open(Scope::Message);
                Ok(())
            }
        }
    }

    /// Labels that editions have not are refused, and the one that proto2 asks for is put in.
    fn label(&mut self, label: Option<&str>, token: &Token) -> Result<(), Fault> {
        let start = token.span.start;
        let help = match label {
            Some("optional") => "leave it out; features.field_presence tells what absent means",
            Some("required") => "[features.field_presence = LEGACY_REQUIRED] is the same",
            Some(_) => return Ok(()),
            None => {
                if token.kind == Kind::Word || token.kind == Kind::Sign(b'.') {
                    self.edits.push(Edit { old: start..start, new: "optional ".into() });
                }
                return Ok(());
            }
        };
        let message = format!("`{}` is no word of editions", label.unwrap_or(""));
        Err(Fault { at: start, message, help })
    }

    /// Puts spaces in the place of a token.
    fn blank(&mut self, ahead: usize) {
        if let Some(token) = self.token(ahead) {
            self.edits.push(Edit { old: token.span.clone(), new: " ".repeat(token.span.len()) });
        }
    }

    fn import(&mut self) {
        if self.word(1) == Some("option") {
            self.blank(1);
            self.option_imports.push(self.imports);
        }
        self.imports = self.imports.saturating_add(1);
        self.skip();
    }

    /// Reserved names, which the parser wants in quotes and as names; numbers stay.
    fn reserved(&mut self) {
        if self.word(1).is_none() && self.token(1).is_none_or(|token| token.kind != Kind::Text) {
            return self.skip();
        }
        while let Some(token) = self.token(0).filter(|token| token.kind != Kind::Sign(b'}')) {
            self.blank(0);
            self.step();
            if token.kind == Kind::Sign(b';') {
                return;
            }
        }
    }

    /// Ranges of numbers; the parser takes options only behind `to`.
    fn extensions(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.token(0) {
            match token.kind {
                Kind::Sign(b'[') => depth = depth.saturating_add(1),
                Kind::Sign(b';' | b'}') if depth == 0 => return,
                _ => {}
            }
            if depth > 0 {
                self.blank(0);
            }
            if token.kind == Kind::Sign(b']') {
                depth = depth.saturating_sub(1);
            }
            self.step();
        }
    }

    /// Goes behind the opening brace of a declaration, over options in front of it.
    fn open(&mut self, scope: Scope) {
        let mut depth = 0usize;
        while let Some(token) = self.token(0) {
            match token.kind {
                Kind::Sign(b'[') => depth = depth.saturating_add(1),
                Kind::Sign(b']') => depth = depth.saturating_sub(1),
                Kind::Sign(b'}') if depth == 0 => return,
                Kind::Sign(b'{') if depth == 0 => {
                    self.scopes.push(scope);
                    return self.step();
                }
                Kind::Sign(b';') if depth == 0 => return self.step(),
                _ => {}
            }
            self.step();
        }
    }

    /// Goes behind the semicolon of a statement, over all brackets inside.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.token(0) {
            match token.kind {
                Kind::Sign(b'{' | b'[') => depth = depth.saturating_add(1),
                Kind::Sign(b'}') if depth == 0 => return,
                Kind::Sign(b'}' | b']') => depth = depth.saturating_sub(1),
                Kind::Sign(b';') if depth == 0 => return self.step(),
                _ => {}
            }
            self.step();
        }
    }

    /// Goes behind a declaration's block.
    fn skip_block(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.token(0) {
            self.step();
            match token.kind {
                Kind::Sign(b'{') => depth = depth.saturating_add(1),
                Kind::Sign(b'}') => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::proto::lexer;

    fn rewritten(source: &str) -> Rewritten {
        rewrite(source, &lexer::tokens(source).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn fields_get_labels_where_proto2_asks_for_them() {
        let source = "edition = \"2024\"; import option \"a.proto\"; export message M { reserved a, bc; int32 x = 1; \
                      map<int32, .M> m = 2; oneof o { string s = 3 [(z) = { a { b: 1; } }]; } repeated .M r = 4; \
                      local enum E { reserved Q; A = 0; } local message = 5; extend N { .M e = 6; } }";
        let rewritten = rewritten(source);
        assert_eq!(
            rewritten.text,
            "syntax = \"proto2\"; import        \"a.proto\";        message M {                 optional int32 x = 1; \
             map<int32, .M> m = 2; oneof o { string s = 3 [(z) = { a { b: 1; } }]; } repeated .M r = 4;       enum E {             \
                         A = 0; } optional local message = 5; extend N { optional .M e = 6; } }"
        );
        for word in ["x = 1", "m = 2", "s = 3", "r = 4", "message = 5", "e = 6", "a.proto"] {
            let at = rewritten.edits.original(rewritten.text.find(word).unwrap());
            let found = source.get(at..).unwrap();
            assert!(found.starts_with(word), "{word}: {found}");
        }
        assert_eq!(rewritten.edits.original(rewritten.text.len()), source.len());
    }

    #[test]
    fn what_trips_the_parser_becomes_spaces_in_all_sources() {
        let source = "message M { optional group G = 1 [(x) = { a: 1 }] { reserved \"_a\"; } extensions 1, 4 [declaration = { n: 4 }]; }";
        let plain =
            source.replace("reserved \"_a\";", &" ".repeat(14)).replace("[declaration = { n: 4 }]", &" ".repeat(24));
        assert_eq!(rewritten(source).text, plain);
        let source = "syntax = 'proto3'; message M { reserved 1, 2 to 5; }";
        assert!(rewrite(source, &lexer::tokens(source).unwrap()).unwrap().is_none());
    }

    #[test]
    fn words_that_editions_do_not_have_are_refused() {
        for (body, word) in [
            ("optional int32 a = 1;", "optional"),
            ("required int32 a = 1;", "required"),
            ("repeated group A = 1 {}", "group"),
            ("group A = 1 {}", "group"),
            ("oneof o { group A = 1 {} }", "group"),
        ] {
            let source = format!("edition = '2023'; message M {{ {body} }}");
            let fault = rewrite(&source, &lexer::tokens(&source).unwrap()).unwrap_err();
            assert_eq!(fault.message, format!("`{word}` is no word of editions"));
            assert!(source[fault.at..].starts_with(word));
        }
    }

    #[test]
    fn newer_editions_are_read_as_the_newest_and_others_refused() {
        assert_eq!(rewritten("edition = \"2031\";").newer.as_deref(), Some("2031"));
        for name in ["2022", "x", ""] {
            let source = format!("edition = \"{name}\";");
            assert_eq!(rewrite(&source, &lexer::tokens(&source).unwrap()).unwrap_err().at, 10);
        }
    }
}
