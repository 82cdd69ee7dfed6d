//! `carom view`: where it serves, whom it shows the page, how it ends.

use crate::common::{Scratch, carom, code, run, stderr};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run of a moment.
fn folder(scratch: &Scratch) -> std::path::PathBuf {
    let out = scratch.path("out");
    run("free-bar".as_ref(), &out, &["--set", "output.frames=3"]);
    out
}

/// Serves a folder with a browser that only writes down what it is asked to open; also the address that is told.
fn view(scratch: &Scratch, out: &Path, more: &[&str]) -> (Child, String) {
    let opener =
        scratch.write("xdg-open", &format!("#!/bin/sh\necho \"$1\" > {}/opened\n", scratch.0.display()));
    assert!(Command::new("chmod").arg("+x").arg(opener).status().unwrap().success());
    let paths = format!("{}:{}", scratch.0.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = crate::common::program();
    command.arg("view").arg(out).args(more).env("PATH", paths).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().find(|w| w.starts_with("http://")).unwrap().to_owned();
    (child, url)
}

fn ask(url: &str, path: &str, host: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    let host = if host.is_empty() { address } else { host };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn interrupted(mut child: Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn the_page_is_served_on_the_port_that_was_asked_for_and_opened_in_the_browser() {
    let scratch = Scratch::new("view");
    let out = folder(&scratch);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let (child, url) = view(&scratch, &out, &["--port", &port]);
    assert_eq!(url, format!("http://127.0.0.1:{port}/"));
    let opened = scratch.path("opened");
    let begin = Instant::now();
    let asked = || fs::read_to_string(&opened).is_ok_and(|text| text.trim() == url);
    while !asked() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no browser was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(ask(&url, "/", "").starts_with("HTTP/1.1 200"));
    assert!(ask(&url, "/progress", "").contains("\"finished\""));
    assert!(ask(&url, "/progress", "evil.example").starts_with("HTTP/1.1 403"));
    for path in ["/../summary.json", "/%2e%2e/summary.json", "/frame/../summary.json"] {
        assert!(ask(&url, path, "").starts_with("HTTP/1.1 400"), "{path}");
    }
    // a port that is taken is told
    let second = carom(["view", out.to_str().unwrap(), "--no-browser", "--port", &port]);
    assert!(
        code(&second) != 0 && stderr(&second).contains(&format!("127.0.0.1:{port}")),
        "{}",
        stderr(&second)
    );
    interrupted(child);
}

#[test]
#[cfg(target_os = "linux")]
fn the_browser_is_left_alone_if_that_was_asked_for() {
    let scratch = Scratch::new("view-alone");
    let out = folder(&scratch);
    let (child, url) = view(&scratch, &out, &["--no-browser"]);
    assert!(ask(&url, "/", "").starts_with("HTTP/1.1 200"));
    std::thread::sleep(Duration::from_millis(300));
    interrupted(child);
    assert!(!scratch.path("opened").exists());
    let nothing = carom(["view", scratch.path("nowhere").to_str().unwrap(), "--no-browser"]);
    assert_eq!(code(&nothing), 2, "{}", stderr(&nothing));
}
