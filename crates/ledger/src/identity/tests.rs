//! Pairs of summaries with one meaning, and pairs with two. Every rule has its pairs on both sides of its edge.

use super::*;
use proptest::prelude::*;

const SAME: &[(&str, &[(&str, &str)])] = &[
    (
        "case",
        &[
            ("Use Redis", "USE REDIS"),
            ("Deploy to Staging First", "deploy to staging first"),
            ("Über-Cache verwenden", "über-cache verwenden"),
            ("USE A VAULT", "use a vault"),
            ("Store Tokens In A Vault", "store tokens in a vault"),
            ("TIMEOUT IS 100 MS", "timeout is 100 ms"),
            ("Limit uploads to 10 GB", "limit uploads to 10 gb"),
            ("Handle 10K requests", "Handle 10k requests"),
            ("Use plan A", "use plan a"),
            ("Move it from A to B", "move it from a to b"),
        ],
    ),
    (
        "spaces and line breaks",
        &[
            ("Use Redis\nfor caching", "Use Redis for caching"),
            ("  Use   Redis\t", "Use Redis"),
            ("Use\u{a0}Redis", "Use Redis"),
            ("Use Redis\r\n\r\nfor caching", "Use Redis for caching"),
            ("Latency <50 ms", "Latency < 50 ms"),
            ("Keep p99<=50ms", "Keep p99 <= 50 ms"),
            ("Coverage >=80%", "Coverage >= 80 %"),
            ("Use Redis , not Memcached", "Use Redis, not Memcached"),
        ],
    ),
    (
        "Unicode composition",
        &[
            ("Use the caf\u{e9} API", "Use the cafe\u{301} API"),
            ("Na\u{ef}ve search", "Nai\u{308}ve search"),
            ("\u{c5}ngstr\u{f6}m", "A\u{30a}ngstro\u{308}m"),
            (
                "\u{d55c}\u{ad6d}\u{c5b4} support",
                "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165} support",
            ),
        ],
    ),
    (
        "quotation marks and back-ticks",
        &[
            ("Use `serde`", "Use serde"),
            ("Use \"Redis\"", "Use Redis"),
            ("Use 'Redis'", "Use Redis"),
            ("Use “Redis”", "Use Redis"),
            ("Use ‘Redis’", "Use Redis"),
            ("Use «Redis»", "Use „Redis“"),
            ("Use \"Redis.\"", "Use \"Redis\"."),
            ("Call it 'the big one'", "Call it \"the big one\""),
            ("Rename `foo` to `bar`", "Rename foo to bar"),
            ("Set ``x`` to 5", "Set x to 5"),
            ("Use `Node.js`", "Use Node.js"),
            ("Use \"the cache\"", "Use the cache"),
            ("'Use Redis'", "Use Redis"),
            ("Run `cargo test --all`", "Run cargo test --all"),
            ("The user's data is private", "The user’s data is private"),
            ("Don’t store secrets", "Don't store secrets"),
        ],
    ),
    (
        "punctuation between words and at the end",
        &[
            ("Use SQLite", "Use SQLite."),
            ("Use SQLite", "Use SQLite!"),
            ("Use SQLite", "Use SQLite…"),
            ("Use SQLite", "Use SQLite..."),
            ("Use SQLite", "Use SQLite;"),
            ("Use Redis, then Postgres", "Use Redis then Postgres"),
            ("Use Redis; then Postgres", "Use Redis, then Postgres"),
            ("Decision: use Redis", "Decision use Redis"),
            ("Use Redis - it is fast", "Use Redis, it is fast"),
            ("Use Redis — it is fast", "Use Redis, it is fast"),
            ("Use Redis—it is fast", "Use Redis, it is fast"),
            ("Use Redis – it is fast", "Use Redis it is fast"),
            ("Use Redis (for caching)", "Use Redis for caching"),
            ("Use Redis (the cache).", "Use Redis the cache"),
            ("Upgrade to v1.2.", "Upgrade to v1.2"),
            ("Use C.", "Use C"),
            ("Use C++.", "Use C++"),
            ("Use Node.js.", "Use Node.js"),
            ("Use .NET!", "Use .NET"),
            ("Open ports 80, 443", "Open ports 80 443"),
            ("First, write tests", "First write tests"),
            ("使用 Redis。", "使用 Redis"),
        ],
    ),
    (
        "articles",
        &[
            ("Store the tokens in a vault", "Store tokens in the vault"),
            ("Write an adapter", "Write the adapter"),
            ("A vault holds the tokens", "Vault holds tokens"),
            ("The cache is cold", "Cache is cold"),
            ("Write a C program", "Write C program"),
            ("Build a CLI", "Build CLI"),
            ("Keep a log of the changes", "Keep log of changes"),
            ("Use an ORM", "Use ORM"),
        ],
    ),
    (
        "contractions",
        &[
            ("Don't store secrets", "Do not store secrets"),
            ("Can't use GPL code", "Cannot use GPL code"),
            ("Can't use GPL code", "Can not use GPL code"),
            ("Cannot use GPL code", "Can not use GPL code"),
            ("It doesn't scale", "It does not scale"),
            ("It won't scale", "It will not scale"),
            ("It isn't safe", "It is not safe"),
            ("It's safe", "It is safe"),
            ("They're slow", "They are slow"),
            ("We've migrated", "We have migrated"),
            ("You shouldn't retry", "You should not retry"),
            ("We mustn't log tokens", "We must not log tokens"),
            ("That's the limit", "That is the limit"),
            ("Tests haven't run", "Tests have not run"),
            ("WE DON'T SHIP ON FRIDAYS", "we do not ship on fridays"),
            ("There's no index", "There is no index"),
            ("I'm on call", "I am on call"),
        ],
    ),
    (
        "a leading we will",
        &[
            ("We will use Redis", "Use Redis"),
            ("We'll use Redis", "Use Redis"),
            ("I'll write the docs", "Write the docs"),
            ("I will write the docs", "Write docs"),
            ("Let's use Redis", "Use Redis"),
            ("Let us use Redis", "Let's use Redis"),
            ("We’ll use Redis", "I'll use Redis"),
            ("We won't use Redis", "We will not use Redis"),
            ("We'll not use Redis", "We won't use Redis"),
            ("we will   use `Redis`.", "use Redis"),
        ],
    ),
    (
        "the -ing of the leading verb",
        &[
            ("Using Redis for caching", "Use Redis for caching"),
            ("Running tests in CI", "Run tests in CI"),
            ("Deploying to staging", "Deploy to staging"),
            ("Switching to Fastify", "Switch to Fastify"),
            ("Writing docs", "Write docs"),
            ("Caching responses", "Cache responses"),
            ("Adding retries", "Add retries"),
            ("Planning the migration", "Plan the migration"),
            ("Splitting the module", "Split the module"),
            ("Setting up CI", "Set up CI"),
            ("Migrating to Postgres", "Migrate to Postgres"),
            ("Containerizing the app", "Containerize the app"),
            ("Refactoring the parser", "Refactor the parser"),
            ("Keeping logs for 30 days", "Keep logs for 30 days"),
            ("Using Redis because it is fast", "Use Redis because it is fast"),
            ("Dropping Python 3.7", "Drop Python 3.7"),
            ("Storing tokens in a vault", "Store the tokens in the vault"),
            ("Re-running the suite", "Re-run the suite"),
            ("Building the CLI", "Build a CLI"),
            ("Using what we have", "Use what we have"),
        ],
    ),
    (
        "the space before a unit",
        &[
            ("The timeout is 100ms", "The timeout is 100 ms"),
            ("Use 2GB of memory", "Use 2 GB of memory"),
            ("Cap CPU at 50%", "Cap CPU at 50 %"),
            ("Wait 1.5s", "Wait 1.5 s"),
            ("Store at -20°C", "Store at -20 °C"),
            ("Retry for 5min", "Retry for 5 min"),
            ("Limit to 100MB/s", "Limit to 100 MB/s"),
            ("Allow 100req/s", "Allow 100 req/s"),
            ("Poll every 30seconds", "Poll every 30 seconds"),
            ("Runs at 3GHz", "Runs at 3 GHz"),
            ("Between 5-10ms", "Between 5-10 ms"),
            ("Costs 5€", "Costs 5 €"),
            ("Keep 7d of logs", "Keep 7 d of logs"),
            ("Images of 64px", "Images of 64 px"),
        ],
    ),
    (
        "several at once",
        &[
            ("We'll use the `Redis` cache.", "Use Redis cache"),
            ("Let's not store a secret in the repo!", "We will not store secret in repo"),
            ("I’ll cap it at 100ms…", "cap it at 100 ms"),
        ],
    ),
];

