//! Values of documents.
//!
//! The derived order of the representation is the total order of its type: an enum case is its index, a struct its
//! fields in declared order, a variant its arm and value. Only JSON encoding and decoding therefore need types. Sets,
//! maps and xarrays share structure: copies are cheap and an update costs the logarithm of the size.

pub(crate) mod types;
pub(crate) mod xarray;

use imbl::{OrdMap, OrdSet};
use probity_core::Digest;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use types::ValueType;
use xarray::XArray;

pub type SharedText = Arc<str>;

/// A value of a type in the schema.
///
/// Values of one type are comparable. Two xarrays are equal when they show the same elements at the same positions in
/// the same order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentValue {
    Bool(bool),
    /// `int8` to `int64`.
    Int(i64),
    /// `uint8` to `uint64`.
    Uint(u64),
    /// `float` and `double`.
    Double(FiniteDouble),
    /// `string`, and `key` as the key it names.
    Text(SharedText),
    Bytes(Arc<[u8]>),
    Uuid([u8; 16]),
    Blob(Digest),
    /// The index of an enum case in its declaration.
    Enum(u16),
    /// The fields of a struct, in declared order.
    Struct(Arc<[DocumentValue]>),
    /// `tuple` and `vector`.
    List(Arc<[DocumentValue]>),
    Optional(Option<Arc<DocumentValue>>),
    /// The index of a `variant` arm, and its value.
    Variant(u16, Arc<DocumentValue>),
    Any(Option<Arc<TypedValue>>),
    Set(OrdSet<DocumentValue>),
    Map(OrdMap<DocumentValue, DocumentValue>),
    XArray(Arc<XArray>),
}

/// The content of an `any`: a value with its type, ordered by the type's text, then by the value.
#[derive(Debug, Clone)]
pub struct TypedValue {
    /// The text form of the type.
    pub text: SharedText,
    pub kind: ValueType,
    pub value: DocumentValue,
}

impl DocumentValue {
    /// Adds every blob that the value names to `blobs`.
    pub(crate) fn collect_blobs(&self, blobs: &mut BTreeSet<Digest>) {
        match self {
            Self::Blob(digest) => drop(blobs.insert(*digest)),
            Self::Struct(values) | Self::List(values) => {
                values.iter().for_each(|value| value.collect_blobs(blobs));
            }
            Self::Optional(Some(value)) | Self::Variant(_, value) => value.collect_blobs(blobs),
            Self::Any(Some(typed)) => typed.value.collect_blobs(blobs),
            Self::Set(members) => members.iter().for_each(|value| value.collect_blobs(blobs)),
            Self::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.collect_blobs(blobs);
                value.collect_blobs(blobs);
            }),
            Self::XArray(array) => array.visible().for_each(|(_, value)| value.collect_blobs(blobs)),
            _ => {}
        }
    }
}

impl PartialEq for TypedValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TypedValue {}

impl PartialOrd for TypedValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TypedValue {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text).then_with(|| self.value.cmp(&other.value))
    }
}

/// A finite number with a single zero, compared by the total order of finite doubles.
#[derive(Debug, Clone, Copy)]
pub struct FiniteDouble(f64);

impl FiniteDouble {
    /// Wraps a finite number; `-0` becomes `0`.
    pub fn new(number: f64) -> Option<Self> {
        let is_zero = number.total_cmp(&0.0).is_eq() || number.total_cmp(&-0.0).is_eq();
        number.is_finite().then_some(Self(if is_zero { 0.0 } else { number }))
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for FiniteDouble {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for FiniteDouble {}

impl PartialOrd for FiniteDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FiniteDouble {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_one_form_and_only_finite_numbers_count() {
        assert_eq!(FiniteDouble::new(-0.0), FiniteDouble::new(0.0));
        assert_eq!(FiniteDouble::new(f64::NAN), None);
        assert_eq!(FiniteDouble::new(f64::INFINITY), None);
    }

    #[test]
    fn null_comes_before_any_value() {
        let some = |number| DocumentValue::Optional(Some(Arc::new(DocumentValue::Int(number))));
        assert!(DocumentValue::Optional(None) < some(-5));
        assert!(some(-5) < some(3));
    }
}
