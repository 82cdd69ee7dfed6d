//! What is varied: `path=a,b,c`, and how several of them go together.

use super::StudyError;

/// A key of the deck and the values it takes, as they are written in a deck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varied {
    /// Dotted, for example `contact.friction`.
    pub path: String,
    pub values: Vec<String>,
}

impl std::str::FromStr for Varied {
    type Err = String;

    /// `path=a,b,c`; commas within brackets, braces and quotes belong to a value.
    fn from_str(text: &str) -> Result<Varied, String> {
        let wrong = |what: &str| format!("`{text}` {what}; it should look like contact.friction=0.1,0.2,0.4");
        let (path, values) = text.split_once('=').ok_or_else(|| wrong("has no `=`"))?;
        let path = path.trim();
        if path.is_empty() {
            return Err(wrong("names no key"));
        }
        let values = parted(values).ok_or_else(|| wrong("has a bracket or a quote that stays open"))?;
        if values.iter().any(String::is_empty) {
            return Err(wrong("has an empty value"));
        }
        Ok(Varied { path: path.to_owned(), values })
    }
}

/// Parts at the commas outside of brackets, braces and quotes; nothing if one of these stays open.
fn parted(text: &str) -> Option<Vec<String>> {
    let (mut parts, mut depth, mut quote) = (vec![String::new()], 0_usize, None);
    for c in text.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.checked_sub(1)?,
            (',', None) if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(c);
    }
    (depth == 0 && quote.is_none()).then(|| parts.iter().map(|p| p.trim().to_owned()).collect())
}

/// How several varied quantities go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// Every value with every value of the others; the last one varies fastest.
    #[default]
    Product,
    /// The first values together, the second ones, …: all lists are equally long.
    Zip,
}

/// Runs beyond which a study is taken for a slip of the keyboard.
const MOST: usize = 100_000;

/// The values of every run, in the order of `varied`.
pub(super) fn combinations(varied: &[Varied], combine: Combine) -> Result<Vec<Vec<String>>, StudyError> {
    let asked = |what: String| StudyError::Asked(what);
    if varied.is_empty() {
        return Err(asked("nothing is varied".into()));
    }
    for (i, one) in varied.iter().enumerate() {
        if varied[..i].iter().any(|other| other.path == one.path) {
            return Err(asked(format!("`{}` is varied twice", one.path)));
        }
    }
    if combine == Combine::Zip {
        let count = varied[0].values.len();
        if let Some(other) = varied.iter().find(|v| v.values.len() != count) {
            let (first, path, own) = (&varied[0].path, &other.path, other.values.len());
            return Err(asked(format!(
                "values can go together one by one only if there are equally many: `{first}` has {count}, `{path}` {own}"
            )));
        }
        return Ok((0..count).map(|i| varied.iter().map(|v| v.values[i].clone()).collect()).collect());
    }
    let count = varied.iter().try_fold(1_usize, |n, v| n.checked_mul(v.values.len()));
    let Some(count) = count.filter(|n| *n <= MOST) else {
        return Err(asked(format!("these are more than {MOST} runs")));
    };
    let one = |mut i: usize| {
        let mut values: Vec<String> = Vec::with_capacity(varied.len());
        for v in varied.iter().rev() {
            values.push(v.values[i % v.values.len()].clone());
            i /= v.values.len();
        }
        values.reverse();
        values
    };
    Ok((0..count).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_and_quotes_belong_to_a_value() {
        let v: Varied = "body.a.mesh.cells = [1, 2, 3], [4,5,6]".parse().unwrap();
        assert_eq!(
            (v.path.as_str(), &v.values[..]),
            ("body.a.mesh.cells", &["[1, 2, 3]".into(), "[4,5,6]".into()][..])
        );
        let v: Varied = "title='a, b',\"c]\"".parse().unwrap();
        assert_eq!(v.values, ["'a, b'", "\"c]\""]);
        for wrong in ["friction", "=1,2", "a=1,,2", "a=[1,2", "a=1]", "a='x"] {
            assert!(wrong.parse::<Varied>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_product_has_all_combinations_and_a_zip_pairs_them() {
        let varied: Vec<Varied> = ["a=1,2", "b=x,y,z"].map(|t| t.parse().unwrap()).to_vec();
        let all = combinations(&varied, Combine::Product).unwrap();
        let text: Vec<String> = all.iter().map(|v| v.concat()).collect();
        assert_eq!(text, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert!(combinations(&varied, Combine::Zip).is_err());
        let varied: Vec<Varied> = ["a=1,2", "b=x,y"].map(|t| t.parse().unwrap()).to_vec();
        assert_eq!(combinations(&varied, Combine::Zip).unwrap(), [["1", "x"], ["2", "y"]]);
        let twice: Vec<Varied> = ["a=1,2", "a=3"].map(|t| t.parse().unwrap()).to_vec();
        assert!(
            combinations(&twice, Combine::Product).is_err() && combinations(&[], Combine::Product).is_err()
        );
    }
}
