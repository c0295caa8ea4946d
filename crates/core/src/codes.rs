//! Enums in which each variant has one stable word: the only way to convert such an enum to text and back (law 12).
//!
//! [`word_enum!`](crate::word_enum) declares such an enum. [`code_enum!`](crate::code_enum) declares one whose words
//! are codes, each with a meaning and a next step that `probity explain` and `docs/reasons.md` print.
//!
//! Words are stable: a word never changes its meaning and is never reused.

/// A code for programs, with its explanation for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeEntry {
    /// The stable word, such as `RECON.UNTRACKED_DELTA` or `unknown_intent`.
    pub code: &'static str,
    pub meaning: &'static str,
    pub next_step: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of {known}")]
pub struct UnknownWord {
    pub word: String,
    /// The words of the enum, separated by commas.
    pub known: String,
}

impl UnknownWord {
    pub fn new(word: &str, known: &[&str]) -> Self {
        Self { word: word.to_owned(), known: known.join(", ") }
    }
}

/// Declares a fieldless enum in which each variant has one stable word.
///
/// The enum gets `ALL`, `WORDS` and `as_str`, and implements `Display`, `FromStr`, `Serialize`, `Deserialize`
/// and `JsonSchema` in terms of that word.
#[macro_export]
macro_rules! word_enum {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every variant, in declaration order.
            #[allow(dead_code, reason = "not every enum needs every part of its vocabulary")]
            $vis const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Every word, in the order of [`Self::ALL`].
            #[allow(dead_code, reason = "not every enum needs every part of its vocabulary")]
            $vis const WORDS: &'static [&'static str] = &[$($word,)+];

            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::codes::UnknownWord;

            fn from_str(word: &str) -> ::std::result::Result<Self, Self::Err> {
                match word {
                    $($word => ::std::result::Result::Ok(Self::$variant),)+
                    _ => ::std::result::Result::Err($crate::codes::UnknownWord::new(word, Self::WORDS)),
                }
            }
        }

        impl $crate::codes::private::Serialize for $name {
            fn serialize<S: $crate::codes::private::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                // Same as derived code: the word in JSON, the variant's index in binary formats.
                serializer.serialize_unit_variant(::std::stringify!($name), *self as u32, self.as_str())
            }
        }

        impl<'de> $crate::codes::private::Deserialize<'de> for $name {
            fn deserialize<D: $crate::codes::private::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::codes::private::variant(deserializer, Self::ALL)
            }
        }

        impl $crate::codes::private::JsonSchema for $name {
            fn inline_schema() -> bool {
                Self::WORDS.len() <= $crate::codes::private::MAX_INLINE_WORDS
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::stringify!($name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                ::std::concat!(::std::module_path!(), "::", ::std::stringify!($name)).into()
            }

            fn json_schema(_: &mut $crate::codes::private::SchemaGenerator) -> $crate::codes::private::Schema {
                $crate::codes::private::enum_schema(Self::WORDS)
            }
        }
    };
}

/// Declares an enum of stable codes; each variant has a code, a meaning and a next step.
///
/// The enum gets everything that [`word_enum!`](crate::word_enum) provides, plus `TABLE`, `meaning` and `next_step`.
#[macro_export]
macro_rules! code_enum {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($variant:ident = $code:literal, $meaning:literal, $next_step:literal;)+
    }) => {
        $crate::word_enum! {
            $(#[$about])*
            $vis enum $name { $(#[doc = $meaning] $variant = $code),+ }
        }

        impl $name {
            /// The code table, in the order of [`Self::ALL`].
            $vis const TABLE: &'static [$crate::codes::CodeEntry] = &[$(
                $crate::codes::CodeEntry { code: $code, meaning: $meaning, next_step: $next_step },
            )+];

            #[allow(dead_code, reason = "not every enum needs every part of its vocabulary")]
            $vis const fn meaning(self) -> &'static str {
                Self::TABLE[self as usize].meaning
            }

            #[allow(dead_code, reason = "not every enum needs every part of its vocabulary")]
            $vis const fn next_step(self) -> &'static str {
                Self::TABLE[self as usize].next_step
            }
        }
    };
}

/// Implementation details of the macros.
#[doc(hidden)]
pub mod private {
    use super::UnknownWord;
    pub use schemars::{JsonSchema, Schema, SchemaGenerator};
    use serde::de::Error;
    pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::str::FromStr;

    /// Enums with more words are defined once in a schema and referenced by name.
    pub const MAX_INLINE_WORDS: usize = 12;

    /// Reads one variant: a word, or an index in binary formats.
    pub fn variant<'de, T: FromStr<Err = UnknownWord> + Copy, D: Deserializer<'de>>(
        deserializer: D,
        all: &[T],
    ) -> Result<T, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?.parse().map_err(D::Error::custom);
        }
        let number = u32::deserialize(deserializer)?;
        usize::try_from(number)
            .ok()
            .and_then(|number| all.get(number).copied())
            .ok_or_else(|| D::Error::custom(format_args!("variant {number} of {}", all.len())))
    }

    pub fn enum_schema(words: &[&str]) -> Schema {
        schemars::json_schema!({ "type": "string", "enum": words })
    }
}

#[cfg(test)]
mod tests {
    word_enum! {
        enum Color {
            Red = "red",
            Green = "green",
        }
    }

    code_enum! {
        enum Accident {
            Spill = "MILK.SPILLED", "the milk is spilled", "do not cry";
            Break = "CUP.BROKEN", "the cup is broken", "sweep";
        }
    }

    #[test]
    fn every_word_reads_back_and_no_other_does() {
        for &color in Color::ALL {
            assert_eq!(color.to_string().parse(), Ok(color));
            assert_eq!(serde_json::to_value(color).unwrap(), color.as_str());
            assert_eq!(serde_json::from_value::<Color>(color.as_str().into()).unwrap(), color);
        }
        let error = "Red".parse::<Color>().unwrap_err();
        assert_eq!(error.to_string(), "`Red` is not one of red, green");
    }

    #[test]
    fn a_code_has_a_meaning_and_a_next_step() {
        assert_eq!(Accident::Break.as_str(), "CUP.BROKEN");
        assert_eq!((Accident::Break.meaning(), Accident::Break.next_step()), ("the cup is broken", "sweep"));
        assert_eq!(Accident::TABLE.len(), Accident::ALL.len());
        assert_eq!(Accident::Spill.meaning(), "the milk is spilled");
    }

    #[test]
    fn the_schema_lists_the_words() {
        let schema = schemars::schema_for!(Color);
        assert_eq!(schema.get("enum"), Some(&serde_json::json!(["red", "green"])));
    }
}
