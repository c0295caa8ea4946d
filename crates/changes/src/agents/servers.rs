//! Adds or removes our entry in the `mcpServers` of a JSON configuration, leaving everything else in place.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

const SERVERS_KEY: &str = "mcpServers";
const SERVER_NAME: &str = "probity";
/// The command is found on `PATH` and started in the project's directory.
const SERVER_ENTRY: &str =
    "{\n      \"type\": \"stdio\",\n      \"command\": \"probity\",\n      \"args\": [\"mcp\"]\n    }";

/// An object's members in file order with their raw text. An ordinary map would reorder the user's file.
struct OrderedMembers(Vec<(String, Box<RawValue>)>);

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

impl OrderedMembers {
    fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        serde_json::from_str(text).map_err(|error| {
            format!("not plain JSON ({error}); add this to \"{SERVERS_KEY}\" by hand: \"{SERVER_NAME}\": {SERVER_ENTRY}")
        })
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value.get())
    }

    fn set(&mut self, name: &str, text: String) {
        let value = RawValue::from_string(text).expect("what is put in was rendered here, as JSON");
        match self.0.iter_mut().find(|(member, _)| member == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(member, _)| member != name);
    }

    /// Renders the object at an indentation depth, one member per line.
    fn render(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let members: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{indent}  {}: {}", serde_json::Value::from(name.as_str()), value))
            .collect();
        format!("{{\n{}\n{indent}}}", members.join(",\n"))
    }
}

pub(super) fn with_probity(text: &str) -> Result<String, String> {
    let mut config = OrderedMembers::read(text)?;
    let mut servers = OrderedMembers::read(config.get(SERVERS_KEY).unwrap_or_default())?;
    if servers.get(SERVER_NAME).is_some_and(|entry| same_json(entry, SERVER_ENTRY)) {
        return Ok(text.to_owned());
    }
    servers.set(SERVER_NAME, SERVER_ENTRY.to_owned());
    config.set(SERVERS_KEY, servers.render(1));
    Ok(config.render(0) + "\n")
}

/// Returns the configuration without our entry; empty if nothing else is left.
pub(super) fn without_probity(text: &str) -> Result<String, String> {
    let mut config = OrderedMembers::read(text)?;
    let mut servers = OrderedMembers::read(config.get(SERVERS_KEY).unwrap_or_default())?;
    if servers.get(SERVER_NAME).is_none() {
        return Ok(text.to_owned());
    }
    servers.remove(SERVER_NAME);
    if servers.0.is_empty() {
        config.remove(SERVERS_KEY);
    } else {
        config.set(SERVERS_KEY, servers.render(1));
    }
    Ok(if config.0.is_empty() { String::new() } else { config.render(0) + "\n" })
}

fn same_json(one: &str, other: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    parse(one).is_some() && parse(one) == parse(other)
}
