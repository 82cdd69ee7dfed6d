//! The declarations.

/// Declares a table of keys; the crate's documentation says how.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),*)])?
        $vis:vis struct $name:ident: $section:literal $(or $draft:ident)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(($key:literal))? : $type:ty
                    $(as $kind:ty)? $(= $default:expr)? $(=> $example:literal)?;
            )*
        }
        $(with {
            $(
                $(#[doc = $hidden_doc:literal])+
                $hidden:ident: $hidden_type:ty = $hidden_default:expr;
            )*
        })?
        $(renamed { $($old:literal => $new:literal,)* })?
        $(check |$r:ident| $check:block)?
    ) => {
        $(#[doc = $about])+
        $(#[derive($($derive),*)])?
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[doc = $hidden_doc])+ pub $hidden: $hidden_type,)*)?
        }

        impl $crate::Section for $name {
            const NAME: &'static str = $section;
            const DOC: &'static str = concat!($($about),+);

            fn keys(reader: &mut $crate::Reader) -> Option<Self> {
                $($(reader.renamed($old, $new);)*)?
                $(
                    let $field: Option<$type> = $crate::key_of!(
                        @read reader, $crate::key_of!(@name $field $($key)?),
                        [$($kind)? | $type] [$($default)?] [$($example)?]
                    );
                )*
                let good = true;
                $(let good = good && { let $r = &*reader; $check };)?
                if !good {
                    return None;
                }
                Some($name { $($field: $field?,)* $($($hidden: $hidden_default,)*)? })
            }

            fn write_keys(&self) -> Vec<(String, $crate::Written)> {
                let keys = [$((
                    $crate::key_of!(@name $field $($key)?),
                    <$crate::key_of!(@kind [$($kind)? | $type]) as $crate::Kind>::write(&self.$field),
                ),)*];
                keys.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))).collect()
            }

            #[allow(unused_variables)]
            fn describe(schemas: &mut $crate::Schemas) -> Vec<$crate::Key> {
                let mut all = Vec::new();
                $(
                    let $field: Option<$type> = $crate::key_of!(@default [$($default)?] [$($example)?]);
                    all.push({
                        type Of = $crate::key_of!(@kind [$($kind)? | $type]);
                        let schema = <Of as $crate::Kind>::schema(schemas);
                        let usual = $field.as_ref().map(<Of as $crate::Kind>::write);
                        $crate::Key::new($crate::key_of!(@name $field $($key)?), concat!($($doc),+), schema, usual)
                    });
                )*
                all
            }
        }

        $crate::key_of!(@draft [$($draft)?] $vis $name {
            $([$field] [$($key)?] [$($kind)? | $type] [$($default)?] [$($example)?])*
        });

        $crate::key_of!(@usual $name {
            $([$field] [$($default)?] [$($example)?] $type,)*
            $($([$hidden] [$hidden_default] [] $hidden_type,)*)?
        });

        impl $crate::Kind for $name {
            type Of = $name;
            const CALLED: &'static str = $section;
            fn read(item: $crate::Item) -> Option<$name> {
                $crate::read_section(item)
            }
            fn write(value: &$name) -> Option<$crate::Written> {
                Some($crate::Written::Table($crate::Section::write_keys(value)))
            }
            fn schema(schemas: &mut $crate::Schemas) -> $crate::Json {
                schemas.section::<$name>()
            }
        }
    };
}

/// Parts of the declarations: the name of a key, its kind, its reader, its default.
#[doc(hidden)]
#[macro_export]
macro_rules! key_of {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
    (@kind [| $type:ty]) => { $type };
    (@kind [$kind:ty | $type:ty]) => { $kind };
    (@read $reader:ident, $key:expr, [$($kind:ty)? | $type:ty] [] [$example:literal]) => {
        $reader.required($key, $example).and_then(<$crate::key_of!(@kind [$($kind)? | $type]) as $crate::Kind>::read)
    };
    (@read $reader:ident, $key:expr, [$($kind:ty)? | $type:ty] [$($default:expr)?] []) => {
        match $reader.get($key) {
            Some(item) => <$crate::key_of!(@kind [$($kind)? | $type]) as $crate::Kind>::read(item),
            None => $crate::key_of!(@default [$($default)?] []),
        }
    };
    (@default [] [$example:literal]) => { None };
    (@default [$default:expr] []) => { Some($default) };
    (@default [] []) => { Some(Default::default()) };
    (@value [$default:expr]) => { $default };
    (@value []) => { Default::default() };
    (@usual $name:ident { $([$field:ident] [$($default:expr)?] [] $type:ty,)* }) => {
        impl Default for $name {
            #[allow(unused_variables)]
            fn default() -> Self {
                // a default may look at the keys before it, as a reader does
                $(let $field: Option<$type> = $crate::key_of!(@default [$($default)?] []);)*
                $name { $($field: $crate::key_of!(@value [$($default)?]),)* }
            }
        }
    };
    (@draft [] $($rest:tt)*) => {};
    (@draft [$draft:ident] $vis:vis $name:ident {
        $([$field:ident] [$($key:literal)?] [$($kind:ty)? | $type:ty] [$($default:expr)?] [$($example:literal)?])*
    }) => {
        /// As far as it could be read.
        $vis struct $draft {
            $(pub $field: Option<$type>,)*
        }

        impl $draft {
            /// Asks for every key; the caller ends the table.
            $vis fn keys(reader: &mut $crate::Reader) -> $draft {
                $(
                    let $field: Option<$type> = $crate::key_of!(
                        @read reader, $crate::key_of!(@name $field $($key)?),
                        [$($kind)? | $type] [$($default)?] [$($example)?]
                    );
                )*
                $draft { $($field,)* }
            }

            /// All of it, if all could be read.
            $vis fn whole(self) -> Option<$name> {
                Some($name { $($field: self.$field?,)* })
            }
        }
    };
    // with a required key there is no default of the whole
    (@usual $($rest:tt)*) => {};
}

