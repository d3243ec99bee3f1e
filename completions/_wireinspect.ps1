
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'wireinspect' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'wireinspect'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'wireinspect' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'The types of a schema, with the places of their fields on the wire')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Help on a command or a format')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Completions for a shell, or the man page')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Annotated dump: what every byte is (the main job)')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Into another format')
            [CompletionResult]::new('detect', 'detect', [CompletionResultType]::ParameterValue, 'Which format it is, with the evidence')
            break
        }
        'wireinspect;schema' {
            [CompletionResult]::new('-I', '-I ', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Only this type, and those that it holds')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Only this type, and those that it holds')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'What comes out')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where it goes, instead of standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where it goes, instead of standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Types of included files too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wireinspect;help' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'wireinspect;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wireinspect;explain' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The format, else it is found out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The format, else it is found out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('--variant', '--variant', [CompletionResultType]::ParameterName, 'The variant of the format')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times')
            [CompletionResult]::new('-I', '-I ', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Type of the message: full name, or a short one that is clear [default: the one that fits best]')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Type of the message: full name, or a short one that is clear [default: the one that fits best]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Text that holds bytes is undone first')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'Text that holds bytes is undone first')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out the first N bytes of the input')
            [CompletionResult]::new('--length', '--length', [CompletionResultType]::ParameterName, 'Read only N bytes of the input')
            [CompletionResult]::new('--limit-depth', '--limit-depth', [CompletionResultType]::ParameterName, 'Containers within each other that are decoded, at most 10000')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'What comes out')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where it goes, instead of standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where it goes, instead of standard output')
            [CompletionResult]::new('--rows', '--rows', [CompletionResultType]::ParameterName, 'What a row is')
            [CompletionResult]::new('--notes', '--notes', [CompletionResultType]::ParameterName, 'How often a note on how bytes are read is printed')
            [CompletionResult]::new('--paths', '--paths', [CompletionResultType]::ParameterName, 'Full paths in every row, for grep')
            [CompletionResult]::new('--order', '--order', [CompletionResultType]::ParameterName, 'In which order objects that point at each other are told (FlatBuffers)')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'What the byte at this offset is, and what lies around it')
            [CompletionResult]::new('--range', '--range', [CompletionResultType]::ParameterName, 'Only rows that touch these ranges, half open: 0x16..0x22,40..64')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'Only rows at or below this path: items[3].sku, or items[].sku for every element')
            [CompletionResult]::new('--depth', '--depth', [CompletionResultType]::ParameterName, 'Only groups down to this depth; 1 is the fields of the message')
            [CompletionResult]::new('--max-items', '--max-items', [CompletionResultType]::ParameterName, 'Only the first N elements of each list, and N messages')
            [CompletionResult]::new('--message', '--message', [CompletionResultType]::ParameterName, 'Only these messages of several in a row, counted from 0: 3..7, or 3')
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'The map of an outer layer (1 is the outermost), not of the message in it')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns [default: the terminal''s, else COLUMNS, else 100]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colour')
            [CompletionResult]::new('--bits', '--bits', [CompletionResultType]::ParameterName, 'Bit fields of each leaf')
            [CompletionResult]::new('--no-head', '--no-head', [CompletionResultType]::ParameterName, 'Rows only: no head, no foot')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Nothing elided: the bytes of all rows, joined, are the input')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wireinspect;convert' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The format, else it is found out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The format, else it is found out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('--variant', '--variant', [CompletionResultType]::ParameterName, 'The variant of the format')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times')
            [CompletionResult]::new('-I', '-I ', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Type of the message: full name, or a short one that is clear [default: the one that fits best]')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Type of the message: full name, or a short one that is clear [default: the one that fits best]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Text that holds bytes is undone first')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'Text that holds bytes is undone first')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out the first N bytes of the input')
            [CompletionResult]::new('--length', '--length', [CompletionResultType]::ParameterName, 'Read only N bytes of the input')
            [CompletionResult]::new('--limit-depth', '--limit-depth', [CompletionResultType]::ParameterName, 'Containers within each other that are decoded, at most 10000')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'What comes out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where it goes, instead of standard output; written whole or not at all')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where it goes, instead of standard output; written whole or not at all')
            [CompletionResult]::new('--fb-writer', '--fb-writer', [CompletionResultType]::ParameterName, 'FlatBuffers: in the way of which writer the bytes are written')
            [CompletionResult]::new('--pretty', '--pretty', [CompletionResultType]::ParameterName, 'Text with line ends and indentation')
            [CompletionResult]::new('--ignore-unknown', '--ignore-unknown', [CompletionResultType]::ParameterName, 'Leave out names that the type of the target does not have')
            [CompletionResult]::new('--fb-force-defaults', '--fb-force-defaults', [CompletionResultType]::ParameterName, 'FlatBuffers: write scalars that hold their default')
            [CompletionResult]::new('--fb-own-vtables', '--fb-own-vtables', [CompletionResultType]::ParameterName, 'FlatBuffers: a vtable for each table, none shared')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Write what could be decoded of an input with errors')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write binary to a terminal')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wireinspect;detect' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'The format, else it is found out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The format, else it is found out: FORMAT or FORMAT/VARIANT')
            [CompletionResult]::new('--variant', '--variant', [CompletionResultType]::ParameterName, 'The variant of the format')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times')
            [CompletionResult]::new('-I', '-I ', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Folder to look for imports in; the schema''s own and those above it are searched anyway')
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Type of the message: full name, or a short one that is clear [default: the one that fits best]')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Type of the message: full name, or a short one that is clear [default: the one that fits best]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Text that holds bytes is undone first')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'Text that holds bytes is undone first')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out the first N bytes of the input')
            [CompletionResult]::new('--length', '--length', [CompletionResultType]::ParameterName, 'Read only N bytes of the input')
            [CompletionResult]::new('--limit-depth', '--limit-depth', [CompletionResultType]::ParameterName, 'Containers within each other that are decoded, at most 10000')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'What comes out')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns [default: the terminal''s, else COLUMNS, else 100]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
