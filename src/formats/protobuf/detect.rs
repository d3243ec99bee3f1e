//! Whether bytes are Protobuf: one message, messages behind their lengths, or gRPC frames. Any bytes may be a
//! message by chance, short ones often are; how likely that is decides ([`super::guess::weigh`]).

use crate::formats::{Candidate, Context, Level, Sample};
use crate::model::num::{bytes, count, len64};

use super::chain::{self, Frame, Framing};
use super::guess::scan::{Fault, Fields, Wrong};
use super::guess::{self, Guess, Memory, weigh};
use super::{fit, wire};

/// Bytes in which fields inside of fields are counted.
const COUNTED: usize = 64 * 1024;
/// Messages inside each other that are counted.
const COUNTED_DEPTH: usize = 100;
/// Messages of a stream that are weighed.
const WEIGHED: usize = 64;
/// Points of a text that most LEN fields are.
const TEXT: i32 = 16;
/// Text has no higher score as a message; plain text has more.
const TEXT_SCORE: u32 = 60;

/// Fewer bytes than this are a message too easily.
const SHORT: usize = 5;
/// The highest score of so few bytes.
const SHORT_SCORE: u32 = 320;

/// The score of one gRPC frame that holds an empty message, the five zeros of an empty reply.
const EMPTY_SCORE: u32 = 310;

/// One way to read the sample.
struct Reading {
    variant: &'static str,
    score: u32,
    /// No fault.
    sound: bool,
    pro: Vec<String>,
    contra: Vec<String>,
}

impl Reading {
    fn new(variant: &'static str) -> Reading {
        Reading { variant, score: 0, sound: true, pro: Vec::new(), contra: Vec::new() }
    }
}

/// The candidate that every input gets, with what speaks for and against it.
pub fn detect(sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
    let mut readings = match context.variant {
        "delimited" => vec![stream(sample, Framing::Delimited)],
        "grpc" => vec![stream(sample, Framing::Grpc)],
        _ => vec![plain(sample), stream(sample, Framing::Delimited), stream(sample, Framing::Grpc)],
    };
    for reading in &mut readings {
        ask_schema(reading, sample, context);
    }
    // Of readings that fit as well the simpler one is taken, which stands first.
    let best = readings.into_iter().rev().max_by_key(|reading| reading.score).unwrap_or(Reading::new("plain"));
    let level = match best.score {
        900.. if best.sound => Level::Certain,
        500.. => Level::Likely,
        _ => Level::Possible,
    };
    Candidate {
        format: "protobuf",
        variant: best.variant,
        level,
        score: best.score,
        pro: best.pro,
        contra: best.contra,
    }
}

/// The score of a message that fits, by its points.
fn score_of(points: i32) -> u32 {
    match points / 4 {
        60.. => 955,
        40.. => 910,
        24.. => 800,
        12.. => 650,
        5.. => 450,
        2.. => 320,
        -6.. => 120,
        _ => 40,
    }
}

/// The reading as one message.
fn plain(sample: &Sample<'_>) -> Reading {
    let mut reading = Reading::new("plain");
    if sample.bytes.is_empty() {
        reading.score = 40;
        reading.pro.push("0 bytes are a message without fields".to_string());
        return reading;
    }
    let (seen, fault) = weigh::up_to_fault(sample.bytes, sample.complete);
    match fault {
        None => {
            let fits = if sample.complete { "fits to the last byte" } else { "fits as far as it was read" };
            reading.score = score_of(seen.points);
            if sample.bytes.len() < SHORT {
                reading.score = reading.score.min(SHORT_SCORE);
            }
            reading.pro.push(format!("every tag and length {fits} ({})", fields_words(sample, seen.fields)));
        }
        Some(fault) => damaged(&mut reading, sample, seen, fault),
    }
    mind_text(&mut reading, sample, seen.points);
    reading
}

/// Text that people read is hardly ever a message, even where it fits.
fn mind_text(reading: &mut Reading, sample: &Sample<'_>, points: i32) {
    let text = weigh::text(sample.bytes, sample.complete).filter(|text| text.clean);
    if text.is_some_and(|text| text.points.saturating_add(TEXT) >= points) {
        reading.score = reading.score.min(TEXT_SCORE);
        if reading.sound {
            reading.contra.push("printable text: words are messages by chance, one of 24 is".to_string());
        }
    }
}

