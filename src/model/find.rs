//! A record type by what a user calls it: its full name, or the end of it.

use crate::model::num::listed;
use crate::model::schema::{Message, MessageId, Named, Schema};
use crate::model::words::nearest;

/// Names that one sentence lists at most.
const LISTED: usize = 6;

impl Schema {
    /// The record type that a text names: a full name, or the end of one behind a dot if only one has it. Types
    /// of the files that were told go before imported ones.
    ///
    /// # Errors
    /// A sentence that says what the text is instead, or which types have such a name.
    pub fn find_message(&self, text: &str) -> Result<MessageId, String> {
        let text = text.trim().trim_start_matches('.');
        match self.by_full_name(text) {
            Some(Named::Message(id)) => return Ok(id),
            Some(Named::Enum(_)) => return Err(format!("`{text}` is an enumeration, a message is asked for")),
            None => {}
        }
        let all: Vec<_> = self.roots().filter(|(_, message)| ends_with(&message.full_name, text)).collect();
        let told: Vec<_> = all.iter().copied().filter(|(_, message)| message.told).collect();
        let found = if told.is_empty() { all } else { told };
        match found.as_slice() {
            [(id, _)] => Ok(*id),
            [] => Err(self.no_such_message(text)),
            several => Err(ambiguous(text, several)),
        }
    }

    fn no_such_message(&self, text: &str) -> String {
        if let Some(one) = self.enums.iter().find(|one| ends_with(&one.full_name, text)) {
            return format!("`{}` is an enumeration, a message is asked for", one.full_name);
        }
        let told = || self.roots().map(|(_, message)| message).filter(|message| message.told);
        let near = self.near(text);
        if !near.is_empty() {
            return format!("no message `{text}`; near it: {}", quoted(&near));
        }
        let names: Vec<&str> = told().map(|message| message.full_name.as_str()).collect();
        match names.len() {
            0 => format!("no message `{text}`: the schema declares none"),
            1..=LISTED => format!("no message `{text}`; the schema has {}", quoted(&names)),
            more => format!("no message `{text}` among the {more} of the schema"),
        }
    }

    /// Full names that differ by a slip or two, in the whole or in their last part.
    fn near(&self, text: &str) -> Vec<&str> {
        let last = |name: &'_ str| name.rsplit('.').next().unwrap_or("").len();
        let short = nearest(
            text.rsplit('.').next().unwrap_or(text),
            self.roots().map(|(_, message)| {
                let name = message.full_name.as_str();
                name.get(name.len().saturating_sub(last(name))..).unwrap_or(name)
            }),
        );
        let full = nearest(text, self.roots().map(|(_, message)| message.full_name.as_str()));
        let mut names: Vec<&str> = full;
        for (_, message) in self.roots() {
            let name = message.full_name.as_str();
            if short.iter().any(|short| ends_with(name, short)) && !names.contains(&name) {
                names.push(name);
            }
        }
        let is_told = |name: &&str| self.roots().any(|(_, message)| message.told && message.full_name == **name);
        names.sort_by_key(|name| !is_told(name));
        names.truncate(3);
        names
    }
}

/// Whether a full name is `end`, or ends with it behind a dot.
fn ends_with(full_name: &str, end: &str) -> bool {
    full_name.strip_suffix(end).is_some_and(|rest| !end.is_empty() && (rest.is_empty() || rest.ends_with('.')))
}

fn ambiguous(text: &str, several: &[(MessageId, &Message)]) -> String {
    let mut names: Vec<String> =
        several.iter().take(LISTED).map(|(_, message)| format!("`{}`", message.full_name)).collect();
    let more = several.len().saturating_sub(LISTED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    format!("`{text}` is the name of {} messages: {}; tell more of the name", several.len(), listed(&names))
}

fn quoted(names: &[&str]) -> String {
    listed(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Enum;

    fn schema(names: &[(&str, bool)]) -> Schema {
        let mut schema = Schema::default();
        for (name, told) in names {
            let mut message = Message::new(name.to_string(), String::new());
            message.told = *told;
            schema.add_message(message);
        }
        schema.add_enum(Enum::new("shop.Color".into(), "Color".into(), Vec::new(), false));
        schema
    }

    #[test]
    fn a_type_is_found_by_its_full_name_or_by_the_end_of_it() {
        let schema = schema(&[("shop.Order", true), ("shop.Order.Line", true), ("other.Order", false)]);
        for (text, id) in [("shop.Order", 0), (".other.Order", 2), ("Order", 0), ("Order.Line", 1), ("Line", 1)] {
            assert_eq!(schema.find_message(text), Ok(MessageId(id)), "{text}");
        }
    }

    #[test]
    fn what_is_not_found_is_told_with_what_there_is() {
        let schema = schema(&[("shop.Order", true), ("shop.Item", true), ("a.Id", true), ("b.Id", true)]);
        for (text, told) in [
            ("shop.Color", "`shop.Color` is an enumeration, a message is asked for"),
            ("Color", "`shop.Color` is an enumeration, a message is asked for"),
            ("Ordr", "no message `Ordr`; near it: `shop.Order`"),
            ("shop.item", "no message `shop.item`; near it: `shop.Item`"),
            ("Id", "`Id` is the name of 2 messages: `a.Id` and `b.Id`; tell more of the name"),
            ("Zebra", "no message `Zebra`; the schema has `shop.Order`, `shop.Item`, `a.Id` and `b.Id`"),
            ("der", "no message `der`; the schema has `shop.Order`, `shop.Item`, `a.Id` and `b.Id`"),
        ] {
            assert_eq!(schema.find_message(text), Err(told.to_string()));
        }
    }
}
