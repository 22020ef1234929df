//! The `chrysalis-studio` program: starts the studio and opens it in a browser.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use chrysalis::Error;
use chrysalis::store::give_up;
use chrysalis_studio::{Options, Server};
use clap::Parser;

/// Choose, publish, attack and ask in a browser. Nothing leaves this machine.
#[derive(Debug, Parser)]
#[command(name = "chrysalis studio", version, max_term_width = 100)]
struct Arguments {
    /// A table (CSV or Parquet) to open, or a spec that names one. It is read where it is.
    file: Option<String>,
    /// The port to listen on [default: any free one].
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the address, and open no browser.
    #[arg(long)]
    no_open: bool,
}

/// Stack space for the deepest recursion possible; only pages that are used take memory.
const STACK: usize = 64 << 20;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", error.message);
            if !error.remedy.is_empty() {
                let _ = writeln!(io::stderr(), "hint: {}", error.remedy);
            }
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Error> {
    let failed = |what: &str, error: &dyn std::fmt::Display| Error::internal(format!("{what}: {error}"));
    rayon::ThreadPoolBuilder::new()
        .stack_size(STACK)
        .num_threads(arguments.threads.unwrap_or(0))
        .build_global()
        .map_err(|error| failed("cannot start threads", &error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .map_err(|error| failed("cannot start threads", &error))?;
    let options = Options { file: arguments.file, port: arguments.port, ..Options::default() };
    let result = runtime.block_on(async {
        let server = Server::start(options).await?;
        let (address, clean) = (server.address(), server.cleaner());
        // The file is removed when the studio ends.
        let page = if arguments.no_open { None } else { redirect(&address).ok() };
        let page_file = page.as_ref().map(|page| page.path().to_owned());
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let mut stop = Some(stop);
        let on_signal = move || match stop.take() {
            Some(stop) => drop(stop.send(())),
            // Somebody is impatient.
            None => {
                let _ = give_up();
                clean();
                page_file.iter().for_each(|file| drop(std::fs::remove_file(file)));
                std::process::exit(130)
            }
        };
        ctrlc::set_handler(on_signal).map_err(|error| failed("cannot listen for signals", &error))?;
        let said = writeln!(io::stdout(), "The studio is at {address}\nPress Ctrl-C to end it.");
        said.and_then(|()| io::stdout().flush()).map_err(|error| failed("cannot print the address", &error))?;
        if let Some(page) = &page {
            open(page.path());
        }
        server.run(async move { drop(stopped.await) }).await;
        Ok(())
    });
    // What is being written is removed; what is being computed is not waited for.
    let _ = give_up();
    runtime.shutdown_background();
    result
}

/// A page that only this user can read, and that leads to the address. LEAK: everybody on this machine sees the arguments
/// of a program, and whoever has the token can use the studio.
fn redirect(address: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut page = tempfile::Builder::new().prefix("chrysalis-studio-").suffix(".html").tempfile()?;
    write!(
        page,
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\">\n<title>Chrysalis studio</title>\n\
         <p><a href=\"{address}\">Open the studio</a></p>\n"
    )?;
    page.flush()?;
    Ok(page)
}

/// Opens a page in the default browser. If there is none, the address was printed.
fn open(page: &Path) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    let quiet = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(quiet.spawn());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_token_is_in_a_file_that_only_this_user_reads() {
        let page = redirect("http://127.0.0.1:1/token/").unwrap();
        let text = std::fs::read_to_string(page.path()).unwrap();
        assert!(text.contains("content=\"0;url=http://127.0.0.1:1/token/\""), "{text}");
        assert!(!page.path().display().to_string().contains("token"));
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&page.as_file().metadata().unwrap().permissions()) & 0o777,
            0o600
        );
    }
}
