//! Names of declarations: each once, with the first letter that its kind asks for, and where its kind can stand.

use std::collections::HashMap;

use crate::schema::capnp::ast::{Decl, DeclKind, Expr, ExprKind};
use crate::schema::capnp::lexer::Fault;

/// What declarations stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// A file, struct or interface.
    File,
    /// A union or group: members only.
    Group,
}

/// Checks what stands in a file or block.
///
/// # Errors
/// The first name that is wrong.
pub fn names(decls: &[Decl], around: Around) -> Result<(), Fault> {
    scope(decls, around, &mut HashMap::new())
}

fn scope<'a>(decls: &'a [Decl], around: Around, known: &mut HashMap<&'a str, usize>) -> Result<(), Fault> {
    for decl in decls {
        let (text, at) = (decl.name.text.as_str(), decl.name.at);
        if known.insert(text, at).is_some() {
            return Err(twice(text, at));
        }
        spelling(decl)?;
        match &decl.kind {
            // Members of an unnamed union have their names beside it.
            DeclKind::Union if text.is_empty() => scope(&decl.inner, Around::Group, known)?,
            DeclKind::Union | DeclKind::Group => names(&decl.inner, Around::Group)?,
            DeclKind::Struct | DeclKind::Interface(_) | DeclKind::Enum if around == Around::File => {
                names(&decl.inner, Around::File)?;
            }
            DeclKind::Field(..) | DeclKind::Enumerant | DeclKind::Method { .. } => {}
            _ if around == Around::File => {}
            _ => {
                let help = "declare it in the struct around it";
                return Err(Fault::new(at, format!("`{text}` cannot be declared in a union or group")).help(help));
            }
        }
    }
    Ok(())
}

fn twice(text: &str, at: usize) -> Fault {
    match text {
        "" => Fault::new(at, "there is an unnamed union already").help("give one of them a name"),
        _ => Fault::new(at, format!("`{text}` is declared twice")),
    }
}

fn spelling(decl: &Decl) -> Result<(), Fault> {
    let (text, at) = (decl.name.text.as_str(), decl.name.at);
    let Some(first) = text.chars().next() else { return Ok(()) };
    let is_type = match &decl.kind {
        DeclKind::Enum | DeclKind::Struct | DeclKind::Interface(_) => true,
        DeclKind::Using(target) => !last_name(target).starts_with(|c: char| c.is_ascii_lowercase()),
        _ => false,
    };
    if is_type && !first.is_ascii_uppercase() {
        return Err(Fault::new(at, format!("names of types begin with a capital letter, here is `{text}`")));
    }
    if !is_type && !first.is_ascii_lowercase() {
        return Err(Fault::new(at, format!("only names of types begin with a capital letter, here is `{text}`")));
    }
    if text.contains('_') {
        let help = format!("write `{}`", camel(text));
        return Err(Fault::new(at, format!("names have no underscores, here is `{text}`")).help(help));
    }
    Ok(())
}

/// The last name of what another name stands for.
fn last_name(target: &Expr) -> &str {
    match &target.kind {
        ExprKind::Name(name) | ExprKind::Absolute(name) => name,
        ExprKind::Apply(of, _) => last_name(of),
        ExprKind::Member(_, name) => &name.text,
        _ => "",
    }
}

/// `camelCase` of `snake_case`.
fn camel(text: &str) -> String {
    let mut out = String::new();
    for part in text.split('_') {
        let mut chars = part.chars();
        match chars.next() {
            Some(first) if !out.is_empty() => out.extend(first.to_uppercase().chain(chars)),
            Some(first) => out.extend(std::iter::once(first).chain(chars)),
            None => {}
        }
    }
    out
}
