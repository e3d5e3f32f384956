//! Requests and responses between a process that needs something compiled and the process that compiles.

use std::io::{self, Read, Write};

/// Longest part of a message: what no source or module reaches.
const LONGEST: u64 = 1 << 31;
const MAGIC: u32 = 0x6e76_6331;

/// A file in memory: its name and its bytes.
pub type File = (String, Vec<u8>);

/// One run of the compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its arguments, as on a command line, without its own name.
    pub args: Vec<String>,
    /// Files that arguments name.
    pub sources: Vec<File>,
    /// Files that sources include.
    pub headers: Vec<File>,
    /// Another compiler to use: a program, called for each request.
    pub program: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The compiler's return code; 0 for success.
    pub code: i32,
    /// Files it made.
    pub outputs: Vec<File>,
    /// What it printed besides.
    pub noise: String,
}

fn write_length_prefixed(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u64).to_le_bytes());
    to.extend(bytes);
}

fn number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn get(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let len = number(from)?;
    if len > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message that is too long"));
    }
    let mut bytes = Vec::new();
    // Grows with what comes, not with what is said to come.
    let read = from.take(len).read_to_end(&mut bytes)?;
    if read as u64 == len { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn text(from: &mut impl Read) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&get(from)?).into_owned())
}

fn put_files(to: &mut Vec<u8>, files: &[File]) {
    to.extend((files.len() as u64).to_le_bytes());
    for (name, bytes) in files {
        write_length_prefixed(to, name.as_bytes());
        write_length_prefixed(to, bytes);
    }
}

fn files(from: &mut impl Read) -> io::Result<Vec<File>> {
    let n = number(from)?;
    let mut all = Vec::new();
    for _ in 0..n {
        all.push((text(from)?, get(from)?));
    }
    Ok(all)
}

fn begin(from: &mut impl Read) -> io::Result<()> {
    match number(from)? {
        n if n == u64::from(MAGIC) => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "no message of the compiler's helper")),
    }
}

impl Request {
    /// Sends it.
    ///
    /// # Errors
    /// Of the pipe.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = u64::from(MAGIC).to_le_bytes().to_vec();
        bytes.extend((self.args.len() as u64).to_le_bytes());
        for arg in &self.args {
            write_length_prefixed(&mut bytes, arg.as_bytes());
        }
        put_files(&mut bytes, &self.sources);
        put_files(&mut bytes, &self.headers);
        write_length_prefixed(&mut bytes, self.program.as_deref().unwrap_or_default().as_bytes());
        to.write_all(&bytes)?;
        to.flush()
    }

    /// Waits for one.
    ///
    /// # Errors
    /// Of the pipe; also if what comes is something else.
    pub fn receive(from: &mut impl Read) -> io::Result<Request> {
        begin(from)?;
        let n = number(from)?;
        let mut args = Vec::new();
        for _ in 0..n {
            args.push(text(from)?);
        }
        let (sources, headers) = (files(from)?, files(from)?);
        let program = Some(text(from)?).filter(|p| !p.is_empty());
        Ok(Request { args, sources, headers, program })
    }
}

impl Response {
    /// Sends it.
    ///
    /// # Errors
    /// Of the pipe.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = u64::from(MAGIC).to_le_bytes().to_vec();
        bytes.extend(i64::from(self.code).to_le_bytes());
        put_files(&mut bytes, &self.outputs);
        write_length_prefixed(&mut bytes, self.noise.as_bytes());
        to.write_all(&bytes)?;
        to.flush()
    }

    /// Waits for one.
    ///
    /// # Errors
    /// Of the pipe; also if what comes is something else.
    pub fn receive(from: &mut impl Read) -> io::Result<Response> {
        begin(from)?;
        let code = number(from)? as i64 as i32;
        Ok(Response { code, outputs: files(from)?, noise: text(from)? })
    }

    /// The output of a name.
    pub fn output(&self, name: &str) -> Option<&[u8]> {
        self.outputs.iter().find(|(n, _)| n == name).map(|(_, b)| &b[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let request = Request {
            args: vec!["compile".into(), "-q".into()],
            sources: vec![("a.cl".into(), b"kernel void k() {}\0".to_vec())],
            headers: vec![("d/h.h".into(), Vec::new())],
            program: Some("/x/ocloc".into()),
        };
        let mut bytes = Vec::new();
        request.send(&mut bytes).unwrap();
        assert_eq!(Request::receive(&mut &bytes[..]).unwrap(), request);
        let response = Response { code: -11, outputs: vec![("o".into(), vec![1, 2])], noise: "x".into() };
        let mut bytes = Vec::new();
        response.send(&mut bytes).unwrap();
        assert_eq!(Response::receive(&mut &bytes[..]).unwrap(), response);
        for cut in 0..bytes.len() {
            assert!(Response::receive(&mut &bytes[..cut]).is_err());
        }
        bytes[8..16].fill(0xff);
        bytes[16..24].fill(0xff);
        assert!(Response::receive(&mut &bytes[..]).is_err());
    }
}
