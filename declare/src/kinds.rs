//! The kinds that decks are made of: numbers, texts, lists, tables by name.

use crate::{Item, Json, Kind, Listed, Schemas, Value, Written, json, read_section};

/// A narrower kind of a type: how it is read, and what the schema says about it.
#[macro_export]
macro_rules! kind {
    ($(#[$meta:meta])* $vis:vis $name:ident: $of:ty, $read:expr, $schema:tt) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        impl $crate::Kind for $name {
            type Of = $of;
            fn read(item: $crate::Item) -> Option<$of> {
                $read(item)
            }
            fn write(value: &$of) -> Option<$crate::Written> {
                <$of as $crate::Kind>::write(value)
            }
            fn schema(_: &mut $crate::Schemas) -> $crate::Json {
                $crate::json!($schema)
            }
        }
    };
}

kind!(
    /// Above zero.
    pub Positive: f64, Item::positive, { "type": "number", "exclusiveMinimum": 0 }
);
kind!(
    /// Zero or above.
    pub NotNegative: f64, Item::not_negative, { "type": "number", "minimum": 0 }
);
kind!(
    /// From 0 to 1.
    pub Share: f64, Item::share, { "type": "number", "minimum": 0, "maximum": 1 }
);
kind!(
    /// One or more.
    pub Count: u32, Item::count, { "type": "integer", "minimum": 1, "maximum": u32::MAX }
);
kind!(
    /// A vector with a direction.
    pub NonZero: [f64; 3], Item::direction, {
        "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3
    }
);
kind!(
    /// Points (time, factor), times ascending.
    pub TimeTable: Vec<[f64; 2]>, Item::table_in_time, {
        "type": "array", "minItems": 1,
        "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }
    }
);

/// A type that is its own kind.
macro_rules! plain {
    ($type:ty, $read:expr, $write:expr, $schema:tt $(, $several:expr)?) => {
        impl Kind for $type {
            type Of = $type;
            fn read(item: Item) -> Option<$type> {
                $read(item)
            }
            fn write(value: &$type) -> Option<Written> {
                Some($write(value))
            }
            fn schema(_: &mut Schemas) -> Json {
                json!($schema)
            }
            $(fn several(count: usize) -> &'static str {
                $several(count)
            })?
        }
    };
}

plain!(f64, Item::number, |x: &f64| Written::Number(*x), { "type": "number" }, |count| match count {
    3 => "three numbers, as in [1, 0, 0]",
    _ => "a list",
});
plain!(bool, Item::flag, |b: &bool| Written::Flag(*b), { "type": "boolean" });
plain!(String, Item::text, |s: &String| Written::Text(s.clone()), { "type": "string" });
plain!(u32, Item::count_or_none, |n: &u32| Written::Whole((*n).into()), {
    "type": "integer", "minimum": 0, "maximum": u32::MAX
});
plain!(u64, |i: Item| i.count_or_none().map(u64::from), |n: &u64| Written::Whole(*n), {
    "type": "integer", "minimum": 0, "maximum": u32::MAX
});

impl<K: Kind> Kind for Option<K> {
    type Of = Option<K::Of>;
    fn read(item: Item) -> Option<Self::Of> {
        K::read(item).map(Some)
    }
    fn write(value: &Self::Of) -> Option<Written> {
        value.as_ref().and_then(K::write)
    }
    fn schema(schemas: &mut Schemas) -> Json {
        K::schema(schemas)
    }
}

impl<K: Kind, const N: usize> Kind for [K; N] {
    type Of = [K::Of; N];
    fn read(item: Item) -> Option<Self::Of> {
        match item.node.value {
            Value::Array(_) => item.array(K::read),
            _ => item.wrong_kind(K::several(N)),
        }
    }
    fn write(value: &Self::Of) -> Option<Written> {
        Some(Written::List(value.iter().filter_map(K::write).collect()))
    }
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "type": "array", "items": K::schema(schemas), "minItems": N, "maxItems": N })
    }
}

