//! Options of OpenSM itself that concern routing.

use std::path::PathBuf;

use dmodc::Guid;

/// The options of OpenSM that are used here, and the names of those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpensmOptions {
    /// The GUID of the port that OpenSM works through.
    pub(crate) port: Guid,
    /// `root_guid_file`: used as our `roots`, unless dmodc.conf says which switches are leaves.
    pub(crate) roots: Option<PathBuf>,
    /// `connect_roots`: used as ours, unless dmodc.conf says otherwise.
    pub(crate) connect_roots: bool,
    /// Whether `hop_weights_file` is set. OpenSM uses it only where it computes hop tables itself.
    pub(crate) hop_weights: bool,
    /// The names of other routing options that are set and have no meaning here.
    pub(crate) ignored: Vec<String>,
}

/// Which of OpenSM's options this configuration makes use of.
#[derive(Clone, Copy)]
pub(crate) struct OptionUse {
    pub(crate) uses_roots: bool,
    pub(crate) computes_hop_tables: bool,
}

impl OpensmOptions {
    /// Returns a line for the log that lists the options in use, and one that lists the options without effect. A
    /// line that would list none is left out.
    pub(crate) fn log_lines(&self, usage: OptionUse) -> Vec<String> {
        let mut used = vec![];
        let mut ignored = self.ignored.clone();
        match &self.roots {
            Some(path) if usage.uses_roots => {
                used.push(format!("root_guid_file {}", path.display()));
            }
            Some(_) => {
                ignored.push("root_guid_file (because dmodc.conf has a rule for leaves)".into());
            }
            None => {}
        }
        if self.connect_roots {
            used.push("connect_roots".into());
        }
        if self.hop_weights && usage.computes_hop_tables {
            ignored.push("hop_weights_file (used only with hop_tables = \"opensm\")".into());
        }
        let lines = [
            ("options of OpenSM that dmodc uses", used),
            ("options of OpenSM that have no effect with dmodc", ignored),
        ];
        let lines = lines.into_iter().filter(|(_, names)| !names.is_empty());
        lines.map(|(heading, names)| format!("{heading}: {}", names.join(", "))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_set_are_named() {
        let all = OptionUse { uses_roots: true, computes_hop_tables: true };
        assert_eq!(OpensmOptions::default().log_lines(all), Vec::<String>::new());
        let options = OpensmOptions {
            roots: Some("/etc/roots".into()),
            connect_roots: true,
            hop_weights: true,
            ignored: vec!["scatter_ports".into()],
            ..OpensmOptions::default()
        };
        let lines = options.log_lines(OptionUse { computes_hop_tables: false, ..all });
        assert_eq!(
            lines[0],
            "options of OpenSM that dmodc uses: root_guid_file /etc/roots, connect_roots"
        );
        assert!(lines[1].ends_with("dmodc: scatter_ports"), "{lines:?}");
        let lines = options.log_lines(OptionUse { uses_roots: false, ..all });
        assert!(lines[1].contains("root_guid_file (because dmodc.conf has"), "{lines:?}");
        assert!(lines[1].contains("hop_weights_file"), "{lines:?}");
    }
}
