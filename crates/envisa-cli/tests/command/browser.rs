//! A browser without windows, which opens a page and is asked about it: Chromium by its own protocol, over pipes.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What it may be called.
const NAMES: [&str; 5] =
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "headless_shell"];
/// An answer comes within this time, also beside other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where a browser is: `ENVISA_BROWSER`, or one on the path.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ENVISA_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    places.into_iter().find(|p| p.is_file())
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    to: File,
    from: Receiver<Value>,
    session: Value,
    asked: u64,
    /// What the page complained of.
    pub complaints: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Browser {
    pub fn start(program: &Path) -> Browser {
        let folder = tempfile::tempdir().expect("made");
        let pipes = ["to", "from"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args(&pipes).status().expect("mkfifo runs");
        assert!(made.success());
        // Both ends are open here, so that nobody waits for the other to open.
        let [to, from] =
            pipes.each_ref().map(|p| OpenOptions::new().read(true).write(true).open(p).expect("open"));
        let process = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\"")
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("user").display()))
            .arg("about:blank")
            .envs([("TO", &pipes[0]), ("FROM", &pipes[1])])
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(from).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            process,
            to,
            from: receiver,
            session: Value::Null,
            asked: 0,
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("it listens");
        loop {
            let answer = self.next(method);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The next message; complaints are kept.
    fn next(&mut self, wanted: &str) -> Value {
        let message = self.from.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{wanted}: {e}"));
        let said = match message["method"].as_str() {
            Some("Log.entryAdded") => message["params"]["entry"]["text"].to_string(),
            Some("Runtime.exceptionThrown") => message["params"]["exceptionDetails"].to_string(),
            Some("Runtime.consoleAPICalled") => message["params"]["args"].to_string(),
            _ => return message,
        };
        self.complaints.push(said);
        message
    }

    /// Opens a file in a window of this size, for people who want it light or dark.
    pub fn open(&mut self, page: &Path, (width, height): (u32, u32), scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", scheme);
        self.ask("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        while self.next("the page")["method"] != "Page.loadEventFired" {}
    }

    /// What an expression of JavaScript gives in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let how = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", how);
        assert!(answer["exceptionDetails"].is_null(), "{answer:#}");
        answer["result"]["value"].clone()
    }

    /// A picture of the whole page, in base64.
    pub fn picture(&mut self) -> String {
        let how = json!({ "format": "png", "captureBeyondViewport": true });
        self.ask("Page.captureScreenshot", how)["data"].as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
