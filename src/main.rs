//! Parses the command line, runs it, ends with its exit status.

fn main() -> std::process::ExitCode {
    wireinspect::cli::main()
}