fn fields_words(sample: &Sample<'_>, top: usize) -> String {
    match fields_in(sample.bytes) {
        Some(all) => count(all, "field", "fields"),
        None => format!("{} at the top", count(len64(top), "field", "fields")),
    }
}

/// Score and evidence of a message with a fault.
fn damaged(reading: &mut Reading, sample: &Sample<'_>, seen: weigh::Message, fault: Fault) {
    let bytes = sample.bytes;
    reading.sound = false;
    reading.contra.push(format!("{:#04x}: {}", fault.at, fault.words(bytes)));
    let (part, line_end) = without_line_end(bytes);
    if line_end > 0 && fault.at >= part.len() {
        reading.score = score_of(seen.points).saturating_sub(50);
        reading.pro.push(format!("{} up to a line end behind the message", fit_words(seen.fields)));
        return;
    }
    if matches!(fault.what, Wrong::Cut | Wrong::Length(..) | Wrong::Open(_)) {
        let cut = weigh::message(bytes, false).map_or(i32::MIN, |cut| cut.points);
        if cut >= 32 {
            // One field that is cut says little, but that it is text.
            let most = if seen.fields == 0 && cut < 120 { 280 } else { 600 };
            reading.score = (score_of(cut) * 2 / 3).min(most);
            reading.pro.push(match seen.fields {
                0 => "begins with a field that the end cuts".to_string(),
                fields => format!("{} up to a cut", fit_words(fields)),
            });
            return;
        }
    }
    let sound = fault.at.saturating_mul(100).checked_div(bytes.len()).unwrap_or(0);
    let score = score_of(seen.points);
    reading.score = match (sound, fault.at) {
        _ if seen.points < 48 => (score / 20).min(25),
        (50.., 8..) => (score * 2 / 3).min(480),
        (50.., _) => score / 5,
        (25.., 8..) => (score / 4).min(240),
        // So much does not fit by chance, whatever share of the whole it is.
        (_, 64..) if seen.points >= 240 => 260,
        _ => (score / 20).min(25),
    };
    if reading.score > 25 {
        reading.pro.push(format!("{} up to {:#04x}", fit_words(seen.fields), fault.at));
    }
}

/// `3 fields fit`
fn fit_words(fields: usize) -> String {
    format!("{} {}", count(len64(fields), "field", "fields"), if fields == 1 { "fits" } else { "fit" })
}

/// The bytes without the line end that an editor or `echo` adds, and its length.
fn without_line_end(bytes: &[u8]) -> (&[u8], usize) {
    let part = bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes);
    (part, bytes.len().saturating_sub(part.len()))
}

/// Fields in a message, those inside of its fields among them; none where that is too much to count.
fn fields_in(bytes: &[u8]) -> Option<u64> {
    if bytes.len() > COUNTED {
        return None;
    }
    let mut memory = Memory::default();
    let mut open = vec![(Fields::new(bytes, true), 0u64)];
    let mut fields = 0u64;
    while let Some((level, place)) = open.last_mut() {
        let Some(field) = level.next() else {
            open.pop();
            continue;
        };
        fields = fields.saturating_add(u64::from(field.wire != wire::WireType::EGroup));
        let place = place.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(field.number));
        if field.content.is_empty() || open.len() >= COUNTED_DEPTH {
            continue;
        }
        if guess::judge(field.content, true, place, &mut memory, false).best == Guess::Message {
            open.push((Fields::new(field.content, true), place));
        }
    }
    Some(fields)
}

