//! Users, tokens and certificates, on a real member.

use super::{NO_ETCD, options, store};
use probity_storage::StoreError;
use probity_storage::ports::{AppendOutcome, StorageEngine};
use probity_team::etcd::{Credentials, EtcdOptions, EtcdStore};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::skip;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

fn private_file(path: &Path, text: &str) {
    std::fs::write(path, text).expect("writes");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("sets");
}

/// Switches rights on: root, and the user `test` for the prefix `/probity/test/`.
fn switch_on_rights(cluster: &EtcdCluster) {
    let (from, to) = ("L3Byb2JpdHkvdGVzdC8=", "L3Byb2JpdHkvdGVzdDA=");
    for (path, body) in [
        ("user/add", r#"{"name":"root","password":"root-secret"}"#.to_owned()),
        ("user/add", r#"{"name":"test","password":"secret"}"#.to_owned()),
        ("role/add", r#"{"name":"root"}"#.to_owned()),
        ("user/grant", r#"{"user":"root","role":"root"}"#.to_owned()),
        ("role/add", r#"{"name":"test"}"#.to_owned()),
        (
            "role/grant",
            format!(
                r#"{{"name":"test","perm":{{"permType":"READWRITE","key":"{from}","range_end":"{to}"}}}}"#
            ),
        ),
        ("user/grant", r#"{"user":"test","role":"test"}"#.to_owned()),
        ("enable", "{}".to_owned()),
    ] {
        let answer = cluster.post(0, &format!("/v3/auth/{path}"), &body).expect("answers");
        assert!(!answer.contains("\"error\""), "{path}: {answer}");
    }
}

#[test]
fn a_user_is_logged_in_once_and_reaches_its_own_prefix_only() {
    let Some(cluster) = EtcdCluster::start(1, &[]) else { return skip!("{NO_ETCD}") };
    switch_on_rights(&cluster);
    let directory = tempfile::tempdir().expect("a directory");
    let (secret, token) = (directory.path().join("test.toml"), directory.path().join("token"));
    private_file(&secret, "password = \"secret\"\n");
    let open = |namespace: &str, secret: &Path| {
        let credentials =
            Credentials::new(Some("test".into()), "test", token.clone()).with_secrets_file(secret.to_owned());
        let options =
            EtcdOptions { credentials, namespace: namespace.into(), ..options(cluster.endpoints()) };
        EtcdStore::open(options).expect("opens")
    };
    let anonymous = store(cluster.endpoints()).log("l").head();
    assert!(matches!(anonymous, Err(StoreError::Denied { .. })), "{anonymous:?}");
    let own = open("test", &secret);
    assert_eq!(own.log("l").append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    let n_first = own.traffic().0;
    assert_eq!(open("test", &secret).log("l").head().expect("reads"), 1);
    let kept = std::fs::read_to_string(&token).expect("a token is kept");
    // The kept token serves without a password; one that the server does not know is replaced.
    let again = open("test", Path::new("/nowhere"));
    assert_eq!(again.log("l").head().expect("reads"), 1);
    assert!(again.traffic().0 < n_first);
    private_file(&token, "unknown.1");
    assert_eq!(open("test", &secret).log("l").head().expect("logs in again"), 1);
    assert_ne!(std::fs::read_to_string(&token).expect("is kept"), "unknown.1");
    assert!(!kept.is_empty());
    let foreign = open("other", &secret).log("l").append(0, "a", b"1");
    assert!(matches!(foreign, Err(StoreError::Denied { .. })), "{foreign:?}");
    std::fs::remove_file(&token).expect("is removed");
    let wrong = directory.path().join("wrong.toml");
    private_file(&wrong, "password = \"wrong\"\n");
    let refused = open("test", &wrong).log("l").head();
    assert!(matches!(refused, Err(StoreError::Denied { .. })), "{refused:?}");
    let missing = open("test", Path::new("/nowhere")).log("l").head();
    assert!(
        matches!(&missing, Err(StoreError::Denied { why, .. }) if why.contains("PROBITY_TEAM_PASSWORD_FILE")),
        "{missing:?}"
    );
}

/// Makes an authority and a certificate for the loopback address; `None` without openssl.
fn certificates(directory: &Path) -> Option<()> {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let openssl = |words: &[&str]| {
        let output = Command::new("openssl").current_dir(directory).args(words).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(())
    };
    let ca =
        ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-days", "3", "-subj", "/CN=probity test"];
    let uses = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"];
    openssl(&[&ca[..], &uses[..], &key[..]].concat())?;
    openssl(
        &[&["req", "-keyout", "node.key", "-out", "node.csr", "-subj", "/CN=node"][..], &key[..]].concat(),
    )?;
    let names =
        "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n";
    std::fs::write(directory.join("names"), names).expect("writes");
    let signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "3", "-extfile", "names"];
    openssl(&[&["x509", "-req", "-in", "node.csr", "-out", "node.pem"][..], &signed[..]].concat())
}

#[test]
fn certificates_are_held_against_the_given_authority() {
    let directory = tempfile::tempdir().expect("a directory");
    if certificates(directory.path()).is_none() {
        return skip!("openssl is not installed");
    }
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|held| held.local_addr()).expect("a free port").port();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let settings = [
        format!("--listen-client-urls={{client}},https://127.0.0.1:{port}"),
        format!("--cert-file={}", file("node.pem")),
        format!("--key-file={}", file("node.key")),
    ];
    let Some(_cluster) = EtcdCluster::start(1, &settings.each_ref().map(String::as_str)) else {
        return skip!("{NO_ETCD}");
    };
    let endpoints = vec![format!("https://127.0.0.1:{port}")];
    let ca = std::fs::read_to_string(directory.path().join("ca.pem")).expect("is there");
    let trusted = EtcdStore::open(EtcdOptions { ca: Some(ca), ..options(endpoints.clone()) }).expect("opens");
    assert_eq!(trusted.log("l").append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    let other = tempfile::tempdir().expect("a directory");
    certificates(other.path()).expect("was there");
    let ca = std::fs::read_to_string(other.path().join("ca.pem")).expect("is there");
    let distrusted = EtcdStore::open(EtcdOptions { ca: Some(ca), ..options(endpoints) }).expect("opens");
    // Nothing was asked, so that nothing is unknown.
    let refused = distrusted.log("l").append(1, "b", b"2");
    assert!(matches!(refused, Err(StoreError::Unreachable { .. })), "{refused:?}");
}
