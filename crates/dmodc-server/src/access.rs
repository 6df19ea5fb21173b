//! Who may ask.
//!
//! On a loopback address everybody on the machine may. Any other address needs a token, which comes with every request: in
//! the header `Authorization: Bearer TOKEN`, or in a cookie that the page gets if it is opened once with `?token=TOKEN`.
//!
//! Other web pages may not: a page of somebody else that is open in the same browser could send requests here. So a request
//! from another origin is refused, a request with a body must be JSON (which forms cannot send), and on a loopback address the
//! name of the host must be one of this machine (otherwise a name that somebody points here would make a foreign page one of
//! ours).

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use crate::routes::Refusal;
use crate::shared::Shared;

/// The name of the cookie with the token.
const COOKIE: &str = "dmodc_token";

/// The least length of a token: 16 characters.
const LEAST_LENGTH: usize = 16;

/// A secret that requests must know.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    /// Never shows the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Why a text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is too short.
    #[error("a token has at least {LEAST_LENGTH} characters, and this one has {0}")]
    TooShort(usize),
    /// It has characters that a header cannot hold.
    #[error("a token has letters, figures and the characters - . _ ~ + / = only")]
    Characters,
}

impl Token {
    /// Takes a text; white space around it does not count.
    ///
    /// # Errors
    /// If it is too short, or a header could not hold it.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        match text.len() {
            length if length < LEAST_LENGTH => Err(TokenError::TooShort(length)),
            _ if !text.bytes().all(is_allowed) => Err(TokenError::Characters),
            _ => Ok(Token(text.into())),
        }
    }

    /// Returns whether a text is the token. The time does not tell how much of it is right.
    fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

/// The rules for requests.
#[derive(Clone, Debug)]
pub struct Access {
    token: Option<Token>,
    is_loopback: bool,
}

impl Access {
    /// Makes the rules for a server at an address.
    ///
    /// # Errors
    /// The address itself, if it is not a loopback address and there is no token.
    pub fn new(address: SocketAddr, token: Option<Token>) -> Result<Self, SocketAddr> {
        let is_loopback = address.ip().is_loopback();
        match is_loopback || token.is_some() {
            true => Ok(Access { token, is_loopback }),
            false => Err(address),
        }
    }

    /// Returns why a request is refused.
    fn refusal(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Refusal> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        if self.is_loopback && !host.is_some_and(is_own_host) {
            return Some(Refusal::new(
                StatusCode::FORBIDDEN,
                "this server answers only to localhost, 127.0.0.1 and [::1]",
            ));
        }
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or(""));
        if let Some(origin) = origin
            && origin.split_once("://").map(|(_, origin)| origin) != host
        {
            return Some(Refusal::new(
                StatusCode::FORBIDDEN,
                "a page of another origin must not use this server",
            ));
        }
        let needs_token = uri.path() != "/healthz";
        if let Some(token) = self.token.as_ref().filter(|_| needs_token)
            && !presented(headers).is_some_and(|text| token.is(text))
        {
            return Some(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "this needs the token: open the page once with ?token=TOKEN, or send the header 'Authorization: Bearer TOKEN'",
            ));
        }
        let sends_body = matches!(*method, Method::POST | Method::PUT | Method::PATCH);
        if sends_body && !is_json(headers) {
            return Some(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a body must be JSON: send the header 'Content-Type: application/json'",
            ));
        }
        None
    }

    /// Returns the answer to the first visit with `?token=`: a cookie, and the same page without the token in its address.
    fn first_visit(&self, method: &Method, uri: &Uri) -> Option<Response> {
        let token = self.token.as_ref()?;
        if *method != Method::GET || uri.path() != "/" {
            return None;
        }
        let pairs = uri.query()?.split('&');
        let text = pairs.filter_map(|pair| pair.strip_prefix("token=")).next()?;
        if !token.is(&percent_decoded(text)) {
            return None;
        }
        let cookie = format!("{COOKIE}={text}; HttpOnly; SameSite=Strict; Path=/");
        let headers = [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)];
        Some((StatusCode::SEE_OTHER, headers).into_response())
    }
}

