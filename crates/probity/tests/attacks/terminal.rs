//! Untrusted text that reaches a terminal, through every command.
