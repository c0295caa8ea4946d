//! The style, the script and the icon, inside the binary. Their addresses hold their digests, so browsers keep them.

use probity_core::Digest;
use std::sync::LazyLock;

pub(crate) const STYLE: &str = include_str!("../assets/app.css");
const SCRIPT: &str = include_str!("../assets/app.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// A file that the page loads.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its address.
    pub(crate) address: String,
    pub(crate) media_type: &'static str,
    pub(crate) content: &'static str,
}

fn asset(stem: &str, ending: &str, media_type: &'static str, content: &'static str) -> Asset {
    let digest = Digest::of(content.as_bytes()).to_hex();
    Asset { address: format!("/s/{stem}-{}.{ending}", &digest[..16]), media_type, content }
}

pub(crate) static STYLE_ASSET: LazyLock<Asset> = LazyLock::new(|| asset("app", "css", "text/css", STYLE));
pub(crate) static SCRIPT_ASSET: LazyLock<Asset> =
    LazyLock::new(|| asset("app", "js", "text/javascript", SCRIPT));
pub(crate) static ICON_ASSET: LazyLock<Asset> = LazyLock::new(|| asset("icon", "svg", "image/svg+xml", ICON));

/// Finds a file by its address.
pub(crate) fn find(address: &str) -> Option<&'static Asset> {
    [&*STYLE_ASSET, &*SCRIPT_ASSET, &*ICON_ASSET].into_iter().find(|asset| asset.address == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_little() {
        assert!(STYLE.len() + SCRIPT.len() <= 56 * 1024, "{} bytes", STYLE.len() + SCRIPT.len());
    }
}
