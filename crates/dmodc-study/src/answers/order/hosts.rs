//! The list of hosts that is put into order.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use dmodc::advise::{HostProblem, Placement};
use dmodc::{Live, RailHost, Rails};
use dmodc_formats::hosts::{ListedName, read_hosts};
use dmodc_formats::printable;

use super::super::names::NodeNames;
use super::super::source;
use super::super::text::{self, counted};

/// The hosts that are asked for.
#[derive(Clone, Debug)]
pub enum ListedHosts {
    /// All hosts of the fabric, in the natural order of their names.
    All,
    /// Those of a list.
    Listed {
        /// The name of the list, for messages.
        name: String,
        /// The names, with their lines.
        hosts: Vec<ListedName>,
    },
}

impl ListedHosts {
    /// Reads the list of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(ListedHosts::Listed {
            name: source::name(path),
            hosts: source::read_list(path, read_hosts)?,
        })
    }

    fn is_all(&self) -> bool {
        matches!(self, ListedHosts::All)
    }
}

/// The hosts of a list.
pub struct HostList<'a> {
    /// The name of the list, for messages.
    pub name: String,
    /// The hosts in the order of the list, as positions in all hosts of the fabric.
    pub hosts: Vec<usize>,
    /// The hosts of the list that cannot take part.
    pub left_out: Vec<LeftOutHost>,
    /// All hosts of the fabric.
    all: &'a Rails<'a>,
}

/// A host that cannot take part.
#[derive(Clone, Debug)]
pub struct LeftOutHost {
    /// Its name in the list.
    pub name: String,
    /// Its line in the list, from 1.
    pub line: Option<u32>,
    /// Why it cannot.
    pub why: String,
}

/// A host of the list, while the list is read.
struct ListedHost {
    host: usize,
    line: Option<u32>,
}

impl<'a> HostList<'a> {
    /// Finds the hosts of a list. A host that cannot take part is an error unless it is to be skipped.
    ///
    /// # Errors
    /// If a host cannot take part, or none can.
    pub fn new(
        asked: ListedHosts,
        skips: bool,
        live: Live<'_>,
        all: &'a Rails<'a>,
        placement: &Placement<'_>,
    ) -> Result<Self> {
        let is_all = asked.is_all();
        let name = "the fabric".into();
        let mut list = HostList { name, hosts: Vec::new(), left_out: Vec::new(), all };
        let listed = match asked {
            ListedHosts::All => {
                (0..all.hosts.len()).map(|host| ListedHost { host, line: None }).collect()
            }
            ListedHosts::Listed { name, hosts } => {
                list.name = name;
                list.resolve(hosts, skips, live)?
            }
        };
        let hosts: Vec<&RailHost<'_>> = listed.iter().map(|at| &all.hosts[at.host]).collect();
        let problems = placement.problems(&hosts);
        for ((ListedHost { host, line }, of), problem) in
            listed.into_iter().zip(hosts).zip(problems)
        {
            // Service hosts with fewer adapters are no reason to refuse the whole fabric.
            let is_usual = is_all && matches!(problem, Some(HostProblem::MissingRail(_)));
            let why = problem.filter(|_| !is_usual).map(|problem| match problem {
                HostProblem::Unnamed => unnamed(live, of),
                problem => list.words(problem),
            });
            match why.or(odd_name(of)) {
                Some(why) => list.leave_out(of.host.name(), line, why, skips || is_all)?,
                None => list.hosts.push(host),
            }
        }
        match list.hosts.is_empty() {
            true => Err(list.nobody()),
            false => Ok(list),
        }
    }

    /// Returns why no host can take part.
    fn nobody(&self) -> anyhow::Error {
        let hosts = counted(self.left_out.len(), "host");
        match &self.left_out[..] {
            [] => anyhow!("{} has no host that can take part", self.name),
            [host] => anyhow!("{} has no host that can take part: {}", self.name, self.about(host)),
            [first, ..] => anyhow!(
                "{} has no host that can take part: {hosts} are left out; {}",
                self.name,
                self.about(first)
            ),
        }
    }

