//! Who may ask.

use dmodc_server::{ServeError, ServeOptions, Token, serve};
use serde_json::json;

use crate::desk::{SMALL, options, server, server_with_token, start};

const TOKEN: &str = "correct.horse+battery/staple=";

#[test]
fn an_open_address_needs_a_token() {
    let open = || ServeOptions { address: "0.0.0.0:0".parse().unwrap(), ..options(SMALL) };
    let result = serve(open(), |_| unreachable!("it must not start"));
    assert!(matches!(result, Err(ServeError::NeedsToken(_))));
    let token = Some(Token::new(TOKEN).unwrap());
    let client = start(ServeOptions { token, ..open() });
    // There the host has a name that the server cannot know.
    let client = client.with("Host", "fabric.example");
    client.get("/api/v1/state").refusal(401);
    client.with("Authorization", &format!("Bearer {TOKEN}")).get("/api/v1/state").good();
}

#[test]
fn a_request_must_bring_the_token() {
    let client = server_with_token(TOKEN);
    let wrong = [
        client.clone(),
        client.with("Authorization", "Bearer wrong.horse+battery/staple="),
        client.with("Authorization", &format!("Bearer {TOKEN}x")),
        client.with("Authorization", &format!("Bearer {}", &TOKEN[..20])),
        client.with("Authorization", &format!("Basic {TOKEN}")),
        client.with("Authorization", "Bearer"),
        client.with("Authorization", ""),
        client.with("Cookie", &format!("dmodc_token={TOKEN}")),
        client.with("Cookie", "dmodc_token_=; ;;="),
    ];
    for client in wrong {
        for path in ["/api/v1/state", "/api/v1/scene", "/metrics", "/openapi.json", "/nothing"] {
            let reason = client.get(path).refusal(401);
            assert!(!reason.contains("horse"), "{reason}");
        }
        client.get(&format!("/api/v1/state?token={TOKEN}")).refusal(401);
        client.post("/api/v1/undo", &json!({})).refusal(401);
        // Whether the server is alive is no secret, nor is the page without a fabric, which asks for the token.
        client.get("/healthz").good();
        assert_eq!((client.get("/").status, client.get("/main.js").status), (200, 200));
        client.post("/", &json!({})).refusal(401);
        client.get("/main.js?token=wrong").refusal(401);
    }
    let right = client.with("Authorization", &format!("Bearer {TOKEN}"));
    right.get("/api/v1/state").good();
    right.post("/api/v1/change", &json!({ "fail": ["L2-1"] })).good();
}

#[test]
fn the_first_visit_gives_a_cookie() {
    let client = server_with_token(TOKEN);
    for text in [TOKEN, "correct.horse%2Bbattery%2Fstaple%3D"] {
        let visit = client.get(&format!("/?token={text}"));
        assert_eq!((visit.status, visit.header("location")), (303, Some("/")));
        let cookie = visit.header("set-cookie").unwrap();
        for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        let cookie = cookie.split(';').next().unwrap();
        let page = client.with("Cookie", &format!("other=1; {cookie}")).get("/");
        assert_eq!(page.status, 200);
        client.with("Cookie", cookie).get("/api/v1/state").good();
    }
    client.get("/?token=wrong").refusal(401);
    client.get("/?token=").refusal(401);
    client.get("/?token=%FF%FE").refusal(401);
}

#[test]
fn foreign_hosts_and_pages_are_refused() {
    let client = server();
    let port = client.address.port();
    for host in ["localhost", "127.0.0.1", "[::1]", "LocalHost"] {
        client.with("Host", host).get("/api/v1/state").good();
        client.with("Host", &format!("{host}:{port}")).get("/api/v1/state").good();
    }
    for host in
        ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::1", "a:b:c"]
    {
        client.with("Host", host).get("/api/v1/state").refusal(403);
    }
    let two = client.with("Host", "localhost").with("Host", "evil.example");
    two.get("/api/v1/state").refusal(403);
    let body = json!({ "fail": ["L2-1"] });
    for origin in
        ["http://evil.example", "null", "", &format!("http://localhost:{}", port ^ 1), "file://"]
    {
        client.with("Origin", origin).post("/api/v1/change", &body).refusal(403);
        client.with("Origin", origin).get("/api/v1/state").refusal(403);
    }
    for site in ["cross-site", "same-site"] {
        client.with("Sec-Fetch-Site", site).get("/api/v1/export/tables").refusal(403);
        client.with("Sec-Fetch-Site", site).with("Sec-Fetch-Mode", "no-cors").get("/").refusal(403);
        // A link to the page may be anywhere.
        let visit = client.with("Sec-Fetch-Site", site).with("Sec-Fetch-Mode", "navigate");
        assert_eq!(visit.get("/").status, 200);
        visit.get("/api/v1/export/tables").refusal(403);
    }
    assert_eq!(client.get("/api/v1/state").good()["revision"], 1);
    let own = client.with("Origin", &format!("http://127.0.0.1:{port}"));
    own.with("Sec-Fetch-Site", "same-origin").post("/api/v1/change", &body).good();
}

/// A form of a foreign page can send these without asking first.
#[test]
fn forms_change_nothing() {
    let client = server();
    let addresses = [
        "change",
        "random",
        "undo",
        "redo",
        "reset",
        "engine",
        "scenario",
        "order",
        "compare",
        "compare-cabling",
        "jobs",
        "scenarios/x/load",
    ];
    for media in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some(""),
    ] {
        let client = media.map_or(client.clone(), |media| client.with("Content-Type", media));
        for address in addresses {
            let answer = client.send("POST", &format!("/api/v1/{address}"), Some(b"{}"));
            assert!(answer.refusal(415).contains("application/json"));
        }
        client.send("PUT", "/api/v1/scenarios/x", Some(b"{}")).refusal(415);
    }
    client
        .with("Content-Type", "Application/JSON; charset=utf-8")
        .send("POST", "/api/v1/reset", Some(b"{}"))
        .good();
}

/// Every answer keeps browsers careful, and allows no other origin to read it.
#[test]
fn answers_have_careful_headers() {
    let client = server();
    for path in ["/", "/main.js", "/api/v1/state", "/api/v1/export/tables", "/nothing", "/metrics"]
    {
        let answer = client.get(path);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path} {name}");
        }
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'")
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(["no-store", "no-cache"].contains(&answer.header("cache-control").unwrap()));
        assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    }
    client
        .with("Origin", &format!("http://{}", client.address))
        .send("OPTIONS", "/api/v1/change", None)
        .refusal(405);
}
