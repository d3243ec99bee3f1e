# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_wireinspect_global_optspecs
    string join \n h/help V/version
end

function __fish_wireinspect_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_wireinspect_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_wireinspect_using_subcommand
    set -l cmd (__fish_wireinspect_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c wireinspect -n "__fish_wireinspect_needs_command" -s h -l help -d 'Print help'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -s V -l version -d 'Print version'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -f -a "schema" -d 'The types of a schema, with the places of their fields on the wire'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -f -a "help" -d 'Help on a command or a format'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -f -a "completions" -d 'Completions for a shell, or the man page'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -f -a "explain" -d 'Annotated dump: what every byte is (the main job)'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -f -a "convert" -d 'Into another format'
complete -c wireinspect -n "__fish_wireinspect_needs_command" -f -a "detect" -d 'Which format it is, with the evidence'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -s I -l include -d 'Folder to look for imports in; the schema\'s own and those above it are searched anyway' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -s t -l type -d 'Only this type, and those that it holds' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -l to -d 'What comes out' -r -f -a "text\t'Lines for people'
json\t'One JSON object'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -s o -l output -d 'Where it goes, instead of standard output' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -l color -d 'Colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -l all -d 'Types of included files too'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand help" -s h -l help -d 'Print help'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s f -l format -d 'The format, else it is found out: FORMAT or FORMAT/VARIANT' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l variant -d 'The variant of the format' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s s -l schema -d 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s I -l include -d 'Folder to look for imports in; the schema\'s own and those above it are searched anyway' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s t -l type -d 'Type of the message: full name, or a short one that is clear [default: the one that fits best]' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s e -l encoding -d 'Text that holds bytes is undone first' -r -f -a "auto\t'Found out, and said'
raw\t'None: the input is the bytes'
hex\t'Hex digits in any spelling'
base64\t'Base64 or base64url'
escaped\t'\\x0a, \\012 and \\n in text'
decimal\t'Numbers from 0 to 255'
xxd\t'xxd, hexdump, od'
dump\t'The dump that this program prints'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l skip -d 'Leave out the first N bytes of the input' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l length -d 'Read only N bytes of the input' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l limit-depth -d 'Containers within each other that are decoded, at most 10000' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l to -d 'What comes out' -r -f -a "hex\t'The annotated dump'
grid\t'A hexdump with the cause of each byte below it'
tree\t'Fields and meanings without bytes'
json\t'One JSON object an input'
jsonl\t'JSON, a line for each span as it comes'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s o -l output -d 'Where it goes, instead of standard output' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l rows -d 'What a row is' -r -f -a "fields\t'A field a row'
leaf\t'A leaf a row'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l notes -d 'How often a note on how bytes are read is printed' -r -f -a "first\t'Each kind once'
all\t'Each time'
none\t'Never'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l paths -d 'Full paths in every row, for grep' -r -f -a "short\t'The last step, and all of it where a container opens'
full\t'All of it'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l order -d 'In which order objects that point at each other are told (FlatBuffers)' -r -f -a "file\t'As they stand in the file'
logical\t'As a reader reaches them: the root, then what it leads to'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l at -d 'What the byte at this offset is, and what lies around it' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l range -d 'Only rows that touch these ranges, half open: 0x16..0x22,40..64' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l path -d 'Only rows at or below this path: items[3].sku, or items[].sku for every element' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l depth -d 'Only groups down to this depth; 1 is the fields of the message' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l max-items -d 'Only the first N elements of each list, and N messages' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l message -d 'Only these messages of several in a row, counted from 0: 3..7, or 3' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l layer -d 'The map of an outer layer (1 is the outermost), not of the message in it' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l width -d 'Columns [default: the terminal\'s, else COLUMNS, else 100]' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l color -d 'Colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l bits -d 'Bit fields of each leaf'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l no-head -d 'Rows only: no head, no foot'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -l all -d 'Nothing elided: the bytes of all rows, joined, are the input'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s f -l format -d 'The format, else it is found out: FORMAT or FORMAT/VARIANT' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l variant -d 'The variant of the format' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s s -l schema -d 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s I -l include -d 'Folder to look for imports in; the schema\'s own and those above it are searched anyway' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s t -l type -d 'Type of the message: full name, or a short one that is clear [default: the one that fits best]' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s e -l encoding -d 'Text that holds bytes is undone first' -r -f -a "auto\t'Found out, and said'
raw\t'None: the input is the bytes'
hex\t'Hex digits in any spelling'
base64\t'Base64 or base64url'
escaped\t'\\x0a, \\012 and \\n in text'
decimal\t'Numbers from 0 to 255'
xxd\t'xxd, hexdump, od'
dump\t'The dump that this program prints'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l skip -d 'Leave out the first N bytes of the input' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l length -d 'Read only N bytes of the input' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l limit-depth -d 'Containers within each other that are decoded, at most 10000' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l to -d 'What comes out: FORMAT or FORMAT/VARIANT' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s o -l output -d 'Where it goes, instead of standard output; written whole or not at all' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l fb-writer -d 'FlatBuffers: in the way of which writer the bytes are written' -r -f -a "flatc\t'As flatc -b: children as they come, fields by size'
cpp\t'As the object API of C++: children in the order of the schema, empty ones left out'
declared\t'As Swift and Python: children and fields in the order of the schema'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l pretty -d 'Text with line ends and indentation'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l ignore-unknown -d 'Leave out names that the type of the target does not have'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l fb-force-defaults -d 'FlatBuffers: write scalars that hold their default'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l fb-own-vtables -d 'FlatBuffers: a vtable for each table, none shared'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l partial -d 'Write what could be decoded of an input with errors'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -l force -d 'Write binary to a terminal'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -s f -l format -d 'The format, else it is found out: FORMAT or FORMAT/VARIANT' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -l variant -d 'The variant of the format' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -s s -l schema -d 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -s I -l include -d 'Folder to look for imports in; the schema\'s own and those above it are searched anyway' -r -F
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -s t -l type -d 'Type of the message: full name, or a short one that is clear [default: the one that fits best]' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -s e -l encoding -d 'Text that holds bytes is undone first' -r -f -a "auto\t'Found out, and said'
raw\t'None: the input is the bytes'
hex\t'Hex digits in any spelling'
base64\t'Base64 or base64url'
escaped\t'\\x0a, \\012 and \\n in text'
decimal\t'Numbers from 0 to 255'
xxd\t'xxd, hexdump, od'
dump\t'The dump that this program prints'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -l skip -d 'Leave out the first N bytes of the input' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -l length -d 'Read only N bytes of the input' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -l limit-depth -d 'Containers within each other that are decoded, at most 10000' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -l to -d 'What comes out' -r -f -a "text\t'Lines for people'
json\t'One JSON object'"
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -l width -d 'Columns [default: the terminal\'s, else COLUMNS, else 100]' -r
complete -c wireinspect -n "__fish_wireinspect_using_subcommand detect" -s h -l help -d 'Print help (see more with \'--help\')'
