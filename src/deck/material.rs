//! `material` of a body: the name of one, or a law right here; and laws that somebody else has written.

use crate::element::MakeBlock;
use crate::element::choice::{self, Kind as BlockKind};
use crate::element::shell::ShellOptions;
use crate::material::Law;
use crate::material::Material;
use crate::mesh::subdivision::Subdivision;
use carom_declare::{Item, Json, Kind, Reader, Schemas, Section, Value, Written, json};
use std::fmt::Debug;
use std::sync::Arc;

/// A law of your own that a deck can name: its section says its name and its keys.
pub trait OwnLaw: Material + Section + Clone + Debug {
    /// The same law made softer, which holds the cells of nodal integration together
    /// ([`softened`](crate::element::choice::softened)).
    fn softened(&self) -> Self {
        self.clone()
    }
}

/// An [`OwnLaw`], whichever it is.
pub trait ForeignLaw: Send + Sync + Debug {
    fn name(&self) -> &'static str;
    fn maker(&self, kind: BlockKind) -> Box<MakeBlock<'static>>;
    fn shell_maker(&self, options: ShellOptions, surface: Arc<Subdivision>) -> Box<MakeBlock<'static>>;
    fn write(&self) -> Vec<(String, Written)>;
}

impl<L: OwnLaw> ForeignLaw for L {
    fn name(&self) -> &'static str {
        L::NAME
    }
    fn maker(&self, kind: BlockKind) -> Box<MakeBlock<'static>> {
        choice::with_law(kind, self.clone(), self.softened())
    }
    fn shell_maker(&self, options: ShellOptions, surface: Arc<Subdivision>) -> Box<MakeBlock<'static>> {
        choice::shell(self.clone(), options, surface)
    }
    fn write(&self) -> Vec<(String, Written)> {
        self.write_keys()
    }
}

type ReadLaw = fn(&mut Reader) -> Option<Arc<dyn ForeignLaw>>;

/// The laws that a deck can name beside those that Carom has.
#[derive(Clone, Default)]
pub struct OwnLaws(Vec<(&'static str, ReadLaw)>);

impl OwnLaws {
    pub fn add<L: OwnLaw>(&mut self) {
        self.0.push((L::NAME, |r| L::keys(r).map(|law| Arc::new(law) as Arc<dyn ForeignLaw>)));
    }
}

/// A law with its numbers.
#[derive(Clone, Debug)]
pub enum AnyLaw {
    Known(Law),
    Own(Arc<dyn ForeignLaw>),
}

impl PartialEq for AnyLaw {
    /// What says the same is the same.
    fn eq(&self, other: &AnyLaw) -> bool {
        AnyLaw::write(self) == AnyLaw::write(other)
    }
}

impl AnyLaw {
    /// The maker of a block of `kind` with this law.
    pub fn maker(&self, kind: BlockKind) -> Box<MakeBlock<'static>> {
        match self {
            AnyLaw::Known(law) => choice::maker(kind, law),
            AnyLaw::Own(law) => law.maker(kind),
        }
    }

    /// The maker of a block of thin shells with this law.
    pub fn shell_maker(&self, options: ShellOptions, surface: Arc<Subdivision>) -> Box<MakeBlock<'static>> {
        match self {
            AnyLaw::Known(law) => choice::shell_maker(law, options, surface),
            AnyLaw::Own(law) => law.shell_maker(options, surface),
        }
    }
}

impl Kind for AnyLaw {
    type Of = AnyLaw;
    const CALLED: &'static str = Law::CALLED;

    fn read(item: Item) -> Option<AnyLaw> {
        let own = item.problems.context::<OwnLaws>().map(|laws| &laws.0[..]).unwrap_or_default();
        let word = item.clone().table()?.item("law").and_then(|i| match &i.node.value {
            Value::String(word) => Some(word.clone()),
            _ => None,
        });
        if own.is_empty() || word.is_none_or(|word| Law::ALL.contains(&&*word)) {
            return Law::read(item).map(AnyLaw::Known);
        }
        let names: Vec<&'static str> = Law::ALL.iter().copied().chain(own.iter().map(|l| l.0)).collect();
        let (owner, mut r) = (item.name.clone(), item.table()?);
        let word = r.tag("law", "", &owner, &names)?;
        let law = own.iter().find(|l| l.0 == word).and_then(|(_, read)| read(&mut r));
        r.finish();
        law.map(AnyLaw::Own)
    }
    fn write(value: &AnyLaw) -> Option<Written> {
        match value {
            AnyLaw::Known(law) => Law::write(law),
            AnyLaw::Own(law) => {
                let tag = [("law".to_owned(), Written::Text(law.name().into()))];
                Some(Written::Table(tag.into_iter().chain(law.write()).collect()))
            }
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        Law::schema(schemas)
    }
}

/// A material: the name of one, or a law right here.
#[derive(Clone, Debug, PartialEq)]
pub enum MaterialRef {
    Name(String),
    Inline(AnyLaw),
}

impl Kind for MaterialRef {
    type Of = MaterialRef;
    const CALLED: &'static str = "group";
    const ANY_NAME: bool = true;

    fn read(item: Item) -> Option<MaterialRef> {
        match &item.node.value {
            Value::String(name) => Some(MaterialRef::Name(name.clone())),
            Value::Table(_) => AnyLaw::read(item).map(MaterialRef::Inline),
            other => item.refuse(
                format!("is {}", other.kind()),
                "it must be the name of a material or a table with a law",
            ),
        }
    }
    fn write(value: &MaterialRef) -> Option<Written> {
        match value {
            MaterialRef::Name(name) => String::write(name),
            MaterialRef::Inline(law) => AnyLaw::write(law),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "if": { "type": "object" }, "then": Law::schema(schemas), "else": { "type": "string" } })
    }
}