const DIFFERENT: &[(&str, &[(&str, &str)])] = &[
    (
        "polarity",
        &[
            ("Use Redis", "Do not use Redis"),
            ("Use Redis", "Don't use Redis"),
            ("Use Redis", "Never use Redis"),
            ("Use Redis", "Not using Redis"),
            ("Use Redis", "Avoid Redis"),
            ("Must store logs", "Must not store logs"),
            ("Runtime dependencies", "No runtime dependencies"),
            ("Tests can fail", "Tests can't fail"),
            ("It is safe", "It isn't safe"),
            ("Allow root", "Disallow root"),
            ("Enable TLS", "Disable TLS"),
            ("Works with proxies", "Works without proxies"),
            ("We will use Redis", "We won't use Redis"),
            ("No, use Redis", "No use Redis"),
            ("Use Redis, not Postgres", "Use Redis and Postgres"),
            ("Keep logs", "Keep no logs"),
            ("Safe", "Unsafe"),
            ("We can ship", "We cannot ship"),
        ],
    ),
    (
        "numbers",
        &[
            ("Timeout is 100 ms", "Timeout is 500 ms"),
            ("Keep 3 replicas", "Keep three replicas"),
            ("Offset is -5", "Offset is 5"),
            ("Offset is +5", "Offset is 5"),
            ("Offset is −5", "Offset is 5"),
            ("Factor 1.5", "Factor 15"),
            ("Factor 1.5", "Factor 1,5"),
            ("Factor .5", "Factor 5"),
            ("Use 1,000 rows", "Use 1000 rows"),
            ("Use 1 000 rows", "Use 1000 rows"),
            ("Upgrade to v1.2", "Upgrade to v12"),
            ("Upgrade to 1.20", "Upgrade to 1.2"),
            ("Upgrade to 1.2.3", "Upgrade to 1.2 3"),
            ("Python 3.10", "Python 3.1"),
            ("Version 2", "Version 2.0"),
            ("Use HTTP/2", "Use HTTP/3"),
            ("Range 5-10", "Range 5 10"),
            ("Range 5 - 10", "Range 5 10"),
            ("Close #12", "Close 12"),
            ("Costs $5", "Costs 5"),
            ("Starts at 12:30", "Starts at 1230"),
            ("Use 1e5 rows", "Use 1e6 rows"),
            ("About ~5 nodes", "About 5 nodes"),
            ("Keep 01", "Keep 1"),
            ("Ratio 3/4", "Ratio 3 4"),
            ("Use port 80", "Use port 8080"),
            ("Items 1 to 5", "Items 5 to 1"),
        ],
    ),
    (
        "units",
        &[
            ("Timeout is 100 ms", "Timeout is 100 s"),
            ("Timeout is 1 s", "Timeout is 1000 ms"),
            ("Limit is 100 MB", "Limit is 100 Mb"),
            ("Limit is 100MB/s", "Limit is 100Mb/s"),
            ("Limit is 1 GB", "Limit is 1 GiB"),
            ("Limit is 50", "Limit is 50%"),
            ("Limit is 5m", "Limit is 5M"),
            ("Draws 5 mW", "Draws 5 MW"),
            ("Keep for 5 days", "Keep for 5 weeks"),
            ("Heat to 20 °C", "Heat to 20 °F"),
            ("Costs 5 €", "Costs 5 $"),
            ("Takes 5 min", "Takes 5 minutes"),
            ("Use a 12\" screen", "Use a 12 screen"),
            ("Use 2 replicas", "Use 2replicas"),
        ],
    ),
    (
        "order of arguments",
        &[
            ("Move from A to B", "Move from B to A"),
            ("Prefer Postgres over MySQL", "Prefer MySQL over Postgres"),
            ("Redis before Postgres", "Postgres before Redis"),
            ("A depends on B", "B depends on A"),
            ("A beats B", "B beats A"),
            ("Give A priority over B", "Give priority over B"),
            ("Call foo from bar", "Call bar from foo"),
            ("REST | gRPC", "gRPC | REST"),
        ],
    ),
    (
        "operators and bounds",
        &[
            ("Latency < 50 ms", "Latency > 50 ms"),
            ("Latency < 50 ms", "Latency <= 50 ms"),
            ("Latency <= 50 ms", "Latency ≤ 50 ms"),
            ("x = 5", "x != 5"),
            ("x = 5", "x == 5"),
            ("a + b", "a - b"),
            ("a - b", "a b"),
            ("total - tax = net", "total tax = net"),
            ("a * b", "a / b"),
            ("x -> y", "x <- y"),
            ("x < -5", "x <-5"),
            ("At least 3 replicas", "At most 3 replicas"),
            ("More than 3", "Less than 3"),
            ("Up to 5 retries", "5 retries"),
            ("Below 5", "Above 5"),
            ("Exactly 5", "5"),
            ("Latency 50 ms", "Latency < 50 ms"),
            ("a && b", "a || b"),
            ("!enabled", "enabled"),
        ],
    ),
    (
        "and, or, only, hedges, modals",
        &[
            ("Linux and Windows", "Linux or Windows"),
            ("Linux and Windows", "Linux and/or Windows"),
            ("Linux & Windows", "Linux and Windows"),
            ("(Linux or Mac) and ARM", "Linux or (Mac and ARM)"),
            ("(Linux or Mac) and ARM", "Linux or Mac and ARM"),
            ("Only admins may deploy", "Admins may deploy"),
            ("Only admins may deploy", "Admins may only deploy"),
            ("We might use Redis", "Use Redis"),
            ("Maybe use Redis", "Use Redis"),
            ("Probably use Redis", "Use Redis"),
            ("Use Redis?", "Use Redis"),
            ("Should we use Redis?", "We should use Redis"),
            ("Must use TLS", "Should use TLS"),
            ("May use TLS", "Must use TLS"),
            ("Use Redis if possible", "Use Redis"),
            ("Always run tests", "Run tests"),
            ("Almost all tests pass", "All tests pass"),
            ("Some tests pass", "All tests pass"),
            ("Also use Redis", "Use Redis"),
            ("Try using Redis", "Use Redis"),
            ("Stop using Redis", "Use Redis"),
            ("We shall use Redis", "We should use Redis"),
            ("They will use Redis", "We will use Redis"),
        ],
    ),
    (
        "names with punctuation",
        &[
            ("Write it in C", "Write it in C++"),
            ("Write it in C", "Write it in C#"),
            ("Write it in C++", "Write it in C#"),
            ("Use F#", "Use F"),
            ("Use Node.js", "Use Node js"),
            ("Use Node.js", "Use Nodejs"),
            ("Use Node.js", "Use Node"),
            ("Use .NET", "Use NET"),
            ("Use .NET", "Use the net"),
            ("Edit a.b", "Edit a b"),
            ("Edit x/y", "Edit x y"),
            ("Edit src/lib.rs", "Edit src lib.rs"),
            ("Pass --force", "Pass force"),
            ("Pass --force", "Pass -force"),
            ("Pass -f", "Pass f"),
            ("Use std::io", "Use std io"),
            ("Use std::io", "Use std:io"),
            ("Call foo()", "Call foo"),
            ("Call f(x)", "Call f x"),
            ("Index a[0]", "Index a 0"),
            ("Set key_a", "Set key a"),
            ("Use @scope/pkg", "Use scope/pkg"),
            ("Use A*", "Use A"),
            ("Call save! in tests", "Call save in tests"),
            ("Call empty? in tests", "Call empty in tests"),
            ("Use real-time data", "Use real time data"),
            ("Use e-mail", "Use email"),
            ("cd ..", "cd"),
            ("cd ..", "cd ."),
            ("Use Vec<u8>", "Use Vec u8"),
            ("Set FOO=1", "Set FOO 1"),
            ("Use T-SQL", "Use T SQL"),
            ("Match *.rs", "Match rs"),
            ("Use ~/bin", "Use bin"),
            ("Use $HOME", "Use HOME"),
        ],
    ),
    (
        "quoted marks and empty quotes",
        &[
            ("Split on \",\"", "Split on \";\""),
            ("Split on ','", "Split on"),
            ("Split on `;`", "Split on"),
            ("Default to \"\"", "Default to"),
            ("Split on \" \"", "Split on \"\""),
            ("End with \".\"", "End with \"!\""),
            ("Remove the word \"the\" here", "Remove the word here"),
        ],
    ),
    (
        "possessives and words that look like contractions",
        &[
            ("The user's data", "The users data"),
            ("The users' data", "The user's data"),
            ("We're done", "Were done"),
            ("We'll ship", "Well ship"),
            ("It's done", "Its done"),
            ("I'd use Redis", "Use Redis"),
            ("We'd use Redis", "We will use Redis"),
            ("Let's use Redis", "Lets use Redis"),
        ],
    ),
    (
        "letters that are names, not articles",
        &[
            ("Use plan A", "Use plan"),
            ("Use option A", "Use option B"),
            ("Use option a", "Use option"),
            ("Move from A to B", "Move from to B"),
            ("Use A record", "Use record"),
            ("Series A funding closed", "Series funding closed"),
            ("Fuse of 5 A", "Fuse of 5"),
            ("A or B", "B"),
            ("Assign team a tasks", "Assign team tasks"),
        ],
    ),
    (
        "-ing that is no leading verb",
        &[
            ("String handling", "Str handling"),
            ("Testing is slow", "Test is slow"),
            ("Logging must stay on", "Log must stay on"),
            ("Caching improves latency", "Cache improves latency"),
            ("Spring Boot only", "Spr Boot only"),
            ("Sibling order", "Sible order"),
            ("Testing", "Test"),
            ("The building of docs", "The build of docs"),
            ("Avoid using Redis", "Avoid use Redis"),
            ("Tests running", "Tests run"),
            ("Training data is in S3", "Train data is in S3"),
            ("Logging and tracing", "Log and tracing"),
            ("US servers", "Use servers"),
            ("Used Redis", "Use Redis"),
            ("Uses Redis", "Use Redis"),
        ],
    ),
    (
        "a lead that is not leading",
        &[
            ("If it fails we will use Redis", "If it fails use Redis"),
            ("Tomorrow we will use Redis", "Tomorrow use Redis"),
            ("We use Redis", "Use Redis"),
            ("We will", "We"),
            ("You will use Redis", "Use Redis"),
            ("We would use Redis", "We will use Redis"),
        ],
    ),
    (
        "other objects and words",
        &[
            ("Use Postgres for orders", "Use Postgres for users"),
            ("Use Postgres", "Use Postgres 16"),
            ("Use token", "Use tokens"),
            ("Colour the log", "Color the log"),
            ("Use Redis in tests", "Use Redis"),
            ("Write docs", "Write docs for the API"),
            ("...", "!!!"),
            ("The", "A"),
            ("?", "!"),
            ("ﬁle", "file"),
            ("x²", "x2"),
            ("Straße", "Strasse"),
            ("read\u{200b}only", "readonly"),
            ("😀", "😡"),
            ("- Use Redis", "Use Redis"),
            ("**Use** Redis", "Use Redis"),
        ],
    ),
];

