//! PostgreSQL's key words and their classes.

/// Class of a key word: positions in which it may be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordClass {
    /// May be any name.
    Unreserved,
    /// May name columns, tables and the like, but neither functions nor types.
    ColumnName,
    /// May name functions and types, but neither columns nor tables.
    TypeOrFunctionName,
    /// May only be a column's label, and that after AS.
    Reserved,
}

/// Declares the key words, sorted by text, each with the letter of its class.
macro_rules! keywords {
    (@class U) => { KeywordClass::Unreserved };
    (@class C) => { KeywordClass::ColumnName };
    (@class T) => { KeywordClass::TypeOrFunctionName };
    (@class R) => { KeywordClass::Reserved };
    ($($variant:ident $text:literal $class:ident,)*) => {
        /// Key word of PostgreSQL's grammar.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Keyword {
            $(#[doc = $text] $variant,)*
        }

        const TABLE: &[(&str, Keyword, KeywordClass)] =
            &[$(($text, Keyword::$variant, keywords!(@class $class)),)*];
    };
}

keywords! {
    Abort "abort" U, Absolute "absolute" U, Access "access" U, Action "action" U, Add "add" U, Admin "admin" U,
    After "after" U, Aggregate "aggregate" U, All "all" R, Also "also" U, Alter "alter" U, Always "always" U,
    Analyse "analyse" R, Analyze "analyze" R, And "and" R, Any "any" R, Array "array" R, As "as" R, Asc "asc" R,
    Asensitive "asensitive" U, Assertion "assertion" U, Assignment "assignment" U, Asymmetric "asymmetric" R,
    At "at" U, Atomic "atomic" U, Attach "attach" U, Attribute "attribute" U, Authorization "authorization" T,
    Backward "backward" U, Before "before" U, Begin "begin" U, Between "between" C, Bigint "bigint" C,
    Binary "binary" T, Bit "bit" C, Boolean "boolean" C, Both "both" R, Breadth "breadth" U, By "by" U,
    Cache "cache" U, Call "call" U, Called "called" U, Cascade "cascade" U, Cascaded "cascaded" U, Case "case" R,
    Cast "cast" R, Catalog "catalog" U, Chain "chain" U, Char "char" C, Character "character" C,
    Characteristics "characteristics" U, Check "check" R, Checkpoint "checkpoint" U, Class "class" U, Close "close" U,
    Cluster "cluster" U, Coalesce "coalesce" C, Collate "collate" R, Collation "collation" T, Column "column" R,
    Columns "columns" U, Comment "comment" U, Comments "comments" U, Commit "commit" U, Committed "committed" U,
    Compression "compression" U, Concurrently "concurrently" T, Configuration "configuration" U,
    Conflict "conflict" U, Connection "connection" U, Constraint "constraint" R, Constraints "constraints" U,
    Content "content" U, Continue "continue" U, Conversion "conversion" U, Copy "copy" U, Cost "cost" U,
    Create "create" R, Cross "cross" T, Csv "csv" U, Cube "cube" U, Current "current" U,
    CurrentCatalog "current_catalog" R, CurrentDate "current_date" R, CurrentRole "current_role" R,
    CurrentSchema "current_schema" T, CurrentTime "current_time" R, CurrentTimestamp "current_timestamp" R,
    CurrentUser "current_user" R, Cursor "cursor" U, Cycle "cycle" U, Data "data" U, Database "database" U,
    Day "day" U, Deallocate "deallocate" U, Dec "dec" C, Decimal "decimal" C, Declare "declare" U,
    Default "default" R, Defaults "defaults" U, Deferrable "deferrable" R, Deferred "deferred" U, Definer "definer" U,
    Delete "delete" U, Delimiter "delimiter" U, Delimiters "delimiters" U, Depends "depends" U, Depth "depth" U,
    Desc "desc" R, Detach "detach" U, Dictionary "dictionary" U, Disable "disable" U, Discard "discard" U,
    Distinct "distinct" R, Do "do" R, Document "document" U, Domain "domain" U, Double "double" U, Drop "drop" U,
    Each "each" U, Else "else" R, Enable "enable" U, Encoding "encoding" U, Encrypted "encrypted" U, End "end" R,
    Enum "enum" U, Escape "escape" U, Event "event" U, Except "except" R, Exclude "exclude" U,
    Excluding "excluding" U, Exclusive "exclusive" U, Execute "execute" U, Exists "exists" C, Explain "explain" U,
    Expression "expression" U, Extension "extension" U, External "external" U, Extract "extract" C, False "false" R,
    Family "family" U, Fetch "fetch" R, Filter "filter" U, Finalize "finalize" U, First "first" U, Float "float" C,
    Following "following" U, For "for" R, Force "force" U, Foreign "foreign" R, Forward "forward" U,
    Freeze "freeze" T, From "from" R, Full "full" T, Function "function" U, Functions "functions" U,
    Generated "generated" U, Global "global" U, Grant "grant" R, Granted "granted" U, Greatest "greatest" C,
    Group "group" R, Grouping "grouping" C, Groups "groups" U, Handler "handler" U, Having "having" R,
    Header "header" U, Hold "hold" U, Hour "hour" U, Identity "identity" U, If "if" U, Ilike "ilike" T,
    Immediate "immediate" U, Immutable "immutable" U, Implicit "implicit" U, Import "import" U, In "in" R,
    Include "include" U, Including "including" U, Increment "increment" U, Index "index" U, Indexes "indexes" U,
    Inherit "inherit" U, Inherits "inherits" U, Initially "initially" R, Inline "inline" U, Inner "inner" T,
    Inout "inout" C, Input "input" U, Insensitive "insensitive" U, Insert "insert" U, Instead "instead" U,
    Int "int" C, Integer "integer" C, Intersect "intersect" R, Interval "interval" C, Into "into" R,
    Invoker "invoker" U, Is "is" T, Isnull "isnull" T, Isolation "isolation" U, Join "join" T, Key "key" U,
    Label "label" U, Language "language" U, Large "large" U, Last "last" U, Lateral "lateral" R, Leading "leading" R,
    Leakproof "leakproof" U, Least "least" C, Left "left" T, Level "level" U, Like "like" T, Limit "limit" R,
    Listen "listen" U, Load "load" U, Local "local" U, Localtime "localtime" R, Localtimestamp "localtimestamp" R,
    Location "location" U, Lock "lock" U, Locked "locked" U, Logged "logged" U, Mapping "mapping" U, Match "match" U,
    Matched "matched" U, Materialized "materialized" U, Maxvalue "maxvalue" U, Merge "merge" U, Method "method" U,
    Minute "minute" U, Minvalue "minvalue" U, Mode "mode" U, Month "month" U, Move "move" U, Name "name" U,
    Names "names" U, National "national" C, Natural "natural" T, Nchar "nchar" C, New "new" U, Next "next" U,
    Nfc "nfc" U, Nfd "nfd" U, Nfkc "nfkc" U, Nfkd "nfkd" U, No "no" U, None "none" C, Normalize "normalize" C,
    Normalized "normalized" U, Not "not" R, Nothing "nothing" U, Notify "notify" U, Notnull "notnull" T,
    Nowait "nowait" U, Null "null" R, Nullif "nullif" C, Nulls "nulls" U, Numeric "numeric" C, Object "object" U,
    Of "of" U, Off "off" U, Offset "offset" R, Oids "oids" U, Old "old" U, On "on" R, Only "only" R,
    Operator "operator" U, Option "option" U, Options "options" U, Or "or" R, Order "order" R,
    Ordinality "ordinality" U, Others "others" U, Out "out" C, Outer "outer" T, Over "over" U, Overlaps "overlaps" T,
    Overlay "overlay" C, Overriding "overriding" U, Owned "owned" U, Owner "owner" U, Parallel "parallel" U,
    Parameter "parameter" U, Parser "parser" U, Partial "partial" U, Partition "partition" U, Passing "passing" U,
    Password "password" U, Placing "placing" R, Plans "plans" U, Policy "policy" U, Position "position" C,
    Preceding "preceding" U, Precision "precision" C, Prepare "prepare" U, Prepared "prepared" U,
    Preserve "preserve" U, Primary "primary" R, Prior "prior" U, Privileges "privileges" U, Procedural "procedural" U,
    Procedure "procedure" U, Procedures "procedures" U, Program "program" U, Publication "publication" U,
    Quote "quote" U, Range "range" U, Read "read" U, Real "real" C, Reassign "reassign" U, Recheck "recheck" U,
    Recursive "recursive" U, Ref "ref" U, References "references" R, Referencing "referencing" U, Refresh "refresh" U,
    Reindex "reindex" U, Relative "relative" U, Release "release" U, Rename "rename" U, Repeatable "repeatable" U,
    Replace "replace" U, Replica "replica" U, Reset "reset" U, Restart "restart" U, Restrict "restrict" U,
    Return "return" U, Returning "returning" R, Returns "returns" U, Revoke "revoke" U, Right "right" T,
    Role "role" U, Rollback "rollback" U, Rollup "rollup" U, Routine "routine" U, Routines "routines" U, Row "row" C,
    Rows "rows" U, Rule "rule" U, Savepoint "savepoint" U, Schema "schema" U, Schemas "schemas" U, Scroll "scroll" U,
    Search "search" U, Second "second" U, Security "security" U, Select "select" R, Sequence "sequence" U,
    Sequences "sequences" U, Serializable "serializable" U, Server "server" U, Session "session" U,
    SessionUser "session_user" R, Set "set" U, Setof "setof" C, Sets "sets" U, Share "share" U, Show "show" U,
    Similar "similar" T, Simple "simple" U, Skip "skip" U, Smallint "smallint" C, Snapshot "snapshot" U,
    Some "some" R, Sql "sql" U, Stable "stable" U, Standalone "standalone" U, Start "start" U,
    Statement "statement" U, Statistics "statistics" U, Stdin "stdin" U, Stdout "stdout" U, Storage "storage" U,
    Stored "stored" U, Strict "strict" U, Strip "strip" U, Subscription "subscription" U, Substring "substring" C,
    Support "support" U, Symmetric "symmetric" R, Sysid "sysid" U, System "system" U, Table "table" R,
    Tables "tables" U, Tablesample "tablesample" T, Tablespace "tablespace" U, Temp "temp" U, Template "template" U,
    Temporary "temporary" U, Text "text" U, Then "then" R, Ties "ties" U, Time "time" C, Timestamp "timestamp" C,
    To "to" R, Trailing "trailing" R, Transaction "transaction" U, Transform "transform" U, Treat "treat" C,
    Trigger "trigger" U, Trim "trim" C, True "true" R, Truncate "truncate" U, Trusted "trusted" U, Type "type" U,
    Types "types" U, Uescape "uescape" U, Unbounded "unbounded" U, Uncommitted "uncommitted" U,
    Unencrypted "unencrypted" U, Union "union" R, Unique "unique" R, Unknown "unknown" U, Unlisten "unlisten" U,
    Unlogged "unlogged" U, Until "until" U, Update "update" U, User "user" R, Using "using" R, Vacuum "vacuum" U,
    Valid "valid" U, Validate "validate" U, Validator "validator" U, Value "value" U, Values "values" C,
    Varchar "varchar" C, Variadic "variadic" R, Varying "varying" U, Verbose "verbose" T, Version "version" U,
    View "view" U, Views "views" U, Volatile "volatile" U, When "when" R, Where "where" R, Whitespace "whitespace" U,
    Window "window" R, With "with" R, Within "within" U, Without "without" U, Work "work" U, Wrapper "wrapper" U,
    Write "write" U, Xml "xml" U, Xmlattributes "xmlattributes" C, Xmlconcat "xmlconcat" C, Xmlelement "xmlelement" C,
    Xmlexists "xmlexists" C, Xmlforest "xmlforest" C, Xmlnamespaces "xmlnamespaces" C, Xmlparse "xmlparse" C,
    Xmlpi "xmlpi" C, Xmlroot "xmlroot" C, Xmlserialize "xmlserialize" C, Xmltable "xmltable" C, Year "year" U,
    Yes "yes" U, Zone "zone" U,
}

