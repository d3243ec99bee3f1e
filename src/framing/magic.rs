//! Files of other kinds, by the bytes they begin with: named, so that nobody is left with "unknown".

/// Beginnings and what they are.
const KNOWN: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\x7fELF", "an ELF executable or library"),
    (b"MZ\x90\x00", "a Windows executable"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O executable"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O universal binary"),
    (b"\x00asm", "a WebAssembly module"),
    (b"\x1f\x8b\x08", "gzip data (gunzip it first)"),
    (b"\x28\xb5\x2f\xfd", "zstd data (unzstd it first)"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"PK\x03\x04", "a ZIP archive (also .jar, .docx, .apk)"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ORC", "an ORC file"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"Obj\x01", "an Avro container"),
    (b"<!DOCTYPE html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML document"),
    (b"\xff\xfe", "UTF-16 text, low byte first"),
    (b"\xfe\xff", "UTF-16 text, high byte first"),
    (b"RIFF", "a RIFF file (WAV, AVI, WebP)"),
    (b"\x00\x00\x00\x0cjP", "a JPEG 2000 image"),
];

/// What an input is by its first bytes, where it is none of the formats that are decoded.
pub fn named(bytes: &[u8]) -> Option<&'static str> {
    KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, name)| *name)
}
