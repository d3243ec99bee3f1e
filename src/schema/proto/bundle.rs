//! Schema files that are imported everywhere and rarely lie beside the files that import them.

/// Files of the package `google.protobuf` whose messages an `Any` may hold without any import, each with one
/// of its types.
pub const WELL_KNOWN: [(&str, &str); 7] = [
    ("google/protobuf/any.proto", "google.protobuf.Any"),
    ("google/protobuf/duration.proto", "google.protobuf.Duration"),
    ("google/protobuf/empty.proto", "google.protobuf.Empty"),
    ("google/protobuf/field_mask.proto", "google.protobuf.FieldMask"),
    ("google/protobuf/struct.proto", "google.protobuf.Struct"),
    ("google/protobuf/timestamp.proto", "google.protobuf.Timestamp"),
    ("google/protobuf/wrappers.proto", "google.protobuf.DoubleValue"),
];

/// The text of a bundled file.
pub fn text(name: &str) -> Option<&'static str> {
    // Generated code of gogo is often built with the path of its repository in front.
    let name = name.strip_prefix("github.com/gogo/protobuf/").unwrap_or(name);
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("bundled/", $name)))),*]
    };
}

/// Names and texts.
const FILES: &[(&str, &str)] = bundled![
    "buf/validate/validate.proto",
    "gogoproto/gogo.proto",
    "google/api/annotations.proto",
    "google/api/client.proto",
    "google/api/field_behavior.proto",
    "google/api/field_info.proto",
    "google/api/http.proto",
    "google/api/httpbody.proto",
    "google/api/launch_stage.proto",
    "google/api/resource.proto",
    "google/api/routing.proto",
    "google/api/visibility.proto",
    "google/protobuf/any.proto",
    "google/protobuf/api.proto",
    "google/protobuf/compiler/plugin.proto",
    "google/protobuf/cpp_features.proto",
    "google/protobuf/descriptor.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/field_mask.proto",
    "google/protobuf/go_features.proto",
    "google/protobuf/java_features.proto",
    "google/protobuf/source_context.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/type.proto",
    "google/protobuf/wrappers.proto",
    "google/rpc/code.proto",
    "google/rpc/error_details.proto",
    "google/rpc/http.proto",
    "google/rpc/status.proto",
    "google/type/calendar_period.proto",
    "google/type/color.proto",
    "google/type/date.proto",
    "google/type/datetime.proto",
    "google/type/dayofweek.proto",
    "google/type/decimal.proto",
    "google/type/expr.proto",
    "google/type/fraction.proto",
    "google/type/interval.proto",
    "google/type/latlng.proto",
    "google/type/localized_text.proto",
    "google/type/money.proto",
    "google/type/month.proto",
    "google/type/phone_number.proto",
    "google/type/postal_address.proto",
    "google/type/quaternion.proto",
    "google/type/timeofday.proto",
    "protoc-gen-openapiv2/options/annotations.proto",
    "protoc-gen-openapiv2/options/openapiv2.proto",
    "validate/validate.proto",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::proto::source;

    #[test]
    fn every_bundled_file_can_be_read_and_imports_bundled_files_only() {
        for (name, text_of) in FILES {
            let (file, _) = source::parse(name, text_of).unwrap();
            assert!(file.package.is_some(), "{name}");
            for import in file.dependency {
                assert!(text(&import).is_some(), "{name} imports {import}");
            }
        }
        for (name, _) in WELL_KNOWN {
            assert!(text(name).is_some());
        }
    }
}
