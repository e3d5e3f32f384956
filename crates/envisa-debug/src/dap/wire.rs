//! Messages of the Debug Adapter Protocol on a stream: headers, then JSON.

use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// Largest message, and longest header.
const MAX_MESSAGE: usize = 16 << 20;
const MAX_HEADER: u64 = 4096;

/// What came.
#[derive(Debug)]
pub enum Read {
    /// A message.
    Message(Value),
    /// What is none, and why.
    Bad(String),
    /// The end.
    End,
}

/// Reads the next message; what is damaged is skipped and told.
pub fn read(from: &mut impl BufRead) -> Read {
    let mut length = None;
    let mut any = false;
    loop {
        let mut line = Vec::new();
        match io::Read::take(&mut *from, MAX_HEADER).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Read::End,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            match (length, any) {
                (None, false) => continue,
                (None, true) => return Read::Bad("a message without Content-Length".into()),
                (Some(_), _) => break,
            }
        }
        any = true;
        if let Some(n) = text.to_ascii_lowercase().strip_prefix("content-length:") {
            match n.trim().parse::<usize>() {
                Ok(n) if n <= MAX_MESSAGE => length = Some(n),
                _ => {
                    return Read::Bad(format!(
                        "`{}` is not a length of a message: at most {MAX_MESSAGE} bytes",
                        n.trim()
                    ));
                }
            }
        }
    }
    let mut body = vec![0; length.unwrap_or(0)];
    if io::Read::read_exact(from, &mut body).is_err() {
        return Read::End;
    }
    match serde_json::from_slice(&body) {
        Ok(message) => Read::Message(message),
        Err(e) => Read::Bad(format!("a message that is not JSON: {e}")),
    }
}

/// Writes messages.
pub struct Writer<W> {
    to: W,
    seq: u64,
    /// Nobody reads any more.
    pub closed: bool,
}

impl<W: Write> Writer<W> {
    /// To a stream.
    pub fn new(to: W) -> Writer<W> {
        Writer { to, seq: 0, closed: false }
    }

    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        let body = message.to_string();
        let done =
            write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| self.to.flush());
        self.closed |= done.is_err();
    }

    /// Something happened.
    pub fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "type": "event", "event": event, "body": body }));
    }

    /// Something is said.
    pub fn output(&mut self, category: &str, text: &str) {
        self.event("output", json!({ "category": category, "output": text }));
    }

    /// A request is answered: by a body, or by words.
    pub fn respond(&mut self, request: &Value, answer: Result<Value, String>) {
        let seq = request["seq"].as_u64().unwrap_or(0);
        let command = request["command"].as_str().unwrap_or("");
        let mut message = json!({ "type": "response", "request_seq": seq, "command": command });
        match answer {
            Ok(body) => {
                message["success"] = json!(true);
                if !body.is_null() {
                    message["body"] = body;
                }
            }
            Err(why) => {
                message["success"] = json!(false);
                message["message"] = json!(why);
                message["body"] = json!({ "error": { "id": 1, "format": why.replace('{', "(").replace('}', ")"), "showUser": true } });
            }
        }
        self.send(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_and_skipped() {
        let text = b"\r\nContent-Length: 2\r\n\r\n{}Content-Length: x\r\nContent-Length: 3\r\nOther: 1\r\n\r\n{]}\nFoo: 1\r\n\r\nContent-Length: 4\r\n\r\nnull";
        let mut from = &text[..];
        let mut kinds = String::new();
        loop {
            match read(&mut from) {
                Read::Message(_) => kinds.push('m'),
                Read::Bad(why) => {
                    assert!(!why.is_empty());
                    kinds.push('b');
                }
                Read::End => break,
            }
        }
        assert_eq!(kinds, "mbbbm");
    }
}
