//! The files of the page. They are written by hand and need no build step.