/// The reading as messages one behind the other, each behind its length.
fn stream(sample: &Sample<'_>, framing: Framing) -> Reading {
    let mut reading = Reading::new(framing.variant());
    let mut frames = chain::Frames::new(sample.bytes, framing, sample.complete);
    let mut seen = Stream::default();
    for frame in frames.by_ref() {
        seen.take(&frame);
    }
    if let (0, Framing::Grpc, Some((at, problem))) = (seen.frames, framing, &frames.fault) {
        reading.sound = false;
        reading.score = first_frame_cut(sample);
        reading.contra.push(format!("{at:#04x}: {problem}"));
        reading.pro.push("begins with the header of a gRPC frame".to_string());
        return reading;
    }
    reading.sound = frames.fault.is_none() && seen.bad.is_none();
    if let Some((at, fault)) = &seen.bad {
        reading.contra.push(format!("{:#04x}: in message {at}, {}", fault.0, fault.1));
    } else if let Some((at, problem)) = &frames.fault {
        reading.contra.push(format!("{at:#04x}: {problem}"));
    }
    reading.score = seen.score(framing, sample, reading.sound, frames.fault.is_some());
    if reading.score > 0 {
        reading.pro.push(seen.words(framing, sample, frames.fault.is_none()));
    }
    reading
}

/// The score of a single gRPC frame that the end cuts.
fn first_frame_cut(sample: &Sample<'_>) -> u32 {
    let frame = chain::Frames::new(sample.bytes, Framing::Grpc, false).next();
    // Nobody writes frames of 16 MiB.
    let header = matches!(sample.bytes, [0, 0, ..]);
    let content = frame.filter(|_| header).and_then(|frame| weigh::message(frame.content, false));
    if content.is_some_and(|seen| seen.points >= 24) { 310 } else { 0 }
}

/// What the frames of a sample hold.
#[derive(Default)]
struct Stream {
    frames: u64,
    /// Messages that hold something and parse.
    messages: u64,
    /// Frames that cannot be looked into.
    closed: u64,
    points: i32,
    first: Option<(u8, usize)>,
    /// A frame of trailers, as gRPC-Web has it.
    trailers: bool,
    /// A frame that ends a stream, as Connect has it.
    ending: bool,
    /// Flags of the last frame.
    last: u8,
    /// The first message that does not parse: its position, offset and words.
    bad: Option<(u64, (usize, String))>,
}

impl Stream {
    fn take(&mut self, frame: &Frame<'_>) {
        self.first.get_or_insert((frame.flags, frame.content.len()));
        self.trailers |= chain::has_trailers(frame.flags);
        self.ending |= chain::ends_stream(frame.flags);
        self.last = frame.flags;
        if self.frames < len64(WEIGHED) && self.bad.is_none() && frame.is_message() {
            self.weigh(frame);
        }
        self.closed = self.closed.saturating_add(u64::from(!frame.is_message()));
        self.frames = self.frames.saturating_add(1);
    }

    fn weigh(&mut self, frame: &Frame<'_>) {
        let (seen, fault) = weigh::up_to_fault(frame.content, frame.whole);
        if let Some(fault) = fault {
            let words = fault.words(frame.content);
            self.bad = Some((self.frames, (frame.start.saturating_add(fault.at), words)));
            return;
        }
        self.messages = self.messages.saturating_add(u64::from(!frame.content.is_empty()));
        self.points = self.points.saturating_add(seen.points);
    }

    fn score(&self, framing: Framing, sample: &Sample<'_>, sound: bool, cut: bool) -> u32 {
        if self.frames == 0 {
            return 0;
        }
        let holds = self.messages > 0 || self.closed > 0;
        if !holds {
            // Zeros are also empty messages. A lone gRPC frame of nothing is the commonest reply there is;
            // nobody writes a stream of empty messages alone.
            let few = sample.bytes.len() <= 16 && self.bad.is_none() && sound;
            return match framing {
                _ if !few => 0,
                Framing::Grpc if self.frames == 1 => EMPTY_SCORE,
                Framing::Grpc => 35,
                Framing::Delimited => 20,
            };
        }
        let points = self.points.saturating_add(8 * i32::try_from(self.messages.min(64)).unwrap_or(64));
        let score = match framing {
            // Zeros in front of a message are empty messages too.
            Framing::Delimited if self.messages.saturating_mul(2) < self.frames => score_of(points).min(280),
            Framing::Delimited if self.messages >= 2 => score_of(points).min(945),
            Framing::Delimited => score_of(points).min(640),
            // Five bytes of header that fit, of which three are mostly zero, are worth 30 bits.
            Framing::Grpc if self.messages > 0 => score_of(points.saturating_add(120)).min(950),
            Framing::Grpc => 500,
        };
        match (self.bad.is_some(), cut) {
            (false, false) => score,
            (false, true) if self.messages >= 1 => (score * 2 / 3).min(640),
            (true, _) if self.messages >= 2 => score / 2,
            _ => 0,
        }
    }

