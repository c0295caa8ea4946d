//! The pages before a session begins.

use crate::assets::{ICON_ASSET, STYLE_ASSET};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

fn bare(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Probity" }
                link rel="icon" href=(ICON_ASSET.address) type="image/svg+xml";
                link rel="stylesheet" href=(STYLE_ASSET.address);
            }
            body { main { h1 { (title) } (content) } }
        }
    }
}

fn answer(status: StatusCode, markup: Markup) -> Response {
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, html)], markup.into_string()).into_response()
}

/// The link was good.
pub(crate) fn entered() -> Markup {
    bare("Welcome", &html! { p { a href="/board" { "To the board" } } })
}

/// The link was used, is too old, or never was one.
pub(crate) fn used_up() -> Response {
    let content = html! {
        p { "This link was used already, is older than five minutes, or is none of ours." }
        p { "Press " kbd { "Enter" } " in the terminal where " code { "probity ui" } " runs: it prints a new one." }
    };
    answer(StatusCode::FORBIDDEN, bare("The link is used up", &content))
}

/// The browser has no session.
pub(crate) fn no_session() -> Response {
    let content = html! {
        p { "This browser has not entered through a link of " code { "probity ui" } "." }
        p { "Press " kbd { "Enter" } " in the terminal where it runs: it prints a link that opens the page once." }
    };
    answer(StatusCode::UNAUTHORIZED, bare("Not entered", &content))
}
