//! What OpenSM itself was told, as far as it concerns routes.

use std::path::PathBuf;

use dmodc::Guid;

/// Options of OpenSM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// The GUID of the port that OpenSM works through.
    pub(crate) port: Guid,
    /// `root_guid_file`: used as our `roots`, unless dmodc.conf says which switches are leaves.
    pub(crate) roots: Option<PathBuf>,
    /// `connect_roots`: used as ours, unless dmodc.conf says otherwise.
    pub(crate) connect_roots: bool,
    /// `hop_weights_file`, which OpenSM heeds if it computes hop tables.
    pub(crate) hop_weights: bool,
    /// The names of other options for routing that are set and have no meaning here.
    pub(crate) ignored: Vec<String>,
}

impl Given {
    /// Returns a line on what is heeded and one on what is not, where there is any.
    pub(crate) fn words(&self, uses_roots: bool, hops_are_ours: bool) -> Vec<String> {
        let mut heeded = vec![];
        let mut ignored = self.ignored.clone();
        match &self.roots {
            Some(path) if uses_roots => heeded.push(format!("root_guid_file {}", path.display())),
            Some(_) => {
                ignored.push("root_guid_file (dmodc.conf says which switches are leaves)".into());
            }
            None => {}
        }
        if self.connect_roots {
            heeded.push("connect_roots".into());
        }
        if self.hop_weights && hops_are_ours {
            ignored.push("hop_weights_file (heeded with hop_tables = \"opensm\")".into());
        }
        let lines = [
            ("OpenSM's options that are heeded", heeded),
            ("OpenSM's options that are set and have no meaning for dmodc", ignored),
        ];
        let lines = lines.into_iter().filter(|(_, names)| !names.is_empty());
        lines.map(|(words, names)| format!("{words}: {}", names.join(", "))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_named() {
        assert_eq!(Given::default().words(true, true), Vec::<String>::new());
        let given = Given {
            roots: Some("/etc/roots".into()),
            connect_roots: true,
            hop_weights: true,
            ignored: vec!["scatter_ports".into()],
            ..Given::default()
        };
        let lines = given.words(true, false);
        assert_eq!(
            lines[0],
            "OpenSM's options that are heeded: root_guid_file /etc/roots, connect_roots"
        );
        assert!(lines[1].ends_with("dmodc: scatter_ports"), "{lines:?}");
        let lines = given.words(false, true);
        assert!(lines[1].contains("root_guid_file (dmodc.conf says"), "{lines:?}");
        assert!(lines[1].contains("hop_weights_file"), "{lines:?}");
    }
}
