//! Who may ask.
//!
//! On a loopback address everybody on the machine may. Any other address needs a token, which comes with every request: in
//! the header `Authorization: Bearer TOKEN`, or in a cookie that the page gets if it is opened once with `?token=TOKEN`. The
//! files of the page have nothing of a fabric in them and need none: the page asks for the token by itself.
//!
//! Other web pages may not: a page of somebody else that is open in the same browser could send requests here. So a request
//! from another origin is refused, a request with a body must be JSON (which forms cannot send; see `routes/body`), and on a
//! loopback address the name of the host must be one of this machine (otherwise a name that somebody points here would make a
//! foreign page one of ours). Browsers say where a request comes from also if it has no origin, such as that of a picture:
//! only a visit of the page itself may come from elsewhere.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use dmodc_view::page;
use subtle::ConstantTimeEq;

use crate::refusal::Refusal;

/// The beginning of the name of the cookie with the token. The port follows, because browsers send a cookie to every port of a
/// host, and each port may be a server with another token.
const COOKIE: &str = "dmodc_token_";

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
    /// The name of the cookie with the token.
    cookie: String,
}

impl Access {
    /// Makes the rules for a server at an address.
    ///
    /// # Errors
    /// The address itself, if it is not a loopback address and there is no token.
    pub fn new(address: SocketAddr, token: Option<Token>) -> Result<Self, SocketAddr> {
        let is_loopback = address.ip().is_loopback();
        match is_loopback || token.is_some() {
            true => {
                Ok(Access { token, is_loopback, cookie: String::new() }.at_port(address.port()))
            }
            false => Err(address),
        }
    }

    /// Returns the rules for the same server at a port, which is known only after it listens if any free one is used.
    pub(crate) fn at_port(self, port: u16) -> Self {
        Access { cookie: format!("{COOKIE}{port}"), ..self }
    }

    /// Returns why a request is refused.
    pub(crate) fn refusal(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Refusal> {
        let refuse = |status, reason: &str| Some(Refusal::new(status, reason));
        let mut hosts =
            headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or(""));
        let (host, is_one_host) = (hosts.next(), hosts.next().is_none());
        if self.is_loopback && !(is_one_host && host.is_some_and(is_own_host)) {
            return refuse(
                StatusCode::FORBIDDEN,
                "this server answers only to localhost, 127.0.0.1 and [::1]",
            );
        }
        if is_foreign(host, method, uri, headers) {
            return refuse(
                StatusCode::FORBIDDEN,
                "a page of another origin must not use this server",
            );
        }
        if let Some(token) = self.token.as_ref().filter(|_| !is_public(method, uri))
            && !self.presented(headers).is_some_and(|text| token.is(text))
        {
            return refuse(
                StatusCode::UNAUTHORIZED,
                "this needs the token: open the page once with ?token=TOKEN, or send the header 'Authorization: Bearer TOKEN'",
            );
        }
        if String::from_utf8(percent_decoded(uri.path())).is_err() {
            return refuse(StatusCode::BAD_REQUEST, "the address is not text in UTF-8");
        }
        None
    }

    /// Returns the answer to the first visit with `?token=`: a cookie, and the same page without the token in its address.
    pub(crate) fn first_visit(&self, method: &Method, uri: &Uri) -> Option<Response> {
        let token = self.token.as_ref()?;
        if *method != Method::GET || uri.path() != "/" {
            return None;
        }
        let mut pairs = uri.query()?.split('&');
        let text = pairs.find_map(|pair| pair.strip_prefix("token="))?;
        let text = String::from_utf8(percent_decoded(text)).ok()?;
        if !token.is(&text) {
            return None;
        }
        let cookie = format!("{}={text}; HttpOnly; SameSite=Strict; Path=/", self.cookie);
        let headers = [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)];
        Some((StatusCode::SEE_OTHER, headers).into_response())
    }

    /// Returns the token that a request brings.
    fn presented<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(token) = bearer.and_then(|value| value.strip_prefix("Bearer ")) {
            return Some(token.trim());
        }
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
        pairs.find_map(|pair| pair.strip_prefix(&*self.cookie)?.strip_prefix('='))
    }
}

/// Returns whether everybody may see what is at an address: whether the server is alive, and the files of the page. A visit with a
/// token in the address wants more than that, so a wrong token is refused.
fn is_public(method: &Method, uri: &Uri) -> bool {
    let is_question = *method == Method::GET || *method == Method::HEAD;
    let name = uri.path().strip_prefix('/');
    let is_file = |name: &str| page::FILES.iter().any(|file| file.name == name);
    let is_page = name.is_some_and(|name| name.is_empty() || is_file(name));
    is_question && (uri.path() == "/healthz" || (is_page && uri.query().is_none()))
}