/// Returns the token that a request brings.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(token) = bearer.and_then(|value| value.strip_prefix("Bearer ")) {
        return Some(token.trim());
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Returns a text of an address with its `%` sequences replaced. Tokens are ASCII, so other bytes match none.
fn percent_decoded(text: &str) -> String {
    let (mut decoded, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('%') {
        decoded.push_str(&rest[..at]);
        match rest.get(at + 1..at + 3).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                decoded.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            _ => {
                decoded.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    decoded + rest
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| {
        let media = value.split(';').next().unwrap_or("").trim();
        media.eq_ignore_ascii_case("application/json")
    })
}

/// Returns whether the name of a host, with or without a port, is one of this machine.
fn is_own_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What the browser may do with our answers: nothing but what the page needs.
const SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' \
     data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Refuses requests that break the rules, and adds headers that keep browsers careful.
pub(crate) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let access = shared.access();
    let mut response = match access.first_visit(&method, &uri) {
        Some(response) => response,
        None => match access.refusal(&method, &uri, request.headers()) {
            Some(refusal) => refusal.into_response(),
            None => next.run(request).await,
        },
    };
    shared.metrics().count_answer(response.status());
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(access: &Access, headers: &[(header::HeaderName, &str)]) -> Option<StatusCode> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name, HeaderValue::from_str(value).expect("a header"));
        }
        access.refusal(&Method::POST, &Uri::from_static("/api/v1/undo"), &map).map(|r| r.status())
    }

    const JSON: (header::HeaderName, &str) = (header::CONTENT_TYPE, "application/json");

    #[test]
    fn other_addresses_need_a_token() {
        let open: SocketAddr = "0.0.0.0:7474".parse().expect("an address");
        assert!(Access::new(open, None).is_err());
        assert!(Token::new("short").is_err());
        assert!(Token::new("with spaces in the middle").is_err());
        let token = Token::new("  0123456789abcdef\n").expect("a token");
        let access = Access::new(open, Some(token)).expect("it has a token");
        let host = (header::HOST, "fabric.example:7474");
        assert_eq!(refusal(&access, &[host.clone(), JSON]), Some(StatusCode::UNAUTHORIZED));
        let wrong = (header::AUTHORIZATION, "Bearer 0123456789abcdeX");
        assert_eq!(refusal(&access, &[host.clone(), wrong, JSON]), Some(StatusCode::UNAUTHORIZED));
        let bearer = (header::AUTHORIZATION, "Bearer 0123456789abcdef");
        assert_eq!(refusal(&access, &[host.clone(), bearer, JSON]), None);
        let cookie = (header::COOKIE, "a=b; dmodc_token=0123456789abcdef");
        assert_eq!(refusal(&access, &[host, cookie, JSON]), None);
    }

    #[test]
    fn the_token_becomes_a_cookie() {
        let open: SocketAddr = "0.0.0.0:7474".parse().expect("an address");
        let token = Token::new("0123456789abcd+/").expect("a token");
        let access = Access::new(open, Some(token)).expect("it has a token");
        let visit = |uri: &'static str| access.first_visit(&Method::GET, &Uri::from_static(uri));
        let response = visit("/?token=0123456789abcd%2B%2f").expect("the right token");
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert!(visit("/?token=0123456789abcdef").is_none());
        assert!(visit("/api/v1/state?token=0123456789abcd%2B%2f").is_none());
    }

    #[test]
    fn foreign_pages_and_names_are_refused() {
        let own: SocketAddr = "127.0.0.1:7474".parse().expect("an address");
        let access = Access::new(own, None).expect("loopback needs no token");
        for host in ["localhost:7474", "127.0.0.1:7474", "[::1]:7474", "LOCALHOST"] {
            assert_eq!(refusal(&access, &[(header::HOST, host), JSON]), None, "{host}");
        }
        for host in ["evil.example:7474", "127.0.0.1.evil.example", ""] {
            let found = refusal(&access, &[(header::HOST, host), JSON]);
            assert_eq!(found, Some(StatusCode::FORBIDDEN), "{host}");
        }
        let host = (header::HOST, "localhost:7474");
        let foreign = (header::ORIGIN, "http://evil.example");
        assert_eq!(refusal(&access, &[host.clone(), foreign, JSON]), Some(StatusCode::FORBIDDEN));
        let same = (header::ORIGIN, "http://localhost:7474");
        assert_eq!(refusal(&access, &[host.clone(), same, JSON]), None);
        let form = (header::CONTENT_TYPE, "text/plain");
        assert_eq!(refusal(&access, &[host, form]), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
}
