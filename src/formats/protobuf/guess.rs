//! What LEN content is where no schema tells: text, a message, a packed run, or bytes.
//!
//! Content is judged whole, up to [`crate::model::limits::PIECE`] bytes of it, once for each field. What
//! earlier elements in the same place were taken for counts. [`scan`] reads fields, [`weigh`] says how well
//! bytes fit a reading, [`tell`] puts readings into words.

use std::collections::HashMap;

use crate::model::events::{Reading, Said};

pub mod scan;
mod tell;
pub mod weigh;

use weigh::log2;

/// Places that are remembered: about 24 bytes each.
const PLACES: usize = 64 * 1024;

/// Points that bytes have whatever they are: a reading has to beat them. Blobs are mostly hashes, keys and
/// numbers, and those are multiples of four long; few have two or three bytes.
fn bytes_points(len: usize) -> i32 {
    match len {
        0..=3 => 8,
        16 | 20 | 32 => 36,
        _ if len.is_multiple_of(4) => 22,
        _ => 14,
    }
}

/// Points of bytes that are an address of a network of one's own, where nothing tells of other content.
const ADDRESS: i32 = 60;
/// A field number in few bytes that hardly anybody gives.
const HUGE: u32 = 1000;
/// Points that a message of one such field loses.
const LONE_HUGE: i32 = 40;

/// Whether bytes are an IPv4 address that networks of one's own use: private, loopback or link-local.
fn is_own_address(content: &[u8]) -> bool {
    let address = <[u8; 4]>::try_from(content).map(std::net::Ipv4Addr::from);
    address.is_ok_and(|address| address.is_private() || address.is_loopback() || address.is_link_local())
}

/// Points that text has from the start: most LEN fields are text.
const TEXT: i32 = 16;
/// Points that a message has from the start.
const MESSAGE: i32 = 0;
/// Points that a run of varints has from the start.
const VARINTS: i32 = -4;
/// Points that a run of fixed size has from the start.
const FIXED: i32 = -8;
/// Points that a run of one element loses.
const ALONE: i32 = 48;
/// Text with control characters has no more points than this.
const UNCLEAN: i32 = 80;
/// A rival is close that is not further behind.
const CLOSE: i32 = 32;
/// Text up to this length is doubted where it is a message as well.
const SHORT: usize = 64;

/// A reading of LEN content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guess {
    /// UTF-8 that people read.
    Text,
    /// Fields.
    Message,
    /// Varints, one behind the other.
    Varints,
    /// Groups of four bytes.
    Fixed32,
    /// Groups of eight bytes.
    Fixed64,
    /// Anything.
    Bytes,
}

/// All readings; where two fit as well, the first is taken.
const ALL: [Guess; 6] = [Guess::Text, Guess::Message, Guess::Varints, Guess::Fixed32, Guess::Fixed64, Guess::Bytes];

impl Guess {
    /// What it is called: `packed varint`.
    pub fn name(self) -> &'static str {
        match self {
            Guess::Text => "text",
            Guess::Message => "message",
            Guess::Varints => "packed varint",
            Guess::Fixed32 => "packed fixed32",
            Guess::Fixed64 => "packed fixed64",
            Guess::Bytes => "bytes",
        }
    }
}

/// What was made of some content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The reading to show.
    pub best: Guess,
    /// A rival is close.
    pub doubt: bool,
    /// The readings that are not trivial, the best first; empty where there is no rival, or no words are wanted.
    pub readings: Vec<Reading>,
    /// Why the best one was taken, for a note; empty where there is nothing to say.
    pub why: String,
}

impl Judged {
    /// What is told of the readings beside other words on the content.
    pub fn said<'a>(&'a self, words: &'a str, more: &'a str) -> Said<'a> {
        Said { words, more, readings: &self.readings, doubt: self.doubt, why: &self.why, ..Said::default() }
    }

    fn plain(best: Guess, doubt: bool) -> Judged {
        Judged { best, doubt, readings: Vec::new(), why: String::new() }
    }
}

/// Contents of one reading after which a place is settled.
const SETTLED: u8 = 8;

