//! Serves the scripted model on the loopback address: HTTP/1.1 with one request for each connection.
//!
//! The server keeps no position in the script. Which step comes next follows from the number of results that the agent
//! sends, so repeated and parallel requests do no harm.

use crate::launch::settings_file;
use crate::script::{ModelScript, ScriptPlace};
use crate::wire::{ModelApi, ModelRequest, ModelTurn, concrete_call, render_turn};
use probity_api::govern::setup::CodingAgent;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The largest request that is read.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;
/// How long a silent connection is kept.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// What the agent told the model.
#[derive(Debug, Default, Clone)]
pub struct ModelLog {
    /// The results of the steps, as far as the script got.
    pub results: Vec<String>,
    pub n_requests: usize,
    /// The number of tools that were offered last.
    pub n_tools: usize,
    /// All text of the last request, to see what the model was told.
    pub last_request: String,
}

/// A model on the loopback address that plays a script.
#[derive(Debug)]
pub struct ModelServer {
    pub url: String,
    log: Arc<Mutex<ModelLog>>,
}

struct ScriptPlayer {
    script: ModelScript,
    place: ScriptPlace,
    log: Arc<Mutex<ModelLog>>,
}

impl ModelServer {
    /// Starts to serve. The thread ends with the process, which ends after the proof.
    pub fn start(script: ModelScript, agent: CodingAgent, repository: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let log: Arc<Mutex<ModelLog>> = Arc::default();
        let place = ScriptPlace { repository: repository.to_owned(), settings: settings_file(agent) };
        let player = Arc::new(ScriptPlayer { script, place, log: Arc::clone(&log) });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let player = Arc::clone(&player);
                // A connection that fails is the agent's to repeat.
                std::thread::spawn(move || player.serve(stream));
            }
        });
        Ok(Self { url, log })
    }

    pub fn log(&self) -> ModelLog {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ScriptPlayer {
    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(CONNECTION_TIMEOUT))?;
        let mut reader = BufReader::new(stream);
        let Some((method, path, body)) = read_request(&mut reader)? else { return Ok(()) };
        let (status, kind, text) = self.answer(&method, &path, &body);
        let mut stream = reader.into_inner();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            text.len()
        );
        stream.write_all(head.as_bytes())?;
        if method != "HEAD" {
            stream.write_all(text.as_bytes())?;
        }
        stream.flush()
    }

    fn answer(&self, method: &str, path: &str, body: &[u8]) -> (&'static str, &'static str, String) {
        const JSON: &str = "application/json";
        let plain = path.split('?').next().unwrap_or_default();
        if method != "POST" {
            let models = r#"{"object":"list","data":[{"id":"stub","object":"model","type":"model","display_name":"stub"}],"models":[]}"#;
            return if plain.ends_with("/models") || method == "HEAD" {
                ("200 OK", JSON, models.into())
            } else {
                ("404 Not Found", JSON, "{}".into())
            };
        }
        if plain.ends_with("/count_tokens") {
            return ("200 OK", JSON, r#"{"input_tokens":10}"#.into());
        }
        if plain.ends_with(":countTokens") {
            return ("200 OK", JSON, r#"{"totalTokens":10}"#.into());
        }
        let Some((api, is_stream_path)) = ModelApi::of_path(path) else {
            return ("404 Not Found", JSON, "{}".into());
        };
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return ("400 Bad Request", JSON, r#"{"error":{"message":"not JSON"}}"#.into());
        };
        let request = ModelRequest::read(api, is_stream_path, &value);
        let text = self.turn(api, &request, body);
        let kind = if request.is_stream { "text/event-stream" } else { JSON };
        ("200 OK", kind, text)
    }

    fn turn(&self, api: ModelApi, request: &ModelRequest, body: &[u8]) -> String {
        let index = request.results.len();
        // A request without tools is a side question, such as a title.
        if request.tools.is_empty() {
            return render_turn(api, request, index, ModelTurn::Words("Done."));
        }
        {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.n_requests += 1;
            log.n_tools = request.tools.len();
            if index > log.results.len() {
                log.results.clone_from(&request.results);
            }
            log.last_request = String::from_utf8_lossy(body).into_owned();
        }
        match self.script.step(index, &self.place, &request.results) {
            Some(step) => {
                let call = concrete_call(api, &request.tools, &step);
                render_turn(api, request, index, ModelTurn::Call(&call))
            }
            None => render_turn(api, request, index, ModelTurn::Words(self.script.last_words())),
        }
    }
}

/// Reads a request: method, path and body.
fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, String, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, path) =
        (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let (mut length, mut is_chunked, mut waits) = (0_usize, false, false);
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let header = header.to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        is_chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
        waits |= header.starts_with("expect:") && header.contains("100-continue");
    }
    if waits {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = Vec::new();
    if is_chunked {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim().split(';').next().unwrap_or_default(), 16)
                .unwrap_or_default();
            if size == 0 || body.len() + size > MAX_REQUEST_BYTES {
                break;
            }
            let start = body.len();
            body.resize(start + size, 0);
            reader.read_exact(&mut body[start..])?;
            reader.read_line(&mut String::new())?;
        }
    } else {
        body.resize(length.min(MAX_REQUEST_BYTES), 0);
        reader.read_exact(&mut body)?;
    }
    Ok(Some((method, path, body)))
}