    /// Who writes such flags.
    fn writers(&self) -> &'static str {
        let one = self.frames == 1;
        match (self.trailers, self.ending) {
            (false, false) => "as gRPC and gRPC-Web both write them",
            (true, true) => "with flags of gRPC-Web and of Connect",
            (true, false) if one => "as gRPC-Web writes them (the frame holds trailers)",
            (true, false) if chain::has_trailers(self.last) => {
                "as gRPC-Web writes them (the last frame holds trailers)"
            }
            (true, false) => "as gRPC-Web writes them",
            (false, true) if one => "as Connect writes them (the frame ends the stream)",
            (false, true) if chain::ends_stream(self.last) => "as Connect writes them (the last frame ends the stream)",
            (false, true) => "as Connect writes them",
        }
    }

    fn words(&self, framing: Framing, sample: &Sample<'_>, ends: bool) -> String {
        let end = match (ends, sample.complete) {
            (true, true) => "to the last byte",
            (true, false) => "as far as it was read",
            (false, _) => "up to a cut",
        };
        match (framing, self.first) {
            (Framing::Grpc, Some((flags, len))) if self.frames == 1 && ends => {
                let size = bytes(len64(sample.bytes.len()));
                let empty = if flags == 0 && len == 0 { " (an empty message)" } else { "" };
                format!("flag {flags:02x} and length {len} fit the {size} to the last{empty}, {}", self.writers())
            }
            (Framing::Grpc, _) => {
                let frames = count(self.frames, "frame", "frames");
                format!("{frames} of a flag, a length and a message chain {end}, {}", self.writers())
            }
            (Framing::Delimited, _) if self.messages == 0 => {
                format!("{} of 0 bytes: messages without fields", count(self.frames, "length", "lengths"))
            }
            (Framing::Delimited, Some((_, len))) if self.frames == 1 => {
                format!("a length of {len} and a message of as many bytes, {end}")
            }
            (Framing::Delimited, _) => {
                format!("{} lengths chain {end}, a message behind each", self.frames)
            }
        }
    }
}