/// Length of the longest key word.
const LENGTH_MAX: usize = 24;

/// First row of [`TABLE`] for each first letter, and its length at the end.
const FIRST_ROWS: [usize; 27] = {
    let mut rows = [0; 27];
    let mut letter = 0;
    let mut row = 0;
    while letter < 27 {
        while row < TABLE.len() && ((TABLE[row].0.as_bytes()[0] - b'a') as usize) < letter {
            row += 1;
        }
        rows[letter] = row;
        letter += 1;
    }
    rows
};

impl Keyword {
    /// Returns the key word that a word is, in upper or lower case.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        let mut lower = [0; LENGTH_MAX];
        let lower = lower.get_mut(..word.len())?;
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        let letter = usize::from(lower.first()?.checked_sub(b'a').filter(|letter| *letter < 26)?);
        let rows = &TABLE[FIRST_ROWS[letter]..FIRST_ROWS[letter + 1]];
        let row = rows.binary_search_by(|(text, ..)| text.as_bytes().cmp(lower)).ok()?;
        Some(rows[row].1)
    }

    /// Returns the word in lower case.
    #[must_use]
    pub fn text(self) -> &'static str {
        TABLE[self as usize].0
    }

    /// Returns the word's class.
    #[must_use]
    pub fn class(self) -> KeywordClass {
        TABLE[self as usize].2
    }

    /// True if the word may name a column, a table or the like.
    #[must_use]
    pub fn is_column_name(self) -> bool {
        matches!(self.class(), KeywordClass::Unreserved | KeywordClass::ColumnName)
    }

    /// True if the word may name a function or a type.
    #[must_use]
    pub fn is_function_name(self) -> bool {
        matches!(self.class(), KeywordClass::Unreserved | KeywordClass::TypeOrFunctionName)
    }

    /// True if the word is a column's label only after AS.
    #[must_use]
    pub fn is_label_after_as_only(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            Array
                | As
                | Char
                | Character
                | Create
                | Day
                | Except
                | Fetch
                | Filter
                | For
                | From
                | Grant
                | Group
                | Having
                | Hour
                | Intersect
                | Into
                | Isnull
                | Limit
                | Minute
                | Month
                | Notnull
                | Offset
                | On
                | Order
                | Over
                | Overlaps
                | Precision
                | Returning
                | Second
                | To
                | Union
                | Varying
                | Where
                | Window
                | With
                | Within
                | Without
                | Year
        )
    }
}

#[cfg(test)]
mod tests;
