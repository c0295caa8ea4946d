//! Edits JSON configuration member by member, leaving everything else in place.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// An object's members in file order with their raw text. An ordinary map would reorder the user's file.
pub(super) struct OrderedMembers(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for OrderedMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = OrderedMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMembers, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(OrderedMembers(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Edits the object in `text`. An unchanged object keeps its bytes; an empty one becomes an empty text.
pub(super) fn edit_text(
    text: &str,
    edit: impl FnOnce(&mut OrderedMembers) -> Result<(), String>,
) -> Result<String, String> {
    let mut members = OrderedMembers::read(text)?;
    let before = members.render(0);
    edit(&mut members)?;
    if members.0.is_empty() {
        return Ok(if text.trim().is_empty() || before == members.render(0) {
            text.to_owned()
        } else {
            String::new()
        });
    }
    let after = members.render(0);
    Ok(if same_json(&before, &after) { text.to_owned() } else { after + "\n" })
}

impl OrderedMembers {
    fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        serde_json::from_str(text).map_err(|error| format!("not plain JSON ({error})"))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value.get())
    }

    pub(super) fn set(&mut self, name: &str, text: String) {
        let value = RawValue::from_string(text).expect("what is put in was rendered here, as JSON");
        match self.0.iter_mut().find(|(member, _)| member == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(member, _)| member != name);
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Edits the object at `name`; one that becomes empty is removed.
    pub(super) fn edit_object(
        &mut self,
        name: &str,
        depth: usize,
        edit: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut inner = Self::read(self.get(name).unwrap_or_default())
            .map_err(|error| format!("\"{name}\" is not an object ({error})"))?;
        let before = inner.render(depth);
        edit(&mut inner)?;
        let after = inner.render(depth);
        if inner.0.is_empty() {
            self.remove(name);
        } else if !same_json(&before, &after) {
            self.set(name, after);
        }
        Ok(())
    }

    /// Edits the list at `name`; one that becomes empty is removed.
    pub(super) fn edit_list(
        &mut self,
        name: &str,
        depth: usize,
        edit: impl FnOnce(&mut Vec<String>),
    ) -> Result<(), String> {
        let text = self.get(name).unwrap_or("[]");
        let items: Vec<Box<RawValue>> =
            serde_json::from_str(text).map_err(|error| format!("\"{name}\" is not a list ({error})"))?;
        let before: Vec<String> = items.iter().map(|item| item.get().to_owned()).collect();
        let mut items = before.clone();
        edit(&mut items);
        if items.is_empty() {
            self.remove(name);
        } else if items != before {
            let indent = "  ".repeat(depth);
            let lines: Vec<String> = items.iter().map(|item| format!("{indent}  {item}")).collect();
            self.set(name, format!("[\n{}\n{indent}]", lines.join(",\n")));
        }
        Ok(())
    }

    /// Renders the object at an indentation depth, one member per line.
    fn render(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let members: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{indent}  {}: {}", json_text(name), value)).collect();
        format!("{{\n{}\n{indent}}}", members.join(",\n"))
    }
}

/// Returns a text as JSON.
pub(super) fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn same_json(one: &str, other: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    parse(one).is_some() && parse(one) == parse(other)
}
