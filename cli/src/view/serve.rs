//! A server of HTTP/1.1 for one reader on this machine: GET and HEAD, connections that stay, nothing else.
//!
//! It listens on 127.0.0.1 only, and answers only who asks for that address by its own name: a page of somebody else whose
//! name was made to lead here (DNS rebinding) says another `Host` and is refused. Written out because the frameworks for
//! this bring an asynchronous runtime and some fifty crates for what is a page of text here.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Lines of a request at most, and bytes of all of them.
const LINES: usize = 100;
const BYTES: u64 = 16 * 1024;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it looks whether it is to end.
const PULSE: Duration = Duration::from_millis(50);
/// Connections at a time; a browser opens six.
const CONNECTIONS: usize = 64;

/// What is sent back.
pub struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    pub fn page(text: String) -> Answer {
        Answer { status: 200, kind: "text/html; charset=utf-8", body: text.into_bytes() }
    }

    pub fn json(text: String) -> Answer {
        Answer { status: 200, kind: "application/json", body: text.into_bytes() }
    }

    pub fn bytes(body: Vec<u8>) -> Answer {
        Answer { status: 200, kind: "application/octet-stream", body }
    }

    pub fn refused(status: u16, words: &str) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: format!("{words}\n").into_bytes() }
    }

    pub fn nothing() -> Answer {
        Answer::refused(404, "there is no such page")
    }
}

pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    pub fn open(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        Ok(Server { address: listener.local_addr()?, listener })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until `stop` is raised.
    pub fn run(&self, stop: &AtomicBool, answer: impl Fn(&str) -> Answer + Send + Sync + 'static) {
        let (answer, port) = (Arc::new(answer), self.address.port());
        let open = Arc::new(AtomicUsize::new(0));
        while !stop.load(Ordering::Relaxed) {
            let Ok((stream, _)) = self.listener.accept() else {
                thread::sleep(PULSE);
                continue;
            };
            if open.load(Ordering::Relaxed) >= CONNECTIONS {
                continue;
            }
            let (answer, count) = (answer.clone(), open.clone());
            count.fetch_add(1, Ordering::Relaxed);
            // threads end with the program: they hold nothing that must be kept
            thread::spawn(move || {
                let _ = talk(stream, port, &*answer);
                count.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }
}

/// One connection, request after request.
fn talk(stream: TcpStream, port: u16, answer: &dyn Fn(&str) -> Answer) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let Some(request) = Request::read(&mut reader)? else { return Ok(()) };
        let reply = match request.refusal(port) {
            Some(refusal) => refusal,
            None => answer(&request.path),
        };
        // after a request that was not understood nobody knows where the next one begins
        let last = request.close || reply.status == 400;
        send(&mut writer, &reply, request.method == "HEAD", last)?;
        if last {
            return Ok(());
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Request {
    method: String,
    /// Without what comes after a question mark.
    path: String,
    hosts: Vec<String>,
    close: bool,
    /// It brings something along, or is no request at all.
    strange: bool,
}

impl Request {
    /// The next request; nothing at the end of the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
        let mut head = reader.take(BYTES);
        let mut request = Request::default();
        for at in 0..LINES {
            let mut line = Vec::new();
            if head.read_until(b'\n', &mut line)? == 0 {
                request.strange = true;
                return Ok((at > 0).then_some(request));
            }
            let Ok(line) = std::str::from_utf8(&line) else {
                request.strange = true;
                continue;
            };
            let line = line.trim_end_matches(['\r', '\n']);
            if at == 0 {
                let mut words = line.split(' ');
                let (method, target, version) = (words.next(), words.next(), words.next());
                request.method = method.unwrap_or_default().to_owned();
                let target = target.unwrap_or_default();
                request.path = target.split('?').next().unwrap_or_default().to_owned();
                request.close = version == Some("HTTP/1.0");
                request.strange = !matches!(version, Some("HTTP/1.1" | "HTTP/1.0")) || words.next().is_some();
            } else if line.is_empty() {
                return Ok(Some(request));
            } else if let Some((name, value)) = line.split_once(':') {
                let value = value.trim();
                match name.to_ascii_lowercase().as_str() {
                    "host" => request.hosts.push(value.to_ascii_lowercase()),
                    "connection" => request.close |= value.eq_ignore_ascii_case("close"),
                    "content-length" => request.strange |= value != "0",
                    "transfer-encoding" => request.strange = true,
                    _ => {}
                }
            }
        }
        request.strange = true;
        Ok(Some(request))
    }

    /// Why it is not answered, if it is not.
    fn refusal(&self, port: u16) -> Option<Answer> {
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if self.strange {
            return Some(Answer::refused(400, "this request is not understood"));
        }
        if !matches!(&self.hosts[..], [host] if ours.contains(host)) {
            return Some(Answer::refused(403, &format!("this server is for {} alone", ours[0])));
        }
        if self.method != "GET" && self.method != "HEAD" {
            return Some(Answer::refused(405, "there is nothing to do here but to look"));
        }
        let dots = |part: &str| part == ".." || part == "." || part.contains('%') || part.contains('\\');
        if !self.path.starts_with('/') || self.path.split('/').any(dots) {
            return Some(Answer::refused(400, "paths here have names without dots and per cent signs"));
        }
        None
    }
}

fn send(to: &mut impl Write, answer: &Answer, head_only: bool, last: bool) -> io::Result<()> {
    let reason = match answer.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        405 => "Method Not Allowed",
        _ => "Not Found",
    };
    let Answer { status, kind, body } = answer;
    let connection = if last { "close" } else { "keep-alive" };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: {connection}\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Content-Security-Policy: default-src 'self' 'unsafe-inline' data:; frame-ancestors 'none'\r\n\r\n",
        body.len()
    );
    to.write_all(head.as_bytes())?;
    if !head_only {
        to.write_all(body)?;
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Option<u16> {
        let request = Request::read(&mut text.as_bytes()).unwrap()?;
        Some(request.refusal(80).map_or(200, |answer| answer.status))
    }

    #[test]
    fn only_who_asks_for_this_address_by_its_own_name_is_answered() {
        let ask = |host: &str| status(&format!("GET / HTTP/1.1\r\n{host}\r\n\r\n"));
        assert_eq!(ask("Host: 127.0.0.1:80"), Some(200));
        assert_eq!(ask("host: LocalHost:80"), Some(200));
        for foreign in
            ["Host: evil.example", "Host: 127.0.0.1", "Host: 127.0.0.1:81", "Host: localhost.evil:80", "X: y"]
        {
            assert_eq!(ask(foreign), Some(403), "{foreign}");
        }
        assert_eq!(ask("Host: 127.0.0.1:80\r\nHost: evil.example"), Some(403));
    }

    #[test]
    fn paths_that_lead_elsewhere_and_requests_that_bring_something_are_refused() {
        let ask = |line: &str| status(&format!("{line}\r\nHost: 127.0.0.1:80\r\n\r\n"));
        assert_eq!(ask("GET /frame/1/mises?x=1 HTTP/1.1"), Some(200));
        for path in ["/../etc/passwd", "/frame/../../x", "/%2e%2e/x", "/..\\x", "frame", "http://127.0.0.1/"]
        {
            assert_eq!(ask(&format!("GET {path} HTTP/1.1")), Some(400), "{path}");
        }
        assert_eq!(ask("POST / HTTP/1.1"), Some(405));
        assert_eq!(ask("GET / HTTP/1.1\r\nContent-Length: 3"), Some(400));
        assert_eq!(ask("GET / HTTP/1.1\r\nTransfer-Encoding: chunked"), Some(400));
        assert_eq!(ask("GET / HTTP/2"), Some(400));
    }

    #[test]
    fn what_is_no_request_ends_without_harm() {
        assert_eq!(status(""), None);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:80"), Some(400));
        let endless = "GET / HTTP/1.1\r\n".to_owned() + &"a: b\r\n".repeat(1000);
        assert_eq!(status(&endless), Some(400));
        assert_eq!(status(&"x".repeat(100_000)), Some(400));
    }
}