impl<K: Kind> Kind for Vec<K> {
    type Of = Vec<K::Of>;
    fn read(item: Item) -> Option<Self::Of> {
        item.list(K::read)
    }
    fn write(value: &Self::Of) -> Option<Written> {
        Some(Written::List(value.iter().filter_map(K::write).collect()))
    }
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "type": "array", "items": K::schema(schemas) })
    }
}

/// Tables in double brackets; one that cannot be read makes the list fail.
#[derive(Clone, Copy, Debug)]
pub struct Tables<S>(std::marker::PhantomData<S>);

impl<S: Listed> Kind for Tables<S> {
    type Of = Vec<S>;
    fn read(item: Item) -> Option<Vec<S>> {
        List::read(item)?.0.into_iter().collect()
    }
    fn write(value: &Vec<S>) -> Option<Written> {
        let tables = value.iter().map(|s| Written::Table(s.write_keys())).collect();
        (!value.is_empty()).then_some(Written::List(tables))
    }
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "type": "array", "items": schemas.section::<S>() })
    }
}

/// Tables in double brackets; what could not be read is nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct List<S>(pub Vec<Option<S>>);

impl<S> Default for List<S> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<S> List<S> {
    /// Those that could be read, with their places in the list.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &S)> {
        self.0.iter().enumerate().filter_map(|(i, s)| Some((i, s.as_ref()?)))
    }
}

impl<S: Listed> Kind for List<S> {
    type Of = List<S>;
    fn read(item: Item) -> Option<List<S>> {
        if matches!(item.node.value, Value::Table(_)) {
            let help = format!("write it as [[{}]], with two brackets", S::NAME);
            return item.refuse("is a single table", help);
        }
        let list = item.name.clone();
        let named = |(i, Item { node, problems, .. }): (usize, Item<'_>)| {
            read_section(Item { node, name: S::called(i, &list), problems })
        };
        Some(List(item.items()?.into_iter().enumerate().map(named).collect()))
    }
    fn write(value: &List<S>) -> Option<Written> {
        let tables = value.iter().map(|(_, s)| Written::Table(s.write_keys())).collect();
        (!value.0.is_empty()).then_some(Written::List(tables))
    }
    fn schema(schemas: &mut Schemas) -> Json {
        Tables::<S>::schema(schemas)
    }
}

/// Entries of a table whose keys are names, in the order of the deck. What could not be read is nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, Option<T>)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// Those that could be read.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?)))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut T)> {
        self.0.iter_mut().filter_map(|(name, value)| Some((name.as_str(), value.as_mut()?)))
    }

    /// Could all of it be read?
    pub fn whole(&self) -> bool {
        self.0.iter().all(|(_, value)| value.is_some())
    }
}

impl<K: Kind<Of = K>> Kind for Named<K> {
    type Of = Named<K>;
    fn read(item: Item) -> Option<Named<K>> {
        let Value::Table(entries) = &item.node.value else {
            let help = format!("write it as [{}.NAME]", item.name.split('`').nth(1).unwrap_or_default());
            return item.refuse(format!("is {}", item.node.value.kind()), help);
        };
        let simple = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let read = entries.iter().map(|entry| {
            if !K::ANY_NAME && (entry.key.is_empty() || !entry.key.chars().all(simple)) {
                let message = format!("a {} is called \"{}\"", K::CALLED, entry.key);
                item.problems.add(&entry.key_place, message, "names are letters, digits, `_` and `-`");
            }
            let name = format!("{} `{}`", K::CALLED, entry.key);
            (entry.key.clone(), K::read(Item { node: &entry.node, name, problems: item.problems }))
        });
        Some(Named(read.collect()))
    }
    fn write(value: &Named<K>) -> Option<Written> {
        let entries: Vec<_> = value.iter().filter_map(|(n, v)| Some((n.to_owned(), K::write(v)?))).collect();
        (!entries.is_empty()).then_some(Written::Table(entries))
    }
    fn schema(schemas: &mut Schemas) -> Json {
        let mut schema = json!({ "type": "object", "additionalProperties": K::schema(schemas) });
        if !K::ANY_NAME {
            schema["propertyNames"] = json!({ "pattern": "^[A-Za-z0-9_-]+$" });
        }
        schema
    }
}
