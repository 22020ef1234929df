//! Messages in the text of CSV files, which readers ignore.

use std::io::Write;

use chrysalis::store::Format;
use flate2::{Compression, GzBuilder};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;

use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::{After, Fake};

pub(super) const LIES: &[Lie] = &[
    alone("channel: blanks round CSV cells", blanks),
    alone("channel: needless quotes", quotes),
    alone("channel: other line ends", line_ends),
    alone("channel: blank lines", blank_lines),
    alone("channel: byte order mark", byte_order_mark),
    alone("channel: numbers with leading zeros", leading_zeros),
    alone("channel: gzip with a comment", gzip),
    alone("channel: zstd with a skippable frame", zstd),
];

fn change(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng, change: impl Fn(&str) -> String + 'static) -> Option<Finish> {
    (fake.honest.format == Format::Csv).then_some(())?;
    let at = pick(rng, fake.sheets.len())?;
    let change = move |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok()?;
        let changed = change(text);
        (changed != text).then(|| changed.into_bytes())
    };
    fake.after.push(After::Bytes(at, Box::new(change)));
    Some(Finish::AsItIs)
}

/// The start of a line after the header, chosen by number; the start of the header if there is no other line.
fn line_at(text: &str, n: usize) -> usize {
    let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).filter(|&at| at < text.len()).collect();
    starts.get(n % starts.len().max(1)).copied().unwrap_or(0)
}

/// Readers trim cells, so blanks can carry a message.
fn blanks(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (n, blank) = (rng.random_range(0..1000), if rng.random_range(0..2) == 0 { ' ' } else { '\t' });
    change(fake, rng, move |text| {
        let mut text = text.to_owned();
        text.insert(line_at(&text, n), blank);
        text
    })
}

/// A cell in quotes means the same, so quotes can carry a message.
fn quotes(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let n = rng.random_range(0..1000);
    change(fake, rng, move |text| {
        let mut text = text.to_owned();
        let start = line_at(&text, n);
        let end = text[start..].find([',', '\n']).map_or(start, |length| start + length);
        if !text[start..end].contains('"') && end > start {
            text.insert(end, '"');
            text.insert(start, '"');
        }
        text
    })
}

/// Lines may end in two ways, so line ends can carry a message.
fn line_ends(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let all = rng.random_range(0..2) == 0;
    change(fake, rng, move |text| if all { text.replace('\n', "\r\n") } else { text.replacen('\n', "\r\n", 1) })
}

/// Readers ignore blank lines, and do not care whether the last line has an end.
fn blank_lines(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let is_short = rng.random_range(0..2) == 0;
    change(fake, rng, move |text| if is_short { text.trim_end_matches('\n').to_owned() } else { format!("{text}\n\n") })
}

/// Readers ignore a byte order mark.
fn byte_order_mark(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    change(fake, rng, |text| format!("\u{feff}{text}"))
}

/// `7` and `007` are the same number.
fn leading_zeros(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.honest.format == Format::Csv).then_some(())?;
    let id = fake.form().shape().group_id?;
    let table = fake.sheets.iter().position(|sheet| sheet.find(id) == Some(0))?;
    let n = rng.random_range(0..1000);
    fake.after.push(After::Bytes(
        table,
        Box::new(move |bytes| {
            let mut text = String::from_utf8(bytes.to_vec()).ok()?;
            text.insert_str(line_at(&text, n), "00");
            Some(text.into_bytes())
        }),
    ));
    Some(Finish::AsItIs)
}

/// A compressed file has room for a name and a comment.
fn gzip(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.honest.format == Format::Csv).then_some(())?;
    let at = pick(rng, fake.sheets.len())?;
    let is_named_so = rng.random_range(0..2) == 0;
    if is_named_so {
        let file = fake.json["tables"][at]["parts"][0]["file"].as_str()?;
        let name = format!("{file}.gz");
        fake.after.push(After::Rename(at, name));
    }
    fake.after.push(After::Bytes(
        at,
        Box::new(|bytes| {
            let mut packed = GzBuilder::new().comment("Bob has HIV").write(Vec::new(), Compression::default());
            packed.write_all(bytes).ok()?;
            packed.finish().ok()
        }),
    ));
    Some(Finish::AsItIs)
}

/// A compressed file may have frames that readers skip.
fn zstd(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.honest.format == Format::Csv).then_some(())?;
    let at = pick(rng, fake.sheets.len())?;
    if rng.random_range(0..2) == 0 {
        let file = fake.json["tables"][at]["parts"][0]["file"].as_str()?;
        let name = format!("{file}.zst");
        fake.after.push(After::Rename(at, name));
    }
    fake.after.push(After::Bytes(
        at,
        Box::new(|bytes| {
            let message = b"Bob has HIV";
            let mut packed = ::zstd::bulk::compress(bytes, 1).ok()?;
            packed.extend(0x184D_2A50_u32.to_le_bytes());
            packed.extend((message.len() as u32).to_le_bytes());
            packed.extend(message);
            Some(packed)
        }),
    ));
    Some(Finish::AsItIs)
}
