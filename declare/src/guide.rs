//! Tables of keys for a guide, made from the declarations.
//!
//! A guide holds them between marks, `<!-- keys of step -->` and `<!-- end -->`; [`renewed`] writes them anew.

use crate::schema::{Key, Schemas, Variant, sentence};

const BEGIN: &str = "<!-- keys of ";
const END: &str = "<!-- end -->";

/// The text with all its tables as the declarations have them; names a table that nobody has declared.
pub fn renewed(text: &str, schemas: &Schemas) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, body) = after.split_once(" -->").ok_or("a mark has no end")?;
        let (_, after) = body.split_once(END).ok_or_else(|| format!("the table of {name} has no end"))?;
        let table = table(name, schemas).ok_or_else(|| format!("nobody has declared {name}"))?;
        out += &format!("{before}{BEGIN}{name} -->\n\n{table}\n{END}");
        rest = after;
    }
    Ok(out + rest)
}

/// The table of a section, or of the words of a tagged table.
fn table(name: &str, schemas: &Schemas) -> Option<String> {
    if let Some((_, keys)) = schemas.sections.iter().find(|(n, _)| n == name) {
        let rows = keys.iter().map(|key| row(key, schemas));
        return Some(format!("| key | meaning |\n|---|---|\n{}", rows.collect::<String>()));
    }
    let (tag, variants) = schemas.tagged.iter().find(|(n, _)| n == name)?;
    let rows = variants.iter().map(|(word, doc, keys): &Variant| {
        let keys: Vec<String> = keys.iter().map(short).collect();
        format!("| `{word}` | {} | {} |\n", keys.join(", "), escaped(&sentence(doc)))
    });
    Some(format!("| `{tag}` | keys | meaning |\n|---|---|---|\n{}", rows.collect::<String>()))
}

/// A key with its default.
fn short(key: &Key) -> String {
    match &key.default {
        Some(default) => format!("`{} = {}`", key.name, default.inline()),
        None => format!("`{}`", key.name),
    }
}

fn row(key: &Key, schemas: &Schemas) -> String {
    let mut meaning = escaped(&key.doc);
    let kind = schemas.resolve(&key.schema);
    if let (Some(words), Some(told)) = (kind["enum"].as_array(), kind["enumDescriptions"].as_array()) {
        for (word, told) in words.iter().zip(told) {
            let told = told.as_str().unwrap_or_default().trim_end_matches('.');
            meaning += &format!(" `{word}`: {}.", escaped(told));
        }
    }
    let required = if key.required { "**required** " } else { "" };
    format!("| {} | {required}{meaning} |\n", short(key))
}

/// Bars end the cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