/// Declares a choice of words; the first is the default.
///
/// ```
/// carom_declare::words! {
///     /// Where cells are small.
///     pub enum Fine {
///         /// At the lower end.
///         Min = "min",
///         /// At the upper end.
///         Max = "max",
///     }
/// }
/// assert_eq!(Fine::default().name(), "min");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $vis:vis enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $name {
            /// The words, in the order of the declaration.
            pub const ALL: &'static [&'static str] = &[$($word),+];
            const EACH: &'static [$name] = &[$($name::$variant),+];

            /// The word for it.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// What `word` stands for.
            pub fn called(word: &str) -> Option<$name> {
                $name::EACH.iter().copied().find(|v| v.name() == word)
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::EACH[0]
            }
        }

        impl $crate::Kind for $name {
            type Of = $name;
            fn read(item: $crate::Item) -> Option<$name> {
                item.choice($name::ALL).map(|k| $name::EACH[k])
            }
            fn write(value: &$name) -> Option<$crate::Written> {
                Some($crate::Written::Text(value.name().into()))
            }
            fn schema(schemas: &mut $crate::Schemas) -> $crate::Json {
                schemas.words(stringify!($name), concat!($($about),+), &[$(($word, concat!($($doc),+))),+])
            }
        }
    };
}

/// Declares tables whose keys depend on a word: `Law by "law"` has the keys of the variant that its key `law` names.
#[macro_export]
macro_rules! tagged {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),*)])?
        $vis:vis enum $name:ident by $tag:literal => $example:literal {
            $(
                $(#[doc = $variant_doc:literal])+
                $variant:ident = $word:literal {
                    $(
                        $(#[doc = $doc:literal])+
                        $field:ident: $type:ty $(as $kind:ty)? $(= $default:expr)? $(=> $field_example:literal)?;
                    )*
                } $(check |$r:ident| $check:block)?
            )+
        }
        called $called:literal
    ) => {
        $(#[doc = $about])+
        $(#[derive($($derive),*)])?
        $vis enum $name {
            $($(#[doc = $variant_doc])+ $variant { $($(#[doc = $doc])+ $field: $type,)* },)+
        }

        impl $name {
            /// The words, in the order of the declaration.
            pub const ALL: &'static [&'static str] = &[$($word),+];

            /// The word for it.
            pub fn name(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $word,)+
                }
            }

            /// The keys of each, beside the word: its word, what it is, its keys.
            #[allow(unused_variables)]
            pub fn describe(schemas: &mut $crate::Schemas) -> Vec<$crate::schema::Variant> {
                vec![$(($word, concat!($($variant_doc),+), vec![$({
                    type Of = $crate::key_of!(@kind [$($kind)? | $type]);
                    let usual: Option<$type> = $crate::key_of!(@default [$($default)?] [$($field_example)?]);
                    let schema = <Of as $crate::Kind>::schema(schemas);
                    let usual = usual.as_ref().map(<Of as $crate::Kind>::write);
                    $crate::Key::new(stringify!($field), concat!($($doc),+), schema, usual)
                }),*])),+]
            }
        }

        impl $crate::Kind for $name {
            type Of = $name;
            const CALLED: &'static str = $called;

            fn read(item: $crate::Item) -> Option<$name> {
                let (owner, mut reader) = (item.name.clone(), item.table()?);
                let word = reader.tag($tag, $example, &owner, $name::ALL)?;
                let read = match word {
                    $($word => {
                        let reader = &mut reader;
                        $(
                            let $field: Option<$type> = $crate::key_of!(
                                @read reader, stringify!($field),
                                [$($kind)? | $type] [$($default)?] [$($field_example)?]
                            );
                        )*
                        let good = true;
                        $(let good = good && { let $r = &*reader; $check };)?
                        match (good, $($field,)*) {
                            (true, $(Some($field),)*) => Some($name::$variant { $($field),* }),
                            _ => None,
                        }
                    })+
                    _ => None,
                };
                reader.finish();
                read
            }

            fn write(value: &$name) -> Option<$crate::Written> {
                let mut keys = vec![($tag.to_string(), $crate::Written::Text(value.name().into()))];
                match value {
                    $($name::$variant { $($field),* } => {
                        $(
                            let written = <$crate::key_of!(@kind [$($kind)? | $type]) as $crate::Kind>::write($field);
                            keys.extend(written.map(|w| (stringify!($field).to_string(), w)));
                        )*
                    })+
                }
                Some($crate::Written::Table(keys))
            }

            fn schema(schemas: &mut $crate::Schemas) -> $crate::Json {
                schemas.tagged(stringify!($name), concat!($($about),+), $tag, $name::describe)
            }
        }
    };
}