/// What content in each place was taken for so far.
#[derive(Debug, Default)]
pub struct Memory {
    places: HashMap<u64, [u8; 6], foldhash::fast::FixedState>,
}

impl Memory {
    fn counts(&self, place: u64) -> [u8; 6] {
        self.places.get(&place).copied().unwrap_or_default()
    }

    fn note(&mut self, place: u64, guess: Guess) {
        if self.places.len() >= PLACES && !self.places.contains_key(&place) {
            return;
        }
        let counts = self.places.entry(place).or_default();
        if counts.contains(&u8::MAX) {
            counts.iter_mut().for_each(|count| *count /= 2);
        }
        if let Some((_, count)) = ALL.iter().zip(counts.iter_mut()).find(|(one, _)| **one == guess) {
            *count = count.saturating_add(1);
        }
    }
}

/// Points of each reading; none where it is impossible.
struct Weights([(Guess, Option<i32>); 6]);

impl Weights {
    /// The best two.
    fn best(&self) -> ((Guess, i32), Option<(Guess, i32)>) {
        let mut first = (Guess::Bytes, i32::MIN);
        let mut second = None;
        for (guess, points) in self.0 {
            let Some(points) = points else { continue };
            if points > first.1 {
                second = Some(first).filter(|(_, points)| *points > i32::MIN);
                first = (guess, points);
            } else if second.is_none_or(|(_, other)| points > other) {
                second = Some((guess, points));
            }
        }
        (first, second)
    }
}

/// Judges the content of one field. `complete`: it is all there; else it is only the beginning. `place`:
/// the same number for fields of the same path of field numbers. `words`: readings and reasons are wanted.
pub fn judge(content: &[u8], complete: bool, place: u64, memory: &mut Memory, words: bool) -> Judged {
    let counts = memory.counts(place);
    if content.is_empty() {
        return Judged::plain(usual(&counts), false);
    }
    if let Some(guess) = settled(content, complete, &counts) {
        return Judged::plain(guess, false);
    }
    let text = weigh::text(content, complete);
    // A field that the end cuts before its value is none to show.
    let message = weigh::message(content, complete).filter(|seen| seen.fields > 0);
    let weights = weights(content, complete, text, message, &counts);
    let ((best, points), second) = weights.best();
    let both = text.is_some_and(|text| text.clean) && message.is_some();
    let gap = second.map_or(i32::MAX, |(_, second)| points.saturating_sub(second));
    let doubt = match best {
        // Bytes are what is left: nothing was taken for anything.
        Guess::Bytes => false,
        Guess::Text if both => content.len() <= SHORT && texts_before(&counts) < 3,
        _ => gap < CLOSE && second.is_some_and(|(second, _)| second != Guess::Bytes),
    };
    if gap >= CLOSE / 2 {
        memory.note(place, best);
    }
    let mut judged = Judged::plain(best, doubt);
    if words && doubt {
        let rival = if best == Guess::Text && both { Some(Guess::Message) } else { second.map(|(second, _)| second) };
        let rivals = [Some(best), rival];
        judged.readings = rivals.into_iter().flatten().map(|guess| tell::reading(guess, content)).collect();
        judged.why = tell::why(best, content, message, leaned(&weights, &counts));
    }
    judged
}

/// What content is in a place where all of many contents were the same, if it can be that too: nothing that
/// a closer look finds would outweigh them.
fn settled(content: &[u8], complete: bool, counts: &[u8; 6]) -> Option<Guess> {
    let [texts, messages, rest @ ..] = counts;
    if rest.iter().any(|count| *count > 0) {
        return None;
    }
    match (*texts, *messages) {
        (SETTLED.., 0) if content.iter().all(|byte| matches!(byte, b' '..=b'~')) => Some(Guess::Text),
        (0, SETTLED..) if scan::is_sound(content, complete) => Some(Guess::Message),
        _ => None,
    }
}