fn each_pair(
    table: &'static [(&str, &[(&str, &str)])],
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    table.iter().flat_map(|(rule, pairs)| pairs.iter().map(move |(a, b)| (*rule, *a, *b)))
}

#[test]
fn wording_that_does_not_change_the_meaning_is_one_statement() {
    let wrong: Vec<_> = each_pair(SAME)
        .filter(|(_, a, b)| normal_form(a) != normal_form(b))
        .map(|(rule, a, b)| format!("{rule}: {a:?} -> {:?}, {b:?} -> {:?}", normal_form(a), normal_form(b)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn meaning_that_differs_is_never_one_statement() {
    let wrong: Vec<_> = each_pair(DIFFERENT)
        .filter(|(_, a, b)| normal_form(a) == normal_form(b))
        .map(|(rule, a, b)| format!("{rule}: {a:?} and {b:?} -> {:?}", normal_form(a)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_statement_and_its_denial_share_their_neutral_form() {
    let read = |text: &str| Normaliser::default().statement(text).meaning(ItemKind::Decision);
    for (a, b) in [
        ("Use Redis", "Do not use Redis"),
        ("Use Redis", "Don't use Redis."),
        ("Using Redis", "We won't use Redis"),
        ("Use Redis", "Never use Redis"),
        ("Must store logs", "Must not store logs"),
        ("Runtime dependencies", "No runtime dependencies"),
        ("The API supports batching", "The API doesn't support batching"),
        ("Tests can fail", "Tests cannot fail"),
    ] {
        let (a_read, b_read) = (read(a), read(b));
        assert_eq!(a_read.neutral, b_read.neutral, "{a} / {b}");
        assert!(a_read.polarity().is_opposite_of(b_read.polarity()), "{a} / {b}");
        assert_ne!(a_read.full, b_read.full, "{a} / {b}");
    }
    assert_ne!(read("Use Redis").neutral, read("Do not use Postgres").neutral);
    assert_eq!(read("No logs and no metrics").polarity(), Polarity::Unclear);
}

proptest! {
    #[test]
    fn no_text_panics_and_the_form_is_never_empty(text in "\\PC{0,40}") {
        let form = normal_form(&text);
        prop_assert_eq!(form.is_empty(), text.trim().is_empty());
    }

    #[test]
    fn no_marks_panic(text in "[a-zA-Z0-9 '\"`’“(),.!?:;<>=~%—–\\-]{0,40}") {
        let _ = normal_form(&text);
    }

    #[test]
    fn case_and_space_never_matter_to_plain_words(words in prop::collection::vec("[b-z]{2,8}", 1..8)) {
        let plain = words.join(" ");
        let loud = words.join("\n\t ").to_uppercase();
        prop_assert_eq!(normal_form(&plain), normal_form(&loud));
    }

    #[test]
    fn the_order_of_words_always_matters(a in "[b-z]{3,8}", b in "[b-z]{3,8}") {
        prop_assume!(a != b);
        prop_assert_ne!(normal_form(&format!("move {a} to {b}")), normal_form(&format!("move {b} to {a}")));
    }
}
