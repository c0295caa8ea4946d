//! Attacks on the MCP server over HTTP.
