use super::*;

fn tree() -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
    (dir, workspace)
}

fn program() -> HookProgram {
    HookProgram::small(Path::new("/opt/probity-hook"))
}

fn texts(workspace: &Workspace, agent: CodingAgent) -> (String, String) {
    let read = |path: &str| fs::read_to_string(workspace.root.join(path)).unwrap_or_default();
    let config: Vec<String> = agent.config_files().iter().map(|file| read(file)).collect();
    (config.concat(), read(agent.instructions_file(&workspace.root)))
}

#[test]
fn registering_twice_changes_nothing_and_unregistering_leaves_nothing() {
    for &agent in CodingAgent::ALL {
        let (_dir, workspace) = tree();
        assert!(!is_registered(&workspace, agent));
        register(&workspace, agent, &program(), RegistrationWish::Register, false).expect("registers");
        assert!(is_registered(&workspace, agent), "{agent:?}");
        let before = texts(&workspace, agent);
        let again = register(&workspace, agent, &program(), RegistrationWish::Register, false)
            .expect("registers again");
        assert!(
            again.files.iter().all(|change| change.change == AgentFileChangeKind::Unchanged),
            "{again:?}"
        );
        assert_eq!(texts(&workspace, agent), before);
        register(&workspace, agent, &program(), RegistrationWish::Unregister, false).expect("takes it out");
        assert_eq!(texts(&workspace, agent), (String::new(), String::new()), "{agent:?}");
    }
}

#[test]
fn what_the_user_wrote_stays_byte_for_byte() {
    let (_dir, workspace) = tree();
    let json = "{\n  \"z\": {\"b\":1,   \"a\": [1.50, 2]},\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n";
    let toml = "# mine\nmodel = \"o\"   # keep\n\n[mcp_servers.other]\ncommand = \"x\"\n";
    let words = "# Rules\n\nBe kind.\n";
    fs::write(workspace.root.join(".mcp.json"), json).expect("writes");
    fs::create_dir(workspace.root.join(".codex")).expect("creates");
    fs::write(workspace.root.join(".codex/config.toml"), toml).expect("writes");
    for file in ["AGENTS.md", "CLAUDE.md"] {
        fs::write(workspace.root.join(file), words).expect("writes");
    }
    for agent in [CodingAgent::Claude, CodingAgent::Codex] {
        register(&workspace, agent, &program(), RegistrationWish::Register, false).expect("registers");
    }
    let (claude, instructions) = texts(&workspace, CodingAgent::Claude);
    assert!(claude.contains("{\"b\":1,   \"a\": [1.50, 2]}"), "{claude}");
    assert!(claude.contains("\"other\": {\"command\": \"x\"}"), "{claude}");
    assert!(instructions.starts_with(words), "{instructions}");
    assert!(texts(&workspace, CodingAgent::Codex).0.starts_with(toml));
    register(&workspace, CodingAgent::Claude, &program(), RegistrationWish::Unregister, false)
        .expect("takes it out");
    assert_eq!(texts(&workspace, CodingAgent::Claude), (json.to_owned(), words.to_owned()));
    assert_eq!(texts(&workspace, CodingAgent::Codex).1, instructions, "codex still needs its own");
    register(&workspace, CodingAgent::Codex, &program(), RegistrationWish::Unregister, false)
        .expect("takes it out");
    assert_eq!(texts(&workspace, CodingAgent::Codex), (toml.to_owned(), words.to_owned()));
}

#[test]
fn each_agent_finds_the_instructions_where_it_reads_them() {
    for (agent, file) in [
        (CodingAgent::Claude, "CLAUDE.md"),
        (CodingAgent::Codex, "AGENTS.md"),
        (CodingAgent::Cursor, "AGENTS.md"),
        (CodingAgent::Gemini, "GEMINI.md"),
    ] {
        let (_dir, workspace) = tree();
        let changes =
            register(&workspace, agent, &program(), RegistrationWish::Register, false).expect("registers");
        let paths: Vec<_> = changes.files.iter().map(|change| change.path.0.to_string_lossy()).collect();
        let expected: Vec<_> = agent.config_files().iter().copied().chain([file]).collect();
        assert_eq!(paths, expected);
        let other = if agent == CodingAgent::Claude { CodingAgent::Gemini } else { CodingAgent::Claude };
        let changes =
            register(&workspace, other, &program(), RegistrationWish::Register, false).expect("registers");
        assert!(changes.files.iter().all(|change| change.path.0.as_os_str() != file), "{changes:?}");
        assert!(fs::read_to_string(workspace.root.join(file)).expect("is there").contains("probity:begin"));
    }
}