/// What most earlier content in a place was; bytes where there was none.
fn usual(counts: &[u8; 6]) -> Guess {
    let most = ALL.iter().zip(counts).rev().max_by_key(|(_, count)| **count);
    most.filter(|(_, count)| **count > 0).map_or(Guess::Bytes, |(guess, _)| *guess)
}

fn texts_before(counts: &[u8; 6]) -> u8 {
    counts.first().copied().unwrap_or(0)
}

/// Whether without memory another reading would have won.
fn leaned(weights: &Weights, counts: &[u8; 6]) -> bool {
    let mut bare = Weights(weights.0);
    for ((_, points), lean) in bare.0.iter_mut().zip(leans(counts)) {
        *points = points.map(|points| points - lean);
    }
    bare.best().0.0 != weights.best().0.0
}

/// Points that earlier content in the same place gives to each reading.
fn leans(counts: &[u8; 6]) -> [i32; 6] {
    let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    if all == 0 {
        return [0; 6];
    }
    // Each reading has a tenth of an element from the start; of six readings each would have a sixth.
    counts.map(|count| log2((u64::from(count) * 10 + 1) * 6 * 64) - log2((all * 10 + 6) * 64))
}

fn weights(
    content: &[u8],
    complete: bool,
    text: Option<weigh::Text>,
    message: Option<weigh::Message>,
    counts: &[u8; 6],
) -> Weights {
    let text_points = text.map(|text| if text.clean { text.points } else { text.points.min(UNCLEAN) } + TEXT);
    let known = |guess| usual(counts) == guess;
    let is_chance = |seen: weigh::Message| content.len() <= 4 && seen.fields == 1 && seen.lowest >= HUGE;
    let message_points = message.map(|message| {
        let chance = if is_chance(message) && !known(Guess::Message) { LONE_HUGE } else { 0 };
        message.points + MESSAGE - chance
    });
    // What is surely text or a message is not weighed as anything else.
    let sure = text.is_some_and(|text| text.clean && text.points > 4 * CLOSE)
        || message_points.is_some_and(|points| points > 4 * CLOSE);
    let run = |run: Option<weigh::Run>, start: i32, guess: Guess| {
        let alone = |run: weigh::Run| if run.elements < 2 && !known(guess) { ALONE } else { 0 };
        run.filter(|run| run.elements > 0).map(|run| run.points + start - alone(run))
    };
    let own = complete && known(Guess::Bytes) && is_own_address(content);
    let (varints, fixed32, fixed64) = if own || (sure && counts.iter().skip(2).all(|count| *count == 0)) {
        (None, None, None)
    } else {
        (
            run(weigh::varints(content, complete), VARINTS, Guess::Varints),
            run(weigh::fixed(content, 4, complete), FIXED, Guess::Fixed32),
            run(weigh::fixed(content, 8, complete), FIXED, Guess::Fixed64),
        )
    };
    let bytes = if own { ADDRESS } else { bytes_points(content.len()) };
    let points = [text_points, message_points, varints, fixed32, fixed64, Some(bytes)];
    let mut weights = Weights(ALL.map(|guess| (guess, None)));
    for ((place, points), lean) in weights.0.iter_mut().zip(points).zip(leans(counts)) {
        place.1 = points.map(|points| points.saturating_add(lean));
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        data_encoding::HEXLOWER.decode(text.replace(' ', "").as_bytes()).unwrap()
    }

    fn alone(content: &[u8]) -> Judged {
        judge(content, true, 0, &mut Memory::default(), true)
    }

    #[test]
    fn printable_text_wins_over_a_message_that_fits() {
        let texts = [
            "error",
            "hi",
            "image.png",
            "eu-west",
            "PLAYERGROUP",
            "com.google.android.youtube",
            "al",
            "A",
            "7",
            "algorithm",
            "allocated",
            "Привет",
            "日本語",
            "😀",
            "line one\nline two\n",
            "{\"a\": 1}",
            "https://example.org/a?b=c",
            "550e8400-e29b-41d4-a716-446655440000",
            "\ttabbed text",
        ];
        for text in texts {
            assert_eq!(alone(text.as_bytes()).best, Guess::Text, "{text}");
        }
    }

    #[test]
    fn short_messages_are_messages() {
        let messages = [
            "0801",
            "0a02616c1003",
            "0a047974676c100a18bdb203",
            "1003",
            "3801",
            "0a0161",
            "08ffffffffffffffffff01",
            "0d0000803f",
            "09000000000000f83f",
            "0a0b676f6a68746966707565701061 18e6c505",
            // A text of 36 bytes in field 1: a line end, a dollar sign, and 36 characters.
            "0a2435353065383430302d653239622d343164342d613731362d343436363535343430303030",
        ];
        for message in messages {
            assert_eq!(alone(&hex(message)).best, Guess::Message, "{message}");
        }
    }

    #[test]
    fn packed_runs_and_blobs() {
        assert_eq!(alone(&hex("038e029ea705")).best, Guess::Varints);
        assert_eq!(alone(&hex("0405")).best, Guess::Varints);
        assert_eq!(alone(&hex("0000803f000000400000404000008040")).best, Guess::Fixed32);
        let doubles = [1.5f64, 0.1, 77.25].map(f64::to_le_bytes).concat();
        assert_eq!(alone(&doubles).best, Guess::Fixed64);
        // SHA-1 and MD5 of nothing, and a random UUID.
        for blob in [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "d41d8cd98f00b204e9800998ecf8427e",
            "550e8400e29b41d4a716446655440000",
        ] {
            assert_eq!(alone(&hex(blob)).best, Guess::Bytes, "{blob}");
        }
        assert_eq!(alone(&[0x80]).best, Guess::Bytes);
    }

    #[test]
    fn a_rival_is_told_with_its_value() {
        let judged = alone(b"PLAYERGROUP");
        assert!(judged.doubt);
        assert_eq!(judged.why, "text wins: all 11 bytes are letters");
        let told: Vec<(&str, &str)> = judged.readings.iter().map(|one| (one.kind, one.value.as_str())).collect();
        assert_eq!(told, [("text", "\"PLAYERGROUP\""), ("message", "{10: 76, 8: 0x50554f5247524559}")]);
        let judged = alone(b"image.png");
        assert_eq!(judged.readings[1].value, "{13: 0x676e702e6567616d}");
        assert_eq!(judged.why, "text wins: all 9 bytes are printable");
        assert!(!alone(b"btimcpxm").doubt);
        assert!(!alone(&hex("0a02616c1003")).doubt);
        let quiet = judge(b"PLAYERGROUP", true, 0, &mut Memory::default(), false);
        assert_eq!((quiet.doubt, quiet.readings.len(), quiet.why.as_str()), (true, 0, ""));
    }

    #[test]
    fn a_message_has_a_whole_field() {
        for text in [&b"a"[..], b"abc", b"i"] {
            let judged = judge(text, false, 0, &mut Memory::default(), true);
            assert_eq!(judged.best, Guess::Text);
            assert!(judged.readings.iter().all(|one| one.value != "{}"), "{judged:?}");
        }
        assert_eq!(tell::why(Guess::Text, b"a", None, false), "text wins: its one byte is a letter");
        assert_eq!(tell::why(Guess::Text, b"-", None, false), "text wins: its one byte is printable");
    }

    #[test]
    fn addresses_of_own_networks_are_bytes() {
        for address in ["c0a80101", "7f000001", "0a000001", "ac100001", "a9fe0001"] {
            assert_eq!(alone(&hex(address)).best, Guess::Bytes, "{address}");
        }
        // A text of two letters in field 1, which is 10.2.97.98 too.
        assert_eq!(alone(&hex("0a026162")).best, Guess::Message);
        let mut memory = Memory::default();
        for _ in 0..3 {
            assert_eq!(judge(&hex("000102030405"), true, 7, &mut memory, true).best, Guess::Varints);
        }
        assert_eq!(judge(&hex("0a000001"), true, 7, &mut memory, true).best, Guess::Varints);
        assert_ne!(alone(&hex("c0a90101")).best, Guess::Message, "one field with a number of 2712");
    }

    #[test]
    fn earlier_content_of_the_same_place_counts() {
        let mut memory = Memory::default();
        for text in ["warning", "notice", "debug", "trace"] {
            assert_eq!(judge(text.as_bytes(), true, 4, &mut memory, true).best, Guess::Text);
        }
        let error = judge(b"error", true, 4, &mut memory, true);
        assert_eq!((error.best, error.doubt), (Guess::Text, false));
        // Two bytes that say little alone.
        assert_eq!(judge(&hex("50ac02"), true, 5, &mut memory, true).best, Guess::Bytes);
        for _ in 0..8 {
            judge(&hex("0a02616c500310ac02"), true, 5, &mut memory, true);
        }
        assert_eq!(judge(&hex("50ac02"), true, 5, &mut memory, true).best, Guess::Message);
        assert_eq!(judge(b"", true, 5, &mut memory, true).best, Guess::Message);
        assert_eq!(judge(b"", true, 6, &mut memory, true).best, Guess::Bytes);
        for _ in 0..4 {
            assert_eq!(judge(&hex("000102030405"), true, 7, &mut memory, true).best, Guess::Varints);
        }
        assert_eq!(judge(&[9], true, 7, &mut memory, true).best, Guess::Varints);
    }

    #[test]
    fn the_beginning_of_long_content_is_judged_as_such() {
        let text = "é".repeat(40_000).into_bytes();
        assert_eq!(judge(&text[..65535], false, 0, &mut Memory::default(), true).best, Guess::Text);
        assert_eq!(judge(&text[..65535], true, 0, &mut Memory::default(), true).best, Guess::Bytes);
        let message = hex("0a047974676c100a18bdb203").repeat(3);
        assert_eq!(judge(&message[..20], false, 0, &mut Memory::default(), true).best, Guess::Message);
    }

    #[test]
    fn contents_of_known_messages_are_taken_for_what_they_are() {
        let table = include_str!("../../../tests/data/len-contents.tsv");
        let mut wrong = std::collections::BTreeMap::new();
        for (kind, content) in table.lines().filter_map(|line| line.split_once('\t')) {
            let best = alone(&hex(content)).best.name();
            if best != kind && best.strip_prefix("packed ") != Some(kind.trim_end_matches('s')) {
                wrong.entry((kind, best)).or_insert_with(Vec::new).push(content);
            }
        }
        let count = |kind: &str| wrong.iter().filter(|((one, _), _)| *one == kind).map(|(_, list)| list.len()).sum();
        let counts: [usize; 6] = ["text", "message", "bytes", "varints", "fixed32", "fixed64"].map(count);
        // A run of one element is bytes, and small numbers that are letters are text: nobody can tell.
        let most = [0, 2, 6, 13, 6, 5];
        assert!(counts.iter().zip(most).all(|(count, most)| *count <= most), "{counts:?} {wrong:#?}");
    }

    #[test]
    fn random_bytes_are_bytes() {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let mut counts = [0usize; 2];
        for round in 0..20_000usize {
            let content: Vec<u8> = (0..16 + 4 * (round % 5))
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state.to_le_bytes()[3]
                })
                .collect();
            let judged = judge(&content, true, round as u64, &mut Memory::default(), false);
            counts[usize::from(judged.best == Guess::Bytes)] += 1;
        }
        assert!(counts[0] <= 10, "{counts:?}");
    }

    #[test]
    fn hostile_content_is_judged_without_a_fault() {
        let nested: Vec<u8> = [0x0b].repeat(65536);
        judge(&nested, true, 0, &mut Memory::default(), true);
        judge(&[0x0a, 0x00].repeat(32768), true, 0, &mut Memory::default(), true);
        judge(&hex("0affffffffffffffffff01"), true, 0, &mut Memory::default(), true);
        judge(&[0xff; 65536], false, 0, &mut Memory::default(), true);
        for content in [vec![b'a'; 65536], hex("0a0161").repeat(21845), vec![1; 65536], hex("0a80800461").repeat(13107)]
        {
            judge(&content, true, 0, &mut Memory::default(), false);
        }
    }
}