/// Returns whether a page of another origin sends a request.
fn is_foreign(host: Option<&str>, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    if let Some(origin) = text("origin") {
        let of_origin = origin.split_once("://").map(|(_, host)| host);
        return of_origin.is_none() || of_origin != host;
    }
    let is_elsewhere = matches!(text("sec-fetch-site"), Some("cross-site" | "same-site"));
    let is_visit =
        *method == Method::GET && uri.path() == "/" && text("sec-fetch-mode") == Some("navigate");
    is_elsewhere && !is_visit
}

/// Returns the bytes of a text of an address, with its `%` sequences replaced. What is no such sequence stays as it is.
fn percent_decoded(text: &str) -> Vec<u8> {
    let figure = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let (text, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(at) {
        match (byte, figure(text.get(at + 1)), figure(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((16 * high + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

/// Returns whether the name of a host, with or without a port, is one of this machine.
fn is_own_host(host: &str) -> bool {
    let is_port = |text: &str| text.is_empty() || text.parse::<u16>().is_ok();
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, "")) => (name, ""),
        Some((name, rest)) => match rest.strip_prefix(':') {
            Some(port) => (name, port),
            None => return false,
        },
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let is_own = name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_own && is_port(port)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

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
        let cookie = (header::COOKIE, "a=b; dmodc_token_7474=0123456789abcdef");
        assert_eq!(refusal(&access, &[host.clone(), cookie, JSON]), None);
        let other = (header::COOKIE, "dmodc_token_7475=0123456789abcdef");
        assert_eq!(refusal(&access, &[host, other, JSON]), Some(StatusCode::UNAUTHORIZED));
    }

    #[test]
    fn the_token_becomes_a_cookie() {
        let open: SocketAddr = "0.0.0.0:7474".parse().expect("an address");
        let token = Token::new("0123456789abcd+/").expect("a token");
        let access = Access::new(open, Some(token)).expect("it has a token");
        let visit = |uri: &'static str| access.first_visit(&Method::GET, &Uri::from_static(uri));
        let response = visit("/?token=0123456789abcd%2B%2f").expect("the right token");
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        // The cookie has the token as it is, not as the address has it.
        let cookie = response.headers()[header::SET_COOKIE].to_str().expect("text");
        let (cookie, _) = cookie.split_once(';').expect("it has attributes");
        let host = (header::HOST, "fabric.example");
        assert_eq!(refusal(&access, &[host, (header::COOKIE, cookie), JSON]), None);
        assert!(visit("/?token=0123456789abcdef").is_none());
        assert!(visit("/api/v1/state?token=0123456789abcd%2B%2f").is_none());
    }

    #[test]
    fn sequences_of_an_address_become_bytes() {
        for (text, bytes) in [
            ("a%20b", &b"a b"[..]),
            ("%fF%0", b"\xff%0"),
            ("%%41%zz%+1", b"%A%zz%+1"),
            ("é%", "é%".as_bytes()),
        ] {
            assert_eq!(percent_decoded(text), bytes, "{text}");
        }
    }

    #[test]
    fn foreign_pages_and_names_are_refused() {
        let own: SocketAddr = "127.0.0.1:7474".parse().expect("an address");
        let access = Access::new(own, None).expect("loopback needs no token");
        for host in ["localhost:7474", "127.0.0.1:7474", "[::1]:7474", "LOCALHOST"] {
            assert_eq!(refusal(&access, &[(header::HOST, host), JSON]), None, "{host}");
        }
        for host in ["evil.example:7474", "127.0.0.1.evil.example", "[::1].evil.example", "::1", ""]
        {
            let found = refusal(&access, &[(header::HOST, host), JSON]);
            assert_eq!(found, Some(StatusCode::FORBIDDEN), "{host}");
        }
        let host = (header::HOST, "localhost:7474");
        let foreign = (header::ORIGIN, "http://evil.example");
        assert_eq!(refusal(&access, &[host.clone(), foreign, JSON]), Some(StatusCode::FORBIDDEN));
        let same = (header::ORIGIN, "http://localhost:7474");
        assert_eq!(refusal(&access, &[host.clone(), same, JSON]), None);
        let none = (header::ORIGIN, "null");
        assert_eq!(refusal(&access, &[host.clone(), none]), Some(StatusCode::FORBIDDEN));
        let site = |site| (HeaderName::from_static("sec-fetch-site"), site);
        for foreign in ["cross-site", "same-site"] {
            let found = refusal(&access, &[host.clone(), site(foreign)]);
            assert_eq!(found, Some(StatusCode::FORBIDDEN), "{foreign}");
        }
        for own in ["same-origin", "none"] {
            assert_eq!(refusal(&access, &[host.clone(), site(own)]), None, "{own}");
        }
    }
}