#[test]
fn an_agent_that_is_led_to_the_shared_instructions_gets_none_of_its_own() {
    let shared = |prepare: &dyn Fn(&Path), agent: CodingAgent| {
        let (_dir, workspace) = tree();
        prepare(&workspace.root);
        let own = agent.own_instructions();
        let before = fs::read_to_string(workspace.root.join(own)).ok();
        register(&workspace, agent, &program(), RegistrationWish::Register, false).expect("registers");
        let words = fs::read_to_string(workspace.root.join("AGENTS.md")).expect("is there");
        assert_eq!(words.matches("probity:begin").count(), 1, "{words}");
        if !workspace.root.join(own).is_symlink() {
            assert_eq!(fs::read_to_string(workspace.root.join(own)).ok(), before);
        }
        register(&workspace, agent, &program(), RegistrationWish::Unregister, false).expect("takes it out");
        assert!(
            !fs::read_to_string(workspace.root.join("AGENTS.md")).unwrap_or_default().contains("probity")
        );
    };
    shared(
        &|root| fs::write(root.join("CLAUDE.md"), "# Mine\n\n@AGENTS.md\n").expect("writes"),
        CodingAgent::Claude,
    );
    shared(
        &|root| fs::write(root.join("GEMINI.md"), "See @./AGENTS.md first.\n").expect("writes"),
        CodingAgent::Gemini,
    );
    let link = |root: &Path| {
        fs::write(root.join("AGENTS.md"), "# Ours\n").expect("writes");
        std::os::unix::fs::symlink("AGENTS.md", root.join("CLAUDE.md")).expect("links");
    };
    shared(&link, CodingAgent::Claude);
    let setting = |root: &Path| {
        fs::create_dir(root.join(".gemini")).expect("creates");
        let text = "{\"context\": {\"fileName\": [\"AGENTS.md\"]}}";
        fs::write(root.join(".gemini/settings.json"), text).expect("writes");
    };
    shared(&setting, CodingAgent::Gemini);
}

#[test]
fn instructions_move_to_where_the_agent_reads_them_when_it_is_registered_again() {
    let (_dir, workspace) = tree();
    let root = &workspace.root;
    fs::write(root.join("AGENTS.md"), block::with_instructions("# Rules\n")).expect("writes");
    register(&workspace, CodingAgent::Claude, &program(), RegistrationWish::Register, false)
        .expect("registers");
    assert_eq!(fs::read_to_string(root.join("AGENTS.md")).expect("is there"), "# Rules\n");
    assert!(fs::read_to_string(root.join("CLAUDE.md")).expect("is there").contains("probity:begin"));
}

#[test]
fn a_changed_entry_of_ours_is_renewed() {
    let (_dir, workspace) = tree();
    fs::write(workspace.root.join(".mcp.json"), "{\"mcpServers\": {\"probity\": {\"command\": \"old\"}}}")
        .expect("writes");
    assert!(!is_registered(&workspace, CodingAgent::Claude));
    register(&workspace, CodingAgent::Claude, &program(), RegistrationWish::Register, false)
        .expect("registers");
    assert!(is_registered(&workspace, CodingAgent::Claude));
    assert!(!texts(&workspace, CodingAgent::Claude).0.contains("old"));
}

#[test]
fn a_dry_run_writes_nothing_and_shows_everything() {
    let (_dir, workspace) = tree();
    let changes = register(&workspace, CodingAgent::Cursor, &program(), RegistrationWish::Register, true)
        .expect("would register");
    assert!(
        changes
            .files
            .iter()
            .all(|change| change.change == AgentFileChangeKind::Created && change.text.contains("robity"))
    );
    assert_eq!(fs::read_dir(&workspace.root).expect("lists").count(), 0);
}

#[test]
fn what_cannot_be_edited_safely_is_refused_and_nothing_is_written() {
    let cases = [
        (CodingAgent::Claude, "{ // a comment\n}"),
        (CodingAgent::Gemini, "[1]"),
        (CodingAgent::Codex, "not toml ="),
        (CodingAgent::Codex, "[mcp_servers.probity]\ncommand = \"mine\"\n"),
        (CodingAgent::Codex, "mcp_servers = { other = { command = \"x\" } }\n"),
    ];
    for (agent, text) in cases {
        let (_dir, workspace) = tree();
        let path = workspace.root.join(agent.config_files()[0]);
        fs::create_dir_all(path.parent().expect("a directory")).expect("creates");
        fs::write(&path, text).expect("writes");
        let fault =
            register(&workspace, agent, &program(), RegistrationWish::Register, false).expect_err(text);
        assert_eq!(fault.reason(), Some(ReasonCode::ConfigForeign), "{fault}");
        assert_eq!(texts(&workspace, agent), (text.to_owned(), String::new()));
    }
}

#[test]
fn a_link_is_not_followed() {
    let (_dir, workspace) = tree();
    let elsewhere = tempfile::tempdir().expect("a directory");
    fs::write(elsewhere.path().join("f"), "{}").expect("writes");
    std::os::unix::fs::symlink(elsewhere.path().join("f"), workspace.root.join(".mcp.json")).expect("links");
    std::os::unix::fs::symlink(elsewhere.path(), workspace.root.join(".cursor")).expect("links");
    for agent in [CodingAgent::Claude, CodingAgent::Cursor] {
        assert!(
            register(&workspace, agent, &program(), RegistrationWish::Register, false).is_err(),
            "{agent:?}"
        );
    }
    assert_eq!(fs::read_to_string(elsewhere.path().join("f")).expect("reads"), "{}");
}
