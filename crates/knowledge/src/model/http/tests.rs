//! Tests against a real local server with scripted behavior: slow, broken, incomplete, busy.

use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

/// Serves one connection after another; `answer` gets the request and writes the response.
fn serve(
    n: usize,
    answer: impl Fn(&str, &mut TcpStream) + Send + 'static,
) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let thread = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for _ in 0..n {
            let (mut stream, _) = listener.accept().expect("a connection");
            let request = read_request(&mut stream);
            answer(&request, &mut stream);
            requests.push(request);
        }
        requests
    });
    (base, thread)
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        request.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    request + &String::from_utf8(body).expect("text")
}

fn respond(stream: &mut TcpStream, status: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all((head + body).as_bytes());
}

fn ask_of(api: HttpApi, base: &str, timeout: Duration) -> Result<ModelReply, ModelError> {
    let key = Some("secret-key".to_owned());
    let provider = HttpProvider::new(api, base, "m1", key, timeout).expect("is an address");
    provider.ask(&ModelQuestion {
        system: "Be exact.".into(),
        user: "Say hi.".into(),
        schema: json!({"type": "object"}),
    })
}

fn ask(base: &str) -> Result<ModelReply, ModelError> {
    ask_of(HttpApi::OpenAi, base, probity_testkit::STUCK_TIMEOUT)
}

#[test]
fn speaks_to_an_openai_compatible_endpoint() {
    let (base, server) = serve(1, |_, stream| {
        let body = json!({
            "choices": [{ "message": { "role": "assistant", "content": "{\"deltas\": []}" }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 11, "completion_tokens": 4 },
        });
        respond(stream, "200 OK", &body.to_string());
    });
    let reply = ask(&format!("{base}/v1/")).expect("answers");
    assert_eq!(reply.text, "{\"deltas\": []}");
    assert_eq!(reply.usage, ProviderUsage { calls: 1, prompt_tokens: 11, completion_tokens: 4 });
    let request = &server.join().expect("served")[0];
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer secret-key"), "{request}");
    let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON");
    assert_eq!((&body["model"], &body["stream"]), (&json!("m1"), &json!(false)));
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
}

#[test]
fn speaks_to_ollama() {
    let (base, server) = serve(1, |_, stream| {
        let body = json!({ "message": { "content": "{}" }, "done": true, "done_reason": "stop",
            "prompt_eval_count": 3, "eval_count": 2 });
        respond(stream, "200 OK", &body.to_string());
    });
    let reply = ask_of(HttpApi::Ollama, &base, probity_testkit::STUCK_TIMEOUT).expect("answers");
    assert_eq!((reply.text.as_str(), reply.usage.prompt_tokens), ("{}", 3));
    assert!(server.join().expect("served")[0].starts_with("POST /api/chat "));
}

#[test]
fn a_slow_answer_is_not_waited_for() {
    let (asked, answered) = std::sync::mpsc::channel::<()>();
    let (base, server) = serve(1, move |_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
        // Waits until the other end is dropped: the rest of the answer never comes.
        let _ = answered.recv();
    });
    assert_eq!(ask_of(HttpApi::OpenAi, &base, Duration::from_millis(200)), Err(ModelError::TimedOut(200)));
    drop(asked);
    // On a slow machine the timeout may expire before the whole question has arrived; then the server reads nothing.
    let _ = server.join();
}

#[test]
fn half_answers_are_no_answers() {
    let (base, server) = serve(1, |_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"choices\": [");
    });
    assert!(matches!(ask(&base), Err(ModelError::Unreachable(_))));
    server.join().expect("served");
    let (base, server) = serve(1, |_, stream| {
        let body = json!({ "choices": [{ "message": { "content": "{\"del" }, "finish_reason": "length" }] });
        respond(stream, "200 OK", &body.to_string());
    });
    assert!(matches!(ask(&base), Err(ModelError::BadAnswer(why)) if why.contains("length")));
    server.join().expect("served");
}

#[test]
fn a_broken_connection_is_unreachable() {
    let (base, server) = serve(1, |_, _| {});
    assert!(matches!(ask(&base), Err(ModelError::Unreachable(_))));
    server.join().expect("served");
    // No test is given a port that low.
    assert!(matches!(ask("http://127.0.0.1:1"), Err(ModelError::Unreachable(_))), "nobody listens");
}

#[test]
fn wrong_json_and_missing_words_are_bad_answers() {
    for body in ["<html>", "{}", "{\"choices\": [{\"message\": {\"content\": null}}]}"] {
        let (base, server) = serve(1, move |_, stream| respond(stream, "200 OK", body));
        assert!(matches!(ask(&base), Err(ModelError::BadAnswer(_))), "{body}");
        server.join().expect("served");
    }
}

#[test]
fn a_busy_server_says_how_long_to_wait_and_a_key_is_never_told() {
    let (base, server) = serve(1, |_, stream| {
        let _ = stream.write_all(
            b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy",
        );
    });
    let trouble = ask(&base).expect_err("is busy");
    assert_eq!(trouble, ModelError::Refused { status: 429, words: "busy".into(), wait_ms: Some(2000) });
    assert!(trouble.is_retryable() && !trouble.to_string().contains("secret-key"));
    server.join().expect("served");
}

#[test]
fn a_redirect_is_not_followed() {
    let (base, server) = serve(1, |_, stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    });
    assert!(matches!(ask(&base), Err(ModelError::Refused { status: 302, .. })));
    server.join().expect("served");
}

#[test]
fn what_is_no_address_is_refused() {
    for base in ["ftp://x", "https://api.example.org/v1", "localhost:11434"] {
        let made = HttpProvider::new(HttpApi::OpenAi, base, "m", None, Duration::from_secs(1));
        assert!(matches!(made.map(|_| ()), Err(ModelError::Unusable(_))), "{base}");
    }
}