    /// Returns the hosts of a list, each once.
    fn resolve(
        &mut self,
        named: Vec<ListedName>,
        skips: bool,
        live: Live<'_>,
    ) -> Result<Vec<ListedHost>> {
        let names = NodeNames::new(live.fabric);
        let mut host_of = vec![None; live.fabric.nodes().len()];
        for (at, host) in self.all.hosts.iter().enumerate() {
            host.nodes.iter().flatten().for_each(|n| host_of[n.at()] = Some(at));
        }
        let mut seen: HashMap<usize, u32> = HashMap::new();
        let mut listed = Vec::new();
        for ListedName { name, line } in named {
            let meant = names.find(&name).and_then(|nodes| {
                let mut hosts: Vec<usize> = nodes.iter().filter_map(|n| host_of[n.at()]).collect();
                hosts.sort_unstable();
                hosts.dedup();
                match hosts[..] {
                    [host] => Ok(host),
                    [] => Err(anyhow!("'{}' is not a host", printable(&name))),
                    _ => Err(anyhow!(
                        "'{}' stands for {} adapters that name no host; give their GUIDs",
                        printable(&name),
                        hosts.len()
                    )),
                }
            });
            match meant {
                Ok(host) => match seen.insert(host, line) {
                    Some(first) => {
                        seen.insert(host, first);
                        let why = format!("it is listed twice, first in line {first}");
                        self.leave_out(&name, Some(line), why, skips)?;
                    }
                    None => listed.push(ListedHost { host, line: Some(line) }),
                },
                Err(why) => self.leave_out(&name, Some(line), format!("{why:#}"), skips)?,
            }
        }
        Ok(listed)
    }

    /// Notes a host that cannot take part, or returns an error.
    fn leave_out(&mut self, name: &str, line: Option<u32>, why: String, skips: bool) -> Result<()> {
        let host = LeftOutHost { name: printable(name), line, why };
        if !skips {
            let about = self.about(&host);
            bail!("{about}; --skip-unknown leaves such hosts out");
        }
        self.left_out.push(host);
        Ok(())
    }

    /// Returns a host that cannot take part, with its place and the reason.
    pub fn about(&self, host: &LeftOutHost) -> String {
        let LeftOutHost { name, line, why } = host;
        // Some reasons name the host themselves.
        let why = match why.contains(&format!("'{name}'")) {
            true => why.clone(),
            false => format!("'{name}': {why}"),
        };
        match line {
            Some(line) => format!("{}:{line}: {why}", self.name),
            None => why,
        }
    }

    /// Returns a problem in words.
    fn words(&self, problem: HostProblem) -> String {
        let rails = &self.all.names;
        let on = |rail: usize| match rails.len() {
            1 => String::new(),
            _ => format!(" on rail {}", printable(&rails[rail])),
        };
        match problem {
            HostProblem::Unnamed => NO_NAME.into(),
            HostProblem::Dead => "all its links are dead".into(),
            HostProblem::DeadRail(rail) => format!("its link{} is dead", on(rail)),
            HostProblem::MissingRail(rail) => format!(
                "it has no link{}, unlike most hosts of the list; the link may be dead",
                on(rail)
            ),
            HostProblem::NoEntries(rail) => {
                format!("the tables have no entries for its node{}", on(rail))
            }
            HostProblem::CutOff(rail) => {
                format!("no live cables lead from it to most hosts of the list{}", on(rail))
            }
            HostProblem::EquallyDivided(rail) => format!(
                "the list has several parts of the same size that no live cables connect{}; list the hosts of one part",
                on(rail)
            ),
        }
    }
}

/// Why a host without a name cannot take part.
const NO_NAME: &str = "the description of its adapter names no host";

/// Returns why a host without a name cannot take part, and where it is: its description is that of many others.
fn unnamed(live: Live<'_>, host: &RailHost<'_>) -> String {
    let Some(n) = host.nodes.iter().flatten().next() else { return NO_NAME.into() };
    let (guid, node) = (live.fabric.adapter_of(*n).guid, live.fabric.node(*n));
    let switch = text::switch(live.fabric, node.switch);
    format!("{NO_NAME} (adapter {guid}, at port {} of {switch})", node.switch_port)
}

/// Returns why the name of a host cannot be written into a list.
fn odd_name(host: &RailHost<'_>) -> Option<String> {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_odd = !host.host.name().chars().all(keep);
    is_odd.then(|| "its name has characters that no list of hosts can have".into())
}
