//! What every request must show before anything is answered: a name of this machine, a session, and for an action our
//! own page.
//!
//! The name is checked first and on every request. A page elsewhere can make its name lead to this machine, and then
//! its requests come from its own origin: only the `Host` tells.

use crate::session::SessionId;
use crate::ui_state::UiState;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; report-uri /csp";

/// The headers of every answer. Without any referrer a browser would send no origin with a form of ours, either.
const ANSWER_HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Returns whether a `Host` names this server.
fn is_own_host(host: &str, port: u16) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host == format!("{name}:{port}"))
}

/// Returns whether an `Origin` is a page of this server.
fn is_own_origin(origin: &str, port: u16) -> bool {
    origin.strip_prefix("http://").is_some_and(|host| is_own_host(host, port))
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns the value of a cookie.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Checks a request, and completes the headers of its answer.
pub(crate) async fn guard(State(state): State<Arc<UiState>>, mut request: Request, next: Next) -> Response {
    let mut answer = match check(&state, &mut request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => *refusal,
    };
    let headers = answer.headers_mut();
    for (name, value) in ANSWER_HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

fn check(state: &UiState, request: &mut Request) -> Result<(), Box<Response>> {
    let refused = |status: StatusCode, words: &'static str| Err(Box::new((status, words).into_response()));
    let headers = request.headers();
    let n_hosts = headers.get_all(header::HOST).iter().count();
    if n_hosts != 1 || !text_of(headers, header::HOST).is_some_and(|host| is_own_host(host, state.port)) {
        return refused(StatusCode::MISDIRECTED_REQUEST, "this server answers to its own name only\n");
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let address = request.uri().path();
    // Browsers send violation reports without an origin; they are counted and change nothing.
    let is_report = address == "/csp";
    let origin = text_of(headers, header::ORIGIN);
    if origin.is_some_and(|origin| !is_own_origin(origin, state.port)) && !is_report {
        return refused(StatusCode::FORBIDDEN, "another page asked\n");
    }
    if !is_read && !is_report {
        if origin.is_none() {
            return refused(StatusCode::FORBIDDEN, "an action must come from our own page\n");
        }
        let site = text_of(headers, HeaderName::from_static("sec-fetch-site"));
        if site.is_some_and(|site| site != "same-origin") {
            return refused(StatusCode::FORBIDDEN, "an action must come from our own page\n");
        }
    }
    let is_open = address == "/enter" || is_report || address.starts_with("/s/");
    if is_open {
        return Ok(());
    }
    let session = cookie(headers, &state.cookie_name()).and_then(|value| state.sessions.find(value));
    match session {
        Some(session) => {
            request.extensions_mut().insert::<SessionId>(session);
            Ok(())
        }
        None => Err(Box::new(crate::pages::entry::no_session())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_this_machine_count() {
        for own in ["127.0.0.1:80", "localhost:80", "[::1]:80"] {
            assert!(is_own_host(own, 80), "{own}");
        }
        for other in
            ["127.0.0.1", "127.0.0.1:81", "evil.example:80", "localhost:80.evil.example", "localhost.:80"]
        {
            assert!(!is_own_host(other, 80), "{other}");
        }
        assert!(is_own_origin("http://localhost:80", 80));
        for other in ["https://localhost:80", "null", "http://evil.example:80", "http://localhost"] {
            assert!(!is_own_origin(other, 80), "{other}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a=1; probity_80=x=y; b=2"));
        assert_eq!(cookie(&headers, "probity_80"), Some("x=y"));
        assert_eq!(cookie(&headers, "probity_81"), None);
    }
}