/// What a schema says to a reading: a type that knows all is strong evidence.
fn ask_schema(reading: &mut Reading, sample: &Sample<'_>, context: &Context<'_>) {
    let Some(schema) = context.schema else { return };
    if reading.score == 0 || sample.bytes.is_empty() {
        return;
    }
    let context = Context { variant: reading.variant, ..*context };
    let fits = fit::fits(sample, &context, schema);
    let told = |fit: &&crate::formats::Fit| context.root.is_none_or(|root| root == fit.root);
    let Some(best) = fits.iter().find(told) else { return };
    let name = schema.message(best.root).map_or("", |message| message.full_name.as_str());
    if best.clean && reading.sound {
        // By chance a type knows the fields of short input too.
        reading.score = if reading.score >= 300 { reading.score.max(960) } else { reading.score.max(500) };
        reading.pro.push(format!("{name} knows all its fields"));
    } else if !best.clean {
        reading.score = reading.score * 3 / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::plain;

    fn found(bytes: &[u8], complete: bool) -> Candidate {
        let context = Context { owner: 0, variant: "plain", depth: 100, schema: None, root: None };
        detect(&Sample { bytes, complete }, &context)
    }

    fn hex(text: &str) -> Vec<u8> {
        data_encoding::HEXLOWER.decode(text.replace(' ', "").as_bytes()).unwrap()
    }

    /// The first of the golden documents: 155 bytes, 37 fields.
    fn document() -> Vec<u8> {
        hex(concat!(
            "0a086274696d6370786d10041a060a02616c1003220c0a047974676c100a18bdb203",
            "22110a0a7364776b686f6b716d66102618 9d13",
            "22130a0b676f6a68746966707565701061 18e6c505",
            "220b0a037a6961104f18f38d04220c0a04706e6a74103d18ebfe01",
            "22140a0c7466746a6c646d71726f7474103618fdc105",
            "220f0a0775636970657 26a104e1884da03220d0a056568656 16d102718adf204"
        ))
    }

    #[test]
    fn a_message_that_fits_is_certain() {
        let candidate = found(&document(), true);
        assert_eq!((candidate.variant, candidate.level), ("plain", Level::Certain));
        assert_eq!(candidate.pro, ["every tag and length fits to the last byte (37 fields)"]);
        assert!(candidate.contra.is_empty());
        let cut = found(&document()[..100], false);
        assert_eq!((cut.level, cut.pro[0].starts_with("every tag and length fits as far")), (Level::Certain, true));
        for short in ["0801", "1a0b504c4159455247524f5550", "089601"] {
            assert!(found(&hex(short), true).score > plain::TEXT_SCORE, "{short}");
        }
    }

    #[test]
    fn an_empty_input_is_a_message_if_nothing_else() {
        let candidate = found(&[], true);
        assert_eq!((candidate.variant, candidate.score), ("plain", 40));
    }

    #[test]
    fn text_is_text() {
        let texts: [&[u8]; 6] =
            [b"error", b"image.png", b"eu-west", b"PLAYERGROUP", b"hi", "\u{43f}\u{440}".as_bytes()];
        for text in texts {
            let candidate = found(text, true);
            assert!(candidate.score < 100, "{candidate:?}");
        }
        assert_eq!(found(b"error", true).contra, ["printable text: words are messages by chance, one of 24 is"]);
    }

    #[test]
    fn the_byte_that_rules_it_out_is_named() {
        let contra = |text| found(&hex(text), true).contra[0].clone();
        assert_eq!(contra("84a26964a3616263"), "0x00: 84 a2 69 would end a group that never began");
        assert_eq!(contra("0801 03 00"), "0x02: 03 is a tag with field number 0");
        assert_eq!(contra("0801 0f 00 00"), "0x02: 0f is a tag with wire type 6 or 7, which do not exist");
        assert_eq!(contra("0801 126161"), "0x03: the length says 97 bytes, 1 are left");
        assert!(found(&hex("84a26964a3616263"), true).score < 30);
    }

    #[test]
    fn a_message_with_a_fault_is_still_found() {
        let mut bytes = document();
        bytes.truncate(150);
        let candidate = found(&bytes, true);
        assert_eq!((candidate.score, candidate.level), (600, Level::Likely));
        assert_eq!(candidate.contra, ["0x8d: the length says 13 bytes, 8 are left"]);
        assert_eq!(candidate.pro, ["10 fields fit up to a cut"]);
        let mut bytes = document();
        bytes[0x8c] = 0x27;
        let candidate = found(&bytes, true);
        assert_eq!(candidate.contra, ["0x8c: 27 is a tag with wire type 6 or 7, which do not exist"]);
        assert!(candidate.score > 400);
        let line_end = found(&hex("0896010a"), true);
        assert!(line_end.score > plain::TEXT_SCORE, "{line_end:?}");
        assert_eq!(line_end.pro, ["1 field fits up to a line end behind the message"]);
    }

    #[test]
    fn lengths_that_chain_are_a_stream() {
        let one = document();
        let mut stream = Vec::new();
        for _ in 0..5 {
            wire::push_varint(155, &mut stream);
            stream.extend_from_slice(&one);
        }
        let candidate = found(&stream, true);
        assert_eq!((candidate.variant, candidate.level), ("delimited", Level::Certain));
        assert_eq!(candidate.pro, ["5 lengths chain to the last byte, a message behind each"]);
        stream.truncate(700);
        let candidate = found(&stream, true);
        assert_eq!((candidate.variant, candidate.contra[0].starts_with("0x274: ")), ("delimited", true));
        assert_eq!(found(&stream, false).level, Level::Certain);
        assert_eq!(found(&[0, 0, 0], true).variant, "delimited");
        // A single field 1 of ten bytes is a length of ten and a message as well: the simpler reading counts.
        assert_eq!(found(&hex("0a0a0a08616263646566676 8"), true).variant, "plain");
    }

    #[test]
    fn frames_of_grpc() {
        let message = hex("0a0a68656c6c6f 776f726c64");
        let mut frame = vec![0, 0, 0, 0, 12];
        frame.extend_from_slice(&message);
        let candidate = found(&frame, true);
        assert_eq!((candidate.variant, candidate.level), ("grpc", Level::Certain));
        assert_eq!(
            candidate.pro,
            ["flag 00 and length 12 fit the 17 bytes to the last, as gRPC and gRPC-Web both write them"]
        );
        let mut two = frame.repeat(2);
        two.extend_from_slice(&[0x80, 0, 0, 0, 15]);
        two.extend_from_slice(b"grpc-status: 0\r");
        assert_eq!(found(&two, true).variant, "grpc");
        two.truncate(20);
        assert_eq!(found(&two, true).contra, ["0x11: 3 of 5 bytes of a frame's header"]);
        assert!(found(&[0, 0, 0, 0, 100, 8, 1], true).score > plain::TEXT_SCORE);
        assert!(found(&[0; 64], true).score < 30);
    }

    #[test]
    fn five_zeros_are_an_empty_reply_of_grpc() {
        let empty = found(&[0; 5], true);
        assert_eq!((empty.variant, empty.score), ("grpc", EMPTY_SCORE));
        assert_eq!(
            empty.pro,
            [
                "flag 00 and length 0 fit the 5 bytes to the last (an empty message), as gRPC and gRPC-Web both write them"
            ]
        );
        for zeros in [1, 2, 3, 4, 6, 7] {
            assert!(found(&vec![0; zeros], true).score < 30, "{zeros}");
        }
        let context = Context { owner: 0, variant: "delimited", depth: 100, schema: None, root: None };
        assert!(detect(&Sample { bytes: &[0; 5], complete: true }, &context).score < 30);
    }

    #[test]
    fn flags_of_frames_tell_who_writes_them() {
        let pro = |tail: &str| found(&hex(&format!("0000000002 0801 {tail}")), true).pro.remove(0);
        let chain = "frames of a flag, a length and a message chain to the last byte";
        assert_eq!(pro("0000000002 0802"), format!("2 {chain}, as gRPC and gRPC-Web both write them"));
        assert_eq!(
            pro("8000000003 613a62"),
            format!("2 {chain}, as gRPC-Web writes them (the last frame holds trailers)")
        );
        assert_eq!(
            pro("0200000002 7b7d"),
            format!("2 {chain}, as Connect writes them (the last frame ends the stream)")
        );
        assert_eq!(pro("8000000003 613a62 0000000002 0802"), format!("3 {chain}, as gRPC-Web writes them"));
        let alone = found(&hex("8000000003 613a62"), true).pro.remove(0);
        assert!(alone.ends_with(", as gRPC-Web writes them (the frame holds trailers)"), "{alone}");
    }

    #[test]
    fn changed_messages_break_nothing() {
        let document = document();
        let mut memory = Memory::default();
        for at in 0..document.len() {
            for value in [0, 1, 2, 3, 4, 5, 6, 7, 0x0a, 0x0b, 0x0c, 0x7f, 0x80, 0xff] {
                let mut bytes = document.clone();
                bytes[at] = value;
                for part in [&bytes[..], &bytes[at..], &bytes[..at]] {
                    let candidate = found(part, at % 2 == 0);
                    assert!(candidate.score <= 1000);
                    let judged = guess::judge(part, at % 2 == 1, u64::from(value), &mut memory, true);
                    assert!(judged.readings.iter().all(|one| one.value.chars().count() < 130), "{judged:?}");
                }
            }
        }
    }

    #[test]
    fn random_bytes_are_not_protobuf() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut chosen = [0usize; 2];
        for round in 0..4000usize {
            let bytes: Vec<u8> = (0..8 + round % 120)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state.to_le_bytes()[3]
                })
                .collect();
            let score = found(&bytes, true).score;
            chosen[0] += usize::from(score >= 30);
            chosen[1] += usize::from(score >= 300);
        }
        assert!(chosen[0] < 200 && chosen[1] < 20, "{chosen:?}");
    }
}
